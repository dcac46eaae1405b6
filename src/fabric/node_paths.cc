#include "fabric/node_paths.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/none.h"
#include "trunkline/base/check.h"

namespace trunkline {
namespace {

bool IsScaleUp(LinkKind kind) { return kind == LinkKind::kNvlink || kind == LinkKind::kXgmi; }

// Which buses and which devices in the middle a search may use.
enum class Via : std::uint8_t {
  kScaleUp,  // NVLink or xGMI, through NVSwitches alone: GPUs do not forward
  kHost,     // PCIe, C2C and socket links, through PCIe switches and CPUs
};

bool Allowed(Via via, const NodeGraph::Edge& edge) {
  return IsScaleUp(edge.kind) == (via == Via::kScaleUp);
}

bool Forwards(Via via, DeviceKind kind) {
  if (via == Via::kScaleUp) return kind == DeviceKind::kNvSwitch;
  return kind == DeviceKind::kPcieSwitch || kind == DeviceKind::kCpu;
}

// The shortest paths from one device to all others: fewest buses, then least latency, then the bus
// listed first.
class ShortestPaths {
 public:
  ShortestPaths(const NodeGraph& node, std::uint32_t source, Via via)
      : node_(node),
        hops_(node.devices.size(), kNone),
        latency_(hops_.size()),
        last_edge_(hops_.size(), kNone) {
    hops_[source] = 0;
    for (std::uint32_t depth = 1; Expand(depth, via); ++depth) {
    }
  }

  [[nodiscard]] bool reaches(std::uint32_t to) const { return hops_[to] != kNone; }
  [[nodiscard]] std::pair<std::uint32_t, Time> distance(std::uint32_t to) const {
    return {hops_[to], latency_[to]};
  }

  // Appends the edges from the source to `to`. REQUIRES: reaches(to).
  void Append(std::uint32_t to, std::vector<std::uint32_t>& path) const {
    const std::size_t begin = path.size();
    for (std::uint32_t at = to; hops_[at] > 0; at = node_.edges[last_edge_[at]].from) {
      path.push_back(last_edge_[at]);
    }
    std::reverse(path.begin() + static_cast<std::ptrdiff_t>(begin), path.end());
  }

 private:
  // Settles the devices `depth` buses away; false when there are none.
  bool Expand(std::uint32_t depth, Via via) {
    bool grew = false;
    for (std::uint32_t e = 0; e < node_.edges.size(); ++e) {
      const NodeGraph::Edge& edge = node_.edges[e];
      if (hops_[edge.from] != depth - 1 || !Allowed(via, edge)) continue;
      const NodeGraph::Vertex& from = node_.devices[edge.from];
      if (depth > 1 && !Forwards(via, from.kind)) continue;
      const Time latency = latency_[edge.from] + edge.latency + (depth > 1 ? from.latency : Time());
      if (std::pair(hops_[edge.to], latency_[edge.to]) <= std::pair(depth, latency)) continue;
      hops_[edge.to] = depth;
      latency_[edge.to] = latency;
      last_edge_[edge.to] = e;
      grew = true;
    }
    return grew;
  }

  const NodeGraph& node_;
  std::vector<std::uint32_t> hops_;
  std::vector<Time> latency_;
  std::vector<std::uint32_t> last_edge_;
};

std::vector<std::uint32_t> DevicesOfKind(const NodeGraph& node, DeviceKind kind) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t d = 0; d < node.devices.size(); ++d) {
    if (node.devices[d].kind == kind) found.push_back(d);
  }
  return found;
}

// The device of `kind` nearest to the source of `paths`, or kNone.
std::uint32_t Nearest(const NodeGraph& node, const ShortestPaths& paths, DeviceKind kind) {
  std::uint32_t best = kNone;
  for (std::uint32_t d : DevicesOfKind(node, kind)) {
    if (!paths.reaches(d)) continue;
    if (best == kNone || paths.distance(d) < paths.distance(best)) best = d;
  }
  return best;
}

// Finds the buses between any two ports of one node.
class PortPaths {
 public:
  PortPaths(const NodeGraph& node, GpuDirect gpudirect) : node_(node), gpudirect_(gpudirect) {
    for (std::uint32_t d = 0; d < node.devices.size(); ++d) {
      scale_up_.emplace_back(node, d, Via::kScaleUp);
      host_.emplace_back(node, d, Via::kHost);
    }
  }

