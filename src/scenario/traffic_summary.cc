#include "scenario/traffic_summary.h"

#include <algorithm>
#include <optional>

#include "trunkline/fabric/fabric.h"
#include "trunkline/fabric/route.h"

namespace trunkline {
namespace {

// How long measured flows took, in at most so many points.
std::vector<CompletionPoint> Completion(const TrafficWorkload& traffic,
                                        std::span<const FlowRecord> records) {
  constexpr std::size_t kPoints = 200;
  std::vector<double> times;
  for (const FlowRecord& record : records) {
    if (record.delivered == FlowRecord::kNot || record.posted < traffic.measure_from ||
        record.posted >= traffic.measure_until) {
      continue;
    }
    times.push_back((record.delivered - record.posted).seconds());
  }
  std::ranges::sort(times);
  std::vector<CompletionPoint> points;
  const std::size_t count = std::min(kPoints, times.size());
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t rank = i * times.size() / count;
    points.push_back({.fct_s = times[rank - 1],
                      .share = static_cast<double>(rank) / static_cast<double>(times.size())});
  }
  return points;
}

}  // namespace

TrafficResult SummariseFlows(const TrafficWorkload& traffic, std::span<const FlowRecord> records) {
  TrafficResult out;
  out.statistics = MeasureTraffic(traffic, records);
  for (std::size_t j = 0; traffic.jobs.size() > 1 && j < traffic.jobs.size(); ++j) {
    out.jobs.push_back(
        {.name = traffic.jobs[j],
         .statistics = MeasureTraffic(traffic, records, static_cast<std::uint16_t>(j))});
  }
  out.completion = Completion(traffic, records);
  out.unposted = static_cast<std::uint64_t>(
      std::ranges::count(records, FlowRecord::kNot, &FlowRecord::posted));
  out.offered_load = traffic.offered_load;
  out.saturation = JudgeSaturation(traffic, records);
  return out;
}

namespace {

// The least that any path between two endpoints takes: all have as many cables as the shortest at
// least, and each cable and switch delays as the quickest of the fabric does at least.
class LeastLatency {
 public:
  explicit LeastLatency(const Router& router)
      : fabric_(router.fabric()),
        shortest_(fabric_,
                  {.policy = RoutingPolicy::kEcmp, .gpudirect = router.options().gpudirect}),
        cable_(Time::Max()),
        switch_(Time::Max()) {
    for (std::size_t i = 0; i < fabric_.link_count(); i += 2) {
      const Link& link = fabric_.link(LinkId(i));
      if (link.kind == LinkKind::kNetwork) cable_ = std::min(cable_, link.latency);
    }
    for (std::size_t i = 0; i < fabric_.device_count(); ++i) {
      const Device& device = fabric_.device(DeviceId(i));
      if (device.kind == DeviceKind::kSwitch) switch_ = std::min(switch_, device.latency);
    }
  }

  // Nothing where no path leads.
  [[nodiscard]] Time Between(DeviceId source, DeviceId destination) const {
    const auto path = shortest_.FindPath(source, destination, 0);
    if (!path) return {};
    Time sum;
    for (const LinkId id : *path) {
      const Link& link = fabric_.link(id);
      const Device& to = fabric_.device(link.to);
      sum += link.kind == LinkKind::kNetwork ? cable_ : link.latency;
      if (link.to == destination) continue;
      sum += to.kind == DeviceKind::kSwitch ? switch_ : to.latency;
    }
    return sum;
  }

 private:
  const Fabric& fabric_;
  Router shortest_;
  Time cable_;
  Time switch_;
};

}  // namespace

Time TrafficBound(const TrafficWorkload& traffic, std::span<const FlowRecord> records,
                  const RunResult& result) {
  const Fabric& fabric = *result.fabric;
  // Packets that choose their ways one by one may have faster ones than that of FlowRecord::alone,
  // which as a flow is the slowest of those it is split over: of them, only the latency is sure.
  const RoutingPolicy policy = result.router->options().policy;
  const bool detours = JudgesByQueues(policy) || policy == RoutingPolicy::kValiant;
  const bool one_path =
      PathChoiceOf(policy) == PathChoice::kFlow || (result.engine != "packet" && !detours);
  std::optional<LeastLatency> least;
  if (!one_path) least.emplace(*result.router);
  std::vector<Bytes> sent(traffic.ranks);
  std::vector<Bytes> received(traffic.ranks);
  Time bound;
  for (std::size_t i = 0; i < traffic.flows.size(); ++i) {
    const TrafficFlow& flow = traffic.flows[i];
    sent[Index(flow.source)] += flow.bytes;
    received[Index(flow.destination)] += flow.bytes;
    if (records[i].posted == FlowRecord::kNot) continue;
    const FlowRecord& record = records[i];
    const Time known = record.least != Time() ? record.least : record.alone;
    const Time alone = one_path ? known
                                : result.transport.message_overhead +
                                      least->Between(result.placement.endpoint(flow.source),
                                                     result.placement.endpoint(flow.destination));
    bound = std::max(bound, flow.trigger == TrafficFlow::kNoTrigger ? flow.start + alone : alone);
  }
  const double headers =
      static_cast<double>((result.transport.mtu + result.transport.packet_overhead).count()) /
      static_cast<double>(result.transport.mtu.count());
  for (std::uint32_t r = 0; r < traffic.ranks; ++r) {
    double rate = 0;  // of payload: buses carry no headers
    for (const LinkId id : fabric.out(result.placement.endpoint(RankId{r}))) {
      const Link& link = fabric.link(id);
      rate += link.rate.bytes_per_second() / (link.kind == LinkKind::kNetwork ? headers : 1);
    }
    const auto most = static_cast<double>(std::max(sent[r], received[r]).count());
    const double picoseconds = most / rate * 1e12;
    bound = std::max(bound, Time::Picoseconds(static_cast<std::int64_t>(picoseconds)));
  }
  return bound;
}

}  // namespace trunkline
