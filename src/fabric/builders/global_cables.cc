#include "fabric/builders/global_cables.h"

#include <fmt/format.h>

#include <vector>

namespace trunkline {
namespace {

// From router `from` of group i to router `to` of group i + offset (modulo g), for every i; but for
// i < g / 2 only where the offset is g / 2.
struct GlobalCable {
  std::uint32_t offset = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

std::vector<GlobalCable> GlobalCables(const GlobalWiring& wiring) {
  const std::uint32_t others = wiring.groups - 1;
  std::vector<GlobalCable> cables;
  if (others == 0) return cables;
  const std::uint32_t ports = wiring.routers * wiring.ports;
  const std::uint32_t left = ports % others;
  for (std::uint32_t round = 0; round <= ports / others; ++round) {
    const bool full = round < ports / others;
    const std::uint32_t first = round * others;
    for (std::uint32_t offset = 1; 2 * offset <= wiring.groups; ++offset) {
      const bool opposite = 2 * offset == wiring.groups;
      std::uint32_t from = offset - 1;
      std::uint32_t to = others - offset;
      if (!full) {
        if (opposite ? left % 2 == 0 : offset > left / 2) continue;
        // The ports of this round: those to groups ahead, to groups behind, to the one opposite.
        from = opposite ? left - 1 : offset - 1;
        to = opposite ? left - 1 : left / 2 * 2 - offset;
      }
      cables.push_back({offset, (first + from) / wiring.ports, (first + to) / wiring.ports});
    }
  }
  return cables;
}

}  // namespace

std::uint64_t GlobalWiring::cables() const {
  if (groups == 1) return 0;
  const std::uint64_t all = std::uint64_t{routers} * ports;
  const bool one_free = all % (groups - 1) % 2 == 1 && groups % 2 == 1;
  return groups * (all - (one_free ? 1 : 0)) / 2;
}

std::string GlobalWiring::Description() const {
  if (groups == 1) return "a single group";
  const std::uint64_t all = std::uint64_t{routers} * ports;
  const std::uint64_t each = all / (groups - 1);
  return fmt::format("{} cable{} between {} groups", each, each == 1 ? "" : "s",
                     all % (groups - 1) == 0 ? "every two" : "two, one more between some,");
}

void JoinGroups(const GlobalWiring& wiring,
                const std::function<void(GroupRouter from, GroupRouter to)>& join) {
  const std::vector<GlobalCable> cables = GlobalCables(wiring);
  for (std::uint32_t group = 0; group < wiring.groups; ++group) {
    for (const GlobalCable& cable : cables) {
      if (2 * cable.offset == wiring.groups && group >= cable.offset) continue;
      join({group, cable.from}, {(group + cable.offset) % wiring.groups, cable.to});
    }
  }
}

Result<std::uint32_t> ReadGroups(const FabricParameters& parameters, const GlobalWiring& wiring,
                                 const char* key, const char* routers_key, const char* ports_key) {
  const std::uint64_t most = std::uint64_t{wiring.routers} * wiring.ports + 1;
  if (static_cast<double>(most) > kMaxSwitches && !parameters.Has(key)) {
    return parameters.Fail(
        ports_key, "TL1404", fmt::format("{} groups are too many", most),
        fmt::format("write fewer as {}, or fewer routers or global cables", key));
  }
  const std::uint32_t groups = parameters.Count(key, static_cast<std::uint32_t>(most));
  if (groups <= most) return groups;
  return parameters.Fail(
      key, "TL1405",
      fmt::format("{} routers of {} global cables reach {} other groups, not {}", wiring.routers,
                  wiring.ports, most - 1, groups - 1),
      fmt::format("fewer groups ({}), or more routers ({}) or global cables ({})", key, routers_key,
                  ports_key));
}

}  // namespace trunkline
