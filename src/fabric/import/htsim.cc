#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <spanstream>
#include <utility>

#include "base/word_reader.h"
#include "fabric/import/named_cables.h"
#include "fabric/import/reader.h"
#include "fabric/import/scanner.h"

// htsim's .topo: a fat tree of two or three tiers, in figures. A switch has Radix_Up cables, Bundle
// of the tier above of them to each of its parents.
namespace trunkline {
namespace {

struct Tier {
  std::int64_t radix_down = 0;
  std::int64_t radix_up = 0;
  std::int64_t bundle = 1;
  std::int64_t gbps = 0;        // of its cables downwards
  std::int64_t latency_ns = 0;  // of these
  std::int64_t switch_ns = 0;
};

class HtsimParser {
 public:
  HtsimParser(std::string_view text, const std::string& file)
      : stream_(std::span(text.data(), text.size())), words_(stream_, file) {}

  Result<FabricSource> Read() {
    while (words_.Next()) ReadLine();
    if (!words_.failed()) CheckShape();
    if (words_.failed()) return std::unexpected(words_.TakeDiagnostics());
    Build();
    return std::move(cables_.list);
  }

 private:
  void ReadLine() {
    const auto words = words_.words();
    const std::string_view key = words[0].text;
    const auto value = words.size() == 2 ? words[1].AsInteger() : std::nullopt;
    if (!value || *value < 0 || *value > 1'000'000) {
      words_.Error(1, "TL1451", fmt::format("'{}' needs a whole number", key),
                   "such as `Radix_Down 8`");
      return;
    }
    if (SameText(key, "tier")) {
      if (*value > 2) {
        words_.Error(words[1], "TL1451", "a tier above 2", "tiers are 0, 1 and 2");
      } else {
        tier_ = &tiers_[static_cast<std::size_t>(*value)];
      }
      return;
    }
    std::int64_t* field = Field(key);
    if (field == nullptr) {
      // Queues and nominal oversubscription are no cables.
      if (tier_ != nullptr && (SameText(key, "oversubscribed") || SameText(key, "queue_down") ||
                               SameText(key, "queue_up"))) {
        return;
      }
      words_.Error(
          words[0], "TL1451", fmt::format("an unknown key '{}'", key),
          "Nodes, Tiers, Podsize; then by Tier: Downlink_speed_Gbps, Radix_Down, Radix_Up, "
          "Downlink_Latency_ns, Switch_Latency_ns, Bundle");
      return;
    }
    if (!given_.try_emplace(field, words_.line()).second) {
      words_.Error(words[0], "TL1452", fmt::format("{} is given twice", key), "remove one");
    }
    *field = *value;
  }

  std::int64_t* Field(std::string_view key) {
    struct Named {
      const char* name;
      std::int64_t* field;
    };
    std::vector<Named> fields = {{"nodes", &nodes_}, {"tiers", &tier_count_}, {"podsize", &pod_}};
    if (tier_ != nullptr) {
      fields = {{"downlink_speed_gbps", &tier_->gbps},
                {"radix_down", &tier_->radix_down},
                {"radix_up", &tier_->radix_up},
                {"bundle", &tier_->bundle},
                {"downlink_latency_ns", &tier_->latency_ns},
                {"switch_latency_ns", &tier_->switch_ns}};
    }
    for (const Named& one : fields) {
      if (SameText(key, one.name)) return one.field;
    }
    return nullptr;
  }

  // At the line of the first of the fields that has one, else at the last of the file.
  void Contradiction(std::initializer_list<const std::int64_t*> fields, const std::string& message,
                     const std::string& hint) {
    int line = words_.line();
    for (const std::int64_t* field : fields) {
      const auto given = given_.find(field);
      if (given == given_.end()) continue;
      line = given->second;
      break;
    }
    words_.LineError(line, 1, "TL1452", message, hint);
  }

