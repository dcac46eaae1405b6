#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trunkline/base/ids.h"
#include "trunkline/base/units.h"

namespace trunkline {

// kHost is an endpoint that stands for a whole server with one NIC (a fabric without a node
// template). kSwitch is a network switch; its `tier` says which (1 leaf, 2 spine, 3 core).
enum class DeviceKind : std::uint8_t { kGpu, kHost, kNvSwitch, kPcieSwitch, kCpu, kNic, kSwitch };
enum class LinkKind : std::uint8_t { kNvlink, kXgmi, kC2c, kPcie, kSocket, kNetwork };

// Where messages enter and leave the network.
[[nodiscard]] constexpr bool IsNetworkEnd(DeviceKind kind) {
  return kind == DeviceKind::kNic || kind == DeviceKind::kHost;
}

[[nodiscard]] const char* ToString(DeviceKind kind);
[[nodiscard]] const char* ToString(LinkKind kind);

struct Device {
  static constexpr std::uint32_t kNoNode = UINT32_MAX;
  static constexpr std::uint32_t kNoGroup = UINT32_MAX;

  DeviceKind kind = DeviceKind::kHost;
  std::uint8_t tier = 0;         // switches: 1 leaf, 2 spine, 3 core; else 0
  std::uint32_t node = kNoNode;  // the server it sits in, or kNoNode
  std::uint32_t local = 0;       // index among its kind in its node (its tier in the fabric)
  Time latency = {};             // what forwarding a packet through it takes
  // Switches of a dragonfly: the group it belongs to, which non-minimal routing needs.
  std::uint32_t group = kNoGroup;
};

// One direction of a cable or bus.
struct Link {
  static constexpr std::uint32_t kNoTrunk = UINT32_MAX;

  DeviceId from{};
  DeviceId to{};
  Rate rate;
  Time latency;
  LinkKind kind = LinkKind::kNetwork;
  std::uint32_t trunk = kNoTrunk;
};

// A directed multigraph of devices and links, immutable once built.
//
// Device and link ids are dense, so per-link data lives in vectors. A cable or bus is two links,
// `l` and `reverse(l)`. Safe for any number of concurrent readers.
//
// A *trunk* is a set of links that a balancing routing policy (spray, adaptive) uses evenly: all
// uplinks of one leaf, say. Resource ids cover both: [0, link_count()) are the links, followed by
// the trunks.
class Fabric {
 public:
  [[nodiscard]] std::size_t device_count() const { return devices_.size(); }
  [[nodiscard]] std::size_t link_count() const { return links_.size(); }
  [[nodiscard]] std::size_t trunk_count() const { return trunk_links_.size(); }
  [[nodiscard]] std::size_t resource_count() const { return link_count() + trunk_count(); }

  [[nodiscard]] const Device& device(DeviceId id) const { return devices_[Index(id)]; }
  [[nodiscard]] const Link& link(LinkId id) const { return links_[Index(id)]; }
  [[nodiscard]] LinkId reverse(LinkId id) const { return LinkId(Index(id) ^ 1U); }
  // Links that leave a device, in the order in which they were added.
  [[nodiscard]] std::span<const LinkId> out(DeviceId id) const;
  [[nodiscard]] std::span<const LinkId> trunk_links(std::uint32_t trunk) const {
    return trunk_links_[trunk];
  }

  [[nodiscard]] static ResourceId resource(LinkId id) { return ResourceId(Index(id)); }
  [[nodiscard]] ResourceId trunk_resource(std::uint32_t trunk) const {
    return ResourceId(link_count() + trunk);
  }

  // The devices that ranks can be placed on (GPUs or hosts), ordered by node, then local index.
  [[nodiscard]] std::span<const DeviceId> endpoints() const { return endpoints_; }
  // Endpoints in every node: GPUs per node, 1 for plain hosts; 0 when nodes differ.
  [[nodiscard]] std::uint32_t endpoints_per_node() const { return endpoints_per_node_; }
  [[nodiscard]] std::uint32_t node_count() const { return node_count_; }

  // Of a torus, the switches along each dimension: switch `local` sits at the coordinates that are
  // its digits, the first dimension's the lowest. Empty for any other fabric.
  [[nodiscard]] std::span<const std::uint32_t> torus() const { return torus_; }

  // The name people use: `gpu:3/5`, `nic:3/5`, `leaf-12`, `spine-0`, `core-7`, `host-9`, or the one
  // that the file gives which the fabric was read from.
  [[nodiscard]] std::string name(DeviceId id) const;
  // The device of that name (one element), or nothing.
  [[nodiscard]] std::vector<DeviceId> Find(std::string_view name) const;

 private:
  friend class FabricBuilder;
  std::vector<Device> devices_;
  std::vector<Link> links_;
  std::vector<std::vector<LinkId>> trunk_links_;
  std::vector<std::uint32_t> out_begin_;
  std::vector<LinkId> out_;
  std::vector<DeviceId> endpoints_;
  std::vector<std::uint32_t> torus_;
  std::unordered_map<DeviceId, std::string> names_;  // of devices that have one of their own
  std::uint32_t endpoints_per_node_ = 1;
  std::uint32_t node_count_ = 0;
};

// Collects devices and cables, then makes the immutable Fabric.
class FabricBuilder {
 public:
  // Makes room for as many; more may be added.
  void Reserve(std::size_t devices, std::size_t cables);
  DeviceId AddDevice(Device device);
  // All devices of `fabric` with their names and order, but none of its cables. REQUIRES: none was
  // added before.
  void CopyDevices(const Fabric& fabric);
  // Adds both directions; returns the one from `a` to `b`. REQUIRES: a != b, rate > 0, latency >=
  // 0.
  LinkId AddCable(DeviceId a, DeviceId b, Rate rate, Time latency, LinkKind kind);
  // Makes `links` one trunk. REQUIRES: each is in no other trunk.
  std::uint32_t AddTrunk(std::span<const LinkId> links);
  // Changes one direction's rate (faults, asymmetric buses). REQUIRES: rate > 0.
  void SetRate(LinkId link, Rate rate);
  // Gives a device a name of its own. REQUIRES: no other device has it.
  void SetName(DeviceId device, std::string name);
  void SetTorus(std::vector<std::uint32_t> switches_along) {
    fabric_.torus_ = std::move(switches_along);
  }
  [[nodiscard]] Fabric Build() &&;

 private:
  Fabric fabric_;
};

}  // namespace trunkline
