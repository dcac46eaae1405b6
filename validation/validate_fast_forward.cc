// Compares runs that skip what repeats with the whole runs: how much was skipped, how far the
// completion of any flow is off, and the bound that the run gives for it. Fails where one is
// beyond.
//
//   validate_fast_forward [MEGABYTES [TOLERANCE]]
//
// MEGABYTES is the size of every message, 200 unless given, TOLERANCE that of packet.fast_forward,
// 0.05 unless given. 200 MB take a minute of CPU.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "trunkline/engine/packet.h"
#include "trunkline/fabric/build.h"
#include "trunkline/scenario/scenario.h"

namespace trunkline {
namespace {

struct Case {
  const char* title;
  const char* cluster;  // up to the keys of its fabric that all have
  const char* transport;
  const char* pattern;
};

constexpr const char* kTree = "fabric: {kind: fat-tree, k: 4, routing: ecmp";
constexpr const char* kStar5 = "nodes: 5\n  fabric: {kind: single-switch";
constexpr const char* kStar9 = "nodes: 9\n  fabric: {kind: single-switch";

constexpr Case kCases[] = {
    {"credits, permutation", kTree, "kind: infiniband", "permutation"},
    {"credits, 8 into 1", kStar9, "kind: infiniband", "incast"},
    {"PFC alone, permutation", kTree, "kind: rocev2, congestion_control: none", "permutation"},
    {"PFC alone, 8 into 1", kStar9, "kind: rocev2, congestion_control: none", "incast"},
    {"NSCC, sprayed permutation",
     "fabric: {kind: fat-tree, k: 4, routing: spray, switch: {pfc: false, trimming: true}",
     "kind: rocev2, loss_recovery: selective_repeat, congestion_control: nscc", "permutation"},
    {"Swift, permutation", kTree, "kind: rocev2, congestion_control: swift", "permutation"},
    {"Swift, 4 into 1", kStar5, "kind: rocev2, congestion_control: swift", "incast"},
    {"DCTCP, 4 into 1", kStar5, "kind: rocev2, congestion_control: dctcp", "incast"},
    {"TIMELY, 4 into 1", kStar5, "kind: rocev2, congestion_control: timely", "incast"},
    {"DCQCN (ns-3), permutation", kTree, "kind: rocev2", "permutation"},
    {"DCQCN (ns-3), 4 into 1", kStar5, "kind: rocev2", "incast"},
    {"DCQCN (paper), 4 into 1", kStar5,
     "kind: rocev2, congestion_control: {name: dcqcn, preset: dcqcn-paper}", "incast"},
    {"TCP, CUBIC, permutation", "nodes: 16\n  fabric: {kind: single-switch", "kind: tcp",
     "permutation"},
};

Result<PacketReport> Simulate(const Scenario& scenario, double& cpu_s) {
  const ClusterSpec& cluster = scenario.cluster;
  RouterOptions routing;
  routing.policy = cluster.routing;
  routing.seed = scenario.seed;
  const Router router(cluster.fabric->fabric, routing);
  const std::size_t ranks = cluster.fabric->fabric.endpoints().size();
  const auto placement = PackedPlacement(cluster.fabric->fabric, ranks);
  if (!placement) return std::unexpected(placement.error());
  const auto traffic =
      MakeTraffic(std::get<TrafficInput>(scenario.workload).spec, static_cast<std::uint32_t>(ranks),
                  Rate::GigabitsPerSecond(100), scenario.seed);
  if (!traffic) return std::unexpected(traffic.error());
  PacketOptions options;
  options.seed = scenario.seed;
  options.fast_forward = scenario.fast_forward;
  const std::clock_t begin = std::clock();
  auto report = RunPacketTraffic({router, cluster.switches, cluster.packet_transport}, *traffic,
                                 *placement, options);
  cpu_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return report;
}

double WorstOf(const PacketReport& whole, const PacketReport& fast) {
  double worst = 0;
  for (std::size_t i = 0; i < whole.flows.size(); ++i) {
    const Time difference = whole.flows[i].delivered - fast.flows[i].delivered;
    worst = std::max(worst, std::abs(difference.seconds()));
  }
  return worst;
}

// Whether the bound holds.
Result<bool> Compare(const Case& of, const std::string& megabytes, const std::string& tolerance) {
  const std::string text = fmt::format(
      "cluster:\n"
      "  {}, link: 100 Gb/s, cable_latency: 1 us}}\n"
      "  transport: {{{}}}\n"
      "workload: {{traffic: {{pattern: {}, size: {} MB}}}}\n"
      "engine: packet\n",
      of.cluster, of.transport, of.pattern, megabytes);
  auto scenario = ParseScenario(text, of.title);
  if (!scenario) return std::unexpected(scenario.error());
  double whole_s = 0;
  double fast_s = 0;
  const auto whole = Simulate(*scenario, whole_s);
  if (!whole) return std::unexpected(whole.error());
  scenario->fast_forward.emplace().tolerance = std::stod(tolerance);
  const auto fast = Simulate(*scenario, fast_s);
  if (!fast) return std::unexpected(fast.error());
  const SkippedTime& skipped = *fast->fast_forward;
  const double worst = WorstOf(*whole, *fast);
  std::fputs(
      fmt::format("| {} | {:.1f} ms | {:.0f} % | {:.3f} % | {:.2f} % | {:.2f} s | {:.2f} s |\n",
                  of.title, whole->end.seconds() * 1e3,
                  100 * skipped.skipped.seconds() / fast->end.seconds(),
                  100 * worst / whole->end.seconds(),
                  100 * skipped.error.seconds() / whole->end.seconds(), whole_s, fast_s)
          .c_str(),
      stdout);
  return worst <= skipped.error.seconds();
}

int Main(int argc, char** argv) {
  const std::string megabytes = argc > 1 ? argv[1] : "200";
  const std::string tolerance = argc > 2 ? argv[2] : "0.05";
  std::puts("| | whole run | skipped | worst completion off by | bound | CPU, whole | CPU |");
  std::puts("|---|---|---|---|---|---|---|");
  int beyond = 0;
  for (const Case& of : kCases) {
    const auto holds = Compare(of, megabytes, tolerance);
    if (!holds) {
      std::fputs(Format(holds.error().front()).c_str(), stderr);
      return EXIT_FAILURE;
    }
    if (!*holds) ++beyond;
  }
  std::fputs(fmt::format("{} of {} beyond their bound\n", beyond, std::size(kCases)).c_str(),
             stdout);
  return beyond == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace trunkline

int main(int argc, char** argv) { return trunkline::Main(argc, argv); }
