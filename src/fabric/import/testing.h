#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "trunkline/fabric/import.h"

// What the tests of readers and writers share.
namespace trunkline {

inline ImportedFabric Import(const std::string& text, const ImportOptions& options = {}) {
  auto imported = ImportFabric(text, "file", options);
  EXPECT_TRUE(imported) << (imported ? "" : Format(imported.error().front())) << text;
  return imported ? *std::move(imported) : ImportedFabric();
}

// A device by its place in the fabric, whatever it is called.
using DevicePlace = std::tuple<int, std::uint32_t, std::uint32_t>;
inline DevicePlace PlaceOf(const Fabric& fabric, DeviceId id) {
  const Device& device = fabric.device(id);
  return {device.tier, device.node, device.local};
}

// All network cables, sorted.
using Cable = std::tuple<DevicePlace, DevicePlace, std::int64_t, std::int64_t>;
inline std::vector<Cable> CablesOf(const Fabric& fabric, bool with_latency = true) {
  std::vector<Cable> cables;
  for (std::size_t i = 0; i < fabric.link_count(); i += 2) {
    const Link& link = fabric.link(LinkId(i));
    if (link.kind != LinkKind::kNetwork) continue;
    cables.emplace_back(PlaceOf(fabric, link.from), PlaceOf(fabric, link.to),
                        link.rate.bits_per_second(), with_latency ? link.latency.ps() : 0);
  }
  std::ranges::sort(cables);
  return cables;
}

// The text with `to` in place of the first `from`.
inline std::string With(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

}  // namespace trunkline
