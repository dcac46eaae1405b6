#include "fabric/check/namesakes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "fabric/check/wanted.h"

namespace trunkline {
namespace {

bool InNetwork(const Device& device) {
  return device.kind == DeviceKind::kSwitch || device.kind == DeviceKind::kNic ||
         device.kind == DeviceKind::kHost;
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
    if (same == known.end()) continue;
    const Device& namesake = found.device(same->second);
    if (namesake.kind == device.kind && namesake.tier == device.tier) found_[i] = same->second;
  }

  const auto cables = CablesByPair(found);
  std::map<std::pair<std::uint8_t, std::uint8_t>, Agreement> agreements;  // by tiers
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
    cables_ += links.size();
    elsewhere_ += links.size() - same;
  }
  trusted_ = !agreements.empty() && std::ranges::all_of(agreements, [](const auto& entry) {
    return 2 * entry.second.same > entry.second.cables;
  });
}

std::optional<DeviceId> Namesakes::Of(DeviceId expected) const {
  return trusted_ ? found_[Index(expected)] : std::nullopt;
}

}  // namespace trunkline
