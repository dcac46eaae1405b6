#include "engine/analytic/group_model.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "engine/test_fabrics.h"

namespace trunkline {
namespace {

// A group on servers of four GPUs, four servers to a rack.
class GroupModelTest : public testing::Test {
 protected:
  GroupModel Model(std::vector<DeviceId> members) {
    auto model = GroupModel::Make(router_, transport_, cuts_, std::move(members), nullptr);
    EXPECT_TRUE(model.has_value());
    return std::move(*model);
  }

  const Fabric fabric_ = ServerFabric{.racks = 4, .nodes_per_rack = 4}.Build();
  const Router router_{fabric_, {}};
  const TransportModel transport_ = IdealTransport();
  const FabricCuts cuts_{router_};
};

TEST_F(GroupModelTest, OneNodeStandsForAllInAnExchangeOfAlikeNodes) {
  constexpr double kBytes = 3e6;
  GroupModel group = Model(AllEndpoints(fabric_));
  ASSERT_EQ(group.AlikeNodeSize(), 4U);
  // Members reach the first step at different times, each node alike.
  std::vector<double> of_node = {0, 3e-6, 1e-6, 5e-5};
  std::vector<double> of_all;
  for (std::uint32_t i = 0; i < group.ranks(); ++i) of_all.push_back(of_node[i % 4]);
  for (std::uint32_t distance = 1; distance < group.ranks(); distance *= 2) {
    group.TakeExchange(distance, kBytes, of_node);
    group.TakeStep(
        [&](const auto& visit) {
          for (std::uint32_t i = 0; i < group.ranks(); ++i) visit(i, i ^ distance, kBytes);
        },
        of_all);
    for (std::uint32_t i = 0; i < group.ranks(); ++i) {
      EXPECT_DOUBLE_EQ(of_all[i], of_node[i % 4]) << "member " << i << ", distance " << distance;
    }
  }
}

TEST_F(GroupModelTest, NodesAreAlikeOnlyWhenEachHasAsManyMembersInOrder) {
  const std::vector<DeviceId> all = AllEndpoints(fabric_);
  std::vector<DeviceId> swapped = all;
  std::swap(swapped[4], swapped[5]);
  EXPECT_EQ(Model(swapped).AlikeNodeSize(), 0U);
  std::vector<DeviceId> interleaved = all;
  std::swap(interleaved[3], interleaved[4]);
  EXPECT_EQ(Model(interleaved).AlikeNodeSize(), 0U);
  EXPECT_EQ(Model({all.begin(), all.end() - 1}).AlikeNodeSize(), 0U);
  EXPECT_EQ(Model({all.begin(), all.begin() + 12}).AlikeNodeSize(), 4U);
  EXPECT_EQ(Model({all[0], all[1], all[2], all[4], all[5], all[6]}).AlikeNodeSize(), 0U);
}

}  // namespace
}  // namespace trunkline
