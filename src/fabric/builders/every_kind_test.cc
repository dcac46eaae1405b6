#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/test_sanitizers.h"
#include "fabric/builders/testing.h"
#include "fabric/trunks.h"
#include "trunkline/base/random.h"

// What holds for every kind of fabric, whatever its keys.
namespace trunkline {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

constexpr std::uint64_t kSpecsOfKind = kSanitized ? 25 : 150;
constexpr const char* kWorks = "any of these would work: ";

using Keys = std::map<std::string, std::string>;

std::string TextOf(const std::string& kind, const Keys& keys) {
  std::string text = kind + ":";
  for (const auto& [key, value] : keys) text += (text.back() == ':' ? "" : ",") + key + "=" + value;
  return text;
}

// Draws specs whose numbers are mostly small.
class SpecSource {
 public:
  explicit SpecSource(std::uint64_t seed) : seed_(seed) {}

  Keys Draw(const FabricKind& kind) {
    Keys keys;
    if (Chance(0.7)) keys["nodes"] = std::to_string(Number(1, 600));
    if (Chance(0.3)) keys["node"] = Chance(0.5) ? "dgx-h100" : "hgx-pcie";
    for (const FabricKey& key : kind.keys) {
      if (Chance(key.fallback == "required" ? 0.1 : 0.6)) continue;
      keys[key.name] = ValueOf(key);
    }
    return keys;
  }

 private:
  double Unit() { return ToUnit(trunkline::Draw(seed_, 0, next_++)); }
  bool Chance(double p) { return Unit() < p; }
  std::int64_t Number(double least, double most) {
    return std::llround(least * std::pow(std::min(most, 200 * least) / least, Unit() * Unit()));
  }
  std::string ValueOf(const FabricKey& key) {
    switch (key.type) {
      case FabricKey::Type::kRate:
        return std::to_string(100 * Number(1, 8)) + " Gb/s";
      case FabricKey::Type::kCount:
        return std::to_string(Number(key.min, key.max));
      case FabricKey::Type::kRatios:
        return std::to_string(Number(1, 8));
      case FabricKey::Type::kCounts:
        break;
    }
    std::string list = "[";
    for (std::int64_t left = Number(1, 4); left > 0; --left) {
      list += std::to_string(Number(key.min, std::min(key.max, 24.0))) + (left > 1 ? "," : "]");
    }
    return list;
  }

  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

struct Remedy {
  std::string key;
  std::string value;
  std::string without;  // another key
};

// "a=1, b=[2,3], c=4 without d".
std::vector<Remedy> Remedies(const std::string& hint) {
  constexpr std::string_view kWithout = " without ";
  std::vector<Remedy> remedies;
  std::size_t at = hint.find(kWorks);
  if (at == std::string::npos) return remedies;
  at += std::string(kWorks).size();
  while (at < hint.size()) {
    const std::size_t end = std::min(hint.find(", ", at), hint.size());
    const std::string one = hint.substr(at, end - at);
    const std::size_t without = std::min(one.find(kWithout), one.size());
    const std::size_t value = one.find('=') + 1;
    remedies.push_back(
        {.key = one.substr(0, value - 1),
         .value = one.substr(value, without - value),
         .without = without == one.size() ? "" : one.substr(without + kWithout.size())});
    at = end + 2;
  }
  return remedies;
}

// The parts of the network that no cable joins, by their first device.
std::vector<std::size_t> Components(const Fabric& fabric) {
  std::vector<std::size_t> parent(fabric.device_count());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t device) {
    while (parent[device] != device) device = parent[device] = parent[parent[device]];
    return device;
  };
  for (std::size_t i = 0; i < fabric.link_count(); i += 2) {
    const Link& link = fabric.link(LinkId(i));
    if (link.kind == LinkKind::kNetwork) parent[root(Index(link.from))] = root(Index(link.to));
  }
  for (std::size_t i = 0; i < parent.size(); ++i) parent[i] = root(i);
  return parent;
}

void ExpectSound(const BuiltFabric& built, const std::string& text, const Keys& keys) {
  const Fabric& fabric = built.fabric;
  if (const auto nodes = keys.find("nodes"); nodes != keys.end()) {
    EXPECT_EQ(fabric.node_count(), std::stoul(nodes->second)) << text;
  }
  EXPECT_EQ(built.unit_of_node.size(), fabric.node_count()) << text;
  EXPECT_TRUE(TrunksAreWhole(fabric)) << text;
  // NICs of one index reach one another in every kind, even where rails or planes are apart.
  const std::vector<std::size_t> component = Components(fabric);
  std::map<std::uint32_t, std::set<std::size_t>> of_index;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (!IsNetworkEnd(device.kind)) continue;
    of_index[device.kind == DeviceKind::kHost ? 0 : device.local].insert(component[i]);
  }
  for (const auto& [index, components] : of_index) EXPECT_EQ(components.size(), 1U) << text;
  if (built.bisection && built.bisection->upper > Rate()) {
    EXPECT_LE(built.bisection->lower, built.bisection->upper) << text;
  }
}

