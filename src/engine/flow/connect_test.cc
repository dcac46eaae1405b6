// Connections that repeat those of another source are what the router finds for them.
#include "engine/flow/connect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "engine/flow/contention.h"
#include "engine/flow/test_inputs.h"

namespace trunkline {
namespace {

// Four switches in a ring with three hosts each, one of which has a slower cable.
Fabric RingOfSwitches() {
  FabricBuilder builder;
  std::vector<DeviceId> switches;
  for (std::uint32_t i = 0; i < 4; ++i) {
    switches.push_back(builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1, .local = i}));
  }
  const auto cable = [&](DeviceId a, DeviceId b, std::int64_t gigabytes) {
    builder.AddCable(a, b, Rate::GigabytesPerSecond(gigabytes), Time::Nanoseconds(500),
                     LinkKind::kNetwork);
  };
  for (std::uint32_t i = 0; i < 4; ++i) cable(switches[i], switches[(i + 1) % 4], 80);
  for (std::uint32_t host = 0; host < 12; ++host) {
    const DeviceId id = builder.AddDevice({.kind = DeviceKind::kHost, .node = host});
    cable(id, switches[host / 3], host == 4 ? 20 : 50);
  }
  return std::move(builder).Build();
}

std::vector<FlowHop> HopsOf(const FlowProblem& problem, const FlowPath& path) {
  const auto shared = problem.shared_hops_of(path);
  std::vector<FlowHop> hops(shared.begin(), shared.end());
  if (path.hop_count > 0) hops.push_back(path.last_hop);
  return hops;
}

// Returns how many connections between hosts of two switches repeat others.
std::size_t ExpectRoutesOfRouter(const Fabric& fabric, const char* algorithm, Handshake handshake) {
  const auto ranks = static_cast<std::uint32_t>(fabric.endpoints().size());
  const Router router(fabric, {.policy = RoutingPolicy::kStatic});
  const TransportModel transport = IdealTransport();
  const Placement placement = PackedPlacement(fabric, ranks).value();
  const auto graph = SingleCollective(Choose(Primitive::kAllToAll, 8'000, algorithm), ranks);
  const FlowProblem problem =
      BuildFlowProblem({router, transport, *graph, placement}, handshake, false).value();
  EXPECT_EQ(problem.connections.size(), std::size_t{ranks} * (ranks - 1));
  std::vector<char> binds(problem.capacities.size(), 0);
  for (const Connection& connection : problem.connections) {
    for (const FlowHop& hop : problem.binding_hops_of(connection)) binds[hop.resource] = 1;
  }
  for (std::size_t i = 0; i < problem.connections.size(); ++i) {
    const Connection& connection = problem.connections[i];
    const Route route = router
                            .FindRoute(placement.endpoint(connection.source),
                                       placement.endpoint(connection.destination), 0)
                            .value();
    const std::vector<FlowHop> hops = HopsOf(problem, problem.paths[i]);
    EXPECT_EQ(connection.latency, route.latency);
    EXPECT_EQ(connection.limit, LoneRate(route.limit));
    EXPECT_TRUE(std::ranges::equal(hops, route.hops, {}, &FlowHop::resource, [&](const Hop& hop) {
      return problem.resource_index[Index(hop.resource)];
    }));
    std::vector<FlowHop> binding;
    std::ranges::copy_if(hops, std::back_inserter(binding),
                         [&](const FlowHop& hop) { return binds[hop.resource] != 0; });
    EXPECT_TRUE(std::ranges::equal(binding, problem.binding_hops_of(connection)));
  }
  // What can bind is found by the models of rows: the same as without.
  FlowProblem apart = problem;
  std::ranges::fill(apart.models, FlowProblem::kUnused);
  apart.binding_hops.clear();
  FindBindingHops(*graph, handshake, apart);
  for (std::size_t i = 0; i < problem.connections.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(problem.binding_hops_of(problem.connections[i]),
                                   apart.binding_hops_of(apart.connections[i])))
        << i;
  }
  std::size_t repeating = 0;
  problem.ForEachRow([&](std::uint32_t begin, std::uint32_t end, std::uint32_t model) {
    const bool leaves_switch = problem.paths[begin].hop_count > 2;
    if (model != FlowProblem::kUnused && leaves_switch) repeating += end - begin;
  });
  return repeating;
}

TEST(Connector, RepeatsTheRowsOfASourceForItsNeighboursAsTheRouterFindsThem) {
  for (const Handshake handshake : {Handshake::kEager, Handshake::kRendezvous}) {
    for (const char* algorithm : {"direct", "pairwise"}) {
      // Two hosts of a switch repeat what the first has to the six of the two switches next to it;
      // the third switch is reached by two ways. The host of the slower cable is one in the middle,
      // so that neither it nor the next is like the one before.
      EXPECT_EQ(ExpectRoutesOfRouter(RingOfSwitches(), algorithm, handshake), 3U * 2 * 6);
      EXPECT_EQ(ExpectRoutesOfRouter(LeafSpine(3, 4, 1), algorithm, handshake), 3U * 3 * 8);
      // Where routes fork, each is found by itself.
      EXPECT_EQ(ExpectRoutesOfRouter(LeafSpine(3, 4, 2), algorithm, handshake), 0U);
    }
  }
}

}  // namespace
}  // namespace trunkline
