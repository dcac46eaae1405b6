#include "fabric/import/slurm_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "trunkline/fabric/placement.h"

namespace trunkline {

Result<std::uint32_t> SlurmTree::Describe(std::string_view name, bool block, int line) {
  const std::uint32_t at = cables_.Device(DeviceKind::kSwitch, name, "", line);
  if (!described_.insert(at).second || cables_.list.devices[at].kind != DeviceKind::kSwitch) {
    return Error("TL1452", fmt::format("{} is described twice", name),
                 "a name stands for one switch, block or node");
  }
  if (block) blocks_.push_back(at);
  return at;
}

Result<void> SlurmTree::Attach(std::uint32_t owner, bool nodes, std::string_view list, int line) {
  const auto names = ParseNodeList(list);
  if (!names) {
    return Error("TL1451", names.error().front().message, names.error().front().hint);
  }
  for (const std::string& name : *names) {
    const DeviceKind kind = nodes ? DeviceKind::kNic : DeviceKind::kSwitch;
    const std::uint32_t child = cables_.Device(kind, name, "", line);
    if (cables_.list.devices[child].kind != kind || child == owner ||
        !parents_[child].insert(owner).second) {
      return Error("TL1452",
                   fmt::format("{} cannot be below {}", name, cables_.list.devices[owner].name),
                   "it is there already, the same, or a node in one place and a switch in another");
    }
    Cable(child, owner, line);
  }
  return {};
}

void SlurmTree::Cable(std::uint32_t child, std::uint32_t owner, int line) {
  cables_.list.cables.push_back(
      {{child, ++ports_[child]}, {owner, ++ports_[owner]}, std::nullopt, std::nullopt, line});
}

std::vector<SlurmTree::Problem> SlurmTree::FindProblems() const {
  std::vector<Problem> problems;
  for (std::uint32_t d = 0; d < cables_.list.devices.size(); ++d) {
    const CableList::Device& device = cables_.list.devices[d];
    if (device.kind != DeviceKind::kSwitch || described_.contains(d)) continue;
    problems.push_back(
        {device.line, Error("TL1452", fmt::format("switch {} is not described", device.name),
                            "is the file complete?")
                          .error()});
  }
  if (auto cycle = FindCycle()) problems.push_back(*std::move(cycle));
  return problems;
}

// Once what has nothing above it is taken away, over and over, all that is left has something above
// it that is left: the way up ends in a cycle.
std::optional<SlurmTree::Problem> SlurmTree::FindCycle() const {
  std::vector<std::size_t> above(cables_.list.devices.size());
  std::vector<std::vector<std::uint32_t>> below(above.size());
  for (const auto& [child, owners] : parents_) {
    above[child] = owners.size();
    for (const std::uint32_t owner : owners) below[owner].push_back(child);
  }
  std::vector<std::uint32_t> tops;
  for (std::uint32_t d = 0; d < above.size(); ++d) {
    if (above[d] == 0) tops.push_back(d);
  }
  while (!tops.empty()) {
    const std::uint32_t top = tops.back();
    tops.pop_back();
    for (const std::uint32_t child : below[top]) {
      if (--above[child] == 0) tops.push_back(child);
    }
  }
  const auto left = std::ranges::find_if(above, [](std::size_t count) { return count > 0; });
  if (left == above.end()) return std::nullopt;
  const auto owner_of = [&](std::uint32_t child) {
    return *std::ranges::find_if(parents_.at(child), [&](std::uint32_t o) { return above[o] > 0; });
  };
  auto at = static_cast<std::uint32_t>(left - above.begin());
  for (std::set<std::uint32_t> seen; seen.insert(at).second;) at = owner_of(at);
  const std::uint32_t owner = owner_of(at);
  const auto cable = std::ranges::find_if(cables_.list.cables, [&](const CableList::Cable& c) {
    return c.a.device == at && c.b.device == owner;
  });
  const auto& devices = cables_.list.devices;
  return Problem{cable->line,
                 Error("TL1452",
                       fmt::format("{} is below {}, and that in the end below {}", devices[at].name,
                                   devices[owner].name, devices[at].name),
                       "switches form a tree: none is below itself")
                     .error()};
}

void SlurmTree::NoteSharedChildren() {
  std::size_t shared = 0;
  std::string first;
  for (const auto& [child, owners] : parents_) {
    if (owners.size() < 2 || ++shared > 1) continue;
    const auto& devices = cables_.list.devices;
    first = fmt::format("{}, below {} and {}", devices[child].name, devices[*owners.begin()].name,
                        devices[*owners.rbegin()].name);
  }
  if (shared == 0) return;
  cables_.list.notes.push_back(fmt::format(
      "{} below several switches, where Slurm's trees have one above each ({}): a cable to each is "
      "taken",
      shared == 1 ? "a switch or node is" : fmt::format("{} switches or nodes are", shared),
      first));
}

// A block is what a node reaches in full; blocks meet above.
CableList SlurmTree::Finish() {
  NoteSharedChildren();
  if (blocks_.size() > 1) {
    const std::uint32_t above = cables_.Device(DeviceKind::kSwitch, "between blocks");
    for (const std::uint32_t block : blocks_) Cable(block, above, 0);
    cables_.list.notes.emplace_back("blocks are taken as switches that one switch joins");
  }
  cables_.list.notes.emplace_back(
      "Slurm's file says who is below whom, not by how many cables: one is taken for each");
  return std::move(cables_.list);
}

}  // namespace trunkline