TEST(EveryKind, BuildsOrSaysWhichNumbersWork) {
  std::uint64_t seed = 0;
  for (const FabricKind& kind : FabricKinds()) {
    SpecSource source(++seed);
    std::size_t built_count = 0;
    std::size_t helped = 0;
    for (std::uint64_t i = 0; i < kSpecsOfKind; ++i) {
      const Keys keys = source.Draw(kind);
      const std::string text = TextOf(kind.name, keys);
      const auto built = TryBuild(text);
      if (built) {
        ++built_count;
        ExpectSound(*built, text, keys);
        continue;
      }
      const Diagnostic& problem = built.error().front();
      EXPECT_THAT(problem.code, StartsWith("TL14")) << text;
      EXPECT_FALSE(problem.hint.empty()) << text;
      const auto remedies = Remedies(problem.hint);
      if (!remedies.empty()) ++helped;
      for (const Remedy& remedy : remedies) {
        Keys changed = keys;
        changed[remedy.key] = remedy.value;
        changed.erase(remedy.without);
        EXPECT_TRUE(TryBuild(TextOf(kind.name, changed))) << text << ": " << problem.hint;
      }
    }
    if (kSanitized) continue;  // of the few there, none may be built or have a remedy
    EXPECT_GT(built_count, 0U) << kind.name;
    if (built_count < kSpecsOfKind) {
      EXPECT_GT(helped, 0U) << kind.name;
    }
  }
}

// A fat tree has k^3 / 4 ends: 250,000 of an even k = 100, and 265,302 of 102, beyond the most.
TEST(EveryKind, NamesTheNearestNumberThatWorksHoweverFarItIs) {
  const auto built = TryBuild("fat-tree:k=4000");
  ASSERT_FALSE(built);
  EXPECT_THAT(built.error().front().hint, EndsWith("any of these would work: k=100"));
}

TEST(EveryKind, JoinsNvlinkDomainsOfEverySize) {
  std::set<std::string> kinds;
  for (const char* node : {"dgx-h100", "gb200-nvl36", "gb200-nvl72", "gb200-nvl576"}) {
    if (kSanitized && node == std::string_view("gb200-nvl576")) continue;
    for (const std::string& spec : SampleSpecs(node)) {
      const BuiltFabric built = Build(spec);
      kinds.insert(built.kind);
      ASSERT_EQ(built.fabric.node_count(), 4U) << spec;
      const Router router(built.fabric, {});
      const auto gpus = built.fabric.endpoints();
      const auto inside = router.FindPath(gpus.front(), gpus[built.node.gpus - 1], 0);
      ASSERT_TRUE(inside.has_value()) << spec;
      for (const LinkId link : *inside) {
        EXPECT_EQ(built.fabric.link(link).kind, LinkKind::kNvlink) << spec;
      }
      EXPECT_TRUE(router.FindRoute(gpus.front(), gpus.back(), 0).has_value()) << spec;
    }
  }
  EXPECT_EQ(kinds.size(), FabricKinds().size());
}

}  // namespace
}  // namespace trunkline
