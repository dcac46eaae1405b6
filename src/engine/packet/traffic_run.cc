#include <fmt/format.h>

#include <algorithm>

#include "engine/packet/packet_network.h"
#include "engine/packet/shard.h"
#include "trunkline/base/check.h"
#include "trunkline/engine/packet.h"

namespace trunkline {
namespace {

// Posts the flows of a workload in time and notes what becomes of them.
class TrafficRun : public PacketApplication {
 public:
  TrafficRun(const PacketInput& input, const TrafficWorkload& traffic, const Placement& placement,
             const PacketOptions& options)
      : input_(input),
        traffic_(traffic),
        placement_(placement),
        options_(options),
        paths_(input.router.fabric()),
        plant_(BuildPlant(input.router, paths_, input.switches, input.transport)),
        shard_(plant_, *this, ShapeOf(plant_).bucket, ShapeOf(plant_).horizon),
        activations_(traffic.triggers.size(), 0) {
    report_.flows.resize(traffic.flows.size());
    for (std::uint32_t i = 0; i < traffic.flows.size(); ++i) {
      if (traffic.flows[i].trigger == TrafficFlow::kNoTrigger) by_start_.push_back(i);
    }
    std::ranges::stable_sort(by_start_, {},
                             [&](std::uint32_t flow) { return traffic_.flows[flow].start; });
  }

  Result<PacketReport> Run();

  void OnDelivered(std::uint32_t queue_pair, Time now) override;
  void OnAcknowledged(std::uint32_t queue_pair, Time now) override;
  void OnError(std::uint32_t queue_pair, Time now) override;
  void OnSent(std::uint32_t /*queue_pair*/, Time /*end*/) override {}
  void OnPost(std::uint32_t entity, Time now) override;

 private:
  // Entities of OnPost: the next flow by start, or a flow that a trigger has delayed.
  static constexpr std::uint32_t kNextByStart = 0;

  void PostDue(Time now);
  void Post(std::uint32_t flow, Time now);
  void Activate(std::uint32_t trigger, Time now);
  void AddLinks();

