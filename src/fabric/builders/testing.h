#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "trunkline/fabric/build.h"

// What the tests of builders share.
namespace trunkline {

struct Counts {
  std::size_t nodes = 0;
  std::size_t gpus = 0;
  std::array<std::size_t, 4> switches{};  // by tier
  std::size_t host_cables = 0;
  std::size_t switch_cables = 0;
};

inline Counts CountsOf(const Fabric& fabric) {
  Counts counts{.nodes = fabric.node_count()};
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    counts.gpus += device.kind == DeviceKind::kGpu;
    if (device.kind == DeviceKind::kSwitch) ++counts.switches.at(device.tier);
  }
  for (std::size_t i = 0; i < fabric.link_count(); i += 2) {
    const Link& link = fabric.link(LinkId(i));
    if (link.kind != LinkKind::kNetwork) continue;
    const bool host = fabric.device(link.from).kind != DeviceKind::kSwitch ||
                      fabric.device(link.to).kind != DeviceKind::kSwitch;
    ++(host ? counts.host_cables : counts.switch_cables);
  }
  return counts;
}

inline Result<BuiltFabric> TryBuild(const std::string& text) {
  const auto spec = ParseFabricSpec(text);
  if (!spec) return std::unexpected(spec.error());
  return BuildFabric(*spec);
}

inline BuiltFabric Build(const std::string& text) {
  auto built = TryBuild(text);
  EXPECT_TRUE(built.has_value()) << text << "\n" << (built ? "" : Format(built.error().front()));
  return built ? *std::move(built) : BuiltFabric();
}

inline Fabric FabricOf(const std::string& text) { return Build(text).fabric; }

inline Counts Count(const std::string& text) { return CountsOf(Build(text).fabric); }

inline std::string ErrorOf(const std::string& text) {
  const auto built = TryBuild(text);
  EXPECT_FALSE(built.has_value()) << text;
  return built ? "" : Format(built.error().front());
}

// Cables of the switch with the most of them.
inline std::size_t MostPorts(const Fabric& fabric) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    if (fabric.device(DeviceId(i)).kind != DeviceKind::kSwitch) continue;
    most = std::max(most, fabric.out(DeviceId(i)).size());
  }
  return most;
}

// A spec of every kind, for four nodes of up to 576 NICs.
inline std::vector<std::string> SampleSpecs(const std::string& node) {
  std::vector<std::string> specs;
  for (const char* keys :
       {"single-switch:", "tree:arity=[2,2]", "clos:", "fat-tree:k=24",
        "rail-optimized:", "rail-only:", "hpn:", "meta-roce:", "dragonfly:h=6",
        "dragonfly-plus:h=8", "slim-fly:", "torus:sizes=[2,2]", "full-mesh:switches=4"}) {
    const std::string spec = keys;
    specs.push_back(spec + (spec.back() == ':' ? "" : ",") + "nodes=4,node=" + node);
  }
  return specs;
}

}  // namespace trunkline
