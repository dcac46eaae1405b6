#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "trunkline/base/random.h"
#include "workload/traffic/pattern.h"

namespace trunkline {
namespace {

constexpr std::array kMakers = {&AllToAllPattern, &GroupShiftPattern, &HotspotPattern,
                                &IncastPattern,   &OutcastPattern,    &PermutationPattern,
                                &UniformPattern};

}  // namespace

std::span<const PatternBuilder* const> Patterns() {
  static const auto patterns = [] {
    std::array<const PatternBuilder*, kMakers.size()> made{};
    for (std::size_t i = 0; i < kMakers.size(); ++i) made[i] = &kMakers[i]();
    return made;
  }();
  return patterns;
}

std::vector<TrafficPattern> TrafficPatterns() {
  std::vector<TrafficPattern> known;
  for (const PatternBuilder* pattern : Patterns()) known.push_back(pattern->info);
  return known;
}

Result<const PatternBuilder*> FindPattern(std::string_view name) {
  std::vector<std::string> names;
  for (const PatternBuilder* pattern : Patterns()) {
    if (pattern->info.name == name) return pattern;
    names.push_back(pattern->info.name);
  }
  const std::string close = ClosestMatch(name, names);
  return Error("TL1750", fmt::format("unknown traffic pattern '{}'", name),
               close.empty() ? fmt::format("known: {}", fmt::join(names, ", "))
                             : fmt::format("did you mean '{}'?", close));
}

std::uint32_t AnyOther(std::uint64_t draw, std::uint32_t source, std::uint32_t ranks) {
  const auto other = static_cast<std::uint32_t>(Below(draw, ranks - 1));
  return other < source ? other : other + 1;
}

const TrafficValue* PatternParameters::Find(std::string_view key) const {
  const auto found = job_.values.find(std::string(key));
  return found == job_.values.end() ? nullptr : &found->second;
}

std::uint32_t PatternParameters::Count(std::string_view key, std::uint32_t fallback) const {
  const TrafficValue* value = Find(key);
  return value == nullptr ? fallback : static_cast<std::uint32_t>(value->value);
}

double PatternParameters::Share(std::string_view key, double fallback) const {
  const TrafficValue* value = Find(key);
  return value == nullptr ? fallback : value->value;
}

std::unexpected<Diagnostics> PatternParameters::Fail(std::string_view key, std::string code,
                                                     std::string message, std::string hint) const {
  auto error = Error(std::move(code), std::move(message), std::move(hint));
  if (const TrafficValue* value = Find(key)) {
    error.error().front().where = value->where;
    error.error().front().excerpt = value->excerpt;
  }
  return error;
}

Result<std::uint32_t> PatternParameters::CountBelow(std::string_view key, std::uint32_t fallback,
                                                    std::uint32_t limit) const {
  const std::uint32_t count = Count(key, fallback);
  if (count < limit) return count;
  return Fail(key, "TL1752", fmt::format("{} {} in a job of {} ranks", key, count, ranks_),
              fmt::format("at most {}", limit - 1));
}

}  // namespace trunkline
