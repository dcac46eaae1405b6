#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/collective/tuner.h"
#include "trunkline/fabric/catalog.h"
#include "trunkline/fabric/placement.h"
#include "trunkline/fabric/route.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {

// How the members of a group sit in the nodes of the fabric.
[[nodiscard]] GroupLayout LayoutOf(const Fabric& fabric, const Placement& placement,
                                   const std::vector<RankId>& members);

// What choosing reads of a run.
struct ChoiceInput {
  const Router& router;
  const TransportModel& transport;
  const Placement& placement;
  const NodeTemplate& node;
};

// The links between the members of a group, as the tuner sees them: the slowest between neighbours
// inside a node, those of its first pair across nodes, and out of a node as many NICs as the node
// with the fewest members uses.
[[nodiscard]] Result<GroupNetwork> NetworkOf(const ChoiceInput& input, const GroupLayout& layout,
                                             const std::vector<RankId>& members);

// A choice, and what it was chosen from: best first.
struct Chosen {
  CollectiveChoice choice;
  std::vector<TunerCandidate> candidates;
};

// Chooses for the groups of a placement, side by side too, and keeps what it has learnt of each.
class Chooser {
 public:
  // What `input` refers to outlives the chooser.
  explicit Chooser(const ChoiceInput& input) : input_(input) {}

  [[nodiscard]] const Placement& placement() const { return input_.placement; }

  // `choice` with algorithm, protocol and channels for the group: what `limits` names is kept, the
  // rest is chosen by cost.
  [[nodiscard]] Result<Chosen> Choose(const CollectiveChoice& choice, const TunerLimits& limits,
                                      const std::vector<RankId>& members);

  // The choices of every collective of a graph, each for the first group that runs it; algorithms
  // that the graph names are kept.
  [[nodiscard]] Result<std::vector<Chosen>> ChooseAll(const TaskGraph& graph);

 private:
  struct Answer {
    CollectiveChoice choice;
    TunerLimits limits;
    Chosen chosen;
  };
  struct Group {
    GroupLayout layout;
    GroupNetwork network;
    std::vector<Answer> answers;  // few: searched one by one
  };

  [[nodiscard]] Result<Group*> GroupOf(const std::vector<RankId>& members);

  const ChoiceInput input_;
  std::mutex mutex_;                             // guards what follows
  std::map<std::vector<RankId>, Group> groups_;  // by members
};

}  // namespace trunkline
