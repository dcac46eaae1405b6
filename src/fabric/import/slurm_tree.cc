#include "fabric/import/slurm_tree.h"

#include <fmt/format.h>

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

std::vector<SlurmTree::Undescribed> SlurmTree::FindUndescribed() const {
  std::vector<Undescribed> missing;
  for (std::uint32_t d = 0; d < cables_.list.devices.size(); ++d) {
    const CableList::Device& device = cables_.list.devices[d];
    if (device.kind != DeviceKind::kSwitch || described_.contains(d)) continue;
    missing.push_back(
        {device.line, Error("TL1452", fmt::format("switch {} is not described", device.name),
                            "is the file complete?")
                          .error()});
  }
  return missing;
}

// A block is what a node reaches in full; blocks meet above.
CableList SlurmTree::Finish() {
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
