#include "fabric/builders/remedy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace trunkline {
namespace {

// Values next to the one given that are tried one by one, before steps are doubled.
constexpr std::int64_t kNear = 32;
// Values in a row of which one has the divisors that are asked for: halves, and prime powers.
constexpr std::int64_t kWindow = 8;
// A trial costs about as much as the ends that it seats, and some more; trials end at so many.
constexpr double kMostSeats = 5e6;
constexpr double kLeastSeats = 1e3;
// Where the number of nodes is missing.
constexpr std::array<std::uint32_t, 4> kUsualNodes = {64, 8, 2, 1};

class RemedySearch {
 public:
  RemedySearch(const FabricSpec& spec, const Builder& builder, const SizeFabric& size)
      : spec_(spec), builder_(builder), size_(size) {}

  std::string Run() {
    TryNodes();
    for (const FabricKey& key : builder_.kind.keys) {
      const auto found = spec_.values.find(key.name);
      if (found == spec_.values.end()) continue;
      if (const auto* count = std::get_if<std::int64_t>(&found->second.value)) {
        TryCount(key, *count);
      } else if (const auto* counts =
                     std::get_if<std::vector<std::int64_t>>(&found->second.value)) {
        TryCounts(key, *counts);
      } else if (const auto* ratios = std::get_if<std::vector<double>>(&found->second.value)) {
        TryRatios(key, *ratios);
      }
    }
    if (found_.empty()) TrySize();
    return fmt::format("{}", fmt::join(found_, ", "));
  }

 private:
  using Fits = std::function<bool(std::int64_t)>;

  bool Try(const FabricSpec& spec) {
    if (seats_ > kMostSeats) return false;
    const std::optional<double> seats = size_(spec);
    seats_ += kLeastSeats + seats.value_or(0);
    return seats.has_value();
  }
  bool TryValue(const FabricKey& key, auto value) {
    FabricSpec changed = spec_;
    changed.values[key.name].value = std::move(value);
    return Try(changed);
  }

  void TryNodes() {
    const auto fits = [&](std::int64_t nodes) {
      FabricSpec changed = spec_;
      changed.nodes = static_cast<std::uint32_t>(nodes);
      return Try(changed);
    };
    if (spec_.nodes > 0) {
      for (const std::int64_t nodes : Nearest(spec_.nodes, 1, kMaxNodes, fits)) {
        found_.push_back(fmt::format("nodes={}", nodes));
      }
      return;
    }
    const auto usual = std::ranges::find_if(kUsualNodes, fits);
    if (usual != kUsualNodes.end()) found_.push_back(fmt::format("nodes={}", *usual));
  }

  // Where no number that is given helps: the least of the first key, which says the size of its
  // kind, if that is absent; or that least without one of the numbers that are given.
  void TrySize() {
    if (builder_.kind.keys.empty() || (spec_.nodes == 0 && spec_.values.empty())) return;
    const FabricKey& key = builder_.kind.keys.front();
    if (key.type != FabricKey::Type::kCount || spec_.values.contains(key.name)) return;
    if (const auto least = Least(key, spec_)) {
      found_.push_back(fmt::format("{}={}", key.name, *least));
      return;
    }
    for (const auto& [name, value] : spec_.values) {
      FabricSpec without = spec_;
      without.values.erase(name);
      const auto least = Least(key, without);
      if (least) found_.push_back(fmt::format("{}={} without {}", key.name, *least, name));
    }
  }

  std::optional<std::int64_t> Least(const FabricKey& key, FabricSpec spec) {
    const auto fits = [&](std::int64_t count) {
      spec.values[key.name].value = count;
      return Try(spec);
    };
    const auto least = static_cast<std::int64_t>(key.min);
    return NearestOn(least - 1, 1, static_cast<std::int64_t>(key.max), fits);
  }

