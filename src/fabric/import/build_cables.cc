#include "fabric/import/build_cables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/disjoint_sets.h"
#include "base/plural.h"
#include "fabric/builders/builder.h"
#include "fabric/import/cable_order.h"
#include "fabric/import/nic_name.h"
#include "fabric/import/scanner.h"
#include "fabric/import/trunk_groups.h"
#include "trunkline/base/check.h"

namespace trunkline {
namespace {

std::unexpected<Diagnostics> Refuse(const std::string& file, std::string code, std::string message,
                                    std::string hint) {
  auto error = Error(std::move(code), std::move(message), std::move(hint));
  error.error().front().where.file = file;
  return error;
}

bool IsNicOrGpu(DeviceKind kind) { return kind == DeviceKind::kNic || kind == DeviceKind::kGpu; }

// The devices of one server, as indices into the list.
struct ServerParts {
  std::string host;
  std::vector<std::uint32_t> nics;  // whose network cables count: NICs, or GPUs that have cables
  std::vector<std::uint32_t> gpus;
  std::vector<std::uint32_t> nv_switches;
};

// A network cable: its ends as indices into the list, and the link from the lower to the higher.
struct Laid {
  CableList::End low;
  CableList::End high;
  const CableList::Cable* cable = nullptr;
  LinkId link = {};
};

// Makes a fabric of a list of cables, step by step.
class CableBuilder {
 public:
  CableBuilder(const CableList& list, const std::string& file, const ImportOptions& options)
      : list_(list),
        file_(file),
        options_(options),
        neighbours_(list.devices.size()),
        built_(list.devices.size()) {
    latencies_.switch_latency = options.switch_latency;
    latencies_.cable_latency = options.cable_latency;
    for (const CableList::Cable& cable : list.cables) {
      neighbours_[cable.a.device].push_back(cable.b.device);
      neighbours_[cable.b.device].push_back(cable.a.device);
    }
  }

  Result<ImportedFabric> Build() {
    imported_.built.notes = list_.notes;
    if (const auto good = ReadNode(); !good) return std::unexpected(good.error());
    if (const auto good = CheckSize(); !good) return std::unexpected(good.error());
    if (const auto good = CheckLatencies(); !good) return std::unexpected(good.error());
    tiers_ = FindTiers(list_, neighbours_);
    FindServers();
    SetStrangersAside();
    if (servers_.empty()) return RefuseNoServers();
    AddServers();
    AddSwitches();
    AddNetwork();
    AddTrunks();
    FindUnits();
    return Finish();
  }

 private:
  Result<void> ReadNode();
  Result<void> CheckSize() const;
  Result<void> CheckLatencies() const;
  void FindServers();
  void SetStrangersAside();
  void NoteLeftOut(const std::vector<std::string>& servers, const std::string& have);
  std::unexpected<Diagnostics> RefuseNoServers() const;
  void AddServers();
  void AddPlainServer(const ServerParts& server, std::uint32_t node);
  void AddFromTemplate(const ServerParts& server, std::uint32_t node);
  void AddDrawnServer(const ServerParts& server, std::uint32_t node);
  void AddDrawnBuses();
  void DescribeDrawnNode();
  void AddSwitches();
  void AddNetwork();
  void AddTrunks();
  void Bundle(const std::map<std::uint32_t, std::vector<LinkId>>& bundles);
  void FindUnits();
  ImportedFabric Finish();

  void Name(DeviceId device, const std::string& name) {
    if (!name.empty()) names_.emplace_back(device, name);
  }
  [[nodiscard]] Rate RateOf(const CableList::Cable& cable) {
    if (cable.rate) return *cable.rate;
    ++unrated_;
    return assumed_rate();
  }
  // Whether a cable is an NVLink of a server.
  [[nodiscard]] bool IsInside(const CableList::Cable& cable) const {
    return list_.devices[cable.a.device].kind == DeviceKind::kNvSwitch ||
           list_.devices[cable.b.device].kind == DeviceKind::kNvSwitch;
  }
  [[nodiscard]] Rate assumed_rate() const { return options_.link.value_or(template_.nic_rate); }