  void CheckShape() {
    if (nodes_ < 1 || tier_count_ < 2 || tier_count_ > 3 || pod_ < 1) {
      return Contradiction({}, "Nodes, Tiers (2 or 3) and Podsize are needed", "give all three");
    }
    for (std::int64_t t = 0; t < tier_count_; ++t) {
      const Tier& tier = tiers_[static_cast<std::size_t>(t)];
      if (tier.gbps < 1 || tier.radix_down < 1 || tier.bundle < 1 ||
          (t + 1 < tier_count_ && tier.radix_up < 1)) {
        return Contradiction(
            {&tier.gbps, &tier.radix_down, &tier.radix_up},
            fmt::format("tier {} lacks Downlink_speed_Gbps, Radix_Down or Radix_Up", t),
            "each is at least 1");
      }
    }
    if (tier_count_ == 2) pod_ = nodes_;
    if (nodes_ % pod_ != 0 || pod_ % tiers_[0].radix_down != 0) {
      return Contradiction({&pod_},
                           fmt::format("{} nodes in pods of {} with {} a leaf do not divide",
                                       nodes_, pod_, tiers_[0].radix_down),
                           "Radix_Down of tier 0 divides Podsize, which divides Nodes");
    }
    for (std::size_t t = 0; t + 1 < static_cast<std::size_t>(tier_count_); ++t) {
      if (tiers_[t].radix_up % tiers_[t + 1].bundle != 0) {
        return Contradiction({&tiers_[t].radix_up},
                             fmt::format("{} uplinks of tier {} do not divide into bundles of {}",
                                         tiers_[t].radix_up, t, tiers_[t + 1].bundle),
                             "Bundle divides Radix_Up of the tier below");
      }
    }
    const std::int64_t leaves = pod_ / tiers_[0].radix_down;
    const std::int64_t pods = nodes_ / pod_;
    if (leaves * tiers_[1].bundle > tiers_[1].radix_down ||
        (tier_count_ == 3 && pods * tiers_[2].bundle > tiers_[2].radix_down)) {
      return Contradiction({&tiers_[1].radix_down},
                           "a switch has fewer ports down than cables lead to it",
                           fmt::format("{} leaves a pod, {} pods", leaves, pods));
    }
    const std::int64_t cables = nodes_ + nodes_ / tiers_[0].radix_down * tiers_[0].radix_up;
    if (nodes_ > 262'144 || cables > 4'000'000) {
      Contradiction({&nodes_}, "the fat tree is too large",
                    "at most 262144 nodes and 4 million cables");
    }
  }

  std::uint32_t Switch(const char* name, std::int64_t number, const Tier& tier) {
    const std::uint32_t at =
        cables_.Device(DeviceKind::kSwitch, fmt::format("{}-{}", name, number));
    cables_.list.devices[at].latency = Time::Nanoseconds(tier.switch_ns);
    return at;
  }

  void Cable(std::uint32_t low, std::uint32_t high, const Tier& above) {
    cables_.list.cables.push_back({{low, ++ports_[low]},
                                   {high, ++ports_[high]},
                                   Rate::GigabitsPerSecond(above.gbps),
                                   Time::Nanoseconds(above.latency_ns),
                                   0});
  }

  void Build() {
    const std::int64_t leaves = pod_ / tiers_[0].radix_down;
    const std::int64_t spines = tiers_[0].radix_up / tiers_[1].bundle;
    const std::int64_t cores =
        tier_count_ == 3 ? tiers_[1].radix_up / tiers_[2].bundle : 0;  // of one spine
    for (std::int64_t node = 0; node < nodes_; ++node) {
      Cable(cables_.Device(DeviceKind::kNic, fmt::format("host-{}", node)),
            Switch("leaf", node / tiers_[0].radix_down, tiers_[0]), tiers_[0]);
    }
    for (std::int64_t pod = 0; pod < nodes_ / pod_; ++pod) {
      for (std::int64_t leaf = 0; leaf < leaves; ++leaf) {
        const std::uint32_t low = Switch("leaf", pod * leaves + leaf, tiers_[0]);
        for (std::int64_t i = 0; i < tiers_[0].radix_up; ++i) {
          Cable(low, Switch("spine", pod * spines + i % spines, tiers_[1]), tiers_[1]);
        }
      }
      for (std::int64_t spine = 0; spine < spines && cores > 0; ++spine) {
        const std::uint32_t low = Switch("spine", pod * spines + spine, tiers_[1]);
        for (std::int64_t i = 0; i < tiers_[1].radix_up; ++i) {
          Cable(low, Switch("core", spine * cores + i % cores, tiers_[2]), tiers_[2]);
        }
      }
    }
  }

  std::ispanstream stream_;
  WordReader words_;
  NamedCables cables_;
  std::map<std::uint32_t, std::uint32_t> ports_;
  std::array<Tier, 3> tiers_;
  Tier* tier_ = nullptr;
  std::map<const std::int64_t*, int> given_;  // with their lines
  std::int64_t nodes_ = 0;
  std::int64_t tier_count_ = 0;
  std::int64_t pod_ = 0;
};

}  // namespace

const FabricFileReader& HtsimReader() {
  static const FabricFileReader reader = {"htsim", "htsim's .topo of a fat tree",
                                          [](std::string_view text) {
                                            return AnyLine(text, [](std::string_view line) {
                                              Scanner scan(line);
                                              return SameText(scan.Token(), "tiers") &&
                                                     scan.Number() && scan.done();
                                            });
                                          },
                                          [](std::string_view text, const std::string& file) {
                                            return HtsimParser(text, file).Read();
                                          }};
  return reader;
}

}  // namespace trunkline
