#include "fabric/check/servers.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "fabric/check/wanted.h"

namespace trunkline {
namespace {

// What this share of like servers have, all should; the others of them are the ones that lack it.
// Ours, published nowhere: three of four, so that two servers never say which of them is right.
constexpr double kNearlyAll = 0.75;

struct Server {
  DeviceId end{};                          // its first
  std::map<DeviceId, std::size_t> cables;  // by leaf

  [[nodiscard]] std::size_t total() const {
    std::size_t sum = 0;
    for (const auto& [leaf, count] : cables) sum += count;
    return sum;
  }
};

std::vector<Server> ServersOf(const Fabric& fabric) {
  std::vector<Server> servers(fabric.node_count());
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (device.kind != DeviceKind::kNic && device.kind != DeviceKind::kHost) continue;
    Server& server = servers[device.node];
    for (LinkId link : fabric.out(DeviceId(i))) {
      if (fabric.link(link).kind != LinkKind::kNetwork) continue;
      if (server.cables.empty()) server.end = DeviceId(i);
      ++server.cables[fabric.link(link).to];
    }
  }
  // One cable cannot be short of another.
  std::erase_if(servers, [](const Server& server) { return server.total() < 2; });
  return servers;
}

// Servers that share at least half of the leaves of the one with fewer.
using Peers = std::vector<const Server*>;

std::vector<Peers> GroupServers(const std::vector<Server>& servers) {
  std::vector<const Server*> order;
  for (const Server& server : servers) order.push_back(&server);
  std::ranges::stable_sort(order, std::greater(),
                           [](const Server* server) { return server->cables.size(); });
  std::vector<Peers> groups;
  std::map<DeviceId, std::vector<std::size_t>> groups_at;  // those whose first server is on a leaf
  for (const Server* server : order) {
    std::map<std::size_t, std::size_t> shared;  // leaves, by group
    for (const auto& [leaf, count] : server->cables) {
      for (std::size_t group : groups_at[leaf]) ++shared[group];
    }
    const auto mine = std::ranges::find_if(
        shared, [&](const auto& entry) { return 2 * entry.second >= server->cables.size(); });
    if (mine != shared.end()) {
      groups[mine->first].push_back(server);
      continue;
    }
    for (const auto& [leaf, count] : server->cables) groups_at[leaf].push_back(groups.size());
    groups.push_back({server});
  }
  return groups;
}

void FindShort(const Fabric& fabric, const Peers& peers, std::vector<FabricFinding>& findings) {
  const auto nearly_all = [&](std::size_t count) {
    return static_cast<double>(count) >= kNearlyAll * static_cast<double>(peers.size());
  };
  std::map<std::size_t, std::size_t> totals;
  std::map<DeviceId, std::map<std::size_t, std::size_t>> counts;  // of cables, by leaf
  for (const Server* server : peers) {
    ++totals[server->total()];
    for (const auto& [leaf, count] : server->cables) ++counts[leaf][count];
  }
  const std::size_t usual_total = Mode(totals);
  if (!nearly_all(totals[usual_total])) return;
  for (const Server* server : peers) {
    // As many cables on other leaves: mis-cabled, if anything. At most half of them: another kind.
    if (server->total() >= usual_total || 2 * server->total() <= usual_total) continue;
    for (const auto& [leaf, of_leaf] : counts) {
      const std::size_t usual = Mode(of_leaf);
      const auto mine = server->cables.find(leaf);
      const std::size_t found = mine == server->cables.end() ? 0 : mine->second;
      if (found >= usual || !nearly_all(of_leaf.at(usual))) continue;
      findings.push_back({.kind = FabricFinding::Kind::kMissingCables,
                          .from = ServerName(fabric, server->end),
                          .to = fabric.name(leaf),
                          .found = static_cast<std::uint32_t>(found),
                          .expected = static_cast<std::uint32_t>(usual)});
    }
  }
}

}  // namespace

std::string ServerName(const Fabric& fabric, DeviceId end) {
  const std::string name = fabric.name(end);
  const std::size_t slash = name.rfind('/');
  if (slash == std::string::npos) return name;
  constexpr std::string_view kNumbered = "nic:";
  return name.starts_with(kNumbered) ? fmt::format("node-{}", fabric.device(end).node)
                                     : name.substr(0, slash);
}

std::vector<FabricFinding> FindShortServers(const Fabric& fabric) {
  std::vector<FabricFinding> findings;
  const std::vector<Server> servers = ServersOf(fabric);
  for (const Peers& peers : GroupServers(servers)) FindShort(fabric, peers, findings);
  return findings;
}

}  // namespace trunkline
