// Compares dragonflies with BookSim2's (booksim-dragonfly.yaml): what they accept under overload,
// and how long packets take. Takes a minute of CPU. Status 1 if the error of a row is not the
// documented one.
//
//   validate_booksim

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/yaml_reader.h"
#include "engine/packet/booksim.h"

namespace trunkline {
namespace {

struct Row {
  std::uint32_t k = 0;
  std::string routing;
  booksim::Setting setting;
  double load = 0;  // 0: what is accepted under overload
  double value = 0;
  double documented = 0;
};

struct Published {
  double tolerance = 0;
  std::vector<Row> rows;
};

Row ReadRow(const YamlMap& map) {
  Row row;
  map.Require("k", row.k, IntRange{.min = 1, .max = 8});
  map.Require("routing", row.routing);
  if (const auto policy = ParseRoutingPolicy(row.routing)) row.setting.policy = *policy;
  // BookSim's Valiant goes by a random router.
  row.setting.parameters.via_router = row.setting.policy == RoutingPolicy::kValiant;
  map.Require("traffic", row.setting.pattern,
              Words<booksim::Pattern>{{"uniform", booksim::Pattern::kUniform},
                                      {"worst", booksim::Pattern::kGroupShift}});
  if (map.Read("load", row.load, RealRange{0.001, 1})) {
    map.Require("latency", row.value);
  } else {
    map.Require("accepted", row.value);
  }
  map.Require("documented", row.documented, RealRange{-1, 1});
  return row;
}

Result<Published> ReadPublished(const std::string& path) {
  auto document = YamlDocument::ReadFile(path, YamlStyle::kOurs);
  if (!document) return std::unexpected(document.error());
  Published published;
  const YamlMap root = document->root();
  root.Require("tolerance", published.tolerance, RealRange{0, 1});
  for (const YamlValue& value : root.List("rows").value_or(std::vector<YamlValue>())) {
    if (const auto map = value.AsMap()) published.rows.push_back(ReadRow(*map));
  }
  Diagnostics problems = document->TakeDiagnostics();
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return published;
}

int Main() {
  const auto published = ReadPublished(TRUNKLINE_SOURCE_DIR "/validation/booksim-dragonfly.yaml");
  if (!published) {
    for (const Diagnostic& problem : published.error()) {
      std::fputs(Format(problem).c_str(), stderr);
    }
    return 2;
  }
  std::printf("  %5s %-8s %-8s %-14s %8s %8s %8s\n", "hosts", "routing", "traffic", "", "BookSim",
              "here", "error");
  std::map<std::uint32_t, booksim::Network> networks;
  double sum = 0;
  int moved = 0;
  for (const Row& row : published->rows) {
    const auto& network = networks.try_emplace(row.k, row.k).first->second;
    const bool overload = row.load == 0;
    const double here =
        overload ? network.Accepted(row.setting) : network.Latency(row.setting, row.load);
    const double error = here / row.value - 1;
    const bool as_documented = std::abs(error - row.documented) <= published->tolerance;
    std::printf("  %5u %-8s %-8s %s %-4.2f  %8.4g %8.4g %+6.1f %%%s\n",
                4 * row.k * row.k * row.k * row.k + 2 * row.k * row.k, row.routing.c_str(),
                row.setting.pattern == booksim::Pattern::kUniform ? "uniform" : "worst",
                overload ? "accepted" : "latency ", overload ? 1 : row.load, row.value, here,
                100 * error, as_documented ? "" : "  not the documented error");
    std::fflush(stdout);
    sum += std::abs(error);
    moved += as_documented ? 0 : 1;
  }
  std::printf("  mean error %.1f %%\n", 100 * sum / static_cast<double>(published->rows.size()));
  return moved == 0 ? 0 : 1;
}

}  // namespace
}  // namespace trunkline

int main() { return trunkline::Main(); }
