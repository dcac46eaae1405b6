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
constexpr double kNearlyAllServers = 0.75;

struct ServerCables {
  DeviceId end{};                          // its first
  std::map<DeviceId, std::size_t> cables;  // by leaf

  [[nodiscard]] std::size_t total() const {
    std::size_t sum = 0;
    for (const auto& [leaf, count] : cables) sum += count;
    return sum;
  }
};

std::vector<ServerCables> ServersOf(const Fabric& fabric) {
  std::vector<ServerCables> servers(fabric.node_count());
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (!IsNetworkEnd(device.kind)) continue;
    ServerCables& server = servers[device.node];
    for (LinkId link : fabric.out(DeviceId(i))) {
      if (fabric.link(link).kind != LinkKind::kNetwork) continue;
      if (server.cables.empty()) server.end = DeviceId(i);
      ++server.cables[fabric.link(link).to];
    }
  }
  // One cable cannot be short of another.
  std::erase_if(servers, [](const ServerCables& server) { return server.total() < 2; });
  return servers;
}

// Servers that share at least half of the leaves of the one with fewer.
using LikeServers = std::vector<const ServerCables*>;

std::vector<LikeServers> GroupServers(const std::vector<ServerCables>& servers) {
  std::vector<const ServerCables*> order;
  for (const ServerCables& server : servers) order.push_back(&server);
  std::ranges::stable_sort(order, std::greater(),
                           [](const ServerCables* server) { return server->cables.size(); });
  std::vector<LikeServers> groups;
  std::map<DeviceId, std::vector<std::size_t>> groups_at;  // those whose first server is on a leaf
  for (const ServerCables* server : order) {
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

// Of equal servers: what nearly all have on each leaf where any has a cable.
class PlannedServer {
 public:
  explicit PlannedServer(const LikeServers& peers) : peers_(peers.size()) {
    std::map<std::size_t, std::size_t> totals;
    for (const ServerCables* server : peers) {
      ++totals[server->total()];
      for (const auto& [leaf, count] : server->cables) ++counts_[leaf][count];
    }
    total_ = Mode(totals);
    holds_ = NearlyAll(totals[total_]);
  }

  [[nodiscard]] bool holds() const { return holds_; }
  [[nodiscard]] std::size_t total() const { return total_; }
  // The leaves where the server has less, or more, than nearly all, as often as it does.
  [[nodiscard]] std::vector<DeviceId> Lacks(const ServerCables& server) const {
    std::vector<DeviceId> leaves;
    for (const auto& [leaf, counts] : counts_) {
      const auto mine = server.cables.find(leaf);
      const std::size_t found = mine == server.cables.end() ? 0 : mine->second;
      for (std::size_t i = found; i < Usual(leaf); ++i) leaves.push_back(leaf);
    }
    return leaves;
  }
  [[nodiscard]] std::vector<DeviceId> Exceeds(const ServerCables& server) const {
    std::vector<DeviceId> leaves;
    for (const auto& [leaf, found] : server.cables) {
      for (std::size_t i = Usual(leaf); i < found; ++i) leaves.push_back(leaf);
    }
    return leaves;
  }
  [[nodiscard]] std::size_t Usual(DeviceId leaf) const {
    const auto& counts = counts_.at(leaf);
    const std::size_t usual = Mode(counts);
    return NearlyAll(counts.at(usual)) ? usual : 0;
  }

 private:
  [[nodiscard]] bool NearlyAll(std::size_t count) const {
    return static_cast<double>(count) >= kNearlyAllServers * static_cast<double>(peers_);
  }

  std::size_t peers_;
  std::map<DeviceId, std::map<std::size_t, std::size_t>> counts_;  // servers, by leaf and cables
  std::size_t total_ = 0;
  bool holds_ = false;
};

// The last end of a server with a cable to a leaf.
DeviceId EndOn(const Fabric& fabric, std::uint32_t node, DeviceId leaf) {
  DeviceId end{};
  for (LinkId down : fabric.out(leaf)) {
    const DeviceId to = fabric.link(down).to;
    if (fabric.device(to).node == node) end = std::max(end, to);
  }
  return end;
}

void FindOdd(const Fabric& fabric, const LikeServers& peers, std::vector<FabricFinding>& findings) {
  const PlannedServer plan(peers);
  if (!plan.holds()) return;
  for (const ServerCables* server : peers) {
    // At most half of the cables: another kind.
    if (2 * server->total() <= plan.total()) continue;
    const std::vector<DeviceId> lacks = plan.Lacks(*server);
    const std::vector<DeviceId> exceeds = plan.Exceeds(*server);
    if (server->total() == plan.total() && lacks.size() == exceeds.size()) {
      for (std::size_t i = 0; i < lacks.size(); ++i) {
        const DeviceId end = EndOn(fabric, fabric.device(server->end).node, exceeds[i]);
        findings.push_back({.kind = FabricFinding::Kind::kMiscabled,
                            .from = fabric.name(end),
                            .to = fabric.name(exceeds[i]),
                            .instead = fabric.name(lacks[i]),
                            .found = 1,
                            .expected = 1});
      }
    } else if (server->total() < plan.total()) {
      const std::set<DeviceId> leaves(lacks.begin(), lacks.end());
      for (DeviceId leaf : leaves) {
        const auto mine = server->cables.find(leaf);
        findings.push_back(
            {.kind = FabricFinding::Kind::kMissingCables,
             .from = ServerName(fabric, server->end),
             .to = fabric.name(leaf),
             .found = static_cast<std::uint32_t>(mine == server->cables.end() ? 0 : mine->second),
             .expected = static_cast<std::uint32_t>(plan.Usual(leaf))});
      }
    }
  }
}

}  // namespace

std::string ServerName(const Fabric& fabric, DeviceId end) {
  const std::string name = fabric.name(end);
  const std::size_t slash = name.rfind('/');
  if (slash == std::string::npos) return name;
  // Of a file it is the name that counts, not the place of the server among those that it has.
  constexpr std::string_view kNumbered = "nic:";
  return name.starts_with(kNumbered)
             ? "node-" + name.substr(kNumbered.size(), slash - kNumbered.size())
             : name.substr(0, slash);
}

std::vector<FabricFinding> FindOddServers(const Fabric& fabric) {
  std::vector<FabricFinding> findings;
  const std::vector<ServerCables> servers = ServersOf(fabric);
  for (const LikeServers& peers : GroupServers(servers)) FindOdd(fabric, peers, findings);
  return findings;
}

}  // namespace trunkline
