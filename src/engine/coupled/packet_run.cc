#include "engine/coupled/packet_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/coupled/division.h"
#include "engine/flow/make_timeline.h"
#include "trunkline/base/check.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

Diagnostics WarnOfBuses(std::uint32_t strangers) {
  if (strangers == 0) return {};
  return {Warning("TL1824",
                  fmt::format("{} connections inside nodes share buses with packets that cannot "
                              "all cross them at once, and neither sees the other",
                              strangers),
                  "the flow engine shares buses among all; times here may be too short")};
}

// What packets took of network links in place of what the flows of their connections would have.
void ReplaceNetworkLinks(const Fabric& fabric, const PacketReport& packets,
                         std::vector<LinkUse>& links) {
  std::erase_if(
      links, [&](const LinkUse& use) { return fabric.link(use.link).kind == LinkKind::kNetwork; });
  for (const PacketLinkUse& use : packets.links)
    links.push_back({use.link, use.wire_bytes, use.until});
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
  auto division = Divide(input_, problem_);
  if (!division) return std::unexpected(division.error());
  warnings_ = WarnOfBuses(division->strangers);
  run_ = std::make_unique<CoupledRun>(input_, options_, problem_, packets, std::move(faults),
                                      *division);
  folding_ = std::move(division->folding);
  const auto status = run_->Run();
  if (!status) return std::unexpected(status.error());
  status_ = *status;
  return {};
}

Result<Timeline> PacketRun::MakeTimeline() const {
  const Time reached = status_ == RunStatus::kFinished ? Time() : run_->last_event();
  return trunkline::MakeTimeline(input_, options_, problem_, folding_, runner(), status_, reached);
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
