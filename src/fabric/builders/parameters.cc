#include <fmt/format.h>

#include <utility>

#include "fabric/builders/builder.h"

namespace trunkline {
namespace {

// 10 m of fibre at 4.9 ns/m (group index 1.468 of standard single-mode fibre at 1310 nm, ITU-T
// G.652), rounded; the length is assumed.
constexpr Time kCableLatency = Time::Nanoseconds(50);
// DeepSeek, Insights into DeepSeek-V3 (ISCA 2025), table 5: InfiniBand takes 0.9 us more across
// leaves than within one, for two more switches and two more cables.
constexpr Time kSwitchLatency = Time::Nanoseconds(400);

}  // namespace

Rate FabricParameters::link(std::uint32_t ports) const {
  return RateOf("link", Rate::BitsPerSecond(node_.nic_rate.bits_per_second() / ports));
}

Time FabricParameters::switch_latency() const {
  return spec_.switch_latency.value_or(kSwitchLatency);
}

Time FabricParameters::cable_latency() const { return spec_.cable_latency.value_or(kCableLatency); }

const FabricValue* FabricParameters::Find(std::string_view key) const {
  const auto found = spec_.values.find(std::string(key));
  return found == spec_.values.end() ? nullptr : &found->second;
}

bool FabricParameters::Has(std::string_view key) const { return Find(key) != nullptr; }

std::uint32_t FabricParameters::Count(std::string_view key, std::uint32_t fallback) const {
  const FabricValue* value = Find(key);
  return value == nullptr ? fallback
                          : static_cast<std::uint32_t>(std::get<std::int64_t>(value->value));
}

Result<std::uint32_t> FabricParameters::Planes() const {
  const std::uint32_t planes = Count("planes", 1);
  if (nics() % planes == 0) return planes;
  return Fail("planes", "TL1405",
              fmt::format("{} NICs do not divide into {} planes", nics(), planes),
              "the planes must divide the NICs of a node");
}

std::vector<std::uint32_t> FabricParameters::Counts(std::string_view key) const {
  std::vector<std::uint32_t> counts;
  const FabricValue* value = Find(key);
  if (value == nullptr) return counts;
  for (std::int64_t count : std::get<std::vector<std::int64_t>>(value->value)) {
    counts.push_back(static_cast<std::uint32_t>(count));
  }
  return counts;
}

std::vector<double> FabricParameters::Ratios(std::string_view key) const {
  const FabricValue* value = Find(key);
  return value == nullptr ? std::vector<double>() : std::get<std::vector<double>>(value->value);
}

Rate FabricParameters::RateOf(std::string_view key, Rate fallback) const {
  const FabricValue* value = Find(key);
  return value == nullptr ? fallback : std::get<Rate>(value->value);
}

std::unexpected<Diagnostics> FabricParameters::Fail(std::string_view key, std::string code,
                                                    std::string message, std::string hint) const {
  auto error = Error(std::move(code), std::move(message), std::move(hint));
  if (const FabricValue* value = Find(key)) {
    error.error().front().where = value->where;
    error.error().front().excerpt = value->excerpt;
  }
  return error;
}

std::unexpected<Diagnostics> TooManyEnds(double ends) {
  return Error("TL1404", fmt::format("the fabric is too large: {:.7g} NICs", ends),
               fmt::format("at most {:.0f} NICs are supported", kMaxEnds));
}

std::unexpected<Diagnostics> TooManySwitches(double switches) {
  return Error("TL1404", fmt::format("the fabric is too large: {:.7g} switches", switches),
               fmt::format("at most {:.0f} switches are supported", kMaxSwitches));
}

}  // namespace trunkline
