#include <lemon/preflow.h>
#include <lemon/static_graph.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "trunkline/base/check.h"
#include "trunkline/fabric/analysis.h"
#include "trunkline/fabric/weak_points.h"

namespace trunkline {
namespace {

// The nodes of either side are one vertex: a flow may start and end at any of their NICs.
constexpr int kSource = 0;
constexpr int kSink = 1;

using Ends = std::pair<int, int>;

// Vertices (switches are numbered from 2) and the rates between them, parallel cables added up.
class CutProblem {
 public:
  CutProblem(const Fabric& fabric, const std::vector<bool>& side, const std::vector<bool>& failed)
      : fabric_(fabric), failed_(failed), vertex_(fabric.device_count(), kSink) {
    for (std::size_t i = 0; i < fabric.device_count(); ++i) {
      const Device& device = fabric.device(DeviceId(i));
      if (device.kind == DeviceKind::kSwitch) {
        vertex_[i] = vertices_++;
      } else if (device.node != Device::kNoNode && side[device.node]) {
        vertex_[i] = kSource;
      }
    }
    for (std::size_t i = 0; i < fabric.link_count(); ++i) {
      if (const auto ends = EndsOf(LinkId(i))) {
        rates_.emplace_back(*ends, fabric.link(LinkId(i)).rate.bits_per_second());
      }
    }
    AddUpParallel();
  }

  struct Answer {
    std::int64_t bits_per_second = 0;
    std::vector<bool> source_side;  // by vertex
  };
  // `unbounded`: cables of NICs carry more than what their switch takes to others, so that no least
  // cut needs them unless both sides meet at a switch.
  [[nodiscard]] Answer Solve(bool unbounded) const {
    using Graph = lemon::StaticDigraph;
    std::vector<Ends> arcs;
    std::vector<std::int64_t> passed_on(static_cast<std::size_t>(vertices_), 0);
    for (const auto& [ends, rate] : rates_) {
      arcs.push_back(ends);
      if (!OfNics(ends)) passed_on[static_cast<std::size_t>(ends.first)] += rate;
    }
    Graph graph;
    graph.build(vertices_, arcs.begin(), arcs.end());
    Graph::ArcMap<std::int64_t> capacity(graph);
    int arc = 0;  // numbered in the order of `arcs`
    for (const auto& [ends, rate] : rates_) {
      const auto network_switch = static_cast<std::size_t>(std::max(ends.first, ends.second));
      const bool raised = unbounded && OfNics(ends);
      capacity[Graph::arc(arc++)] = rate + (raised ? passed_on[network_switch] : 0);
    }
    lemon::Preflow<Graph, Graph::ArcMap<std::int64_t>> flow(graph, capacity, Graph::node(kSource),
                                                            Graph::node(kSink));
    flow.runMinCut();
    Answer answer{.bits_per_second = flow.flowValue(),
                  .source_side = std::vector<bool>(static_cast<std::size_t>(vertices_))};
    for (int v = 0; v < vertices_; ++v) {
      answer.source_side[static_cast<std::size_t>(v)] = flow.minCut(Graph::node(v));
    }
    return answer;
  }

  [[nodiscard]] std::vector<LinkId> Crossing(const Answer& answer) const {
    const auto on_source_side = [&](int v) {
      return answer.source_side[static_cast<std::size_t>(v)];
    };
    std::vector<LinkId> links;
    for (std::size_t i = 0; i < fabric_.link_count(); ++i) {
      const auto ends = EndsOf(LinkId(i));
      if (ends && on_source_side(ends->first) && !on_source_side(ends->second)) {
        links.push_back(LinkId(i));
      }
    }
    return links;
  }

 private:
  static bool OfNics(const Ends& ends) { return std::min(ends.first, ends.second) <= kSink; }

  // The vertices that a link joins, unless they are one or it does not count.
  [[nodiscard]] std::optional<Ends> EndsOf(LinkId id) const {
    const Link& link = fabric_.link(id);
    const Ends ends{vertex_[Index(link.from)], vertex_[Index(link.to)]};
    if (link.kind != LinkKind::kNetwork || ends.first == ends.second) return std::nullopt;
    if (!failed_.empty() && failed_[Index(id)]) return std::nullopt;
    return ends;
  }

  void AddUpParallel() {
    std::ranges::sort(rates_);
    std::size_t kept = 0;
    for (const auto& rate : rates_) {
      if (kept > 0 && rates_[kept - 1].first == rate.first) {
        rates_[kept - 1].second += rate.second;
      } else {
        rates_[kept++] = rate;
      }
    }
    rates_.resize(kept);
  }

  const Fabric& fabric_;
  const std::vector<bool>& failed_;
  std::vector<int> vertex_;
  int vertices_ = 2;
  std::vector<std::pair<Ends, std::int64_t>> rates_;  // by ends
};

}  // namespace

Rate CutCapacity(const Fabric& fabric, const std::vector<bool>& side) {
  TL_CHECK(side.size() == fabric.node_count(), side.size(), fabric.node_count());
  return Rate::BitsPerSecond(CutProblem(fabric, side, {}).Solve(false).bits_per_second);
}

Cut LeastCut(const Fabric& fabric, const std::vector<bool>& side, const std::vector<bool>& failed) {
  TL_CHECK(side.size() == fabric.node_count(), side.size(), fabric.node_count());
  const CutProblem problem(fabric, side, failed);
  const CutProblem::Answer least = problem.Solve(false);
  const CutProblem::Answer between_switches = problem.Solve(true);
  const bool as_good = between_switches.bits_per_second == least.bits_per_second;
  return {.capacity = Rate::BitsPerSecond(least.bits_per_second),
          .links = problem.Crossing(as_good ? between_switches : least)};
}

}  // namespace trunkline
