#include "engine/packet/network_report.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "trunkline/base/check.h"

namespace trunkline {
namespace {

void AddLinks(const Plant& plant, PacketReport& report) {
  for (std::size_t i = 0; i < plant.ports.size(); ++i) {
    const Port& port = plant.ports[i];
    if (port.packets == 0) continue;
    PacketLinkUse use{.link = LinkId(i),
                      .wire_bytes = port.wire_bytes,
                      .packets = port.packets,
                      .marks = plant.marks[i],
                      .max_queue_bytes = plant.max_queue_bytes[i],
                      .until = Time::Picoseconds(port.busy_until)};
    for (std::uint8_t c = 0; c < plant.switches_model.classes && !plant.ingress.empty(); ++c) {
      use.pauses += plant.ingress[plant.QueueOf(static_cast<std::uint32_t>(i), c)].pauses;
    }
    report.links.push_back(use);
  }
}

void AddPauses(const Plant& plant, const ShardSet& shards, Time end, PacketReport& report) {
  const std::size_t classes = plant.switches_model.classes;
  const PauseCauses causes = shards.pause_causes();
  for (std::size_t queue = 0; queue < plant.pauses.size(); ++queue) {
    if (plant.ingress[queue].pauses == 0) continue;
    const Pause& pause = plant.pauses[queue];
    PacketPause use{.link = LinkId(queue / classes),
                    .traffic_class = static_cast<std::uint8_t>(queue % classes),
                    .pauses = plant.ingress[queue].pauses,
                    .paused = Time::Picoseconds(pause.past),
                    .causes = {}};
    if ((plant.ports[queue / classes].paused >> use.traffic_class & 1) != 0) {
      use.paused += std::max(end - Time::Picoseconds(pause.since), Time());
    }
    std::uint64_t sum = 0;
    const auto first = causes.lower_bound({queue, 0});
    const auto last = causes.lower_bound({queue + 1, 0});
    for (auto cause = first; cause != last; ++cause) sum += cause->second;
    for (auto cause = first; cause != last; ++cause) {
      use.causes.push_back(
          {.output = LinkId(cause->first.second / classes),
           .share = static_cast<double>(cause->second) / static_cast<double>(sum)});
    }
    std::ranges::sort(use.causes, [](const auto& a, const auto& b) {
      return a.share != b.share ? a.share > b.share : a.output < b.output;
    });
    report.pauses.push_back(std::move(use));
  }
}

}  // namespace

void CheckIsEmpty(const Plant& plant) {
  std::vector<std::uint64_t> held(plant.ingress.size());
  for (std::size_t i = 0; i < plant.ports.size(); ++i) {
    const Port& port = plant.ports[i];
    TL_CHECK(port.queued_bytes == 0 && port.waiting == 0, "packets are left at a port", i);
    if (port.held.bytes == 0 || held.empty()) continue;
    held[plant.QueueOf(port.held.ingress, port.held.traffic_class)] += port.held.bytes;
  }
  for (std::size_t queue = 0; queue < held.size(); ++queue) {
    const Ingress& ingress = plant.ingress[queue];
    TL_CHECK(ingress.used + ingress.headroom == held[queue], "an input is charged for nothing",
             queue, ingress.used, ingress.headroom, held[queue]);
  }
}

void ReportNetwork(const Plant& plant, const ShardSet& shards, Time end, PacketReport& report) {
  report.events = shards.events();
  report.counters = shards.counters();
  AddLinks(plant, report);
  AddPauses(plant, shards, end, report);
}

}  // namespace trunkline