  const CableList& list_;
  const std::string& file_;
  const ImportOptions& options_;
  FabricSpec latencies_;              // what the options say of them
  std::optional<NodeTemplate> node_;  // the one that the options name
  NodeTemplate template_;             // that, or a plain host's
  std::vector<std::vector<std::uint32_t>> neighbours_;
  std::vector<std::uint8_t> tiers_;
  std::vector<ServerParts> servers_;
  std::vector<bool> aside_;  // devices of servers that are no such node
  std::map<std::size_t, std::size_t> strangers_of_size_;  // such servers, by their cabled NICs
  std::map<std::uint32_t, DeviceId> inside_;  // GPUs and NVSwitches of servers that the file draws
  std::vector<DeviceId> built_;  // what carries the network cables of a device of the list
  std::vector<std::pair<DeviceId, std::string>> names_;
  std::size_t unrated_ = 0;
  FabricBuilder builder_;
  std::vector<Laid> network_;
  ImportedFabric imported_;
};

Result<void> CableBuilder::ReadNode() {
  auto node = FindNodeTemplate(options_.node.empty() ? "host" : options_.node);
  if (!node) return std::unexpected(std::move(node.error()));
  template_ = *std::move(node);
  if (!options_.node.empty() && template_.nics > 0) node_ = template_;
  return {};
}

// A file of some megabytes cannot ask for more than memory holds, but for what a template adds.
Result<void> CableBuilder::CheckSize() const {
  const auto ends = std::ranges::count_if(
      list_.devices, [](const CableList::Device& device) { return IsNicOrGpu(device.kind); });
  const double switches = static_cast<double>(list_.devices.size()) - static_cast<double>(ends);
  double total = 0;
  for (const CableList::Cable& cable : list_.cables) {
    total += 2 * static_cast<double>(cable.rate.value_or(assumed_rate()).bits_per_second());
  }
  std::string over;
  if (static_cast<double>(ends) > kMaxEnds) over = fmt::format("{} NICs", ends);
  if (switches > kMaxSwitches) over = fmt::format("{} switches", switches);
  if (static_cast<double>(list_.cables.size()) > kMaxCables) {
    over = fmt::format("{} cables", list_.cables.size());
  }
  if (total > kMaxTotalRate) over = "cables of more than 500 PB/s together";
  if (static_cast<double>(ends) * static_cast<double>(template_.devices.size()) > kMaxDevices) {
    over = fmt::format("{} servers of {} devices", ends, template_.devices.size());
  }
  if (over.empty()) return {};
  return Refuse(file_, "TL1404", "the fabric is too large: " + over,
                fmt::format("at most {:.0f} NICs and {:.0f} switches", kMaxEnds, kMaxSwitches));
}

Result<void> CableBuilder::CheckLatencies() const {
  const auto check = [&](std::optional<Time> latency, int line) -> Result<void> {
    if (latency.value_or(Time()) <= kMaxLatency) return {};
    auto refused = Refuse(file_, "TL1404", fmt::format("a latency of {}", ToString(*latency)),
                          "at most " + ToString(kMaxLatency));
    refused.error().front().where.line = line;
    return refused;
  };
  for (const CableList::Device& device : list_.devices) {
    if (auto good = check(device.latency, device.line); !good) return good;
  }
  for (const CableList::Cable& cable : list_.cables) {
    if (auto good = check(cable.latency, cable.line); !good) return good;
  }
  return {};
}

void CableBuilder::FindServers() {
  std::map<std::string, std::size_t> known;
  const auto server_of = [&](const std::string& host) -> ServerParts& {
    const auto [at, added] = known.try_emplace(host, servers_.size());
    if (added) servers_.push_back({.host = host, .nics = {}, .gpus = {}, .nv_switches = {}});
    return servers_[at->second];
  };
  for (std::uint32_t d = 0; d < list_.devices.size(); ++d) {
    const CableList::Device& device = list_.devices[d];
    if (device.kind == DeviceKind::kSwitch) continue;
    ServerParts& server = server_of(device.host);
    if (device.kind == DeviceKind::kGpu) server.gpus.push_back(d);
    if (device.kind == DeviceKind::kNvSwitch) server.nv_switches.push_back(d);
    const bool networked = std::ranges::any_of(neighbours_[d], [&](std::uint32_t n) {
      return list_.devices[n].kind != DeviceKind::kNvSwitch;
    });
    if (IsNicOrGpu(device.kind) && networked) server.nics.push_back(d);
  }
  std::ranges::stable_sort(servers_, NaturalLess, &ServerParts::host);
  const auto name_of = [&](std::uint32_t d) -> const std::string& { return list_.devices[d].name; };
  for (ServerParts& server : servers_) std::ranges::stable_sort(server.nics, NaturalLess, name_of);
}

// Servers that are not of the template's kind, and all without a cable.
void CableBuilder::SetStrangersAside() {
  aside_.assign(list_.devices.size(), false);
  std::vector<std::string> strangers;
  std::vector<std::string> uncabled;
  std::erase_if(servers_, [&](const ServerParts& server) {
    if (node_ ? server.nics.size() == node_->nics : !server.nics.empty()) return false;
    if (node_) strangers.push_back(fmt::format("{} ({})", server.host, server.nics.size()));
    if (!server.nics.empty()) ++strangers_of_size_[server.nics.size()];
    if (!node_) uncabled.push_back(server.host);
    for (std::uint32_t d : server.nics) aside_[d] = true;
    for (std::uint32_t d : server.gpus) aside_[d] = true;
    for (std::uint32_t d : server.nv_switches) aside_[d] = true;
    return true;
  });
  NoteLeftOut(uncabled, "no network cable");
  if (node_)
    NoteLeftOut(strangers, fmt::format("not the {} NICs of a {}", node_->nics, node_->name));
}

void CableBuilder::NoteLeftOut(const std::vector<std::string>& servers, const std::string& have) {
  if (servers.empty()) return;
  constexpr std::size_t kMostNamed = 6;
  const std::size_t named = std::min(servers.size(), kMostNamed);
  imported_.built.notes.push_back(fmt::format(
      "{} {} and {} set aside: {}{}", Plural(servers.size(), "server has", "servers have"), have,
      servers.size() == 1 ? "is" : "are",
      fmt::join(servers.begin(), servers.begin() + static_cast<std::ptrdiff_t>(named), ", "),
      named < servers.size() ? ", …" : ""));
}

std::unexpected<Diagnostics> CableBuilder::RefuseNoServers() const {
  if (strangers_of_size_.empty()) {
    return Refuse(file_, "TL1454", "no server with a network cable is among the devices",
                  "a fabric needs servers and the switches that join them");
  }
  std::vector<std::string> sizes;
  for (const auto& [nics, servers] : strangers_of_size_) {
    sizes.push_back(fmt::format("{} with {}", servers, nics));
  }
  return Refuse(
      file_, "TL1454",
      fmt::format("no server has the {} cabled NICs of a {}, but there {} {}", node_->nics,
                  node_->name, strangers_of_size_.begin()->second == 1 ? "is" : "are",
                  fmt::join(sizes, ", ")),
      "leave node out, which makes every NIC a rank, or name a server of as many NICs as these");
}

void CableBuilder::AddServers() {
  for (std::uint32_t node = 0; node < servers_.size(); ++node) {
    const ServerParts& server = servers_[node];
    if (node_) {
      AddFromTemplate(server, node);
    } else if (!server.gpus.empty()) {
      AddDrawnServer(server, node);
    } else {
      AddPlainServer(server, node);
    }
  }
  if (!inside_.empty()) AddDrawnBuses();
}

void CableBuilder::AddFromTemplate(const ServerParts& server, std::uint32_t node) {
  std::vector<DeviceId> devices;
  std::size_t nic = 0;
  for (Device device : node_->devices) {
    device.node = node;
    devices.push_back(builder_.AddDevice(device));
    if (device.kind != DeviceKind::kNic) continue;
    built_[server.nics[nic]] = devices.back();
    Name(devices.back(), NameOfNic(server.host, list_.devices[server.nics[nic]].name));
    ++nic;
  }
  for (const NodeTemplate::Bus& bus : node_->buses) {
    builder_.AddCable(devices[bus.from], devices[bus.to], bus.rate, bus.latency, bus.kind);
  }
}

// A rank for each NIC where the file draws no GPUs.
void CableBuilder::AddPlainServer(const ServerParts& server, std::uint32_t node) {
  for (std::uint32_t i = 0; i < server.nics.size(); ++i) {
    const DeviceId end = builder_.AddDevice({.kind = DeviceKind::kHost, .node = node, .local = i});
    built_[server.nics[i]] = end;
    const std::string& name = list_.devices[server.nics[i]].name;
    Name(end,
         server.nics.size() == 1 && !name.empty() ? server.host : NameOfNic(server.host, name));
  }
}

// GPUs and NVSwitches as the file draws them, and a NIC for each GPU that has network cables.
void CableBuilder::AddDrawnServer(const ServerParts& server, std::uint32_t node) {
  const auto add = [&](DeviceKind kind, std::uint32_t local) {
    return builder_.AddDevice({.kind = kind, .node = node, .local = local});
  };
  for (std::uint32_t i = 0; i < server.gpus.size(); ++i) {
    inside_[server.gpus[i]] = add(DeviceKind::kGpu, i);
  }
  for (std::uint32_t i = 0; i < server.nics.size(); ++i) {
    built_[server.nics[i]] = add(DeviceKind::kNic, i);
  }
  for (std::uint32_t i = 0; i < server.nv_switches.size(); ++i) {
    inside_[server.nv_switches[i]] = add(DeviceKind::kNvSwitch, i);
  }
}

// NVLinks, and what joins a GPU to its NIC: as wide as the NIC's cables, since the file has none.
void CableBuilder::AddDrawnBuses() {
  std::map<std::uint32_t, Rate> network;
  for (const CableList::Cable& cable : list_.cables) {
    const auto a = inside_.find(cable.a.device);
    const auto b = inside_.find(cable.b.device);
    if (a != inside_.end() && b != inside_.end() && IsInside(cable)) {
      builder_.AddCable(a->second, b->second, RateOf(cable), cable.latency.value_or(Time()),
                        LinkKind::kNvlink);
      continue;
    }
    for (std::uint32_t end : {cable.a.device, cable.b.device}) {
      if (inside_.contains(end)) network[end] = network[end] + cable.rate.value_or(assumed_rate());
    }
  }
  for (const auto& [gpu, rate] : network) {
    builder_.AddCable(inside_[gpu], built_[gpu], rate, Time(), LinkKind::kPcie);
  }
  DescribeDrawnNode();
  imported_.built.notes.emplace_back(
      "the file draws GPUs and no NICs: each GPU has one, behind a bus as wide as its cables");
}

void CableBuilder::DescribeDrawnNode() {
  const ServerParts& first = servers_.front();
  template_ = {};
  template_.name = "server of the file";
  template_.gpus = static_cast<std::uint32_t>(first.gpus.size());
  template_.nics = static_cast<std::uint32_t>(first.nics.size());
  for (const CableList::Cable& cable : list_.cables) {
    if (IsInside(cable)) continue;
    template_.nic_rate = std::max(template_.nic_rate, cable.rate.value_or(assumed_rate()));
  }
}

void CableBuilder::AddSwitches() {
  const FabricParameters defaults(latencies_, template_);
  std::vector<std::uint32_t> switches;
  for (std::uint32_t d = 0; d < list_.devices.size(); ++d) {
    if (list_.devices[d].kind == DeviceKind::kSwitch) switches.push_back(d);
  }
  std::ranges::stable_sort(switches, [&](std::uint32_t a, std::uint32_t b) {
    if (tiers_[a] != tiers_[b]) return tiers_[a] < tiers_[b];
    return NaturalLess(list_.devices[a].name, list_.devices[b].name);
  });
  std::map<std::uint8_t, std::uint32_t> next;
  for (std::uint32_t d : switches) {
    const CableList::Device& device = list_.devices[d];
    const DeviceId id =
        builder_.AddDevice({.kind = DeviceKind::kSwitch,
                            .tier = tiers_[d],
                            .node = Device::kNoNode,
                            .local = next[tiers_[d]]++,
                            .latency = device.latency.value_or(defaults.switch_latency()),
                            .group = device.group});
    built_[d] = id;
    Name(id, device.name);
  }
}

void CableBuilder::AddNetwork() {
  std::vector<Laid> cables;
  std::vector<CableToLay> to_lay;
  const auto number = [&](std::uint32_t device) {
    return std::uint64_t{tiers_[device]} << 32 | Index(built_[device]);
  };
  for (const CableList::Cable& cable : list_.cables) {
    if (aside_[cable.a.device] || aside_[cable.b.device] || IsInside(cable)) continue;
    Laid one{.low = cable.a, .high = cable.b, .cable = &cable};
    if (number(one.high.device) < number(one.low.device)) std::swap(one.low, one.high);
    cables.push_back(one);
    to_lay.push_back({.low = number(one.low.device),
                      .high = number(one.high.device),
                      .low_port = one.low.port,
                      .high_port = one.high.port,
                      .sideways = !IsNicOrGpu(list_.devices[one.low.device].kind) &&
                                  tiers_[one.low.device] == tiers_[one.high.device]});
  }
  for (const std::size_t i : OrderOfCables(to_lay)) network_.push_back(cables[i]);
  const Time latency = FabricParameters(latencies_, template_).cable_latency();
  for (Laid& one : network_) {
    one.link =
        builder_.AddCable(built_[one.low.device], built_[one.high.device], RateOf(*one.cable),
                          one.cable->latency.value_or(latency), LinkKind::kNetwork);
    imported_.port_of_link.resize(Index(one.link), 0);
    imported_.port_of_link.insert(imported_.port_of_link.end(), {one.low.port, one.high.port});
  }
}

// One trunk of the links of each bundle, and one of their reverses, where there are several.
void CableBuilder::Bundle(const std::map<std::uint32_t, std::vector<LinkId>>& bundles) {
  for (const auto& [key, links] : bundles) {
    if (links.size() < 2) continue;
    builder_.AddTrunk(links);
    std::vector<LinkId> back;
    for (LinkId link : links) back.push_back(LinkId(Index(link) ^ 1U));
    builder_.AddTrunk(back);
  }
}

// Switches of a tier that are joined from below (a pod) balance over all that leads up from them,
// and on to other ends.
void CableBuilder::AddTrunks() {
  std::vector<bool> is_end;
  for (const CableList::Device& device : list_.devices) is_end.push_back(IsNicOrGpu(device.kind));
  Joints joints;
  for (const Laid& one : network_) joints.emplace_back(one.low.device, one.high.device);
  const std::vector<bool> dead = FindDeadEnds(joints, is_end);
  const std::uint8_t top = *std::ranges::max_element(tiers_);
  DisjointSets pods(list_.devices.size());
  for (std::uint32_t tier = 0; tier <= top; ++tier) {
    std::map<std::uint32_t, std::vector<LinkId>> up;
    for (const auto& [low, high, cable, link] : network_) {
      if (tiers_[low.device] != tier || tiers_[high.device] <= tier) continue;
      if (dead[high.device]) continue;
      up[tier == 0 ? low.device : pods.Find(low.device)].push_back(link);
    }
    Bundle(up);
    if (tier == 0) {  // a NIC is none of its leaves' pod
      std::erase_if(joints, [&](const Joint& joint) { return tiers_[joint.first] != 0; });
      UniteTwinLeaves(joints, pods);
      continue;
    }
    for (const auto& [low, high, cable, link] : network_) {
      if (tiers_[low.device] == tier && tiers_[high.device] == tier + 1) {
        pods.Unite(low.device, high.device);
      }
    }
  }
}

// The unit of a server is the leaf that its first NIC is on.
void CableBuilder::FindUnits() {
  std::map<std::uint32_t, DeviceId> leaf_of_end;
  std::map<DeviceId, std::uint32_t> units;
  for (const Laid& one : network_) {
    if (tiers_[one.low.device] != 0) continue;
    leaf_of_end.try_emplace(one.low.device, built_[one.high.device]);
    units.try_emplace(built_[one.high.device], 0);
  }
  std::uint32_t next = 0;
  for (auto& [leaf, unit] : units) unit = next++;
  for (const ServerParts& server : servers_) {
    const auto leaf = leaf_of_end.find(server.nics.front());
    imported_.built.unit_of_node.push_back(leaf == leaf_of_end.end() ? 0 : units[leaf->second]);
  }
}

ImportedFabric CableBuilder::Finish() {
  BuiltFabric& built = imported_.built;
  if (unrated_ > 0) {
    built.notes.push_back(fmt::format("the file does not say how fast {} {}; {} is {}",
                                      Plural(unrated_, "cable"), unrated_ == 1 ? "is" : "are",
                                      ToString(assumed_rate()),
                                      options_.link ? "given" : "assumed"));
  }
  for (const auto& [device, name] : names_) builder_.SetName(device, name);
  built.fabric = std::move(builder_).Build();
  built.kind = "file";
  built.summary = fmt::format("{}, {}, read from {}", Plural(servers_.size(), "server"),
                              Plural(network_.size(), "cable"), file_);
  built.node = std::move(template_);
  return std::move(imported_);
}

}  // namespace

Result<ImportedFabric> BuildFromCables(const CableList& list, const std::string& file,
                                       const ImportOptions& options) {
  return CableBuilder(list, file, options).Build();
}

}  // namespace trunkline
