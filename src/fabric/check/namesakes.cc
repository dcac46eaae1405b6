#include "fabric/check/namesakes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/plural.h"
#include "fabric/check/wanted.h"
#include "fabric/tier_name.h"

namespace trunkline {
namespace {

bool InNetwork(const Device& device) {
  return device.kind == DeviceKind::kSwitch || device.kind == DeviceKind::kNic ||
         device.kind == DeviceKind::kHost;
}

// " from servers to leaf switches"; nothing where tiers tell nothing, as those of a torus.
std::string BetweenText(std::uint8_t low, std::uint8_t high) {
  if (high == 0) return "";
  const auto call = [](std::uint8_t tier) {
    return tier == 0 ? std::string("servers") : TierName(tier) + " switches";
  };
  return low == high ? " between " + call(low) : " from " + call(low) + " to " + call(high);
}

struct Agreement {
  std::size_t cables = 0;
  std::size_t same = 0;  // of those, the ones that join the same names in the other fabric
};

}  // namespace

Namesakes::Namesakes(const Fabric& found, const Fabric& expected)
    : found_(expected.device_count()) {
  std::unordered_map<std::string, DeviceId> known;
  for (std::size_t i = 0; i < found.device_count(); ++i) {
    if (InNetwork(found.device(DeviceId(i)))) known.emplace(found.name(DeviceId(i)), DeviceId(i));
  }
  for (std::size_t i = 0; i < expected.device_count(); ++i) {
    const Device& device = expected.device(DeviceId(i));
    if (!InNetwork(device)) continue;
    const auto same = known.find(expected.name(DeviceId(i)));
    // Not of the same tier: a switch that lost its only server is a spine in its file.
    if (same != known.end() && found.device(same->second).kind == device.kind) {
      found_[i] = same->second;
    }
  }

  const auto cables = CablesByPair(found);
  std::map<std::pair<std::uint8_t, std::uint8_t>, Agreement> agreements;  // by tiers
  bool any = false;  // cable between names that both have
  for (const auto& [pair, links] : CablesByPair(expected)) {
    Agreement& agreement =
        agreements[{expected.device(pair.first).tier, expected.device(pair.second).tier}];
    agreement.cables += links.size();
    const auto low = found_[Index(pair.first)];
    const auto high = found_[Index(pair.second)];
    if (!low || !high) continue;
    const auto there = cables.find(PairOf(found, *low, *high));
    const std::size_t same =
        there == cables.end() ? 0 : std::min(links.size(), there->second.size());
    agreement.same += same;
    any = true;
  }
  const auto least = std::ranges::find_if(
      agreements, [](const auto& entry) { return 2 * entry.second.same <= entry.second.cables; });
  trusted_ = !agreements.empty() && least == agreements.end();
  if (trusted_ || !any) return;
  const auto& [tiers, agreement] = *least;
  reason_ = fmt::format("of {} expected{} {} the same names here",
                        Plural(agreement.cables, "cable"), BetweenText(tiers.first, tiers.second),
                        agreement.same == 0   ? "none joins"
                        : agreement.same == 1 ? "only 1 joins"
                                              : fmt::format("only {} join", agreement.same));
}

std::optional<DeviceId> Namesakes::Of(DeviceId expected) const {
  return trusted_ ? found_[Index(expected)] : std::nullopt;
}

}  // namespace trunkline
