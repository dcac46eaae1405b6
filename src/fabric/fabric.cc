#include "trunkline/fabric/fabric.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "fabric/tier_name.h"
#include "trunkline/base/check.h"

namespace trunkline {
namespace {

constexpr std::array<const char*, 4> kTierNames = {"switch", "leaf", "spine", "core"};

struct DeviceName {
  DeviceKind kind = DeviceKind::kHost;
  std::uint8_t tier = 0;
  std::uint32_t node = Device::kNoNode;
  std::uint32_t local = 0;
};

std::optional<std::uint32_t> ParseIndex(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// `kind:node/local`, the form of what sits in a node.
std::optional<DeviceName> ParseInNode(std::string_view name) {
  const std::size_t colon = name.find(':');
  const std::size_t slash = name.find('/');
  if (colon == std::string_view::npos || slash == std::string_view::npos || slash < colon) {
    return std::nullopt;
  }
  const auto node = ParseIndex(name.substr(colon + 1, slash - colon - 1));
  const auto local = ParseIndex(name.substr(slash + 1));
  if (!node || !local) return std::nullopt;
  for (DeviceKind kind : {DeviceKind::kGpu, DeviceKind::kNvSwitch, DeviceKind::kPcieSwitch,
                          DeviceKind::kCpu, DeviceKind::kNic}) {
    if (name.substr(0, colon) == ToString(kind)) return DeviceName{kind, 0, *node, *local};
  }
  return std::nullopt;
}

// `host-9`, `leaf-12`, `tier4-0`.
std::optional<DeviceName> ParseNumbered(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto number = ParseIndex(name.substr(dash + 1));
  if (!number) return std::nullopt;
  const std::string_view word = name.substr(0, dash);
  if (word == ToString(DeviceKind::kHost)) return DeviceName{DeviceKind::kHost, 0, *number, 0};
  for (std::uint8_t tier = 0; tier < kTierNames.size(); ++tier) {
    if (word == kTierNames[tier]) {
      return DeviceName{DeviceKind::kSwitch, tier, Device::kNoNode, *number};
    }
  }
  if (!word.starts_with("tier")) return std::nullopt;
  const auto tier = ParseIndex(word.substr(4));
  if (!tier || *tier < kTierNames.size() || *tier > UINT8_MAX) return std::nullopt;
  return DeviceName{DeviceKind::kSwitch, static_cast<std::uint8_t>(*tier), Device::kNoNode,
                    *number};
}

}  // namespace

const char* ToString(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kGpu:
      return "gpu";
    case DeviceKind::kHost:
      return "host";
    case DeviceKind::kNvSwitch:
      return "nvswitch";
    case DeviceKind::kPcieSwitch:
      return "pcie-switch";
    case DeviceKind::kCpu:
      return "cpu";
    case DeviceKind::kNic:
      return "nic";
    case DeviceKind::kSwitch:
      return "switch";
  }
  return "?";
}

const char* ToString(LinkKind kind) {
  switch (kind) {
    case LinkKind::kNvlink:
      return "nvlink";
    case LinkKind::kXgmi:
      return "xgmi";
    case LinkKind::kC2c:
      return "c2c";
    case LinkKind::kPcie:
      return "pcie";
    case LinkKind::kSocket:
      return "socket";
    case LinkKind::kNetwork:
      return "network";
  }
  return "?";
}

std::string TierName(std::uint8_t tier) {
  return tier < kTierNames.size() ? kTierNames[tier] : fmt::format("tier{}", tier);
}

std::string DeviceClass(const Device& device) {
  return device.kind == DeviceKind::kSwitch ? TierName(device.tier) : ToString(device.kind);
}

std::span<const LinkId> Fabric::out(DeviceId id) const {
  const std::size_t begin = out_begin_[Index(id)];
  const std::size_t end = out_begin_[Index(id) + 1];
  return std::span(out_).subspan(begin, end - begin);
}

std::string Fabric::name(DeviceId id) const {
  if (const auto own = names_.find(id); own != names_.end()) return own->second;
  const Device& d = device(id);
  if (d.kind == DeviceKind::kHost) return fmt::format(FMT_COMPILE("host-{}"), d.node);
  if (d.kind != DeviceKind::kSwitch) {
    return fmt::format(FMT_COMPILE("{}:{}/{}"), ToString(d.kind), d.node, d.local);
  }
  return fmt::format(FMT_COMPILE("{}-{}"), TierName(d.tier), d.local);
}

std::vector<DeviceId> Fabric::Find(std::string_view name) const {
  for (const auto& [id, own] : names_) {
    if (own == name) return {id};
  }
  auto wanted = ParseInNode(name);
  if (!wanted) wanted = ParseNumbered(name);
  if (!wanted) return {};
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const Device& d = devices_[i];
    if (d.kind == wanted->kind && d.tier == wanted->tier && d.node == wanted->node &&
        d.local == wanted->local && !names_.contains(DeviceId(i))) {
      return {DeviceId(i)};
    }
  }
  return {};
}

