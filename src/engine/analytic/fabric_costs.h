#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/memo.h"
#include "engine/analytic/group_model.h"
#include "engine/cuts.h"
#include "engine/saturating_time.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {

// What groups and pairs of endpoints cost on one fabric in closed form, found on demand and kept,
// so that all steps that are tried share it, side by side too. The router and the transport outlive
// it.
class FabricCosts {
 public:
  FabricCosts(const Router& router, const TransportModel& transport)
      : router_(router), transport_(transport), cuts_(router) {}
  // `blocks`: of the router's fabric and options.
  FabricCosts(const Router& router, const TransportModel& transport, FabricLevels blocks)
      : router_(router), transport_(transport), cuts_(router, std::move(blocks)) {}

  // Whether one group or pair stands for all that sit alike.
  [[nodiscard]] bool alike() const { return cuts_.alike(); }
  [[nodiscard]] const FabricCuts& cuts() const { return cuts_; }

  // Endpoints that communicate side by side. The reference stays valid.
  [[nodiscard]] const CutLoad& LoadOf(std::vector<DeviceId> endpoints);

  // A group and what has been asked of it; its own affair but for TimeOf.
  struct Group {
    GroupModel model;
    std::vector<std::pair<CollectiveChoice, Time>> times;  // few: searched one by one
  };
  // `load`: of LoadOf; `siblings`: see GroupModel::Make. The pointer stays valid.
  [[nodiscard]] Result<Group*> GroupOf(std::vector<DeviceId> members, const CutLoad& load,
                                       std::vector<std::vector<DeviceId>> siblings);
  // Where groups of one pattern (FabricCuts::PatternOf) fare alike.
  [[nodiscard]] Result<Group*> GroupOf(std::uint64_t pattern, const std::vector<DeviceId>& members,
                                       const CutLoad& load);
  // The time of a collective whose members start together.
  [[nodiscard]] Result<Time> TimeOf(Group& group, const CollectiveChoice& choice);
  // The time of the slowest of groups that lie differently, and how many times as long as the
  // fastest it takes.
  struct Slowest {
    Time time;
    double unlike = 1;
  };
  [[nodiscard]] Result<Slowest> TimeOf(const std::vector<Group*>& groups,
                                       const CollectiveChoice& choice);
  // Where the groups of runs differed most, so far; not of steps that are tried beside them.
  [[nodiscard]] double most_unlike() const { return most_unlike_; }
  void NoteUnlike(double unlike) { most_unlike_ = std::max(most_unlike_, unlike); }
  // The lower bound of a collective, with the fabric to itself.
  [[nodiscard]] Result<Time> BoundOf(const std::vector<DeviceId>& members,
                                     const CollectiveChoice& choice) const;

  // A message: how long it keeps the sender busy, and how long it then flies.
  struct Message {
    double per_byte = 0;
    Time overhead;
    Time latency;
    [[nodiscard]] Time Busy(Bytes bytes) const {
      return std::min(Time::Horizon(),
                      overhead + SaturatingTime(per_byte * static_cast<double>(bytes.count())));
    }
  };
  // From one of the endpoints of `senders` to one of `receivers`, both of LoadOf.
  [[nodiscard]] Result<Message> MessageOf(DeviceId from, const CutLoad& senders, DeviceId to,
                                          const CutLoad& receivers);
  // What was found for the ranks of one layout (TaskGraph::layout) where one group or pair stands
  // for all that sit alike: steps that are tried have most layouts in common.
  struct OfLayouts {
    // By the layout's number and the group of the rank that was asked for.
    Memo<std::pair<std::uint64_t, CommunicatorId>, std::vector<Group*>> groups;
    // By the layout's number, the sender and its peer role.
    Memo<std::tuple<std::uint64_t, RankId, std::uint32_t>, Message> messages;
  };
  [[nodiscard]] OfLayouts& of_layouts() { return of_layouts_; }

  // The slowest of messages of one size that are sent side by side: they share every link that
  // their routes cross.
  using Ends = std::pair<DeviceId, DeviceId>;  // from, to
  [[nodiscard]] Result<Message> SlowestOf(const std::vector<Ends>& messages) const;

 private:
  using Pair = std::tuple<DeviceId, const CutLoad*, DeviceId, const CutLoad*>;

  [[nodiscard]] Time StepLatency(HopClass hop_class) const;

  const Router& router_;
  const TransportModel& transport_;
  const FabricCuts cuts_;
  double most_unlike_ = 1;
  OfLayouts of_layouts_;
  std::mutex mutex_;  // guards what follows, groups included
  std::map<std::vector<DeviceId>, CutLoad> loads_;
  // The first of several groups, then its siblings.
  using Groups = std::vector<std::vector<DeviceId>>;
  std::map<std::pair<const CutLoad*, Groups>, Group> groups_;
  std::unordered_map<std::uint64_t, Group> groups_of_pattern_;
  std::map<Pair, Message> messages_;
};

}  // namespace trunkline
