#include "engine/flow/contention.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/flow/test_inputs.h"

namespace trunkline {
namespace {

// The capacities of the resources that can bind, one for each connection and hop.
std::vector<Rate> BindingCapacities(const Fabric& fabric, const TaskGraph& graph,
                                    Handshake handshake = Handshake::kEager) {
  const Router router(fabric, {});
  const TransportModel transport = IdealTransport();
  const Placement placement = PackedPlacement(fabric, graph.ranks()).value();
  const FlowProblem problem =
      BuildFlowProblem({router, transport, graph, placement}, handshake, false).value();
  std::vector<Rate> binding;
  for (const Connection& connection : problem.connections) {
    for (const FlowHop& hop : problem.binding_hops_of(connection)) {
      binding.push_back(problem.capacities[hop.resource]);
    }
  }
  return binding;
}

TEST(FindBindingHops, LeavesOutATrunkThatItsHostsCannotFill) {
  // All to all among 4 hosts a leaf asks for many times what a cable carries; but four cables of
  // 50 GB/s fill no trunk of 4 x 50 GB/s, however many connections there are.
  const auto graph = SingleCollective(Choose(Primitive::kAllToAll, 8'000, "direct"), 8);
  const std::vector<Rate> wide = BindingCapacities(LeafSpine(2, 4, 4), *graph);
  EXPECT_FALSE(wide.empty());
  EXPECT_EQ(std::ranges::count(wide, Rate::GigabytesPerSecond(50)), std::ssize(wide));
  // A trunk of 3 x 50 GB/s they do fill.
  const std::vector<Rate> narrow = BindingCapacities(LeafSpine(2, 4, 3), *graph);
  EXPECT_GT(std::ranges::count(narrow, Rate::GigabytesPerSecond(150)), 0);
}

TEST(FindBindingHops, LetsTwoCablesInARowNotVouchForEachOther) {
  // One host on a leaf of one uplink: cable and uplink are equally narrow.
  const auto graph = SingleCollective(Choose(Primitive::kAllToAll, 8'000, "direct"), 4);
  const std::vector<Rate> binding = BindingCapacities(LeafSpine(4, 1, 1), *graph);
  EXPECT_FALSE(binding.empty());
}

TEST(FindBindingHops, LetsTheNarrowerOfTwoCablesInARowStandForBoth) {
  FabricBuilder builder;
  const auto add_switch = [&](std::uint32_t local) {
    return builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1, .local = local});
  };
  const DeviceId left = add_switch(0);
  const DeviceId middle = add_switch(1);
  const DeviceId right = add_switch(2);
  const auto cable = [&](DeviceId a, DeviceId b, std::int64_t gigabytes) {
    builder.AddCable(a, b, Rate::GigabytesPerSecond(gigabytes), Time(), LinkKind::kNetwork);
  };
  for (std::uint32_t host = 0; host < 4; ++host) {
    const DeviceId id = builder.AddDevice({.kind = DeviceKind::kHost, .node = host});
    cable(id, host < 2 ? left : right, 500);
  }
  cable(left, middle, 40);
  cable(middle, right, 30);
  const Fabric fabric = std::move(builder).Build();
  const auto graph = SingleCollective(Choose(Primitive::kAllToAll, 8'000, "direct"), 4);
  const std::vector<Rate> binding = BindingCapacities(fabric, *graph);
  // Each of the 8 connections between the sides; 40 GB/s never binds before 30.
  EXPECT_EQ(std::ranges::count(binding, Rate::GigabytesPerSecond(30)), 8);
  EXPECT_EQ(std::ranges::count(binding, Rate::GigabytesPerSecond(40)), 0);
}

TEST(FindBindingHops, KnowsThatARendezvousHasOneExchangeUnderWayAtATime) {
  const Fabric star = Star(6, {{}});
  const auto pairwise = SingleCollective(Choose(Primitive::kAllToAll, 6'000, "pairwise"), 6);
  EXPECT_FALSE(BindingCapacities(star, *pairwise, Handshake::kEager).empty());
  EXPECT_TRUE(BindingCapacities(star, *pairwise, Handshake::kRendezvous).empty());
  // All messages at once are one round.
  const auto direct = SingleCollective(Choose(Primitive::kAllToAll, 6'000, "direct"), 6);
  EXPECT_FALSE(BindingCapacities(star, *direct, Handshake::kRendezvous).empty());
}

TEST(FindBindingHops, AddsUpOnlyWhatCanBeBusyTogether) {
  // Two rings over the same ranks, one after the other or side by side.
  HandGraph graph;
  graph.choices = {Choose(Primitive::kAllReduce, 4'000)};
  graph.groups = {{RankId(0), RankId(1)}, {RankId(0), RankId(1)}};
  graph.communicator_of = {{0, 1}, {0, 1}};
  graph.program_index = {0, 0};
  graph.programs.resize(1);
  graph.programs[0].tasks = {{.kind = TaskKind::kCollective},
                             {.kind = TaskKind::kCollective, .role = 1}};
  EXPECT_TRUE(BindingCapacities(LeafSpine(1, 2, 1), graph).empty());
  graph.programs[0].tasks[1].stream = 1;
  EXPECT_FALSE(BindingCapacities(LeafSpine(1, 2, 1), graph).empty());
}

}  // namespace
}  // namespace trunkline
