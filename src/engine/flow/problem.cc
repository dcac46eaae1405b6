#include "engine/flow/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "engine/alike.h"
#include "engine/flow/connect.h"
#include "engine/flow/contention.h"
#include "engine/flow/rotation.h"
#include "engine/hop_class.h"
#include "trunkline/base/random.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

class Builder {
 public:
  Builder(const EngineInput& input, Handshake handshake)
      : input_(input), handshake_(handshake), graph_(input.graph), fabric_(input.router.fabric()) {}

  Result<FlowProblem> Build(bool rotate);

 private:
  // The collectives that programs run on a communicator.
  struct Usage {
    std::vector<std::uint32_t> collectives;  // sorted
    std::vector<std::uint64_t> merged;       // (program, port) already looked at
  };

  void CollectRanks();
  void UsePort(std::uint32_t communicator, std::uint32_t program, std::uint32_t port);
  std::uint32_t CommunicatorOf(RankId rank, const ProgramShape::Port& port);
  Result<void> FindRotation();
  Result<void> FindPatterns();
  Result<std::uint32_t> PatternOf(const std::vector<std::uint32_t>& collectives,
                                  std::uint32_t layout);
  Result<std::shared_ptr<const Schedule>> ScheduleOf(std::uint32_t collective,
                                                     std::uint32_t layout);
  std::uint32_t LayoutOf(const std::vector<RankId>& members);
  Result<void> ConnectPeers(Connector& connector);

  const EngineInput& input_;
  Handshake handshake_;
  const TaskGraph& graph_;
  const Fabric& fabric_;
  FlowProblem problem_;
  std::optional<Rotation> rotation_;
  std::vector<Usage> usage_;  // by communicator
  std::map<std::pair<CommunicatorId, Manner>, std::uint32_t> communicator_index_;
  std::map<GroupLayout, std::uint32_t> layout_index_;
  std::vector<const GroupLayout*> layouts_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::shared_ptr<const Schedule>> schedules_;
  std::map<std::pair<std::vector<std::uint32_t>, std::uint32_t>, std::uint32_t> pattern_index_;
};

std::uint32_t Builder::CommunicatorOf(RankId rank, const ProgramShape::Port& port) {
  const CommunicatorId id = graph_.communicator(rank, port.role);
  const auto next = static_cast<std::uint32_t>(problem_.communicators.size());
  const auto [entry, is_new] = communicator_index_.try_emplace({id, port.manner}, next);
  if (is_new) {
    FlowProblem::Communicator communicator;
    communicator.id = id;
    communicator.manner = port.manner;
    communicator.members = graph_.members(id);
    problem_.communicators.push_back(std::move(communicator));
    usage_.emplace_back();
  }
  return entry->second;
}

void Builder::UsePort(std::uint32_t communicator, std::uint32_t program, std::uint32_t port) {
  Usage& usage = usage_[communicator];
  const std::uint64_t key = (std::uint64_t{program} << 32) | port;
  if (std::ranges::find(usage.merged, key) != usage.merged.end()) return;
  usage.merged.push_back(key);
  const std::vector<Task>& tasks = graph_.program(program).tasks;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].kind != TaskKind::kCollective) continue;
    if (problem_.shapes[program].slot[i] != port) continue;
    const auto at = std::ranges::lower_bound(usage.collectives, tasks[i].collective);
    if (at == usage.collectives.end() || *at != tasks[i].collective) {
      usage.collectives.insert(at, tasks[i].collective);
    }
  }
}

void Builder::CollectRanks() {
  for (std::uint32_t i = 0; i < graph_.program_count(); ++i) {
    problem_.shapes.push_back(ShapeOf(graph_.program(i), graph_));
  }
  std::uint32_t seats = 0;
  std::uint32_t peers = 0;
  for (std::uint32_t i = 0; i < graph_.ranks(); ++i) {
    FlowProblem::Rank rank;
    rank.program = graph_.program_of(RankId(i));
    const ProgramShape& shape = problem_.shapes[rank.program];
    rank.first_seat = seats;
    rank.first_send = peers;
    rank.first_receive = peers + static_cast<std::uint32_t>(shape.sends.size());
    seats += static_cast<std::uint32_t>(shape.ports.size());
    peers = rank.first_receive + static_cast<std::uint32_t>(shape.receives.size());
    for (std::uint32_t port = 0; port < shape.ports.size(); ++port) {
      const std::uint32_t communicator = CommunicatorOf(RankId(i), shape.ports[port]);
      UsePort(communicator, rank.program, port);
      problem_.seats.push_back({communicator, 0});
    }
    problem_.ranks.push_back(rank);
  }
  problem_.peer_connections.resize(peers, ProgramShape::kNoSlot);
  // Positions: one pass over the members of each communicator.
  for (std::uint32_t c = 0; c < problem_.communicators.size(); ++c) {
    const FlowProblem::Communicator& communicator = problem_.communicators[c];
    for (std::uint32_t position = 0; position < communicator.members.size(); ++position) {
      const FlowProblem::Rank& rank = problem_.ranks[Index(communicator.members[position])];
      const std::size_t ports = problem_.shapes[rank.program].ports.size();
      for (std::size_t port = 0; port < ports; ++port) {
        FlowProblem::Seat& seat = problem_.seats[rank.first_seat + port];
        if (seat.communicator == c) seat.position = position;
      }
    }
  }
}

