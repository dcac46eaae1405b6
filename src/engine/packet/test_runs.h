#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/yaml_reader.h"
#include "trunkline/base/check.h"
#include "trunkline/base/random.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/build.h"
#include "trunkline/fabric/fault.h"
#include "trunkline/fabric/placement.h"
#include "trunkline/fabric/route.h"
#include "trunkline/fabric/switch_model.h"
#include "trunkline/transport/packet_transport.h"
#include "trunkline/workload/traffic.h"

namespace trunkline {

inline constexpr Time kFrameTime = Time::Picoseconds((4096 + 82) * 80);  // at 100 Gb/s

struct Draws {
  std::uint64_t seed = 0;
  std::uint64_t index = 0;
  std::uint32_t Below(std::uint32_t n) {
    return static_cast<std::uint32_t>(trunkline::Below(Draw(seed, 0, index++), n));
  }
  bool Chance(std::uint32_t one_in) { return Below(one_in) == 0; }
};

// A small fabric under a random switch model, transport, routing and traffic.
struct SmallRun {
  std::string description;
  std::shared_ptr<const BuiltFabric> fabric;
  RoutingPolicy routing = RoutingPolicy::kEcmp;
  SwitchModel switches;
  PacketTransport transport;
  struct Flow {
    std::uint32_t source, destination;
    std::int64_t bytes;
    Time start;
    std::uint8_t traffic_class = 0;
  };
  std::vector<Flow> flows;
  std::vector<TimedFault> faults;
  std::optional<Time> rerouting;
};

inline TimedFault MakeFault(const Fabric& fabric, Draws& draw) {
  const Link& link =
      fabric.link(LinkId(draw.Below(static_cast<std::uint32_t>(fabric.link_count()))));
  TimedFault fault;
  fault.target = fmt::format("{}/{}", fabric.name(link.from), fabric.name(link.to));
  fault.kind = static_cast<TimedFault::Kind>(draw.Below(4));
  fault.at = Time::Picoseconds(draw.Below(60'000'000));
  if (draw.Chance(2)) fault.until = fault.at + Time::Picoseconds(1 + draw.Below(100'000'000));
  if (fault.kind == TimedFault::Kind::kRate) fault.fraction = 0.05 + 0.01 * draw.Below(90);
  if (fault.kind == TimedFault::Kind::kFrameLoss) fault.chance = 0.1;
  if (fault.kind == TimedFault::Kind::kBitErrors) fault.chance = 1e-6;
  return fault;
}

// What was built, in words.
inline std::string DrawFabric(Draws& draw, SmallRun& run) {
  static const char* kFabrics[] = {"single-switch:nodes=4",
                                   "single-switch:nodes=9",
                                   "fat-tree:k=4",
                                   "fat-tree:children=[3,4],parents=[1,2]",
                                   "fat-tree:children=[4,2],parents=[1,1]",
                                   "torus:sizes=[4,3]"};
  static const char* kRates[] = {"100Gb/s", "40Gb/s", "400Gb/s", "56Gb/s"};
  const std::string spec_text =
      fmt::format("{},link={}", kFabrics[draw.Below(6)], kRates[draw.Below(4)]);
  auto spec = ParseFabricSpec(spec_text);
  EXPECT_TRUE(spec.has_value()) << spec_text;
  spec->cable_latency = Time::Picoseconds(1 + draw.Below(3'000'000));
  spec->switch_latency = Time::Picoseconds(draw.Chance(2) ? 0 : draw.Below(500'000));
  auto built = BuildFabric(*spec);
  EXPECT_TRUE(built.has_value()) << spec_text;
  run.fabric = std::make_shared<const BuiltFabric>(*std::move(built));
  return spec_text;
}

inline void DrawSwitches(Draws& draw, SmallRun& run) {
  run.switches.loss_control = static_cast<LossControl>(draw.Below(3));
  run.switches.buffer = Bytes(100'000 + draw.Below(600'000));
  run.switches.cut_through = draw.Chance(4);
  run.switches.classes = static_cast<std::uint8_t>(2 + draw.Below(2));
  run.switches.pause.alpha = draw.Chance(2) ? 0.125 : 1;
  run.switches.lane_buffer = Bytes(9'000 + draw.Below(40'000));
  run.switches.trimming = draw.Chance(2);
  if (draw.Chance(2)) run.switches.marking = MarkingCurve{Bytes(8'000), Bytes(40'000), 0.5};
  if (run.switches.classes == 3 && draw.Chance(2)) run.switches.weights = {3, 1};

  if (run.switches.loss_control == LossControl::kCredits && draw.Chance(2)) {
    VlArbitration& tables = run.switches.arbitration.emplace();
    tables.high_limit = static_cast<std::uint8_t>(draw.Below(3));
    for (std::uint8_t lane = 0; lane + 1 < run.switches.classes; ++lane) {
      tables.low.push_back({lane, static_cast<std::uint8_t>(1 + draw.Below(255))});
    }
    tables.high.push_back({0, static_cast<std::uint8_t>(draw.Below(200))});
  }
  // Short pauses are repeated, and some of these expire.
  if (draw.Chance(2)) {
    run.switches.pause.quanta = static_cast<std::uint16_t>(40 + draw.Below(2'000));
  }
}

inline void DrawTransport(Draws& draw, SmallRun& run) {
  run.transport.mtu = Bytes(draw.Chance(2) ? 4096 : 1000);
  run.transport.ack_every = 1 + draw.Below(16);
  run.transport.retransmit_timeout = Time::Microseconds(100);
  const bool any_order = draw.Chance(2);
  run.transport.recovery = any_order ? LossRecovery::kSelectiveRepeat : LossRecovery::kGoBackN;
  if (draw.Chance(3)) run.transport.message_overhead = Time::Picoseconds(draw.Below(3'000'000));
  if (draw.Chance(4)) run.switches.frame_loss = draw.Chance(2) ? 0.001 : 0.05;
  if (draw.Chance(3)) run.switches.queue = Bytes(10'000 + draw.Below(50'000));
  if (draw.Chance(2)) run.transport.path_selection = PathSelection::kMixed;
  if (draw.Chance(2)) run.transport.loss_distance = 1 + draw.Below(8);
  if (draw.Chance(2)) run.transport.low_timeout = Time::Microseconds(60);
  const auto& policies = CongestionPolicies();
  const auto control =
      MakeCongestionControl(policies[draw.Below(static_cast<std::uint32_t>(policies.size()))].name,
                            "", {}, Rate::GigabitsPerSecond(100));
  EXPECT_TRUE(control.has_value());
  const std::uint32_t ack_every = run.transport.ack_every;
  const PathSelection selection = run.transport.path_selection;
  Adopt(*control, run.transport);
  run.transport.ack_every = ack_every;
  run.transport.path_selection = selection;
  static const RoutingPolicy kRoutings[] = {RoutingPolicy::kEcmp, RoutingPolicy::kStatic,
                                            RoutingPolicy::kSpray, RoutingPolicy::kAdaptive};
  run.routing = kRoutings[draw.Below(any_order ? 4 : 2)];
}

inline void DrawFlows(Draws& draw, SmallRun& run) {
  const auto hosts = static_cast<std::uint32_t>(run.fabric->fabric.endpoints().size());
  const std::uint32_t flows = 1 + draw.Below(24);
  const bool incast = draw.Chance(3);
  for (std::uint32_t i = 0; i < flows; ++i) {
    const std::uint32_t to = incast ? 0 : draw.Below(hosts);
    const std::uint32_t from = (to + 1 + draw.Below(hosts - 1)) % hosts;
    run.flows.push_back({from, to, draw.Chance(8) ? draw.Below(100) : draw.Below(200'000),
                         draw.Chance(2) ? Time() : Time::Picoseconds(draw.Below(20'000'000)),
                         static_cast<std::uint8_t>(draw.Below(run.switches.classes - 1U))});
  }
  if (draw.Chance(3)) {
    for (std::uint32_t i = 1 + draw.Below(3); i > 0; --i) {
      run.faults.push_back(MakeFault(run.fabric->fabric, draw));
    }
    if (draw.Chance(2)) run.rerouting = Time::Picoseconds(draw.Below(40'000'000));
  }
}

inline void DrawSockets(Draws& draw, SmallRun& run) {
  SocketModel& sockets = run.transport.sockets.emplace();
  sockets.unit = Bytes(draw.Chance(2) ? 65'536 : 5'000);
  sockets.send = {Time::Picoseconds(draw.Below(3'000'000)), Rate::GigabitsPerSecond(178)};
  sockets.receive = {Time::Picoseconds(draw.Below(6'000'000)), Rate::GigabitsPerSecond(84)};
  sockets.window = run.transport.mtu * (1 + draw.Below(60));
  sockets.cores = static_cast<std::uint16_t>(1 + draw.Below(3));
}

inline SmallRun MakeSmallRun(std::uint64_t seed) {
  Draws draw{seed};
  SmallRun run;
  const std::string fabric = DrawFabric(draw, run);
  DrawSwitches(draw, run);
  DrawTransport(draw, run);
  DrawFlows(draw, run);
  if (draw.Chance(4)) DrawSockets(draw, run);
  run.transport.acks_with_data =
      run.switches.loss_control != LossControl::kCredits && draw.Chance(3);
  if (draw.Chance(3)) run.transport.window_rule = WindowRule::kNotFull;
  run.description = fmt::format("seed {}: {}, loss control {}, routing {}, {}", seed, fabric,
                                static_cast<int>(run.switches.loss_control), ToString(run.routing),
                                run.transport.policy.name);
  return run;
}

inline PacketReport RunSmall(const SmallRun& small, const PacketOptions& options) {
  const Fabric& fabric = small.fabric->fabric;
  RouterOptions routing;
  routing.policy = small.routing;
  const Router router(fabric, routing);
  TrafficWorkload traffic;
  traffic.ranks = static_cast<std::uint32_t>(fabric.endpoints().size());
  for (const SmallRun::Flow& flow : small.flows) {
    TrafficFlow& added = traffic.flows.emplace_back();
    added.source = RankId(flow.source);
    added.destination = RankId(flow.destination);
    added.bytes = Bytes(std::max<std::int64_t>(1, flow.bytes));
    added.start = flow.start;
  }
  const auto placement = PackedPlacement(fabric, traffic.ranks);
  TL_CHECK(placement.has_value(), "placement");
  auto report =
      RunPacketTraffic({router, small.switches, small.transport, small.faults, small.rerouting},
                       traffic, *placement, options);
  TL_CHECK(report.has_value(), small.description, Format(report.error().front()));
  return *std::move(report);
}

// Those of the random runs whose switches have the buffers that they need.
inline std::vector<SmallRun> SmallRuns(std::uint64_t seeds) {
  std::vector<SmallRun> runs;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SmallRun run = MakeSmallRun(seed);
    const Diagnostics problems =
        CheckPacketSettings(run.fabric->fabric, run.routing, run.switches, run.transport, true);
    if (!HasErrors(problems)) runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace trunkline
