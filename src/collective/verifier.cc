#include "trunkline/collective/verifier.h"

#include <fmt/format.h>

#include <utility>

#include "collective/cut.h"
#include "collective/execution.h"
#include "trunkline/base/check.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

using Element = Execution::Element;

// Tells every rank and position apart.
Element Contribution(std::uint32_t rank, std::int64_t position) {
  return HashCombine(rank, static_cast<Element>(position));
}

// What each primitive leaves in a rank's output, written from its definition. Positions and sizes
// are in elements.
class Definition {
 public:
  Definition(const CollectiveSpec& spec, std::uint32_t ranks)
      : spec_(spec),
        ranks_(ranks),
        size_(spec.bytes.count() / spec.element_bytes),
        chunks_(size_, 1, ranks) {}

  [[nodiscard]] std::vector<Element> Output(std::uint32_t rank) {
    switch (spec_.primitive) {
      case Primitive::kAllReduce:
        return Sums();
      case Primitive::kReduce:
        return rank == spec_.root ? Sums() : std::vector<Element>{};
      case Primitive::kReduceScatter: {
        const auto& sums = Sums();
        const auto begin = sums.begin() + chunks_.offset(rank);
        return {begin, begin + chunks_.size(rank)};
      }
      case Primitive::kAllGather:
        return Concatenation();
      case Primitive::kGather:
        return rank == spec_.root ? Concatenation() : std::vector<Element>{};
      case Primitive::kBroadcast:
        return Input(spec_.root, 0, size_);
      case Primitive::kScatter:
        return Input(spec_.root, chunks_.offset(rank), chunks_.size(rank));
      case Primitive::kSendRecv:
        return Input((rank + ranks_ - 1) % ranks_, 0, size_);
      case Primitive::kAllToAll:
      case Primitive::kAllToAllV:
        return Exchanged(rank);
      case Primitive::kBarrier:
        return {};
    }
    TL_CHECK(false, "unknown primitive");
    return {};
  }

 private:
  static std::vector<Element> Input(std::uint32_t rank, std::int64_t begin, std::int64_t size) {
    std::vector<Element> values;
    for (std::int64_t i = begin; i < begin + size; ++i) {
      values.push_back(Contribution(rank, i));
    }
    return values;
  }

  const std::vector<Element>& Sums() {
    if (sums_.empty() && size_ > 0) {
      sums_.resize(static_cast<std::size_t>(size_));
      for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        for (std::int64_t i = 0; i < size_; ++i) {
          sums_[static_cast<std::size_t>(i)] += Contribution(rank, i);
        }
      }
    }
    return sums_;
  }

  [[nodiscard]] std::vector<Element> Concatenation() const {
    std::vector<Element> values;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      const auto chunk = Input(rank, 0, chunks_.size(rank));
      values.insert(values.end(), chunk.begin(), chunk.end());
    }
    return values;
  }

  [[nodiscard]] std::int64_t Block(std::uint32_t source, std::uint32_t destination) const {
    return spec_.primitive == Primitive::kAllToAll
               ? chunks_.size(destination)
               : spec_.matrix[std::size_t{source} * ranks_ + destination] / spec_.element_bytes;
  }

  [[nodiscard]] std::vector<Element> Exchanged(std::uint32_t rank) const {
    std::vector<Element> values;
    for (std::uint32_t source = 0; source < ranks_; ++source) {
      std::int64_t begin = 0;
      for (std::uint32_t before = 0; before < rank; ++before) {
        begin += Block(source, before);
      }
      const auto block = Input(source, begin, Block(source, rank));
      values.insert(values.end(), block.begin(), block.end());
    }
    return values;
  }

  const CollectiveSpec& spec_;
  std::uint32_t ranks_;
  std::int64_t size_;
  EvenCut chunks_;
  std::vector<Element> sums_;
};

Diagnostics CheckOutputs(const Execution& execution, const Schedule& schedule,
                         const CollectiveSpec& spec) {
  Definition definition(spec, schedule.ranks());
  for (std::uint32_t rank = 0; rank < schedule.ranks(); ++rank) {
    const auto wanted = definition.Output(rank);
    const auto found = execution.output(rank);
    if (wanted.size() != found.size()) {
      return Error("TL1514", fmt::format("rank {} has an output of {} elements, not {}", rank,
                                         found.size(), wanted.size()))
          .error();
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] != found[i]) {
        return Error("TL1514", fmt::format("element {} of rank {}'s output is not what {} defines",
                                           i, rank, ToString(spec.primitive)))
            .error();
      }
    }
    if (spec.primitive == Primitive::kBarrier && !execution.KnowsOfEveryRank(rank)) {
      return Error("TL1514",
                   fmt::format("rank {} leaves the barrier before every rank has entered", rank))
          .error();
    }
  }
  return {};
}

// Counts puts by what they cross.
class TrafficCounter {
 public:
  TrafficCounter(const Schedule& schedule, const GroupLayout& layout) : layout_(layout) {
    traffic_.sent.resize(schedule.participants());
    traffic_.received.resize(schedule.participants());
    traffic_.sent_between_nodes.resize(schedule.ranks());
  }

  void Add(Participant source, Participant destination, std::int64_t bytes) {
    ++traffic_.puts;
    traffic_.sent[source] += bytes;
    traffic_.received[destination] += bytes;
    if (source >= layout_.size() || destination >= layout_.size()) {
      traffic_.with_actors += bytes;
    } else if (layout_.node[source] == layout_.node[destination]) {
      traffic_.within_nodes += bytes;
    } else {
      traffic_.between_nodes += bytes;
      traffic_.sent_between_nodes[source] += bytes;
    }
  }

  [[nodiscard]] ScheduleTraffic Take(std::uint64_t steps) {
    traffic_.steps = steps;
    return std::move(traffic_);
  }

 private:
  const GroupLayout& layout_;
  ScheduleTraffic traffic_;
};

}  // namespace

Result<ScheduleTraffic> Verify(const Schedule& schedule, const CollectiveSpec& spec,
                               const GroupLayout& layout) {
  TL_CHECK(layout.size() == schedule.ranks(), "the layout is of another group");
  TrafficCounter counter(schedule, layout);
  std::uint64_t steps = 0;
  for (const Order order : {Order::kEarly, Order::kLate}) {
    Execution execution(schedule, spec.element_bytes, order, Contribution);
    Diagnostics problems =
        execution.Run(order == Order::kLate
                          ? Execution::PutVisitor()
                          : [&](Participant source, Participant destination, std::int64_t bytes) {
                              counter.Add(source, destination, bytes);
                            });
    if (problems.empty()) {
      problems = CheckOutputs(execution, schedule, spec);
    }
    if (!problems.empty()) {
      return std::unexpected(std::move(problems));
    }
    steps = execution.steps();
  }
  return counter.Take(steps);
}

}  // namespace trunkline