std::uint32_t Builder::LayoutOf(const std::vector<RankId>& members) {
  GroupLayout layout;
  layout.meshed = IsMeshed(fabric_, input_.placement.endpoint(members.front()));
  std::unordered_map<std::uint32_t, std::uint32_t> order;
  std::uint32_t next_node = 0;
  for (const RankId rank : members) {
    const Device& device = fabric_.device(input_.placement.endpoint(rank));
    if (device.node == Device::kNoNode) {
      layout.node.push_back(next_node++);
    } else {
      const auto [node, is_new] = order.try_emplace(device.node, next_node);
      if (is_new) ++next_node;
      layout.node.push_back(node->second);
    }
    layout.local.push_back(device.local);
  }
  const auto next = static_cast<std::uint32_t>(layouts_.size());
  const auto [entry, is_new] = layout_index_.try_emplace(std::move(layout), next);
  if (is_new) layouts_.push_back(&entry->first);
  return entry->second;
}

Result<std::shared_ptr<const Schedule>> Builder::ScheduleOf(std::uint32_t collective,
                                                            std::uint32_t layout) {
  std::shared_ptr<const Schedule>& schedule = schedules_[{collective, layout}];
  if (schedule) return schedule;
  const CollectiveChoice& choice = graph_.collectives()[collective];
  auto made = MakeSchedule(choice.algorithm, choice.spec, *layouts_[layout]);
  if (!made) return std::unexpected(made.error());
  if ((*made)->participants() > (*made)->ranks()) {
    return Error("TL1601",
                 fmt::format("the flow engine cannot run '{}': it reduces or multicasts inside "
                             "switches",
                             choice.algorithm),
                 "choose an algorithm whose data moves between ranks only, or the analytic engine");
  }
  schedule = *std::move(made);
  return schedule;
}

Result<std::uint32_t> Builder::PatternOf(const std::vector<std::uint32_t>& collectives,
                                         std::uint32_t layout) {
  const auto next = static_cast<std::uint32_t>(problem_.patterns.size());
  const auto [entry, is_new] = pattern_index_.try_emplace({collectives, layout}, next);
  if (!is_new) return entry->second;
  Pattern pattern;
  for (const std::uint32_t collective : collectives) {
    auto schedule = ScheduleOf(collective, layout);
    if (!schedule) return std::unexpected(schedule.error());
    std::vector<Schedule::Pair> pairs =
        rotation_ ? RotatedPairs(**schedule, rotation_->period) : (*schedule)->pairs();
    if (pattern.pairs.empty()) {
      pattern.pairs = std::move(pairs);
    } else {
      std::vector<Schedule::Pair> merged;
      merged.reserve(pattern.pairs.size() + pairs.size());
      std::ranges::set_union(pattern.pairs, pairs, std::back_inserter(merged));
      pattern.pairs = std::move(merged);
    }
    pattern.channels = std::max(pattern.channels, (*schedule)->channels());
    pattern.uses.push_back({collective, *std::move(schedule), {}});
  }
  for (Pattern::Use& use : pattern.uses) {
    if (pattern.uses.size() == 1) break;
    const std::vector<Schedule::Pair> own = use.schedule->pairs();
    for (const Schedule::Pair& pair : pattern.pairs) {
      use.pairs.push_back(std::ranges::binary_search(own, pair) ? 1 : 0);
    }
  }
  const std::uint32_t members = layouts_[layout]->size();
  pattern.period = rotation_ ? rotation_->period : members;
  pattern.IndexPairs(members);
  problem_.patterns.push_back(std::move(pattern));
  return next;
}

