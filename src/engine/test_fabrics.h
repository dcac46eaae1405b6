#pragma once

#include <cstdint>
#include <vector>

#include "trunkline/fabric/fabric.h"
#include "trunkline/fabric/placement.h"

// Small fabrics whose closed forms are known, for the engines' tests.
namespace trunkline {

inline constexpr Time kHop = Time::Nanoseconds(500);  // a cable's latency

// `hosts` plain hosts on one switch: two cables of `latency` between any two.
inline Fabric Crossbar(std::uint32_t hosts, Rate rate, Time latency) {
  FabricBuilder builder;
  const DeviceId hub = builder.AddDevice(
      {.kind = DeviceKind::kSwitch, .tier = 1, .node = Device::kNoNode, .local = 0, .latency = {}});
  for (std::uint32_t i = 0; i < hosts; ++i) {
    const DeviceId host = builder.AddDevice(
        {.kind = DeviceKind::kHost, .tier = 0, .node = i, .local = 0, .latency = {}});
    builder.AddCable(host, hub, rate, latency, LinkKind::kNetwork);
  }
  return std::move(builder).Build();
}

// Servers of GPUs behind one NVSwitch, a NIC for each GPU, in racks of one leaf below one spine.
struct ServerFabric {
  std::uint32_t racks = 1;
  std::uint32_t nodes_per_rack = 2;
  std::uint32_t gpus = 4;
  Rate nvlink = Rate::GigabytesPerSecond(400);
  Rate network = Rate::GigabytesPerSecond(50);
  Rate uplink = Rate::GigabytesPerSecond(400);  // of a leaf, one cable
  Time latency = Time::Nanoseconds(500);        // of every cable and bus

  [[nodiscard]] Fabric Build() const {
    FabricBuilder builder;
    const auto add = [&](DeviceKind kind, std::uint8_t tier, std::uint32_t node,
                         std::uint32_t local) {
      return builder.AddDevice(
          {.kind = kind, .tier = tier, .node = node, .local = local, .latency = {}});
    };
    const DeviceId spine = add(DeviceKind::kSwitch, 2, Device::kNoNode, 0);
    for (std::uint32_t rack = 0; rack < racks; ++rack) {
      const DeviceId leaf = add(DeviceKind::kSwitch, 1, Device::kNoNode, rack);
      builder.AddCable(leaf, spine, uplink, latency, LinkKind::kNetwork);
      for (std::uint32_t i = 0; i < nodes_per_rack; ++i) {
        const std::uint32_t node = rack * nodes_per_rack + i;
        const DeviceId nvswitch = add(DeviceKind::kNvSwitch, 0, node, 0);
        for (std::uint32_t g = 0; g < gpus; ++g) {
          const DeviceId gpu = add(DeviceKind::kGpu, 0, node, g);
          const DeviceId nic = add(DeviceKind::kNic, 0, node, g);
          builder.AddCable(gpu, nvswitch, nvlink, latency, LinkKind::kNvlink);
          builder.AddCable(gpu, nic, network, latency, LinkKind::kPcie);
          builder.AddCable(nic, leaf, network, latency, LinkKind::kNetwork);
        }
      }
    }
    return std::move(builder).Build();
  }
};

inline std::vector<DeviceId> AllEndpoints(const Fabric& fabric) {
  return {fabric.endpoints().begin(), fabric.endpoints().end()};
}

}  // namespace trunkline
