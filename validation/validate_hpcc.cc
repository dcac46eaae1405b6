// Compares slowdowns of flows under five congestion controls with those that the authors of HPCC
// publish for their simulator (hpcc-slowdown.yaml), and says which of the published orders hold.
//
//   validate_hpcc [--seeds N] [--first SEED] [--case NUMBER] [--window MILLISECONDS]
//
// Each figure is a mean over N seeds, 1 unless given, from SEED on. With --case one case alone. So
// many milliseconds of arrivals are measured, 4 unless given, after 3 and before 3 more of the same
// load. All of it takes about an hour of CPU. Status 1 if the mean error of a case is not the
// documented one, within what is stated there.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/yaml_reader.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/build.h"
#include "trunkline/scenario/scenario.h"

namespace trunkline {
namespace {

struct Row {
  std::string flows;
  double from = 0;
  double to = 1;
  double percentile = 95;
  std::vector<double> slowdown;  // by congestion control
};

struct Case {
  std::string title;
  std::string sizes;
  double load = 0;
  std::optional<double> documented;  // mean error; none: it has not been measured
  std::vector<Row> rows;
};

struct Control {
  std::string name;
  std::string congestion_control;  // as in a scenario
};

struct Published {
  double tolerance = 0;
  std::vector<Control> controls;
  std::vector<Case> cases;
};

std::vector<double> ReadNumbers(const YamlValue& value) {
  std::vector<double> numbers;
  if (const auto list = value.AsList()) {
    for (const YamlValue& element : *list) {
      double number = 0;
      if (element.Read(number, RealRange{1, 1000})) numbers.push_back(number);
    }
  }
  return numbers;
}

Case ReadCase(const YamlMap& map) {
  Case entry;
  map.Require("title", entry.title);
  map.Require("sizes", entry.sizes);
  map.Require("load", entry.load, RealRange{0.01, 1});
  if (double error = 0; map.Read("documented", error, RealRange{0, 1})) entry.documented = error;
  for (const YamlValue& value : map.List("rows").value_or(std::vector<YamlValue>())) {
    const auto fields = value.AsMap();
    if (!fields) continue;
    Row& row = entry.rows.emplace_back();
    fields->Require("flows", row.flows);
    fields->Require("from", row.from, RealRange{0, 1});
    fields->Require("to", row.to, RealRange{0, 1});
    fields->Require("percentile", row.percentile, RealRange{1, 100});
    if (const auto list = fields->Required("slowdown")) row.slowdown = ReadNumbers(*list);
  }
  return entry;
}

Result<Published> ReadPublished(const std::string& path) {
  auto document = YamlDocument::ReadFile(path, YamlStyle::kOurs);
  if (!document) return std::unexpected(document.error());
  Published published;
  const YamlMap root = document->root();
  root.Require("tolerance", published.tolerance, RealRange{0, 1});
  for (const YamlValue& value : root.List("controls").value_or(std::vector<YamlValue>())) {
    const auto map = value.AsMap();
    if (!map) continue;
    Control& control = published.controls.emplace_back();
    map->Require("name", control.name);
    map->Require("congestion_control", control.congestion_control);
  }
  for (const YamlValue& value : root.List("cases").value_or(std::vector<YamlValue>())) {
    if (const auto map = value.AsMap()) published.cases.push_back(ReadCase(*map));
  }
  Diagnostics problems = document->TakeDiagnostics();
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return published;
}

// What a packet carries beside its payload in HPCC's ns-3: PPP 14, IP 20, UDP 8, sequence header 6.
// There is neither preamble nor gap.
constexpr Bytes kHeaders{48};
// An acknowledgement: PPP 14, IP 20, 12 of its own and the telemetry that it takes back, padded to
// 60 bytes.
constexpr Bytes kAck{46};
constexpr Bytes kLeastAck{60};

// GLOBAL_T gives all flows the round trip of the longest path: 2 x 6 us, and 1000 B at twice 100
// and four times 400 Gb/s. Switches are told nothing of ACK_HIGH_PRIO.
Result<Scenario> MakeScenario(const Case& entry, const Control& control, double milliseconds,
                              std::uint64_t seed) {
  const std::string text =
      "cluster:\n"
      "  fabric: {kind: fat-tree, children: [16, 4, 5], parents: [1, 4, 4], link: 100 Gb/s, "
      "uplink: 400 Gb/s, cable_latency: 1 us, routing: ecmp, switch: {latency: 0 us, buffer: "
      "32 MiB}}\n"
      "  transport: {kind: rocev2, mtu: 1000 B, acks_with_data: true, base_rtt: 12.24 us, "
      "window_rule: not_full, "
      "congestion_control: " +
      control.congestion_control +
      "}\n"
      "workload:\n"
      "  traffic: {pattern: uniform, sizes: " +
      entry.sizes + ", arrivals: poisson, load: " + std::to_string(entry.load) +
      ", warm_up: 3 ms, window: " + std::to_string(milliseconds) +
      " ms, drain: 3 ms}\n"
      "engine: packet\n"
      "seed: " +
      std::to_string(seed) + "\n";
  auto scenario = ParseScenario(text, "hpcc");
  if (!scenario) return scenario;
  PacketTransport& ends = scenario->cluster.packet_transport;
  const Bytes telemetry = ends.packet_overhead - scenario->cluster.transport.packet_overhead;
  ends.packet_overhead = kHeaders + telemetry;
  scenario->cluster.transport.packet_overhead = kHeaders;
  ends.ack_bytes = std::max(kLeastAck, kAck + telemetry);
  return scenario;
}

// The slowdown that fct_analysis.py computes: the time to the last acknowledgement against a round
// trip of the path and all bytes at the rate of a host, telemetry left out.
double Slowdown(const Fabric& fabric, const std::vector<LinkId>& path, const TrafficFlow& flow,
                const FlowRecord& record) {
  double ideal = 0;
  constexpr double kPayload = 1000;
  for (const LinkId id : path) {
    const Link& link = fabric.link(id);
    ideal += 2 * link.latency.seconds() + kPayload / link.rate.bytes_per_second();
  }
  const auto bytes = static_cast<double>(flow.bytes.count());
  const double wire = bytes + std::ceil(bytes / kPayload) * static_cast<double>(kHeaders.count());
  ideal += wire / fabric.link(path.front()).rate.bytes_per_second();
  return std::max(1.0, (record.acknowledged - record.posted).seconds() / ideal);
}

// Measured flows by size: how large, and how much slower than alone.
Result<std::vector<std::pair<std::int64_t, double>>> Simulate(const Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  const Fabric& fabric = cluster.fabric->fabric;
  RouterOptions routing;
  routing.policy = cluster.routing;
  routing.seed = scenario.seed;
  routing.payload_bytes = cluster.transport.mtu.count();
  routing.wire_bytes = (cluster.transport.mtu + cluster.transport.packet_overhead).count();
  const Router router(fabric, routing);
  const std::size_t ranks = fabric.endpoints().size();
  const auto placement = PackedPlacement(fabric, ranks);
  if (!placement) return std::unexpected(placement.error());
  const auto traffic =
      MakeTraffic(std::get<TrafficInput>(scenario.workload).spec, static_cast<std::uint32_t>(ranks),
                  Rate::GigabitsPerSecond(100), scenario.seed);
  if (!traffic) return std::unexpected(traffic.error());
  PacketOptions options;
  options.seed = scenario.seed;
  const auto report = RunPacketTraffic({router, cluster.switches, cluster.packet_transport},
                                       *traffic, *placement, options);
  if (!report) return std::unexpected(report.error());
  std::vector<std::pair<std::int64_t, double>> flows;
  for (std::size_t i = 0; i < traffic->flows.size(); ++i) {
    const TrafficFlow& flow = traffic->flows[i];
    if (flow.start < traffic->measure_from || flow.start >= traffic->measure_until) continue;
    const auto path =
        router.FindPath(placement->endpoint(flow.source), placement->endpoint(flow.destination), i);
    if (!path) return std::unexpected(path.error());
    if (report->flows[i].acknowledged == FlowRecord::kNot) {
      return Error("TL1821", "a flow did not end", "look at the run by itself");
    }
    flows.emplace_back(flow.bytes.count(), Slowdown(fabric, *path, flow, report->flows[i]));
  }
  std::ranges::sort(flows);
  return flows;
}

double PercentileOf(const std::vector<std::pair<std::int64_t, double>>& flows, const Row& row) {
  const auto at = [&](double share) {
    return static_cast<std::ptrdiff_t>(share * static_cast<double>(flows.size()));
  };
  std::vector<double> values;
  for (auto i = at(row.from); i < at(row.to); ++i) {
    values.push_back(flows[static_cast<std::size_t>(i)].second);
  }
  std::ranges::sort(values);
  const auto place =
      static_cast<std::size_t>(static_cast<double>(values.size()) * row.percentile / 100);
  return values.empty() ? 0 : values[std::min(place, values.size() - 1)];
}

struct Score {
  double error = 0;
  int cells = 0;
  int within = 0;  // 20 %
  int pairs = 0;
  int ordered = 0;

