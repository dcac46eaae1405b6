#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "fabric/builders/testing.h"
#include "fabric/network_paths.h"

namespace trunkline {
namespace {

std::vector<DeviceId> Attached(const Fabric& fabric, const NetworkPaths& paths) {
  std::vector<DeviceId> ends;
  for (std::size_t d = 0; d < fabric.device_count(); ++d) {
    if (paths.attached(DeviceId(d))) ends.push_back(DeviceId(d));
  }
  return ends;
}

// What tables of 64 destinations say, which are made by another search, and after the first few are
// looked up in such tables.
TEST(SinglePaths, AreThoseOfTables) {
  for (const std::string& spec : SampleSpecs("dgx-h100")) {
    const Fabric fabric = Build(spec).fabric;
    const NetworkPaths tables(fabric);
    NetworkPaths few(fabric);
    few.SearchFewSingly();
    const std::vector<DeviceId> ends = Attached(fabric, few);
    std::vector<LinkId> scratch;
    std::vector<LinkId> other_scratch;
    for (const DeviceId dst : ends) {
      EXPECT_EQ(few.Distance(ends.front(), dst), tables.Distance(ends.front(), dst)) << spec;
      for (std::size_t d = 0; d < fabric.device_count(); ++d) {
        const auto at = DeviceId(d);
        if (fabric.device(at).kind != DeviceKind::kSwitch) continue;
        ASSERT_EQ(few.Forwards(at, dst), tables.Forwards(at, dst)) << spec;
        if (!tables.Forwards(at, dst)) continue;
        const auto ports = few.Next(at, dst, scratch);
        const auto wanted = tables.Next(at, dst, other_scratch);
        EXPECT_TRUE(std::ranges::equal(ports.links, wanted.links)) << spec;
        EXPECT_EQ(ports.trunk, wanted.trunk) << spec;
      }
    }
  }
}

TEST(SinglePaths, EndWhereNoCableLeads) {
  FabricBuilder builder;
  std::vector<DeviceId> hosts;
  for (std::uint32_t i = 0; i < 2; ++i) {
    const DeviceId leaf = builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1});
    hosts.push_back(builder.AddDevice({.kind = DeviceKind::kHost, .node = i}));
    builder.AddCable(hosts.back(), leaf, Rate::GigabitsPerSecond(100), Time(), LinkKind::kNetwork);
  }
  const Fabric fabric = std::move(builder).Build();
  NetworkPaths paths(fabric);
  paths.SearchFewSingly();
  EXPECT_EQ(paths.Distance(hosts[0], hosts[1]), NetworkPaths::kUnreachable);
}

}  // namespace
}  // namespace trunkline
