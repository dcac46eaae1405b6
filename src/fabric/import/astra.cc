#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/yaml_reader.h"
#include "fabric/import/named_cables.h"
#include "fabric/import/reader.h"
#include "fabric/import/scanner.h"

// ASTRA-sim's analytical network.yml: a product of dimensions, each a Ring, a Switch or
// FullyConnected; the NPUs that differ in one coordinate alone are joined by that dimension.
//
//   topology: [ Switch, Ring ]
//   npus_count: [ 8, 2 ]
//   bandwidth: [ 400, 50 ]      # of a link, in 2^30 B/s
//   latency: [ 936.25, 1000 ]   # of a link, in ns
namespace trunkline {
namespace {

enum class Shape : std::uint8_t { kRing, kSwitch, kFullyConnected };

struct Dimension {
  Shape shape = Shape::kRing;
  std::int64_t npus = 0;
  Rate rate;
  Time latency;
};

class AstraParser {
 public:
  explicit AstraParser(YamlDocument document) : document_(std::move(document)) {}

  Result<FabricSource> Read() {
    ReadDimensions();
    Diagnostics problems = document_.TakeDiagnostics();
    if (HasErrors(problems)) return std::unexpected(std::move(problems));
    Build();
    return std::move(cables_.list);
  }

 private:
  std::optional<std::vector<YamlValue>> ListOf(const char* key, std::size_t size) {
    const auto value = document_.root().Required(key);
    const auto list = value ? value->AsList() : std::nullopt;
    if (list && list->size() != size) {
      value->Error("TL1452", fmt::format("{} values for {} dimensions", list->size(), size),
                   "topology, npus_count, bandwidth and latency are equally long");
      return std::nullopt;
    }
    return list;
  }

  void ReadDimensions() {
    static const Words<Shape> kShapes = {{"Ring", Shape::kRing},
                                         {"Switch", Shape::kSwitch},
                                         {"FullyConnected", Shape::kFullyConnected}};
    const auto topology = document_.root().Required("topology");
    const auto shapes = topology ? topology->AsList() : std::nullopt;
    if (!shapes) return;
    if (shapes->empty() || shapes->size() > 8) {
      topology->Error("TL1451", fmt::format("{} dimensions", shapes->size()), "from 1 to 8");
      return;
    }
    const auto npus = ListOf("npus_count", shapes->size());
    const auto bandwidth = ListOf("bandwidth", shapes->size());
    const auto latency = ListOf("latency", shapes->size());
    if (!npus || !bandwidth || !latency) return;
    double total = 1;
    double cables = 0;
    for (std::size_t i = 0; i < shapes->size(); ++i) {
      Dimension dimension;
      double rate = 0;
      double nanoseconds = 0;
      if (!(*shapes)[i].Read(dimension.shape, kShapes) ||
          !(*npus)[i].Read(dimension.npus, IntRange{1, 262'144}) ||
          !(*bandwidth)[i].Read(rate, RealRange{1e-3, 1e5}) ||
          !(*latency)[i].Read(nanoseconds, RealRange{0, 1e9})) {
        return;
      }
      dimension.rate = Rate::BitsPerSecond(std::llround(std::ldexp(rate, 33)));
      dimension.latency = Time::Picoseconds(std::llround(nanoseconds * 1000));
      total *= static_cast<double>(dimension.npus);
      cables += dimension.shape == Shape::kFullyConnected
                    ? static_cast<double>(dimension.npus - 1) / 2
                    : 1;
      dimensions_.push_back(dimension);
    }
    // Every NPU has a router, and the routing tables grow with their square.
    if (total < 2 || total > 8'192 || total * cables > 4e6) {
      topology->Error("TL1404",
                      fmt::format("{:.0f} NPUs with {:.0f} cables", total, total * cables),
                      "from 2 to 8192 NPUs with at most 4 million cables");
      dimensions_.clear();
    }
  }

  // A router forwards for its NPU, as NPUs of a ring do themselves.
  void Build() {
    std::uint32_t count = 1;
    Rate all;
    for (const Dimension& dimension : dimensions_) {
      count *= static_cast<std::uint32_t>(dimension.npus);
      const bool mesh = dimension.shape == Shape::kFullyConnected;
      const std::int64_t links = mesh                              ? dimension.npus - 1
                                 : dimension.shape == Shape::kRing ? 2
                                                                   : 1;
      all = all + dimension.rate * std::max<std::int64_t>(links, 1);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      routers_.push_back(Switch(fmt::format("router-{}", i)));
      Cable(cables_.Device(DeviceKind::kNic, fmt::format("npu-{}", i)), routers_[i], all, Time());
    }
    std::uint32_t stride = 1;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
      const auto size = static_cast<std::uint32_t>(dimensions_[d].npus);
      for (std::uint32_t i = 0; i < count; ++i) {
        if (i / stride % size == 0 && size > 1) JoinLine(d, i, stride, size);
      }
      stride *= size;
    }
    cables_.list.notes.emplace_back(
        "each NPU has a router that takes no time, through which its dimensions meet; bandwidths "
        "are in 2^30 B/s, as ASTRA-sim computes them");
  }

  // The NPUs from `first` on that differ along one dimension.
  void JoinLine(std::size_t d, std::uint32_t first, std::uint32_t stride, std::uint32_t size) {
    const Dimension& dimension = dimensions_[d];
    const auto at = [&](std::uint32_t i) { return routers_[first + i * stride]; };
    if (dimension.shape == Shape::kSwitch) {
      const std::uint32_t middle = Switch(fmt::format("switch-{}-{}", d, first));
      for (std::uint32_t i = 0; i < size; ++i) {
        Cable(at(i), middle, dimension.rate, dimension.latency);
      }
      return;
    }
    for (std::uint32_t i = 0; i < size; ++i) {
      if (dimension.shape == Shape::kFullyConnected) {
        for (std::uint32_t j = i + 1; j < size; ++j) {
          Cable(at(i), at(j), dimension.rate, dimension.latency);
        }
      } else if (i + 1 < size || size > 2) {
        Cable(at(i), at((i + 1) % size), dimension.rate, dimension.latency);
      }
    }
  }

  std::uint32_t Switch(const std::string& name) {
    const std::uint32_t at = cables_.Device(DeviceKind::kSwitch, name);
    cables_.list.devices[at].latency = Time();
    return at;
  }

  void Cable(std::uint32_t a, std::uint32_t b, Rate rate, Time latency) {
    cables_.list.cables.push_back({{a, ++ports_[a]}, {b, ++ports_[b]}, rate, latency, 0});
  }

  YamlDocument document_;
  NamedCables cables_;
  std::map<std::uint32_t, std::uint32_t> ports_;
  std::vector<Dimension> dimensions_;
  std::vector<std::uint32_t> routers_;
};

}  // namespace

const FabricFileReader& AstraReader() {
  static const FabricFileReader reader = {
      "astra-sim", "ASTRA-sim's analytical network.yml",
      [](std::string_view text) {
        return AnyLine(text, [](std::string_view line) { return line.starts_with("npus_count:"); });
      },
      [](std::string_view text, const std::string& file) -> Result<FabricSource> {
        auto document = YamlDocument::Parse(text, file, YamlStyle::kForeign);
        if (!document) return std::unexpected(std::move(document.error()));
        return AstraParser(*std::move(document)).Read();
      }};
  return reader;
}

}  // namespace trunkline
