#include "training/kernel_tables.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "base/embedded_yaml.h"
#include "trunkline/base/check.h"

namespace trunkline {

extern const EmbeddedTable k_trunkline_training_data_kernels;

namespace {

// Numbers separated by blanks.
std::vector<double> Numbers(std::string_view text) {
  std::vector<double> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (*at == ' ' || *at == '\n') {
      ++at;
      continue;
    }
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    TL_CHECK(error == std::errc() && value > 0, "bad number in a table", text.substr(0, 40));
    numbers.push_back(value);
    at = next;
  }
  return numbers;
}

std::vector<double> Table(const YamlMap& map, const char* key, std::size_t columns) {
  std::string text;
  map.Require(key, text);
  std::vector<double> numbers = Numbers(text);
  TL_CHECK(!numbers.empty() && numbers.size() % columns == 0, "ragged table", key);
  return numbers;
}

// "x y" rows, y multiplied by `scale`.
Curve ReadCurve(const YamlMap& map, double scale) {
  Curve curve;
  const std::vector<double> numbers = Table(map, "rows", 2);
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    TL_CHECK(curve.points.empty() || numbers[i] > curve.points.back().x, "rows out of order");
    curve.points.push_back({numbers[i], numbers[i + 1] * scale});
  }
  return curve;
}

// The mappings of the list at `key`.
std::vector<YamlMap> Maps(const YamlMap& root, const char* key) {
  const std::optional<std::vector<YamlValue>> values = root.List(key);
  TL_CHECK(values.has_value(), "list is missing", key);
  std::vector<YamlMap> maps;
  for (const YamlValue& value : *values) {
    const std::optional<YamlMap> map = value.AsMap();
    TL_CHECK(map.has_value(), "list of mappings wanted", key);
    maps.push_back(*map);
  }
  return maps;
}

double ReadFlops(const YamlMap& map, const char* key) {
  FlopRate rate;
  map.Require(key, rate);
  return rate.per_second();
}

constexpr double kTera = 1e12;

void ReadGemm(KernelTables& tables) {
  constexpr std::array<const char*, kGemmPassCount> kPasses = {"forward", "data_grad",
                                                               "weight_grad"};
  YamlDocument document = OpenEmbedded(k_trunkline_training_data_kernels, "kernels/gemm.yaml");
  for (const YamlMap& map : Maps(document.root(), "devices")) {
    GemmDevice device;
    map.Require("name", device.name);
    map.Require("source", device.source);
    device.peak = ReadFlops(map, "peak");
    device.best_matmul = ReadFlops(map, "best_matmul");
    for (std::size_t pass = 0; pass < kGemmPassCount; ++pass) {
      const std::vector<double> numbers = Table(map, kPasses[pass], 4);
      for (std::size_t i = 0; i < numbers.size(); i += 4) {
        device.measured[pass].push_back(
            {{std::log(numbers[i]), std::log(numbers[i + 1]), std::log(numbers[i + 2])},
             numbers[i + 3] * kTera / device.best_matmul});
      }
    }
    tables.gemm.push_back(std::move(device));
  }
  CloseEmbedded(document);
}

void ReadAttention(KernelTables& tables) {
  enum class Direction : std::uint8_t { kForward, kBackward, kBoth };
  const Words<Direction> directions = {{"forward", Direction::kForward},
                                       {"backward", Direction::kBackward},
                                       {"both", Direction::kBoth}};
  YamlDocument document = OpenEmbedded(k_trunkline_training_data_kernels, "kernels/attention.yaml");
  const YamlMap root = document.root();
  for (const YamlMap& map : Maps(root, "charts")) {
    AttentionChart chart;
    Direction direction = Direction::kBoth;
    map.Require("device", chart.device);
    map.Require("kernel", chart.kernel);
    map.Require("direction", direction, directions);
    map.Require("head_dim", chart.head_dim);
    chart.peak = ReadFlops(map, "peak");
    chart.combined = direction == Direction::kBoth;
    chart.passes = {direction != Direction::kBackward, direction != Direction::kForward};
    chart.rate = ReadCurve(map, kTera);
    tables.attention.push_back(std::move(chart));
  }
  for (const YamlMap& map : Maps(root, "occupancy")) {
    OccupancyCurve curve;
    const Words<AttentionPass> passes = {{"forward", AttentionPass::kForward},
                                         {"backward", AttentionPass::kBackward}};
    map.Require("device", curve.device);
    map.Require("direction", curve.pass, passes);
    curve.peak = ReadFlops(map, "peak");
    curve.fraction = ReadCurve(map, 1);
    tables.occupancy.push_back(std::move(curve));
  }
  CloseEmbedded(document);
}

void ReadStreaming(KernelTables& tables) {
  YamlDocument document = OpenEmbedded(k_trunkline_training_data_kernels, "kernels/streaming.yaml");
  Rate achieved;
  Rate peak;
  document.root().Require("device", tables.streaming_device);
  document.root().Require("achieved", achieved);
  document.root().Require("peak", peak);
  tables.streaming_fraction = achieved.bytes_per_second() / peak.bytes_per_second();
  CloseEmbedded(document);
}

KernelTables ReadTables() {
  KernelTables tables;
  ReadGemm(tables);
  ReadAttention(tables);
  ReadStreaming(tables);
  return tables;
}

}  // namespace

const KernelTables& Kernels() {
  static const KernelTables tables = ReadTables();
  return tables;
}

}  // namespace trunkline