  // False when no path exists.
  bool Append(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& path) const {
    const bool from_gpu = node_.devices[from].kind == DeviceKind::kGpu;
    const bool to_gpu = node_.devices[to].kind == DeviceKind::kGpu;
    if (from_gpu && to_gpu && scale_up_[from].reaches(to)) {
      scale_up_[from].Append(to, path);
      return true;
    }
    if (from_gpu != to_gpu && gpudirect_ == GpuDirect::kOff) {
      // Host memory is in the middle; the CPU is the GPU's in both directions.
      const std::uint32_t gpu = from_gpu ? from : to;
      const std::uint32_t cpu = Nearest(node_, host_[gpu], DeviceKind::kCpu);
      if (cpu == kNone || !host_[from].reaches(cpu) || !host_[cpu].reaches(to)) return false;
      host_[from].Append(cpu, path);
      host_[cpu].Append(to, path);
      return true;
    }
    if (!host_[from].reaches(to)) return false;
    host_[from].Append(to, path);
    return true;
  }

 private:
  const NodeGraph& node_;
  GpuDirect gpudirect_;
  std::vector<ShortestPaths> scale_up_;
  std::vector<ShortestPaths> host_;
};

}  // namespace

std::vector<std::uint32_t> NearestNics(const NodeGraph& node) {
  const auto gpus = DevicesOfKind(node, DeviceKind::kGpu);
  const auto nics = DevicesOfKind(node, DeviceKind::kNic);
  std::vector<std::uint32_t> gpus_served(nics.size(), 0);
  std::vector<std::uint32_t> nic_of_gpu;
  for (std::uint32_t gpu : gpus) {
    const ShortestPaths paths(node, gpu, Via::kHost);
    std::uint32_t best = kNoNic;
    for (std::uint32_t n = 0; n < nics.size(); ++n) {
      if (!paths.reaches(nics[n])) continue;
      const auto key = [&](std::uint32_t i) {
        return std::tuple(paths.distance(nics[i]), gpus_served[i]);
      };
      if (best == kNoNic || key(n) < key(best)) best = n;
    }
    if (best != kNoNic) ++gpus_served[best];
    nic_of_gpu.push_back(best);
  }
  return nic_of_gpu;
}

NodePaths::NodePaths(const Fabric& fabric, GpuDirect gpudirect)
    : fabric_(&fabric),
      local_(fabric.device_count(), 0),
      device_begin_(fabric.node_count() + 1, 0),
      link_begin_(fabric.node_count() + 1, 0),
      shape_of_node_(fabric.node_count(), 0) {
  const auto node_of = [&](DeviceId id) { return fabric.device(id).node; };
  const auto inside = [&](const Link& link) {
    return link.kind != LinkKind::kNetwork && node_of(link.from) != Device::kNoNode &&
           node_of(link.from) == node_of(link.to);
  };
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    if (node_of(DeviceId(i)) != Device::kNoNode) ++device_begin_[node_of(DeviceId(i)) + 1];
  }
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const Link& link = fabric.link(LinkId(i));
    if (inside(link)) ++link_begin_[node_of(link.from) + 1];
  }
  for (std::size_t n = 0; n < fabric.node_count(); ++n) {
    device_begin_[n + 1] += device_begin_[n];
    link_begin_[n + 1] += link_begin_[n];
  }
  node_devices_.resize(device_begin_.back());
  node_links_.resize(link_begin_.back());
  std::vector<std::uint32_t> next(device_begin_);
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const std::uint32_t node = node_of(DeviceId(i));
    if (node == Device::kNoNode) continue;
    local_[i] = next[node] - device_begin_[node];
    node_devices_[next[node]++] = DeviceId(i);
  }
  next = link_begin_;
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const Link& link = fabric.link(LinkId(i));
    if (inside(link)) node_links_[next[node_of(link.from)]++] = LinkId(i);
  }

  for (std::uint32_t n = 0; n < fabric.node_count(); ++n) {
    // A cluster has few kinds of node, most often the one seen last.
    const auto known = std::find_if(shapes_.rbegin(), shapes_.rend(),
                                    [&](const Shape& shape) { return IsNode(n, shape.graph); });
    shape_of_node_[n] = static_cast<std::uint32_t>(shapes_.rend() - known - 1);
    if (known != shapes_.rend()) continue;
    shape_of_node_[n] = static_cast<std::uint32_t>(shapes_.size());
    shapes_.push_back(MakeShape(GraphOf(n), gpudirect));
  }
}

