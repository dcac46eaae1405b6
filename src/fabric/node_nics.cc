#include "fabric/node_nics.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/plural.h"
#include "fabric/node_paths.h"

namespace trunkline {
namespace {

constexpr std::uint32_t kLeftOut = UINT32_MAX;

NodeTemplate PlainHost(NodeTemplate node, std::uint32_t nics) {
  node.devices.clear();
  for (std::uint32_t i = 0; i < nics; ++i) {
    node.devices.push_back({.kind = DeviceKind::kHost, .node = 0, .local = i});
  }
  node.nics = nics;
  return node;
}

// Leaves NICs out, and the buses to them; the devices left are numbered anew.
void KeepNics(NodeTemplate& node, std::uint32_t nics) {
  std::vector<std::uint32_t> place(node.devices.size(), kLeftOut);
  std::vector<Device> devices;
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    Device device = node.devices[i];
    if (device.kind == DeviceKind::kNic) {
      if (kept == nics || device.local != kept * node.nics / nics) continue;
      device.local = kept++;
    }
    place[i] = static_cast<std::uint32_t>(devices.size());
    devices.push_back(device);
  }
  std::erase_if(node.buses, [&](const NodeTemplate::Bus& bus) {
    return place[bus.from] == kLeftOut || place[bus.to] == kLeftOut;
  });
  for (NodeTemplate::Bus& bus : node.buses) {
    bus.from = place[bus.from];
    bus.to = place[bus.to];
  }
  node.devices = std::move(devices);
  node.nics = nics;
}

}  // namespace

std::expected<std::vector<std::uint32_t>, std::size_t> NicsOf(const NodeTemplate& node) {
  NodeGraph graph;
  for (const Device& device : node.devices) graph.devices.push_back({device.kind, device.latency});
  for (const NodeTemplate::Bus& bus : node.buses) {
    graph.edges.push_back({bus.from, bus.to, bus.rate, bus.latency, bus.kind});
    graph.edges.push_back({bus.to, bus.from, bus.rate, bus.latency, bus.kind});
  }
  std::vector<std::uint32_t> nic_of_gpu = NearestNics(graph);
  const auto stranded = std::ranges::find(nic_of_gpu, kNoNic);
  if (stranded == nic_of_gpu.end()) return nic_of_gpu;
  return std::unexpected(static_cast<std::size_t>(stranded - nic_of_gpu.begin()));
}

Result<NodeTemplate> WithSoManyNics(NodeTemplate node, std::uint32_t nics) {
  if (node.gpus == 0) return nics == 1 ? node : PlainHost(std::move(node), nics);
  if (nics > node.nics) {
    return Error("TL1405",
                 fmt::format("a {} has {}, not {}", node.name, Plural(node.nics, "NIC"), nics),
                 fmt::format("write nics={} at most, or a node of your own", node.nics));
  }
  if (nics == node.nics) return node;
  KeepNics(node, nics);
  auto nic_of_gpu = NicsOf(node);
  if (!nic_of_gpu) {
    return Error("TL1405",
                 fmt::format("gpu {} of a {} reaches none of {}", nic_of_gpu.error(), node.name,
                             Plural(nics, "NIC")),
                 "each has a NIC of its own that no bus joins to the others: leave nics out");
  }
  node.nic_of_gpu = *std::move(nic_of_gpu);
  return node;
}

}  // namespace trunkline