  void TryCount(const FabricKey& key, std::int64_t given) {
    const auto fits = [&](std::int64_t count) { return TryValue(key, count); };
    for (const std::int64_t count : Nearest(given, key, fits)) {
      found_.push_back(fmt::format("{}={}", key.name, count));
    }
  }

  void TryCounts(const FabricKey& key, const std::vector<std::int64_t>& given) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      std::vector<std::int64_t> counts = given;
      const auto fits = [&](std::int64_t count) {
        counts[i] = count;
        return TryValue(key, counts);
      };
      for (const std::int64_t count : Nearest(given[i], key, fits)) {
        counts[i] = count;
        found_.push_back(counts.size() == 1
                             ? fmt::format("{}={}", key.name, count)
                             : fmt::format("{}=[{}]", key.name, fmt::join(counts, ",")));
      }
    }
  }

  // Ratios are raised to whole numbers only: less than is asked for is what people can do without.
  void TryRatios(const FabricKey& key, const std::vector<double>& given) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      std::vector<double> ratios = given;
      const auto fits = [&](std::int64_t ratio) {
        ratios[i] = static_cast<double>(ratio);
        return TryValue(key, ratios);
      };
      const auto from = static_cast<std::int64_t>(std::floor(given[i]));
      const auto ratio = NearestOn(from, 1, static_cast<std::int64_t>(key.max), fits);
      if (!ratio) continue;
      ratios[i] = static_cast<double>(*ratio);
      found_.push_back(ratios.size() == 1
                           ? fmt::format("{}={}", key.name, ratios[0])
                           : fmt::format("{}=[{}]", key.name, fmt::join(ratios, ",")));
    }
  }

  std::vector<std::int64_t> Nearest(std::int64_t given, const FabricKey& key, const Fits& fits) {
    return Nearest(given, static_cast<std::int64_t>(key.min), static_cast<std::int64_t>(key.max),
                   fits);
  }
  std::vector<std::int64_t> Nearest(std::int64_t given, std::int64_t least, std::int64_t most,
                                    const Fits& fits) {
    std::vector<std::int64_t> nearest;
    if (const auto below = NearestOn(given, -1, least, fits)) nearest.push_back(*below);
    if (const auto above = NearestOn(given, 1, most, fits)) nearest.push_back(*above);
    return nearest;
  }

  // The nearest that fits from `given` towards `limit`. Beyond the neighbourhood, what lies further
  // than one that fits is taken to fit too, which holds for sizes, but for what divisors forbid:
  // of kWindow in a row, one does. The answer itself always fits.
  static std::optional<std::int64_t> NearestOn(std::int64_t given, int direction,
                                               std::int64_t limit, const Fits& fits) {
    const std::int64_t room = direction * (limit - given);
    const auto first = [&](std::int64_t from, std::int64_t count) -> std::optional<std::int64_t> {
      for (std::int64_t step = from; step < from + count && step <= room; ++step) {
        if (fits(given + direction * step)) return given + direction * step;
      }
      return std::nullopt;
    };
    if (const auto near = first(1, kNear)) return near;
    std::optional<std::int64_t> nearest;
    const std::int64_t last = room - kWindow + 1;  // the first of the last window
    std::int64_t fails = kNear - kWindow + 1;
    std::int64_t good = kNear;
    while (!nearest && fails < last) {
      good = std::min(2 * good, last);
      nearest = first(good, kWindow);
      if (!nearest) fails = good;
    }
    while (nearest && good - fails > 1) {
      const std::int64_t middle = fails + (good - fails) / 2;
      const auto found = first(middle, kWindow);
      (found ? good : fails) = middle;
      if (found) nearest = found;
    }
    return nearest;
  }

  const FabricSpec& spec_;
  const Builder& builder_;
  const SizeFabric& size_;
  std::vector<std::string> found_;
  double seats_ = 0;
};

}  // namespace

std::string FindRemedies(const FabricSpec& spec, const Builder& builder, const SizeFabric& size) {
  return RemedySearch(spec, builder, size).Run();
}

}  // namespace trunkline