// Looks at runs that are one collective among all ranks, in order.
Result<void> Builder::FindRotation() {
  if (problem_.shapes.size() != 1 || problem_.communicators.size() != 1) return {};
  const ProgramShape& shape = problem_.shapes[0];
  const FlowProblem::Communicator& all = problem_.communicators[0];
  if (shape.ports.size() != 1 || !shape.sends.empty() || !shape.receives.empty()) return {};
  if (usage_[0].collectives.size() != 1 || all.members.size() != graph_.ranks()) return {};
  for (std::uint32_t i = 0; i < all.members.size(); ++i) {
    if (all.members[i] != RankId(i)) return {};
  }
  const auto schedule = ScheduleOf(usage_[0].collectives[0], LayoutOf(all.members));
  if (!schedule) return std::unexpected(schedule.error());
  rotation_ = trunkline::FindRotation(input_.router, input_.placement, **schedule);
  if (rotation_) problem_.period = rotation_->period;
  return {};
}

Result<void> Builder::FindPatterns() {
  for (std::uint32_t c = 0; c < problem_.communicators.size(); ++c) {
    FlowProblem::Communicator& communicator = problem_.communicators[c];
    auto pattern = PatternOf(usage_[c].collectives, LayoutOf(communicator.members));
    if (!pattern) return std::unexpected(pattern.error());
    communicator.pattern = *pattern;
  }
  return {};
}

Result<void> Builder::ConnectPeers(Connector& connector) {
  // A send creates the connection, the receive of the role that pairs with it finds it.
  std::unordered_map<std::uint64_t, std::uint32_t> by_sender;
  by_sender.reserve(problem_.peer_connections.size());
  const auto connect = [&](RankId source, RankId destination,
                           std::uint32_t role) -> Result<std::uint32_t> {
    const auto next = static_cast<std::uint32_t>(problem_.connections.size());
    const std::uint64_t sender = (std::uint64_t{Index(source)} << 32) | role;
    const auto [entry, is_new] = by_sender.try_emplace(sender, next);
    if (is_new) {
      auto connected = connector.Connect(source, destination, Manner{}, FlowOfRole(role));
      if (!connected) return std::unexpected(connected.error());
    }
    return entry->second;
  };
  for (std::uint32_t i = 0; i < problem_.ranks.size(); ++i) {
    const FlowProblem::Rank& rank = problem_.ranks[i];
    const ProgramShape& shape = problem_.shapes[rank.program];
    for (std::size_t s = 0; s < shape.sends.size(); ++s) {
      auto id = connect(RankId(i), graph_.peer(RankId(i), shape.sends[s]), shape.sends[s]);
      if (!id) return std::unexpected(id.error());
      problem_.peer_connections[rank.first_send + s] = *id;
    }
    for (std::size_t s = 0; s < shape.receives.size(); ++s) {
      auto id = connect(graph_.peer(RankId(i), shape.receives[s]), RankId(i),
                        graph_.sender_role(RankId(i), shape.receives[s]));
      if (!id) return std::unexpected(id.error());
      problem_.peer_connections[rank.first_receive + s] = *id;
    }
  }
  return {};
}

Result<FlowProblem> Builder::Build(bool rotate) {
  if (graph_.ranks() > input_.placement.rank_count()) {
    return Error("TL1600",
                 fmt::format("the workload has {} ranks and the placement {}", graph_.ranks(),
                             input_.placement.rank_count()),
                 "place every rank");
  }
  CollectRanks();
  problem_.period = graph_.ranks();
  if (rotate) {
    if (auto found = FindRotation(); !found) return std::unexpected(found.error());
  }
  if (auto found = FindPatterns(); !found) return std::unexpected(found.error());
  Connector connector(input_, rotation_, problem_);
  if (auto connected = connector.ConnectCommunicators(); !connected) {
    return std::unexpected(connected.error());
  }
  if (auto connected = ConnectPeers(connector); !connected) {
    return std::unexpected(connected.error());
  }
  FindBindingHops(graph_, handshake_, problem_);
  return std::move(problem_);
}

}  // namespace

std::uint64_t FlowOf(CommunicatorId communicator, std::uint32_t channel) {
  return HashCombine(Index(communicator), channel);
}

std::uint64_t FlowOfRole(std::uint32_t role) { return ~std::uint64_t{role}; }

Time StepLatencyOf(const TransportModel& transport, const Manner& manner, HopClass hop_class) {
  const StepLatency& step = manner.tree ? transport.tree_step_latency : transport.step_latency;
  return step[static_cast<std::size_t>(manner.protocol)][static_cast<std::size_t>(hop_class)];
}

Result<FlowProblem> BuildFlowProblem(const EngineInput& input, Handshake handshake, bool rotate) {
  return Builder(input, handshake).Build(rotate);
}

}  // namespace trunkline
