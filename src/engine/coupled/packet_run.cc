#include "engine/coupled/packet_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/flow/make_timeline.h"
#include "trunkline/base/check.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

// Who carries which connection: those through the network become lines. What is left of them for
// the interpreter is the latency of buses and software.
struct Division {
  Folding folding;
  std::vector<std::uint32_t> line_of;  // by connection
  std::vector<PacketCarrier::Line> lines;
  std::uint32_t strangers = 0;  // connections inside nodes that meet lines on a crowded bus
};

class Divider {
 public:
  Divider(const EngineInput& input, const FlowProblem& problem)
      : input_(input),
        fabric_(input.router.fabric()),
        problem_(problem),
        division_{Unfolded(problem),
                  std::vector(problem.connections.size(), PacketCarrier::kNotCarried),
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
  PacketCarrier::Line line;
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
  division_.line_of[index] = static_cast<std::uint32_t>(division_.lines.size());
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
  CountStrangers();
  return std::move(division_);
}

void Divider::CountStrangers() {
  for (std::size_t i = 0; i < problem_.connections.size(); ++i) {
    if (division_.line_of[i] != PacketCarrier::kNotCarried) continue;
    division_.strangers +=
        std::ranges::any_of(problem_.binding_hops_of(problem_.connections[i]),
                            [&](const FlowHop& hop) { return is_crossed_[hop.resource] != 0; });
  }
}

Diagnostics WarnOfBuses(std::uint32_t strangers) {
  if (strangers == 0) return {};
  Diagnostic warning;
  warning.severity = Severity::kWarning;
  warning.code = "TL1824";
  warning.message = fmt::format(
      "{} connections inside nodes share buses with packets that cannot all cross them at once, "
      "and neither sees the other",
      strangers);
  warning.hint = "the flow engine shares buses among all; times here may be too short";
  return {std::move(warning)};
}

// What packets took of network links in place of what the flows of their connections would have.
void ReplaceNetworkLinks(const Fabric& fabric, const PacketReport& packets,
                         std::vector<LinkUse>& links) {
  std::erase_if(
      links, [&](const LinkUse& use) { return fabric.link(use.link).kind == LinkKind::kNetwork; });
  for (const PacketLinkUse& use : packets.links) links.push_back({use.link, use.wire_bytes});
  std::ranges::sort(links, {}, &LinkUse::link);
}

}  // namespace

Result<std::unique_ptr<PacketRun>> PacketRun::Make(const EngineInput& input,
                                                   const PacketInput& packets,
                                                   const EngineOptions& options) {
  TL_CHECK(&input.router == &packets.router, "two routers for one run");
  const Fabric& fabric = input.router.fabric();
  if (options.handshake != Handshake::kEager) {
    return Error("TL1603", "the packet engine sends eagerly: it knows no rendezvous",
                 "leave the handshake out, or the flow engine");
  }
  auto faults = ResolveFaults(fabric, packets.faults);
  if (!faults) return std::unexpected(faults.error());
  Diagnostics problems =
      CheckPacketSettings(fabric, input.router.options().policy, packets.switches,
                          packets.transport, !faults->empty(), input.router.options().parameters);
  std::erase_if(problems, [](const Diagnostic& d) { return d.severity == Severity::kWarning; });
  if (!problems.empty()) return std::unexpected(std::move(problems));
  auto problem = BuildFlowProblem(input, options.handshake, false);
  if (!problem) return std::unexpected(problem.error());
  auto run = std::unique_ptr<PacketRun>(new PacketRun(input, options, *std::move(problem)));
  if (auto done = run->Execute(packets, *std::move(faults)); !done) {
    return std::unexpected(done.error());
  }
  return run;
}

Result<void> PacketRun::Execute(const PacketInput& packets, std::vector<CableChange> faults) {
  auto division = Divider(input_, problem_).Divide();
  if (!division) return std::unexpected(division.error());
  folding_ = std::move(division->folding);
  warnings_ = WarnOfBuses(division->strangers);
  carrier_ =
      std::make_unique<PacketCarrier>(packets, std::move(faults), std::move(division->line_of),
                                      std::move(division->lines), input_.graph.ranks());
  const std::vector<char> withdrawn(problem_.patterns.size(), 1);
  runner_ =
      std::make_unique<TaskRunner>(input_, options_, problem_, folding_, withdrawn, carrier_.get());
  const auto status = runner_->Run();
  if (!status) return std::unexpected(status.error());
  if (!carrier_->problems().empty()) return std::unexpected(carrier_->problems());
  status_ = *status;
  if (status_ == RunStatus::kUnfinished && carrier_->FindDeadlock()) {
    status_ = RunStatus::kDeadlocked;
  }
  return {};
}

Result<Timeline> PacketRun::MakeTimeline() const {
  const Time reached = status_ == RunStatus::kFinished ? Time() : carrier_->last_event();
  return trunkline::MakeTimeline(input_, options_, problem_, folding_, *runner_, status_, reached);
}

Result<PacketTimeline> RunPacket(const EngineInput& input, const PacketInput& packets,
                                 const EngineOptions& options) {
  const auto run = PacketRun::Make(input, packets, options);
  if (!run) return std::unexpected(run.error());
  auto timeline = (*run)->MakeTimeline();
  if (!timeline) return std::unexpected(timeline.error());
  PacketReport report = (*run)->Report(timeline->end);
  PacketTimeline result{*std::move(timeline), std::move(report), (*run)->warnings()};
  result.timeline.events += result.packets.events;
  ReplaceNetworkLinks(input.router.fabric(), result.packets, result.timeline.links);
  return result;
}

}  // namespace trunkline
