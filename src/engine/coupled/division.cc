#include "engine/coupled/division.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

class Divider {
 public:
  Divider(const EngineInput& input, const FlowProblem& problem)
      : input_(input),
        fabric_(input.router.fabric()),
        problem_(problem),
        division_{Unfolded(problem),
                  std::vector(problem.connections.size(), PacketLines::kNotCarried),
                  {}},
        is_crossed_(problem.capacities.size(), 0) {}

  Result<Division> Divide();

 private:
  Result<void> Look(std::uint32_t connection, const Manner& manner, std::uint64_t flow);
  // Whether more may want to use a link at once than it can carry.
  [[nodiscard]] bool Binds(const Connection& connection, LinkId link) const {
    return std::ranges::count(problem_.binding_hops_of(connection),
                              problem_.resource_index[Index(link)], &FlowHop::resource) != 0;
  }
  void CountStrangers();
  void FindSeparable();
  void NumberLines();

  const EngineInput& input_;
  const Fabric& fabric_;
  const FlowProblem& problem_;
  Division division_;
  std::vector<char> is_crossed_;  // by number of a resource: a bus that lines crowd
  std::vector<std::uint32_t> lines_of_job_;
};

Result<void> Divider::Look(std::uint32_t index, const Manner& manner, std::uint64_t flow) {
  const Connection& connection = problem_.connections[index];
  const DeviceId to = input_.placement.endpoint(connection.destination);
  const auto path = input_.router.FindPath(input_.placement.endpoint(connection.source), to, flow);
  if (!path) return std::unexpected(path.error());
  PacketLines::Line line;
  line.connection = index;
  line.source_rank = connection.source;
  line.destination_rank = connection.destination;
  line.awaited = input_.graph.awaited(connection.source);
  const std::uint32_t job = input_.graph.job_of(connection.source);
  if (job >= lines_of_job_.size()) lines_of_job_.resize(job + 1, 0);
  line.payload_per_128 = PayloadPer128(manner.protocol);
  bool network = false;
  std::int64_t bus_bits = INT64_MAX;
  Time latency = StepLatencyOf(input_.transport, manner, HopClass::kNetwork);
  for (const LinkId id : *path) {
    const Link& link = fabric_.link(id);
    if (link.kind == LinkKind::kNetwork) {
      if (!std::exchange(network, true)) line.source = link.from;
      line.destination = link.to;
      line.flight += link.latency;
    } else {
      latency += link.latency;
      bus_bits = std::min(bus_bits, link.rate.bits_per_second());
      if (Binds(connection, id)) (network ? line.receiving : line.sending).push_back(id);
    }
    if (link.to == to) continue;
    const Device& device = fabric_.device(link.to);
    (device.kind == DeviceKind::kSwitch ? line.flight : latency) += device.latency;
  }
  if (!network) return {};
  line.bus_rate = LoneRate({}, {}, Rate::BitsPerSecond(bus_bits / 128 * line.payload_per_128));
  for (const auto* buses : {&line.sending, &line.receiving}) {
    for (const LinkId id : *buses) is_crossed_[problem_.resource_index[Index(id)]] = 1;
  }
  line.number = lines_of_job_[job]++;
  division_.lines.push_back(std::move(line));
  Connection& rest = division_.folding.connections[index];
  rest.latency = latency;
  rest.binding_hops = 0;
  return {};
}

Result<Division> Divider::Divide() {
  for (const FlowProblem::Communicator& communicator : problem_.communicators) {
    std::uint32_t connection = communicator.first_connection;
    for (const Schedule::Pair& pair : problem_.patterns[communicator.pattern].pairs) {
      auto looked = Look(connection++, communicator.manner,
                         FlowOf(input_.graph.in_job(communicator.id), pair.channel));
      if (!looked) return std::unexpected(looked.error());
    }
  }
  for (const FlowProblem::Rank& rank : problem_.ranks) {
    const std::vector<std::uint32_t>& sends = problem_.shapes[rank.program].sends;
    for (std::uint32_t i = 0; i < sends.size(); ++i) {
      auto looked = Look(problem_.peer_connections[rank.first_send + i], {}, FlowOfRole(sends[i]));
      if (!looked) return std::unexpected(looked.error());
    }
  }
  NumberLines();
  CountStrangers();
  FindSeparable();
  return std::move(division_);
}

// What all ranks send at one time of a ring or an exchange lies together in memory.
void Divider::NumberLines() {
  const std::uint32_t ranks = input_.graph.ranks();
  const auto key = [&](const PacketLines::Line& line) {
    const auto source = static_cast<std::uint32_t>(Index(line.source_rank));
    const auto destination = static_cast<std::uint32_t>(Index(line.destination_rank));
    const std::uint32_t distance =
        destination >= source ? destination - source : destination + ranks - source;
    return std::tuple(distance, source, line.connection);
  };
  std::ranges::sort(division_.lines, {}, key);
  for (std::uint32_t i = 0; i < division_.lines.size(); ++i) {
    division_.line_of[division_.lines[i].connection] = i;
  }
}

// Slots are given back, and who is not awaited is cut off, without a packet that says so.
void Divider::FindSeparable() {
  const std::uint32_t ranks = input_.graph.ranks();
  bool& separable = division_.separable;
  separable = ranks == 0 || input_.graph.awaited(RankId(ranks - 1));
  for (const Pattern& pattern : problem_.patterns) {
    for (const Pattern::Use& use : pattern.uses) {
      for (std::uint32_t channel = 0; channel < use.schedule->channels(); ++channel) {
        separable = separable && use.schedule->channel_shape(channel).slots == 0;
      }
    }
  }
  const auto node_of = [&](RankId rank) {
    return fabric_.device(input_.placement.endpoint(rank)).node;
  };
  for (std::size_t i = 0; i < problem_.connections.size() && separable; ++i) {
    const Connection& connection = problem_.connections[i];
    separable = division_.line_of[i] != PacketLines::kNotCarried ||
                node_of(connection.source) == node_of(connection.destination);
  }
}

void Divider::CountStrangers() {
  for (std::size_t i = 0; i < problem_.connections.size(); ++i) {
    if (division_.line_of[i] != PacketLines::kNotCarried) continue;
    division_.strangers +=
        std::ranges::any_of(problem_.binding_hops_of(problem_.connections[i]),
                            [&](const FlowHop& hop) { return is_crossed_[hop.resource] != 0; });
  }
}

}  // namespace

Result<Division> Divide(const EngineInput& input, const FlowProblem& problem) {
  return Divider(input, problem).Divide();
}

}  // namespace trunkline
