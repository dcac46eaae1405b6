#include "fabric/import/node_draft.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace trunkline {
namespace {

// GPUs first, then NICs, as templates number them.
constexpr std::array kKindOrder = {DeviceKind::kGpu, DeviceKind::kNic, DeviceKind::kNvSwitch,
                                   DeviceKind::kPcieSwitch, DeviceKind::kCpu};

// As in data/nodes: of the hardware alone, assumed but for NVLink (SimAI's server template).
Time LatencyOf(LinkKind kind) {
  if (kind == LinkKind::kNvlink || kind == LinkKind::kXgmi) return Time::Nanoseconds(25);
  return kind == LinkKind::kSocket ? Time::Nanoseconds(100) : Time::Nanoseconds(50);
}

Time ForwardingOf(DeviceKind kind) {
  if (kind == DeviceKind::kPcieSwitch) return Time::Nanoseconds(100);
  return kind == DeviceKind::kCpu ? Time::Nanoseconds(200) : Time();
}

}  // namespace

Rate PcieRate(double gigatransfers, int lanes) {
  // 57.88 Gb/s is of eight lanes of 8 GT/s.
  const double coding = gigatransfers < 8 ? (8.0 / 10) / (128.0 / 130) : 1;
  const double link = 57.88e9 * (gigatransfers / 8) * (lanes / 8.0) * coding;
  return Rate::BitsPerSecond(std::llround(link * 256 / 280));
}

std::uint32_t NodeDraft::Add(DeviceKind kind, std::int64_t order) {
  devices_.push_back({kind, order});
  return static_cast<std::uint32_t>(devices_.size() - 1);
}

void NodeDraft::Join(std::uint32_t a, std::uint32_t b, LinkKind kind, Rate rate) {
  buses_.push_back({.from = a, .to = b, .rate = rate, .latency = LatencyOf(kind), .kind = kind});
}

void NodeDraft::JoinCpus(Rate rate) {
  for (std::uint32_t a = 0; a < devices_.size(); ++a) {
    for (std::uint32_t b = a + 1; b < devices_.size(); ++b) {
      if (devices_[a].kind == DeviceKind::kCpu && devices_[b].kind == DeviceKind::kCpu) {
        Join(a, b, LinkKind::kSocket, rate);
      }
    }
  }
}

std::size_t NodeDraft::Count(DeviceKind kind) const {
  return static_cast<std::size_t>(std::ranges::count(devices_, kind, &Drafted::kind));
}

NodeTemplate NodeDraft::Finish() const {
  std::vector<std::uint32_t> order(devices_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t d) {
    return std::pair(std::ranges::find(kKindOrder, devices_[d].kind) - kKindOrder.begin(),
                     devices_[d].order);
  });
  NodeTemplate node;
  std::vector<std::uint32_t> moved(devices_.size());
  std::array<std::uint32_t, 8> next{};
  for (std::uint32_t d : order) {
    const DeviceKind kind = devices_[d].kind;
    moved[d] = static_cast<std::uint32_t>(node.devices.size());
    node.devices.push_back({.kind = kind,
                            .node = 0,
                            .local = next[static_cast<std::size_t>(kind)]++,
                            .latency = ForwardingOf(kind)});
  }
  node.buses = buses_;
  for (NodeTemplate::Bus& bus : node.buses) {
    bus.from = moved[bus.from];
    bus.to = moved[bus.to];
  }
  node.gpus = static_cast<std::uint32_t>(Count(DeviceKind::kGpu));
  node.nics = static_cast<std::uint32_t>(Count(DeviceKind::kNic));
  return node;
}

}  // namespace trunkline
