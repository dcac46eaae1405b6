#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/packet/packet_network.h"
#include "engine/packet/shard.h"
#include "engine/test_fabrics.h"
#include "trunkline/fabric/build.h"

namespace trunkline {

inline Fabric FabricOf(const std::string& text, Time cable_latency) {
  auto spec = ParseFabricSpec(text);
  EXPECT_TRUE(spec.has_value()) << text;
  spec->cable_latency = cable_latency;
  spec->switch_latency = Time();
  auto built = BuildFabric(*spec);
  EXPECT_TRUE(built.has_value()) << text;
  return std::move(built->fabric);
}

// A transport under a congestion control, as its preset wants it.
inline PacketTransport TransportUnder(std::string_view policy, std::string_view preset,
                                      Rate line_rate,
                                      std::vector<CongestionOverride> overrides = {}) {
  const auto made = MakeCongestionControl(policy, preset, overrides, line_rate);
  EXPECT_TRUE(made.has_value());
  PacketTransport transport;
  Adopt(*made, transport);
  return transport;
}

// A network with queue pairs between hosts, and what became of their messages.
class TestNetwork : public PacketApplication {
 public:
  using S = Shard<CalendarQueue, true>;

  TestNetwork(Fabric on, SwitchModel switches, PacketTransport transport,
              RoutingPolicy routing = RoutingPolicy::kEcmp)
      : fabric(std::move(on)),
        router(fabric, Options(routing)),
        paths(fabric),
        plant(BuildPlant(router, paths, switches, transport)),
        shard(plant, *this, ShapeOf(plant).bucket, ShapeOf(plant).horizon) {}

  std::uint32_t Connect(std::uint32_t from, std::uint32_t to) {
    const auto index = static_cast<std::uint32_t>(plant.senders.size());
    ReserveQueuePairs(plant, index + 1);
    const auto made = SetUpQueuePair(plant, router, paths, index, fabric.endpoints()[from],
                                     fabric.endpoints()[to]);
    EXPECT_TRUE(made.has_value());
    links.push_back(*made);
    delivered.emplace_back();
    acknowledged.emplace_back();
    failed.push_back(Time::Max());
    return index;
  }
  // Runs until nothing is left to happen, or `limit`.
  void Run(Time limit = Time::Horizon()) { shard.Run(limit, UINT64_MAX); }

  void OnDelivered(std::uint32_t qp, Time now) override { delivered[qp].push_back(now); }
  void OnAcknowledged(std::uint32_t qp, Time now) override { acknowledged[qp].push_back(now); }
  void OnError(std::uint32_t qp, Time now) override {
    EXPECT_EQ(failed[qp], Time::Max()) << "failed twice";
    failed[qp] = now;
  }
  void OnSent(std::uint32_t /*qp*/, Time /*end*/) override {}
  void OnPost(std::uint32_t entity, Time /*now*/) override { post(entity); }

  Fabric fabric;
  Router router;
  NetworkPaths paths;
  Plant plant;
  S shard;
  std::function<void(std::uint32_t)> post;
  std::vector<std::vector<std::uint32_t>> links;  // by queue pair
  std::vector<std::vector<Time>> delivered;       // by queue pair and message
  std::vector<std::vector<Time>> acknowledged;
  std::vector<Time> failed;

 private:
  static RouterOptions Options(RoutingPolicy policy) {
    RouterOptions options;
    options.policy = policy;
    return options;
  }
};

}  // namespace trunkline