  const PacketInput& input_;
  const TrafficWorkload& traffic_;
  const Placement& placement_;
  const PacketOptions& options_;
  NetworkPaths paths_;
  Plant plant_;
  Shard<CalendarQueue, true> shard_;
  PacketReport report_;
  Diagnostics problems_;
  std::vector<std::uint32_t> by_start_;
  std::size_t next_by_start_ = 0;
  std::vector<std::uint32_t> flow_of_queue_pair_;
  std::vector<std::uint32_t> activations_;  // by trigger
  std::size_t acknowledged_ = 0;
  std::size_t failed_ = 0;
};

void TrafficRun::OnPost(std::uint32_t entity, Time now) {
  if (entity == kNextByStart) {
    PostDue(now);
  } else {
    Post(entity - 1, now);
  }
}

void TrafficRun::PostDue(Time now) {
  while (next_by_start_ < by_start_.size()) {
    const std::uint32_t flow = by_start_[next_by_start_];
    if (traffic_.flows[flow].start > now) {
      shard_.PostAt(kNextByStart, traffic_.flows[flow].start);
      return;
    }
    ++next_by_start_;
    Post(flow, now);
  }
}

void TrafficRun::Post(std::uint32_t index, Time now) {
  const TrafficFlow& flow = traffic_.flows[index];
  FlowRecord& record = report_.flows[index];
  record.posted = now;
  const auto queue_pair =
      AddQueuePair(plant_, input_.router, paths_, placement_.endpoint(flow.source),
                   placement_.endpoint(flow.destination), index);
  if (!queue_pair) {
    problems_.insert(problems_.end(), queue_pair.error().begin(), queue_pair.error().end());
    return;
  }
  plant_.senders[queue_pair->index].traffic_class = flow.traffic_class;
  flow_of_queue_pair_.push_back(index);
  record.alone = LoneTime(plant_, queue_pair->links, flow.bytes);
  shard_.Post(queue_pair->index, flow.bytes.count());
}

void TrafficRun::OnDelivered(std::uint32_t queue_pair, Time now) {
  const std::uint32_t index = flow_of_queue_pair_[queue_pair];
  report_.flows[index].delivered = now;
  report_.end = std::max(report_.end, now);
  if (traffic_.flows[index].when_received != TrafficFlow::kNoTrigger) {
    Activate(traffic_.flows[index].when_received, now);
  }
}

void TrafficRun::OnAcknowledged(std::uint32_t queue_pair, Time now) {
  const std::uint32_t index = flow_of_queue_pair_[queue_pair];
  report_.flows[index].acknowledged = now;
  ++acknowledged_;
  if (traffic_.flows[index].when_sent != TrafficFlow::kNoTrigger) {
    Activate(traffic_.flows[index].when_sent, now);
  }
}

void TrafficRun::OnError(std::uint32_t queue_pair, Time now) {
  const std::uint32_t index = flow_of_queue_pair_[queue_pair];
  const TrafficFlow& flow = traffic_.flows[index];
  ++failed_;
  report_.stuck.push_back(
      fmt::format("flow {}, {} from rank {} to rank {}: the queue pair failed at {}, after {} "
                  "timeouts in a row",
                  index, Humanize(flow.bytes), Index(flow.source), Index(flow.destination),
                  Humanize(now), input_.transport.retry_limit + 1));
}

void TrafficRun::Activate(std::uint32_t trigger, Time now) {
  const TrafficTrigger& what = traffic_.triggers[trigger];
  const std::uint32_t nth = activations_[trigger]++;
  const auto start = [&](std::uint32_t flow) {
    shard_.PostAt(flow + 1, now + traffic_.flows[flow].start);
  };
  switch (what.kind) {
    case TrafficTrigger::Kind::kOneShot:
      if (nth == 0) std::ranges::for_each(what.flows, start);
      break;
    case TrafficTrigger::Kind::kMultiShot:
      if (nth < what.flows.size()) start(what.flows[nth]);
      break;
    case TrafficTrigger::Kind::kBarrier:
      if (nth + 1 == what.count) std::ranges::for_each(what.flows, start);
      break;
  }
}

void TrafficRun::AddLinks() {
  for (std::size_t i = 0; i < plant_.ports.size(); ++i) {
    const Port& port = plant_.ports[i];
    if (port.packets == 0) continue;
    PacketLinkUse use{.link = LinkId(i),
                      .wire_bytes = port.wire_bytes,
                      .packets = port.packets,
                      .marks = plant_.details[i].marks,
                      .max_queue_bytes = port.max_queue_bytes};
    for (std::uint8_t c = 0; c < plant_.switches_model.classes && !plant_.ingress.empty(); ++c) {
      use.pauses += plant_.ingress[plant_.QueueOf(static_cast<std::uint32_t>(i), c)].pauses;
    }
    report_.links.push_back(use);
  }
}

Result<PacketReport> TrafficRun::Run() {
  constexpr std::uint64_t kBetweenLooks = 1 << 16;
  PostDue(Time());
  while (problems_.empty() && acknowledged_ + failed_ < traffic_.flows.size()) {
    if (options_.stop != nullptr && options_.stop->stop_requested()) {
      report_.status = RunStatus::kInterrupted;
      break;
    }
    if (shard_.Run(options_.until, kBetweenLooks) == 0) break;
    if (options_.progress != nullptr) {
      options_.progress->Update(
          static_cast<double>(acknowledged_) / static_cast<double>(traffic_.flows.size()),
          fmt::format("at {}", Humanize(shard_.now())));
    }
  }
  if (!problems_.empty()) return std::unexpected(problems_);
  if (acknowledged_ < traffic_.flows.size() && report_.status == RunStatus::kFinished) {
    report_.status = RunStatus::kUnfinished;
    report_.end = std::max(report_.end, shard_.now());
  }
  report_.events = shard_.events();
  report_.counters = shard_.counters();
  AddLinks();
  return std::move(report_);
}

}  // namespace

Result<PacketReport> RunPacketTraffic(const PacketInput& input, const TrafficWorkload& traffic,
                                      const Placement& placement, const PacketOptions& options) {
  Diagnostics problems = CheckPacketSettings(input.router.fabric(), input.router.options().policy,
                                             input.switches, input.transport);
  std::erase_if(problems, [](const Diagnostic& d) { return d.severity == Severity::kWarning; });
  if (!problems.empty()) return std::unexpected(std::move(problems));
  TrafficRun run(input, traffic, placement, options);
  return run.Run();
}

}  // namespace trunkline