std::span<const DeviceId> NodePaths::DevicesOf(std::uint32_t node) const {
  return std::span(node_devices_)
      .subspan(device_begin_[node], device_begin_[node + 1] - device_begin_[node]);
}

std::span<const LinkId> NodePaths::LinksOf(std::uint32_t node) const {
  return std::span(node_links_)
      .subspan(link_begin_[node], link_begin_[node + 1] - link_begin_[node]);
}

NodeGraph::Vertex NodePaths::VertexOf(DeviceId id) const {
  const Device& device = fabric_->device(id);
  return {device.kind, device.latency};
}

NodeGraph::Edge NodePaths::EdgeOf(LinkId id) const {
  const Link& link = fabric_->link(id);
  return {local_[Index(link.from)], local_[Index(link.to)], link.rate, link.latency, link.kind};
}

NodeGraph NodePaths::GraphOf(std::uint32_t node) const {
  NodeGraph graph;
  for (const DeviceId id : DevicesOf(node)) graph.devices.push_back(VertexOf(id));
  for (const LinkId id : LinksOf(node)) graph.edges.push_back(EdgeOf(id));
  return graph;
}

bool NodePaths::IsNode(std::uint32_t node, const NodeGraph& graph) const {
  return std::ranges::equal(DevicesOf(node), graph.devices, {},
                            [this](DeviceId id) { return VertexOf(id); }) &&
         std::ranges::equal(LinksOf(node), graph.edges, {},
                            [this](LinkId id) { return EdgeOf(id); });
}

NodePaths::Shape NodePaths::MakeShape(NodeGraph graph, GpuDirect gpudirect) {
  Shape shape;
  shape.port_of_device.assign(graph.devices.size(), kNone);
  std::vector<std::uint32_t> ports;
  for (std::uint32_t d = 0; d < graph.devices.size(); ++d) {
    const DeviceKind kind = graph.devices[d].kind;
    if (kind != DeviceKind::kGpu && kind != DeviceKind::kHost && kind != DeviceKind::kNic) continue;
    shape.port_of_device[d] = static_cast<std::uint32_t>(ports.size());
    ports.push_back(d);
  }
  shape.ports = static_cast<std::uint32_t>(ports.size());

  const PortPaths paths(graph, gpudirect);
  shape.path_begin.push_back(0);
  for (std::uint32_t from : ports) {
    for (std::uint32_t to : ports) {
      shape.reachable.push_back(from != to && paths.Append(from, to, shape.path_links));
      shape.path_begin.push_back(static_cast<std::uint32_t>(shape.path_links.size()));
    }
  }

  const auto gpus = DevicesOfKind(graph, DeviceKind::kGpu);
  const auto nics = DevicesOfKind(graph, DeviceKind::kNic);
  const auto nic_of_gpu = NearestNics(graph);
  shape.nic_of_device.assign(graph.devices.size(), kNoNic);
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    if (nic_of_gpu[g] != kNoNic) shape.nic_of_device[gpus[g]] = nics[nic_of_gpu[g]];
  }
  shape.graph = std::move(graph);
  return shape;
}

std::optional<std::span<const std::uint32_t>> NodePaths::Find(DeviceId from, DeviceId to) const {
  const std::uint32_t node = fabric_->device(from).node;
  TL_CHECK(node != Device::kNoNode && node == fabric_->device(to).node, fabric_->name(from),
           fabric_->name(to));
  const Shape& shape = shapes_[shape_of_node_[node]];
  const std::uint32_t from_port = shape.port_of_device[local_[Index(from)]];
  const std::uint32_t to_port = shape.port_of_device[local_[Index(to)]];
  TL_CHECK(from_port != kNone && to_port != kNone, fabric_->name(from), fabric_->name(to));
  const std::size_t pair = std::size_t{from_port} * shape.ports + to_port;
  if (!shape.reachable[pair]) return std::nullopt;
  const std::size_t begin = shape.path_begin[pair];
  return std::span(shape.path_links).subspan(begin, shape.path_begin[pair + 1] - begin);
}

std::optional<DeviceId> NodePaths::nic(DeviceId gpu) const {
  const std::uint32_t node = fabric_->device(gpu).node;
  const std::uint32_t nic = shapes_[shape_of_node_[node]].nic_of_device[local_[Index(gpu)]];
  if (nic == kNoNic) return std::nullopt;
  return node_devices_[device_begin_[node] + nic];
}

}  // namespace trunkline
