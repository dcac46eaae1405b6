#include "fabric/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

Diagnostic Problem(const StaticFault& fault, std::string message, std::string hint) {
  return {.code = "TL1406",
          .where = fault.where,
          .message = std::move(message),
          .hint = std::move(hint),
          .excerpt = fault.excerpt};
}

// What is left of a rate; nothing when the fault does not say, or says nonsense.
std::optional<Rate> Degraded(const StaticFault& fault, Rate rate) {
  if (fault.rate.has_value() == fault.fraction.has_value()) return std::nullopt;
  if (fault.rate) {
    return *fault.rate > Rate() && *fault.rate <= rate ? fault.rate : std::nullopt;
  }
  if (!(*fault.fraction > 0 && *fault.fraction < 1)) return std::nullopt;
  const double left = static_cast<double>(rate.bits_per_second()) * *fault.fraction;
  return Rate::BitsPerSecond(std::max<std::int64_t>(1, std::llround(left)));
}

}  // namespace

std::vector<LinkId> CablesOf(const Fabric& fabric, const std::string& target) {
  std::vector<LinkId> cables;
  if (const auto device = fabric.Find(target); !device.empty()) {
    for (LinkId link : fabric.out(device[0])) {
      if (fabric.link(link).kind == LinkKind::kNetwork) cables.push_back(link);
    }
    return cables;
  }
  // Names of devices inside nodes contain a slash themselves: gpu:3/5/nvswitch:3/0.
  for (std::size_t slash = target.find('/'); slash != std::string::npos;
       slash = target.find('/', slash + 1)) {
    const auto from = fabric.Find(target.substr(0, slash));
    const auto to = fabric.Find(target.substr(slash + 1));
    if (from.empty() || to.empty()) continue;
    for (LinkId link : fabric.out(from[0])) {
      if (fabric.link(link).to == to[0]) cables.push_back(link);
    }
  }
  return cables;
}

Fabric RebuildFabric(const Fabric& fabric, const std::vector<bool>& failed,
                     std::span<const Rate> rates, std::vector<LinkId>& original) {
  FabricBuilder builder;
  builder.CopyDevices(fabric);
  std::vector<LinkId> moved(fabric.link_count());
  original.clear();
  for (std::size_t i = 0; i < fabric.link_count(); i += 2) {
    if (failed[i]) continue;
    original.insert(original.end(), {LinkId(i), LinkId(i + 1)});
    const Link& link = fabric.link(LinkId(i));
    moved[i] = builder.AddCable(link.from, link.to, rates[i], link.latency, link.kind);
    moved[i + 1] = fabric.reverse(moved[i]);
    builder.SetRate(moved[i + 1], rates[i + 1]);
  }
  for (std::uint32_t trunk = 0; trunk < fabric.trunk_count(); ++trunk) {
    std::vector<LinkId> links;
    for (LinkId link : fabric.trunk_links(trunk)) {
      if (!failed[Index(link)]) links.push_back(moved[Index(link)]);
    }
    if (!links.empty()) builder.AddTrunk(links);
  }
  return std::move(builder).Build();
}

Result<Fabric> ApplyFaults(const Fabric& fabric, std::span<const StaticFault> faults) {
  Diagnostics problems;
  std::vector<bool> failed(fabric.link_count(), false);
  std::vector<Rate> rates(fabric.link_count());
  for (std::size_t i = 0; i < rates.size(); ++i) rates[i] = fabric.link(LinkId(i)).rate;
  for (const StaticFault& fault : faults) {
    const auto cables = CablesOf(fabric, fault.target);
    if (cables.empty()) {
      problems.push_back(Problem(fault,
                                 fmt::format("'{}' names no cable of this fabric", fault.target),
                                 "write two devices that a cable joins, leaf-0/spine-1, or one "
                                 "with network cables, nic:3/5"));
    }
    for (LinkId cable : cables) {
      for (LinkId link : {cable, fabric.reverse(cable)}) {
        if (fault.kind == StaticFault::Kind::kFail) {
          failed[Index(link)] = true;
          continue;
        }
        const auto left = Degraded(fault, rates[Index(link)]);
        if (left) rates[Index(link)] = *left;
        if (left || link != cables.front()) continue;
        problems.push_back(
            Problem(fault,
                    fmt::format("a degraded cable needs what is left of its {}",
                                ToString(rates[Index(link)])),
                    "a percentage between 0 and 100, or a rate up to that of the cable"));
      }
    }
  }
  if (!problems.empty()) return std::unexpected(std::move(problems));

  std::vector<LinkId> original;
  return RebuildFabric(fabric, failed, rates, original);
}

void ForEachOutage(const Fabric& fabric, std::span<const CableChange> changes,
                   const std::function<void(Time, const std::vector<bool>&)>& visit) {
  std::vector<bool> down(fabric.link_count(), false);
  for (auto change = changes.begin(); change != changes.end();) {
    const Time at = change->at;
    bool differs = false;
    for (; change != changes.end() && change->at == at; ++change) {
      differs |= down[Index(change->cable)] != change->down;
      down[Index(change->cable)] = change->down;
      down[Index(fabric.reverse(change->cable))] = change->down;
    }
    if (differs) visit(at, down);
  }
}

}  // namespace trunkline