  void Add(const Score& other) {
    error += other.error;
    cells += other.cells;
    within += other.within;
    pairs += other.pairs;
    ordered += other.ordered;
  }
  void Print(const char* title) const {
    std::printf("  %-20s mean error %5.1f %%; %d of %d within 20 %%; %d of %d orders hold\n", title,
                100 * error / cells, within, cells, ordered, pairs);
  }
};

// Figures are read to 5 %: what differs by less than a tenth has no published order.
Score Judge(const std::vector<double>& published, const std::vector<double>& simulated) {
  constexpr double kApart = 1.1;
  Score score;
  for (std::size_t i = 0; i < published.size(); ++i) {
    const double error = std::abs(simulated[i] / published[i] - 1);
    score.error += error;
    ++score.cells;
    score.within += error <= 0.2 ? 1 : 0;
    for (std::size_t j = 0; j < published.size(); ++j) {
      if (published[i] < published[j] * kApart) continue;
      ++score.pairs;
      score.ordered += simulated[i] > simulated[j] ? 1 : 0;
    }
  }
  return score;
}

int Refuse(const Diagnostics& problems) {
  for (const Diagnostic& problem : problems) std::fputs(Format(problem).c_str(), stderr);
  return 2;
}

struct Request {
  std::uint64_t seeds = 1;
  std::uint64_t first = 1;
  std::size_t only = 0;  // case, from 1 on; 0: all
  double milliseconds = 4;
};

// The rows of a case by congestion control, each a mean over seeds.
Result<std::vector<std::vector<double>>> SimulateAll(const Published& published, const Case& entry,
                                                     const Request& request, std::size_t& flows) {
  std::vector<std::vector<double>> means(entry.rows.size(),
                                         std::vector<double>(published.controls.size()));
  for (std::size_t j = 0; j < published.controls.size(); ++j) {
    for (std::uint64_t seed = request.first; seed < request.first + request.seeds; ++seed) {
      const auto scenario = MakeScenario(entry, published.controls[j], request.milliseconds, seed);
      if (!scenario) return std::unexpected(scenario.error());
      const auto measured = Simulate(*scenario);
      if (!measured) return std::unexpected(measured.error());
      if (j == 0) flows += measured->size();
      for (std::size_t i = 0; i < entry.rows.size(); ++i) {
        means[i][j] += PercentileOf(*measured, entry.rows[i]) / static_cast<double>(request.seeds);
      }
    }
  }
  return means;
}

Result<Score> Validate(const Published& published, const Case& entry, const Request& request) {
  std::size_t flows = 0;
  const auto simulated = SimulateAll(published, entry, request, flows);
  if (!simulated) return std::unexpected(simulated.error());
  std::printf("%s, %zu flows of %llu seeds: slowdown, published and (error) simulated\n",
              entry.title.c_str(), flows, static_cast<unsigned long long>(request.seeds));
  std::printf("  %-16s", "");
  for (const Control& control : published.controls) std::printf("  %-20s", control.name.c_str());
  std::printf("\n");
  Score score;
  for (std::size_t i = 0; i < entry.rows.size(); ++i) {
    const Row& row = entry.rows[i];
    std::printf("  %-11s P%-3.0f", row.flows.c_str(), row.percentile);
    for (std::size_t j = 0; j < row.slowdown.size(); ++j) {
      std::printf("  %5.2f %5.2f (%+4.0f %%)", row.slowdown[j], (*simulated)[i][j],
                  100 * ((*simulated)[i][j] / row.slowdown[j] - 1));
    }
    std::printf("\n");
    score.Add(Judge(row.slowdown, (*simulated)[i]));
  }
  score.Print("");
  std::fflush(stdout);
  return score;
}

// The request that arguments make; nothing if they make none.
std::optional<Request> ReadRequest(int argc, char** argv) {
  Request request;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return std::nullopt;
    const std::string_view key = argv[i];
    const double value = std::strtod(argv[i + 1], nullptr);
    if (!(value > 0 && value <= 1000)) return std::nullopt;
    if (key == "--seeds") {
      request.seeds = static_cast<std::uint64_t>(value);
    } else if (key == "--first") {
      request.first = static_cast<std::uint64_t>(value);
    } else if (key == "--case") {
      request.only = static_cast<std::size_t>(value);
    } else if (key == "--window") {
      request.milliseconds = value;
    } else {
      return std::nullopt;
    }
  }
  return request;
}

int Main(int argc, char** argv) {
  const auto published = ReadPublished(TRUNKLINE_SOURCE_DIR "/validation/hpcc-slowdown.yaml");
  if (!published) return Refuse(published.error());
  const auto request = ReadRequest(argc, argv);
  if (!request || request->seeds == 0 || request->only > published->cases.size()) {
    std::fputs("usage: validate_hpcc [--seeds N] [--first SEED] [--case NUMBER] [--window MS]\n",
               stderr);
    return 2;
  }
  Score all;
  int moved = 0;
  for (std::size_t i = 0; i < published->cases.size(); ++i) {
    if (request->only != 0 && request->only != i + 1) continue;
    const Case& entry = published->cases[i];
    const auto score = Validate(*published, entry, *request);
    if (!score) return Refuse(score.error());
    all.Add(*score);
    const double error = score->error / score->cells;
    if (!entry.documented || std::abs(error - *entry.documented) <= published->tolerance) continue;
    std::printf("  documented: a mean error of %.1f %%, within %.0f points\n",
                100 * *entry.documented, 100 * published->tolerance);
    ++moved;
  }
  all.Print("all cases");
  return moved == 0 ? 0 : 1;
}

}  // namespace
}  // namespace trunkline

int main(int argc, char** argv) { return trunkline::Main(argc, argv); }
