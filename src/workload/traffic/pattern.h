#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "trunkline/workload/traffic.h"

// One pattern is one file in patterns/ and one line in registry.cc.
namespace trunkline {

// Where the messages of each rank of a job go. Ranks are counted from the job's first.
class Destinations {
 public:
  virtual ~Destinations() = default;
  // Messages that `source` posts in one round; 0: it never sends.
  [[nodiscard]] virtual std::uint32_t per_round(std::uint32_t source) const = 0;
  // Where its `index`-th message goes, counted over all rounds. REQUIRES: per_round(source) > 0.
  [[nodiscard]] virtual std::uint32_t Of(std::uint32_t source, std::uint64_t index) const = 0;
  // Messages of one rank that are on their way at a time; 0: all.
  [[nodiscard]] virtual std::uint32_t parallel() const { return 0; }
};

// What a pattern is made from.
class PatternParameters {
 public:
  PatternParameters(const TrafficJob& job, std::uint32_t ranks, std::uint64_t seed)
      : job_(job), ranks_(ranks), seed_(seed) {}

  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  // Of the job's draws of destinations.
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] std::uint32_t Count(std::string_view key, std::uint32_t fallback) const;
  [[nodiscard]] double Share(std::string_view key, double fallback) const;
  // A failure at the place of `key`'s value.
  [[nodiscard]] std::unexpected<Diagnostics> Fail(std::string_view key, std::string code,
                                                  std::string message, std::string hint) const;
  // `Count`, which has to be below `limit`. TL1752.
  [[nodiscard]] Result<std::uint32_t> CountBelow(std::string_view key, std::uint32_t fallback,
                                                 std::uint32_t limit) const;

 private:
  [[nodiscard]] const TrafficValue* Find(std::string_view key) const;

  const TrafficJob& job_;
  std::uint32_t ranks_;
  std::uint64_t seed_;
};

struct PatternBuilder {
  TrafficPattern info;
  // REQUIRES: at least 2 ranks; values are within the bounds of info.keys.
  Result<std::unique_ptr<Destinations>> (*make)(const PatternParameters& parameters);
};

[[nodiscard]] const PatternBuilder& AllToAllPattern();
[[nodiscard]] const PatternBuilder& GroupShiftPattern();
[[nodiscard]] const PatternBuilder& HotspotPattern();
[[nodiscard]] const PatternBuilder& IncastPattern();
[[nodiscard]] const PatternBuilder& OutcastPattern();
[[nodiscard]] const PatternBuilder& PermutationPattern();
[[nodiscard]] const PatternBuilder& UniformPattern();

// Every pattern, by name.
[[nodiscard]] std::span<const PatternBuilder* const> Patterns();
// TL1750, with a did-you-mean.
[[nodiscard]] Result<const PatternBuilder*> FindPattern(std::string_view name);

// Any rank of `ranks` but `source`, uniformly, by a draw.
[[nodiscard]] std::uint32_t AnyOther(std::uint64_t draw, std::uint32_t source, std::uint32_t ranks);

// The ranks of a job at most.
inline constexpr double kMostRanks = 1 << 20;

}  // namespace trunkline
