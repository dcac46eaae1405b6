#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/test_sanitizers.h"
#include "engine/packet/ends_ahead.h"
#include "engine/packet/fault_plan.h"
#include "engine/packet/packet_network.h"
#include "engine/packet/shard.h"
#include "engine/packet/test_runs.h"
#include "trunkline/engine/packet.h"

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

// Whether switches have the buffers that they need.
bool Fits(const SmallRun& run) {
  const Diagnostics problems =
      CheckPacketSettings(run.fabric->fabric, run.routing, run.switches, run.transport);
  return std::ranges::none_of(
      problems, [](const Diagnostic& problem) { return problem.severity == Severity::kError; });
}

// What must hold whatever happens: nothing is used that is not there, and what was used is free
// again once nothing is under way.
template <typename S>
void ExpectBuffersKept(const SmallRun& run, const Plant& initial, const Plant& plant, S& shard) {
  const bool idle = shard.next_time() == Time::Max() && shard.packets_in_flight() == 0;
  for (std::size_t i = 0; i < plant.lanes.size(); ++i) {
    std::uint64_t room = plant.lanes[i].available;
    for (std::size_t j = plant.lanes[i].first; j < plant.lanes[i].returns.size(); ++j) {
      room += plant.lanes[i].returns[j].bytes;
    }
    EXPECT_LE(room, initial.lanes[i].available) << run.description;
    if (idle) {
      EXPECT_EQ(room, initial.lanes[i].available) << run.description;
    }
  }
  for (const Switch& at : plant.switches) {
    EXPECT_GE(at.used, 0) << run.description;
    if (at.pool >= 0) {
      EXPECT_LE(at.used, at.pool) << run.description;
    }
  }
  for (const Ingress& ingress : plant.ingress) {
    EXPECT_LE(ingress.headroom, ingress.headroom_limit) << run.description;
    if (idle) {
      EXPECT_FALSE(ingress.paused) << run.description;
    }
  }
  const PacketCounters c = shard.counters();
  const bool lossless = run.switches.loss_control != LossControl::kLossy &&
                        run.switches.frame_loss == 0 && run.faults.empty();
  if (lossless && c.pause_expiries == 0 && Fits(run)) {
    EXPECT_EQ(c.drops, 0U) << run.description;
  }
}

// How a run is gone through: by one calendar, zone by zone, or with endpoints ahead.
enum class Order : std::uint8_t { kPlain, kZones, kAhead };

// How often what makes runs fast was used.
struct Uses {
  std::uint64_t calm_windows = 0;
  std::uint64_t ahead = 0;  // runs
};

// What can be seen of a run, as text.
template <typename S>
std::string SeenOf(const Plant& plant, const Recorder& recorder, const S& shard) {
  std::string seen;
  for (std::size_t i = 0; i < recorder.delivered.size(); ++i) {
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
                        plant.max_queue_bytes[i]);
  }
  return seen;
}

template <typename S>
std::string Simulate(const SmallRun& run, Order order, Uses& uses) {
  RouterOptions routing;
  routing.policy = run.routing;
  const Router router(run.fabric->fabric, routing);
  const NetworkPaths paths(run.fabric->fabric);
  Plant plant = BuildPlant(router, paths, run.switches, run.transport);
  const auto faults = ResolveFaults(router.fabric(), run.faults);
  EXPECT_TRUE(faults.has_value());
  PlanFaults(plant, router, *faults, run.rerouting);
  if (order == Order::kZones) plant.zones = FindZones(plant, run.fabric->fabric);
  if (order == Order::kAhead) plant.host_of_link = FindHosts(plant, run.fabric->fabric);
  const Plant initial = BuildPlant(router, paths, run.switches, run.transport);
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
    plant.senders[i].traffic_class = flow.traffic_class;
    if (run.flows.size() % 2 == 0) {  // of one time, those of a zone come before those of all
      shard.PostAt(i, flow.start);
    } else {
      shard.PostAt(i, flow.start, plant.senders[i].link);
    }
  }
  const Time end = Time::Microseconds(400);
  shard.Run(end, UINT64_MAX);
  shard.CatchUpTo(end);
  uses.calm_windows += shard.calm_windows();
  uses.ahead += plant.host_of_link.empty() ? 0 : 1;
  ExpectBuffersKept(run, initial, plant, shard);
  return SeenOf(plant, recorder, shard);
}

// Ten thousand runs in all.
constexpr std::uint64_t kRunsOfTest = RandomCases(2'500);

class FusedEvents : public testing::TestWithParam<std::uint64_t> {};

TEST_P(FusedEvents, GiveThePicosecondsOfThePlainEngine) {
  const std::uint64_t first = GetParam() * 2'500;
  std::uint64_t different = 0;
  Uses uses;
  for (std::uint64_t seed = first; seed < first + kRunsOfTest && different < 3; ++seed) {
    const SmallRun run = MakeSmallRun(seed);
    const std::string fused = Simulate<Shard<CalendarQueue, true>>(run, Order::kPlain, uses);
    const std::string plain = Simulate<Shard<HeapQueue, false>>(run, Order::kPlain, uses);
    if (fused != plain) ++different;
    EXPECT_EQ(fused, plain) << run.description;
    const std::string ahead = Simulate<Shard<CalendarQueue, true>>(run, Order::kAhead, uses);
    if (ahead != plain) ++different;
    EXPECT_EQ(ahead, plain) << run.description << " with endpoints ahead";
    if (seed % 2 != 0) continue;
    const std::string zoned = Simulate<Shard<CalendarQueue, true>>(run, Order::kZones, uses);
    if (zoned != plain) ++different;
    EXPECT_EQ(zoned, plain) << run.description << " by zones";
  }
  EXPECT_GT(uses.calm_windows, 0U);
  EXPECT_GT(uses.ahead, 0U);
}

INSTANTIATE_TEST_SUITE_P(RandomRuns, FusedEvents, testing::Values(0, 1, 2, 3));

}  // namespace
}  // namespace trunkline
