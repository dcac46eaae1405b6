#include "engine/packet/waiting_flows.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "engine/packet/held_up.h"

namespace trunkline {

bool IsUndelivered(const FlowRecord& record) {
  return record.delivered == FlowRecord::kNot && record.failed == FlowRecord::kNot;
}

void AddWaiting(const Fabric& fabric, const Plant& plant, const QueuePairPool& queue_pairs,
                const TrafficWorkload& traffic, PacketReport& report) {
  constexpr std::size_t kMost = 20;
  std::size_t found = 0;
  // By trigger: a flow that would have activated it and did not end.
  std::vector<std::uint32_t> missing(traffic.triggers.size(), TrafficFlow::kNoTrigger);
  for (std::uint32_t i = 0; i < traffic.flows.size(); ++i) {
    const TrafficFlow& flow = traffic.flows[i];
    const FlowRecord& record = report.flows[i];
    const auto note = [&](std::uint32_t trigger, Time done) {
      if (trigger != TrafficFlow::kNoTrigger && done == FlowRecord::kNot) missing[trigger] = i;
    };
    note(flow.when_sent, record.acknowledged);
    note(flow.when_received, record.delivered);
  }
  for (std::uint32_t i = 0; i < traffic.flows.size(); ++i) {
    const TrafficFlow& flow = traffic.flows[i];
    const FlowRecord& record = report.flows[i];
    if (!IsUndelivered(record)) continue;
    if (++found > kMost) continue;
    std::string why;
    if (record.posted != FlowRecord::kNot) {
      const std::uint32_t queue_pair = queue_pairs.Find(i);
      why = fmt::format("{} of {} packets have arrived{}", plant.receivers[queue_pair].received,
                        plant.senders[queue_pair].end, WhatHoldsUp(fabric, plant, queue_pair));
    } else if (flow.trigger != TrafficFlow::kNoTrigger &&
               missing[flow.trigger] != TrafficFlow::kNoTrigger) {
      why = fmt::format("it waits for flow {}", missing[flow.trigger]);
    } else {
      why = fmt::format("it was to begin at {}", Humanize(flow.start));
    }
    report.stuck.push_back(fmt::format("flow {}, {} from rank {} to rank {}: {}", i,
                                       Humanize(flow.bytes), Index(flow.source),
                                       Index(flow.destination), why));
  }
  if (found > kMost) report.stuck.push_back(fmt::format("and {} more flows", found - kMost));
}

}  // namespace trunkline
