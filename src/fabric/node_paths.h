#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "trunkline/fabric/fabric.h"
#include "trunkline/fabric/route.h"

// Paths inside a server, found once per distinct server and offset per node.
namespace trunkline {

// The inside of one node: indices are node-relative.
struct NodeGraph {
  struct Edge {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    Rate rate;
    Time latency;
    LinkKind kind = LinkKind::kPcie;
    friend bool operator==(const Edge&, const Edge&) = default;
  };
  struct Vertex {
    DeviceKind kind = DeviceKind::kGpu;
    Time latency;
    friend bool operator==(const Vertex&, const Vertex&) = default;
  };

  std::vector<Vertex> devices;
  std::vector<Edge> edges;
  friend bool operator==(const NodeGraph&, const NodeGraph&) = default;
};

// For every GPU (in device order) the NIC (its index among the NICs) that is fewest buses away,
// then least latency, not through NVLink; equally near NICs are dealt out evenly, lowest index
// first. kNoNic where none is reachable.
constexpr std::uint32_t kNoNic = UINT32_MAX;
[[nodiscard]] std::vector<std::uint32_t> NearestNics(const NodeGraph& node);

class NodePaths {
 public:
  NodePaths(const Fabric& fabric, GpuDirect gpudirect);

  // The buses from `from` to `to`, two GPUs, NICs or hosts of one node; nothing when none joins
  // them. The links are node-relative: translate with link().
  [[nodiscard]] std::optional<std::span<const std::uint32_t>> Find(DeviceId from,
                                                                   DeviceId to) const;
  [[nodiscard]] LinkId link(std::uint32_t node, std::uint32_t relative) const {
    return node_links_[link_begin_[node] + relative];
  }
  // The NIC that serves a GPU.
  [[nodiscard]] std::optional<DeviceId> nic(DeviceId gpu) const;

 private:
  // All paths inside one kind of node.
  struct Shape {
    NodeGraph graph;
    std::vector<std::uint32_t> port_of_device;  // kNoPort: neither endpoint nor NIC
    std::uint32_t ports = 0;
    std::vector<std::uint32_t> path_begin;  // [from port x ports + to port]
    std::vector<bool> reachable;
    std::vector<std::uint32_t> path_links;
    std::vector<std::uint32_t> nic_of_device;  // node-relative device; kNoNic
  };

  [[nodiscard]] std::span<const DeviceId> DevicesOf(std::uint32_t node) const;
  [[nodiscard]] std::span<const LinkId> LinksOf(std::uint32_t node) const;
  [[nodiscard]] NodeGraph::Vertex VertexOf(DeviceId id) const;
  [[nodiscard]] NodeGraph::Edge EdgeOf(LinkId id) const;
  [[nodiscard]] NodeGraph GraphOf(std::uint32_t node) const;
  // Whether GraphOf(node) == graph.
  [[nodiscard]] bool IsNode(std::uint32_t node, const NodeGraph& graph) const;
  [[nodiscard]] static Shape MakeShape(NodeGraph graph, GpuDirect gpudirect);

  const Fabric* fabric_;
  std::vector<std::uint32_t> local_;  // device -> index in its node
  std::vector<std::uint32_t> device_begin_;
  std::vector<DeviceId> node_devices_;
  std::vector<std::uint32_t> link_begin_;
  std::vector<LinkId> node_links_;
  std::vector<std::uint32_t> shape_of_node_;
  std::vector<Shape> shapes_;
};

}  // namespace trunkline
