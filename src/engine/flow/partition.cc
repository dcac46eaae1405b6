#include "engine/flow/partition.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "trunkline/base/random.h"

namespace trunkline {

LabelledGraph::LabelledGraph(std::vector<std::uint64_t> attributes, std::span<const Edge> edges)
    : attribute_(std::move(attributes)), first_(attribute_.size() + 1, 0), ends_(2 * edges.size()) {
  for (const Edge& edge : edges) {
    ++first_[edge.a + 1];
    ++first_[edge.b + 1];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::vector<std::uint32_t> fill(first_.begin(), first_.end() - 1);
  for (const Edge& edge : edges) {
    ends_[fill[edge.a]++] = {edge.label_at_a, edge.b};
    ends_[fill[edge.b]++] = {edge.label_at_b, edge.a};
  }
}

namespace {

class Refinement {
 public:
  explicit Refinement(const LabelledGraph& graph);
  void Run();
  [[nodiscard]] bool Equitable() const;
  [[nodiscard]] std::vector<std::uint32_t> TakeClasses() { return std::move(class_of_); }

 private:
  struct Dirty {
    std::uint32_t old_class = 0;
    std::uint64_t signature = 0;
    std::uint32_t vertex = 0;
    auto operator<=>(const Dirty&) const = default;
  };
  [[nodiscard]] std::uint64_t Signature(std::uint32_t vertex) const;
  using Iterator = std::vector<Dirty>::const_iterator;
  void Split(Iterator first, Iterator last);
  void MarkNeighbours();

  const LabelledGraph& graph_;
  std::vector<std::uint32_t> class_of_;
  std::vector<std::uint32_t> class_size_;
  std::vector<std::uint32_t> dirty_;
  std::vector<char> is_dirty_;
  std::vector<std::uint32_t> changed_;
};

Refinement::Refinement(const LabelledGraph& graph)
    : graph_(graph), class_of_(graph.size()), dirty_(graph.size()), is_dirty_(graph.size(), 1) {
  std::iota(dirty_.begin(), dirty_.end(), 0U);
  std::unordered_map<std::uint64_t, std::uint32_t> classes;
  for (std::uint32_t vertex = 0; vertex < graph.size(); ++vertex) {
    const auto next = static_cast<std::uint32_t>(class_size_.size());
    const auto [entry, is_new] = classes.try_emplace(graph.attribute(vertex), next);
    if (is_new) class_size_.push_back(0);
    class_of_[vertex] = entry->second;
    ++class_size_[entry->second];
  }
}

// A hash of how many edges of each label go into each class: a sum, so that order does not matter.
std::uint64_t Refinement::Signature(std::uint32_t vertex) const {
  std::uint64_t sum = 0;
  for (const LabelledGraph::End& end : graph_.ends(vertex)) {
    sum += HashCombine(end.label, class_of_[end.to]);
  }
  return sum;
}

void Refinement::Run() {
  std::vector<Dirty> round;
  while (!dirty_.empty()) {
    round.clear();
    for (const std::uint32_t vertex : dirty_) {
      is_dirty_[vertex] = 0;
      if (class_size_[class_of_[vertex]] == 1) continue;
      round.push_back({class_of_[vertex], Signature(vertex), vertex});
    }
    std::ranges::sort(round);
    changed_.clear();
    for (auto first = round.cbegin(); first != round.cend();) {
      const auto last = std::find_if(first, round.cend(), [&](const Dirty& dirty) {
        return dirty.old_class != first->old_class;
      });
      Split(first, last);
      first = last;
    }
    MarkNeighbours();
  }
}

// Splits one class by the new signatures of its dirty vertices, [first, last). The others stay
// together and keep the name: a dirty vertex has a neighbour in a new class, they have none.
// Without others the largest part keeps it.
void Refinement::Split(Iterator first, Iterator last) {
  const std::uint32_t old_class = first->old_class;
  const auto end_of_part = [&](Iterator part) {
    return std::find_if(part, last,
                        [&](const Dirty& other) { return other.signature != part->signature; });
  };
  Iterator keeps = last;
  if (std::cmp_equal(class_size_[old_class], last - first)) {
    for (Iterator part = first; part != last;) {
      const Iterator end = end_of_part(part);
      if (keeps == last || end - part > end_of_part(keeps) - keeps) keeps = part;
      part = end;
    }
  }
  const auto rename = [&](std::uint32_t vertex) {
    class_of_[vertex] = static_cast<std::uint32_t>(class_size_.size() - 1);
    ++class_size_.back();
    --class_size_[old_class];
    changed_.push_back(vertex);
  };
  for (Iterator part = first; part != last;) {
    const Iterator end = end_of_part(part);
    if (part != keeps) {
      class_size_.push_back(0);
      std::for_each(part, end, [&](const Dirty& member) { rename(member.vertex); });
    }
    part = end;
  }
}

void Refinement::MarkNeighbours() {
  dirty_.clear();
  for (const std::uint32_t vertex : changed_) {
    for (const LabelledGraph::End& end : graph_.ends(vertex)) {
      if (is_dirty_[end.to] != 0) continue;
      is_dirty_[end.to] = 1;
      dirty_.push_back(end.to);
    }
  }
}

bool Refinement::Equitable() const {
  using Edges = std::vector<std::pair<std::uint64_t, std::uint32_t>>;
  const auto edges_of = [this](std::uint32_t vertex) {
    Edges edges;
    for (const LabelledGraph::End& end : graph_.ends(vertex)) {
      edges.emplace_back(end.label, class_of_[end.to]);
    }
    std::ranges::sort(edges);
    return edges;
  };
  std::vector<std::uint32_t> first(class_size_.size(), UINT32_MAX);
  std::vector<Edges> expected(class_size_.size());
  for (std::uint32_t vertex = 0; vertex < graph_.size(); ++vertex) {
    const std::uint32_t index = class_of_[vertex];
    if (class_size_[index] == 1) continue;
    if (first[index] == UINT32_MAX) {
      first[index] = vertex;
      expected[index] = edges_of(vertex);
    } else if (graph_.attribute(vertex) != graph_.attribute(first[index]) ||
               edges_of(vertex) != expected[index]) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::uint32_t> CoarsestEquitablePartition(const LabelledGraph& graph) {
  Refinement refinement(graph);
  refinement.Run();
  if (refinement.Equitable()) return refinement.TakeClasses();
  std::vector<std::uint32_t> singletons(graph.size());
  std::iota(singletons.begin(), singletons.end(), 0U);
  return singletons;
}

}  // namespace trunkline
