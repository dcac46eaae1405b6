#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <spanstream>
#include <string>
#include <utility>

#include "base/word_reader.h"
#include "fabric/builders/global_cables.h"
#include "fabric/import/named_cables.h"
#include "fabric/import/reader.h"
#include "fabric/import/scanner.h"

// htsim's .topo of a dragonfly of a h + 1 groups, whose global cables lie in the palm tree
// arrangement (its generator writes them out as an .adjlist beside it):
//
//   p 2
//   a 4
//   h 2
//   Switch_latency_ns 500
//   Link_speed_global_Gbps 400
//   Link_latency_global_ns 500
namespace trunkline {
namespace {

constexpr std::int64_t kMostEnds = 262'144;

enum class CableKind : std::uint8_t { kHost, kLocal, kGlobal };

class HtsimDragonflyParser {
 public:
  HtsimDragonflyParser(std::string_view text, const std::string& file)
      : stream_(std::span(text.data(), text.size())), words_(stream_, file) {}

  Result<FabricSource> Read() {
    while (words_.Next()) ReadLine();
    if (!words_.failed()) CheckShape();
    if (words_.failed()) return std::unexpected(words_.TakeDiagnostics());
    Build();
    return std::move(cables_.list);
  }

 private:
  // Numbers that the file gives, by their names in small letters; those of cables in this order.
  static constexpr std::array<const char*, 10> kKeys = {"link_speed_host_gbps",
                                                        "link_speed_local_gbps",
                                                        "link_speed_global_gbps",
                                                        "link_latency_host_ns",
                                                        "link_latency_local_ns",
                                                        "link_latency_global_ns",
                                                        "p",
                                                        "a",
                                                        "h",
                                                        "switch_latency_ns"};

  void ReadLine() {
    const auto words = words_.words();
    const auto* key = std::ranges::find_if(
        kKeys, [&](const char* name) { return SameText(name, words[0].text); });
    if (key == kKeys.end()) {
      words_.Error(words[0], "TL1451", fmt::format("an unknown key '{}'", words[0].text),
                   "p, a, h, Switch_latency_ns, and of host, local and global cables "
                   "Link_speed_global_Gbps and Link_latency_global_ns");
      return;
    }
    const auto value = words.size() == 2 ? words[1].AsInteger() : std::nullopt;
    if (!value || *value < 0 || *value > 1'000'000'000) {
      words_.Error(1, "TL1451", fmt::format("'{}' needs a whole number", words[0].text),
                   "such as `p 2`");
    } else if (!given_.try_emplace(*key, *value).second) {
      words_.Error(words[0], "TL1452", fmt::format("{} is given twice", words[0].text),
                   "remove one");
    } else {
      line_.try_emplace(*key, words_.line());
    }
  }

  // Latencies may be absent.
  [[nodiscard]] std::optional<Time> GivenTime(const char* key) const {
    const auto found = given_.find(key);
    if (found == given_.end()) return std::nullopt;
    return Time::Nanoseconds(found->second);
  }

  [[nodiscard]] std::int64_t Given(const char* key) const {
    const auto found = given_.find(key);
    return found == given_.end() ? 0 : found->second;
  }

  void CheckShape() {
    for (const char* key : kKeys) {
      const bool needed = std::string_view(key).find("latency") == std::string_view::npos;
      if (!needed || Given(key) > 0) continue;
      const auto line = line_.find(key);
      words_.LineError(line == line_.end() ? words_.line() : line->second, 1, "TL1452",
                       fmt::format("{} is missing, or 0", key), "from 1 on");
      return;
    }
    const double group = static_cast<double>(Given("a")) * static_cast<double>(Given("h"));
    const double ends =
        (group + 1) * static_cast<double>(Given("a")) * static_cast<double>(Given("p"));
    const double routers = (group + 1) * static_cast<double>(Given("a"));
    if (ends <= kMostEnds && routers * static_cast<double>(Given("a")) <= 4e6) return;
    words_.LineError(line_.at("a"), 1, "TL1452",
                     fmt::format("a dragonfly of {:.6g} ends on {:.6g} routers", ends, routers),
                     fmt::format("at most {} ends and 4 million cables", kMostEnds));
  }

  void Cable(std::uint32_t a, std::uint32_t b, CableKind kind) {
    const auto index = static_cast<std::size_t>(kind);
    cables_.list.cables.push_back({{a, ++ports_[a]},
                                   {b, ++ports_[b]},
                                   Rate::GigabitsPerSecond(Given(kKeys[index])),
                                   GivenTime(kKeys[3 + index]),
                                   0});
  }

  std::uint32_t Router(std::uint32_t group, std::uint32_t router) {
    const std::uint32_t number = group * static_cast<std::uint32_t>(Given("a")) + router;
    const std::uint32_t at = cables_.Device(DeviceKind::kSwitch, fmt::format("router-{}", number));
    cables_.list.devices[at].latency = GivenTime("switch_latency_ns");
    cables_.list.devices[at].group = group;
    return at;
  }

  void Build() {
    const auto a = static_cast<std::uint32_t>(Given("a"));
    const auto h = static_cast<std::uint32_t>(Given("h"));
    const auto p = static_cast<std::uint32_t>(Given("p"));
    const GlobalWiring wiring{a * h + 1, a, h};
    for (std::uint32_t group = 0; group < wiring.groups; ++group) {
      for (std::uint32_t router = 0; router < a; ++router) {
        const std::uint32_t at = Router(group, router);
        for (std::uint32_t end = 0; end < p; ++end) {
          const std::uint32_t host = (group * a + router) * p + end;
          Cable(cables_.Device(DeviceKind::kNic, fmt::format("host-{}", host)), at,
                CableKind::kHost);
        }
      }
      for (std::uint32_t router = 0; router < a; ++router) {
        for (std::uint32_t other = router + 1; other < a; ++other) {
          Cable(Router(group, router), Router(group, other), CableKind::kLocal);
        }
      }
    }
    for (const char* key : kKeys) {
      if (given_.contains(key)) continue;
      cables_.list.notes.push_back(fmt::format("the file gives no {}: ours is assumed", key));
    }
    JoinGroups(wiring, [&](GroupRouter from, GroupRouter to) {
      Cable(Router(from.group, from.router), Router(to.group, to.router), CableKind::kGlobal);
    });
  }

  std::ispanstream stream_;
  WordReader words_;
  NamedCables cables_;
  std::map<std::uint32_t, std::uint32_t> ports_;
  std::map<std::string_view, std::int64_t> given_;  // by key
  std::map<std::string_view, int> line_;            // that each stands in
};

}  // namespace

const FabricFileReader& HtsimDragonflyReader() {
  static const FabricFileReader reader = {"htsim-dragonfly", "htsim's .topo of a dragonfly",
                                          [](std::string_view text) {
                                            return AnyLine(text, [](std::string_view line) {
                                              Scanner scan(line);
                                              const std::string_view key = scan.Token();
                                              return SameText(key, "link_speed_global_gbps") &&
                                                     scan.Number() && scan.done();
                                            });
                                          },
                                          [](std::string_view text, const std::string& file) {
                                            return HtsimDragonflyParser(text, file).Read();
                                          }};
  return reader;
}

}  // namespace trunkline