void FabricBuilder::Reserve(std::size_t devices, std::size_t cables) {
  fabric_.devices_.reserve(devices);
  fabric_.links_.reserve(2 * cables);
}

DeviceId FabricBuilder::AddDevice(Device device) {
  TL_CHECK(fabric_.devices_.size() < UINT32_MAX, "too many devices");
  fabric_.devices_.push_back(device);
  return DeviceId(fabric_.devices_.size() - 1);
}

void FabricBuilder::CopyDevices(const Fabric& fabric) {
  TL_CHECK(fabric_.devices_.empty(), fabric_.devices_.size());
  fabric_.devices_ = fabric.devices_;
  fabric_.torus_ = fabric.torus_;
  fabric_.names_ = fabric.names_;
}

LinkId FabricBuilder::AddCable(DeviceId a, DeviceId b, Rate rate, Time latency, LinkKind kind) {
  TL_CHECK(a != b, "a cable joins two devices", Index(a));
  TL_CHECK(rate > Rate() && latency >= Time(), rate.bits_per_second(), latency.ps());
  TL_CHECK(fabric_.links_.size() < UINT32_MAX - 2, "too many links");
  fabric_.links_.push_back({a, b, rate, latency, kind, Link::kNoTrunk});
  fabric_.links_.push_back({b, a, rate, latency, kind, Link::kNoTrunk});
  return LinkId(fabric_.links_.size() - 2);
}

std::uint32_t FabricBuilder::AddTrunk(std::span<const LinkId> links) {
  const auto trunk = static_cast<std::uint32_t>(fabric_.trunk_links_.size());
  for (LinkId link : links) {
    TL_CHECK(fabric_.links_[Index(link)].trunk == Link::kNoTrunk, "a link is in one trunk at most");
    fabric_.links_[Index(link)].trunk = trunk;
  }
  fabric_.trunk_links_.emplace_back(links.begin(), links.end());
  return trunk;
}

void FabricBuilder::SetRate(LinkId link, Rate rate) {
  TL_CHECK(rate > Rate(), rate.bits_per_second());
  fabric_.links_[Index(link)].rate = rate;
}

void FabricBuilder::SetName(DeviceId device, std::string name) {
  TL_CHECK(Index(device) < fabric_.devices_.size() && !name.empty(), name);
  fabric_.names_[device] = std::move(name);
}

Fabric FabricBuilder::Build() && {
  Fabric& f = fabric_;
  f.out_begin_.assign(f.devices_.size() + 1, 0);
  for (const Link& link : f.links_) ++f.out_begin_[Index(link.from) + 1];
  for (std::size_t i = 0; i < f.devices_.size(); ++i) f.out_begin_[i + 1] += f.out_begin_[i];
  f.out_.resize(f.links_.size());
  std::vector<std::uint32_t> next(f.out_begin_.begin(), f.out_begin_.end() - 1);
  for (std::size_t i = 0; i < f.links_.size(); ++i) {
    f.out_[next[Index(f.links_[i].from)]++] = LinkId(i);
  }

  for (std::size_t i = 0; i < f.devices_.size(); ++i) {
    const Device& d = f.devices_[i];
    if (d.node != Device::kNoNode) f.node_count_ = std::max(f.node_count_, d.node + 1);
    if (d.kind == DeviceKind::kGpu || d.kind == DeviceKind::kHost)
      f.endpoints_.push_back(DeviceId(i));
  }
  const auto place = [&](DeviceId id) {
    return std::uint64_t{f.device(id).node} << 32U | f.device(id).local;
  };
  // As builders add them.
  if (!std::ranges::is_sorted(f.endpoints_, {}, place)) {
    std::ranges::stable_sort(f.endpoints_, {}, place);
  }
  std::vector<std::uint32_t> per_node(f.node_count_, 0);
  for (DeviceId id : f.endpoints_) {
    TL_CHECK(f.device(id).node != Device::kNoNode, "an endpoint sits in a node", f.name(id));
    ++per_node[f.device(id).node];
  }
  const bool even = !per_node.empty() &&
                    std::ranges::all_of(per_node, [&](auto n) { return n == per_node.front(); });
  f.endpoints_per_node_ = even ? per_node.front() : 0;
  return std::move(fabric_);
}

}  // namespace trunkline
