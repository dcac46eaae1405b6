#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trunkline {

// An undirected graph whose vertices carry an attribute and whose edges a label at each end.
class LabelledGraph {
 public:
  struct Edge {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint64_t label_at_a = 0;
    std::uint64_t label_at_b = 0;
  };
  LabelledGraph(std::vector<std::uint64_t> attributes, std::span<const Edge> edges);

  struct End {
    std::uint64_t label = 0;
    std::uint32_t to = 0;
  };
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(attribute_.size()); }
  [[nodiscard]] std::uint64_t attribute(std::uint32_t vertex) const { return attribute_[vertex]; }
  [[nodiscard]] std::span<const End> ends(std::uint32_t vertex) const {
    return std::span(ends_).subspan(first_[vertex], first_[vertex + 1] - first_[vertex]);
  }

 private:
  std::vector<std::uint64_t> attribute_;
  std::vector<std::uint32_t> first_;
  std::vector<End> ends_;
};

// The coarsest partition in which vertices of one class have equal attributes and, for every label
// and class, equally many edges of that label into that class: the dense class of each vertex.
//
// Colour refinement in rounds that look only at the neighbours of what changed class in the round
// before, while one part of a split class keeps its name (Hopcroft, 1971). Rounds compare hashes;
// the result is then checked exactly, and the singletons are returned should hashes have collided.
[[nodiscard]] std::vector<std::uint32_t> CoarsestEquitablePartition(const LabelledGraph& graph);

}  // namespace trunkline
