#include "engine/packet/check_traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

constexpr std::int64_t kMostPackets = INT32_MAX - 1;  // of one flow: packet numbers are compared

}  // namespace

Diagnostics CheckPacketTraffic(const PacketInput& input, const TrafficWorkload& traffic,
                               const Placement& placement) {
  Diagnostics problems;
  const auto refuse = [&](std::string code, std::string message, std::string hint) {
    auto error = Error(std::move(code), std::move(message), std::move(hint));
    problems.push_back(std::move(error.error().front()));
  };
  if (traffic.ranks > placement.rank_count()) {
    refuse("TL1600",
           fmt::format("the traffic has {} ranks and the placement {}", traffic.ranks,
                       placement.rank_count()),
           "place every rank");
    return problems;
  }
  const auto first = [&](const std::function<bool(const TrafficFlow&)>& is_wrong) {
    const auto found = std::ranges::find_if(traffic.flows, is_wrong);
    return found == traffic.flows.end() ? nullptr : &*found;
  };
  // The last class of switches is for control.
  const auto& lanes = input.switches.lane_of_class;
  const int data_classes =
      lanes.empty() ? input.switches.classes - 1 : static_cast<int>(lanes.size());
  if (const TrafficFlow* flow =
          first([&](const TrafficFlow& each) { return each.traffic_class >= data_classes; })) {
    refuse("TL1816",
           fmt::format("traffic class {} where switches have {} for data", flow->traffic_class,
                       data_classes),
           lanes.empty() ? fmt::format("give switches {} classes, or use classes below {}",
                                       flow->traffic_class + 2, data_classes)
                         : fmt::format("map it to a lane, or use classes below {}", data_classes));
  }
  const std::int64_t mtu = input.transport.mtu.count();
  if (const TrafficFlow* flow = first(
          [&](const TrafficFlow& each) { return each.bytes.count() / mtu >= kMostPackets; })) {
    refuse("TL1817",
           fmt::format("a message of {} in packets of {}", Humanize(flow->bytes),
                       Humanize(input.transport.mtu)),
           fmt::format("at most {}, or the flow engine",
                       Humanize(input.transport.mtu * kMostPackets)));
  }
  const Fabric& fabric = input.router.fabric();
  const auto node = [&](RankId rank) { return fabric.device(placement.endpoint(rank)).node; };
  if (const TrafficFlow* flow = first(
          [&](const TrafficFlow& each) { return node(each.source) == node(each.destination); })) {
    refuse("TL1818",
           fmt::format("ranks {} and {} are in one node: their messages cross no network",
                       Index(flow->source), Index(flow->destination)),
           "traffic between ranks of different nodes, or the flow engine");
  }
  return problems;
}

}  // namespace trunkline
