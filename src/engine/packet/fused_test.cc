#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "engine/packet/fault_plan.h"
#include "engine/packet/packet_network.h"
#include "engine/packet/shard.h"
#include "engine/packet/test_runs.h"

namespace trunkline {
namespace {

class Recorder : public PacketApplication {
 public:
  explicit Recorder(std::size_t flows) : delivered(flows, Time::Max()), acknowledged(delivered) {}
  void OnDelivered(std::uint32_t qp, Time now) override { delivered[qp] = now; }
  void OnAcknowledged(std::uint32_t qp, Time now) override { acknowledged[qp] = now; }
  void OnSent(std::uint32_t /*qp*/, Time /*end*/) override {}
  void OnPost(std::uint32_t flow, Time /*now*/) override { post(flow); }

  std::function<void(std::uint32_t)> post;
  std::vector<Time> delivered;
  std::vector<Time> acknowledged;
};

// What can be seen of a run, as text.
template <typename S>
std::string Simulate(const SmallRun& run) {
  RouterOptions routing;
  routing.policy = run.routing;
  const Router router(run.fabric->fabric, routing);
  const NetworkPaths paths(run.fabric->fabric);
  Plant plant = BuildPlant(router, paths, run.switches, run.transport);
  const auto faults = ResolveFaults(router.fabric(), run.faults);
  EXPECT_TRUE(faults.has_value());
  PlanFaults(plant, router, *faults, run.rerouting);
  ReserveQueuePairs(plant, static_cast<std::uint32_t>(run.flows.size()));
  Recorder recorder(run.flows.size());
  const QueueShape shape = ShapeOf(plant);
  S shard(plant, recorder, shape.bucket, shape.horizon);
  shard.ScheduleFaults();
  recorder.post = [&](std::uint32_t flow) { shard.Post(flow, run.flows[flow].bytes); };
  const auto hosts = run.fabric->fabric.endpoints();
  for (std::uint32_t i = 0; i < run.flows.size(); ++i) {
    const auto& flow = run.flows[i];
    EXPECT_TRUE(
        SetUpQueuePair(plant, router, paths, i, hosts[flow.source], hosts[flow.destination]));
    shard.PostAt(i, flow.start);
  }
  const Time end = Time::Microseconds(400);
  shard.Run(end, UINT64_MAX);
  shard.CatchUpTo(end);
  std::string seen;
  for (std::size_t i = 0; i < run.flows.size(); ++i) {
    seen += fmt::format("flow {} delivered {} acknowledged {}\n", i, recorder.delivered[i].ps(),
                        recorder.acknowledged[i].ps());
  }
  const PacketCounters c = shard.counters();
  seen += fmt::format(
      "hops {} {} {} drops {} {} trims {} marks {} pauses {} {} {} {} again {} {} timeouts {} "
      "failures {} bytes {}\n",
      c.hops.data, c.hops.ack, c.hops.control, c.drops, c.fault_drops, c.trims, c.marks, c.pauses,
      c.pause_repeats, c.pause_expiries, c.resumes, c.retransmissions, c.refused, c.timeouts,
      c.failures, c.delivered_bytes);
  for (std::size_t i = 0; i < plant.pauses.size(); ++i) {
    if (plant.pauses[i].until == 0) continue;
    seen +=
        fmt::format("pause {} past {} until {}\n", i, plant.pauses[i].past, plant.pauses[i].until);
  }
  for (const auto& [queues, bytes] : shard.pause_causes()) {
    seen += fmt::format("pause {} for {}: {}\n", queues.first, queues.second, bytes);
  }
  for (std::size_t i = 0; i < plant.ports.size(); ++i) {
    if (plant.ports[i].packets == 0) continue;
    seen += fmt::format("link {} bytes {} queue {}\n", i, plant.ports[i].wire_bytes,
                        plant.ports[i].max_queue_bytes);
  }
  return seen;
}

// Ten thousand runs in all; fewer where sanitizers make each fifty times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kRunsOfTest = 100;
#else
constexpr std::uint64_t kRunsOfTest = 2'500;
#endif

class FusedEvents : public testing::TestWithParam<std::uint64_t> {};

TEST_P(FusedEvents, GiveThePicosecondsOfThePlainEngine) {
  const std::uint64_t first = GetParam() * 2'500;
  std::uint64_t different = 0;
  for (std::uint64_t seed = first; seed < first + kRunsOfTest && different < 3; ++seed) {
    const SmallRun run = MakeSmallRun(seed);
    const std::string fused = Simulate<Shard<CalendarQueue, true>>(run);
    const std::string plain = Simulate<Shard<HeapQueue, false>>(run);
    if (fused != plain) ++different;
    EXPECT_EQ(fused, plain) << run.description;
  }
}

INSTANTIATE_TEST_SUITE_P(RandomRuns, FusedEvents, testing::Values(0, 1, 2, 3));

}  // namespace
}  // namespace trunkline
