// A permutation through the packet engine, or with `ring` a ring AllReduce among all hosts, timed
// as a whole process.
//
//   packet_bench K BYTES [option…]      a k-ary fat tree of 100 Gb/s links, 1 us each; `cc=dcqcn`,
//   …
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "trunkline/base/heap.h"
#include "trunkline/base/random.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

void PrintFlows(const PacketReport& report) {
  Time last;
  Time first = Time::Max();
  double sum = 0;
  std::size_t delivered = 0;
  for (const FlowRecord& flow : report.flows) {
    if (flow.delivered == FlowRecord::kNot) continue;
    ++delivered;
    last = std::max(last, flow.delivered);
    first = std::min(first, flow.delivered);
    sum += flow.delivered.seconds();
  }
  std::printf("%s, delivered %zu of %zu; FCT us min %.2f mean %.2f max %.2f\n",
              ToString(report.status), delivered, report.flows.size(), first.seconds() * 1e6,
              sum / static_cast<double>(delivered) * 1e6, last.seconds() * 1e6);
}

void Print(const PacketReport& report) {
  const PacketCounters& c = report.counters;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double cpu = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  std::printf(
      "hops: data %lu ack %lu control %lu; events %lu; drops %lu trims %lu marks %lu pauses %lu "
      "again %lu timeouts %lu\n",
      c.hops.data, c.hops.ack, c.hops.control, report.events, c.drops, c.trims, c.marks, c.pauses,
      c.retransmissions, c.timeouts);
  std::printf("CPU %.3f s, %.2f M data hops/s, RSS %.1f MiB\n", cpu,
              static_cast<double>(c.hops.data) / cpu * 1e-6,
              static_cast<double>(usage.ru_maxrss) / 1024);
}

// A congestion control, and all that its default preset wants.
bool Control(std::string_view name, SwitchModel& switches, PacketTransport& transport) {
  const auto control = MakeCongestionControl(name, "", {}, Rate::GigabitsPerSecond(100));
  if (!control) {
    std::fputs(Format(control.error()[0]).c_str(), stderr);
    return false;
  }
  if (control->marking) switches.marking = control->marking;
  Adopt(*control, transport);
  return true;
}

// Without latencies of software.
int Ring(const PacketInput& input, const Placement& placement, Bytes bytes) {
  CollectiveChoice choice;
  choice.spec.bytes = bytes;
  choice.algorithm = "ring";
  const auto graph = SingleCollective(choice, static_cast<std::uint32_t>(placement.rank_count()));
  const TransportModel model = IdealTransport();
  const auto run = RunPacket({input.router, model, *graph, placement}, input, {});
  if (!run) {
    for (const Diagnostic& problem : run.error()) std::fputs(Format(problem).c_str(), stderr);
    return 2;
  }
  std::printf("ring AllReduce over %u ranks: %.2f us\n", graph->ranks(),
              run->timeline.end.seconds() * 1e6);
  Print(run->packets);
  return 0;
}

// What a run is made of, as options say.
struct Settings {
  RoutingPolicy routing = RoutingPolicy::kEcmp;
  SwitchModel switches;
  PacketTransport transport;
  PacketOptions run;
  bool ring = false;
};

bool Apply(std::string_view option, Settings& to) {
  if (option == "spray") to.routing = RoutingPolicy::kSpray;
  if (option == "adaptive") to.routing = RoutingPolicy::kAdaptive;
  if (option == "static") to.routing = RoutingPolicy::kStatic;
  if (option == "credits") to.switches.loss_control = LossControl::kCredits;
  if (option == "lossy") to.switches.loss_control = LossControl::kLossy;
  if (option == "ring") to.ring = true;
  if (option.starts_with("threads=")) {
    to.run.threads = static_cast<std::uint32_t>(std::atoi(option.data() + 8));
  }
  if (option.starts_with("acks=")) {
    to.transport.ack_every = static_cast<std::uint32_t>(std::atoi(option.data() + 5));
  }
  if (option == "any") to.transport.recovery = LossRecovery::kSelectiveRepeat;
  if (option == "trim") to.switches.trimming = true;
  if (option == "small") to.switches.buffer = Bytes(4'000'000);
  if (option == "ecn") to.switches.marking = MarkingCurve{Bytes(400'000), Bytes(1'600'000), 0.2};
  return !option.starts_with("cc=") || Control(option.substr(3), to.switches, to.transport);
}

// Every rank sends to another: one cycle (Sattolo), so that nobody keeps to himself.
TrafficWorkload Permutation(std::uint32_t ranks, Bytes bytes) {
  TrafficWorkload traffic;
  traffic.ranks = ranks;
  std::vector<std::uint32_t> to(ranks);
  std::iota(to.begin(), to.end(), 0U);
  for (std::uint32_t i = ranks - 1; i > 0; --i) std::swap(to[i], to[Below(Draw(1, 7, i), i)]);
  for (std::uint32_t i = 0; i < ranks; ++i) {
    TrafficFlow flow;
    flow.source = RankId{i};
    flow.destination = RankId{to[i]};
    flow.bytes = bytes;
    traffic.flows.push_back(flow);
  }
  return traffic;
}

int Main(int argc, char** argv) {
  const int k = std::atoi(argv[1]);
  const std::int64_t bytes = std::atoll(argv[2]);
  char spec_text[64];
  std::snprintf(spec_text, sizeof spec_text, "fat-tree:k=%d,link=100Gb/s", k);
  auto spec = ParseFabricSpec(spec_text);
  if (!spec) {
    std::fputs(Format(spec.error()[0]).c_str(), stderr);
    return 2;
  }
  spec->cable_latency = Time::Microseconds(1);
  spec->switch_latency = Time();
  auto built = BuildFabric(*spec);
  if (!built) {
    std::fputs(Format(built.error()[0]).c_str(), stderr);
    return 2;
  }
  Settings settings;
  for (int i = 3; i < argc; ++i) {
    if (!Apply(argv[i], settings)) return 2;
  }
  const Router router(built->fabric, {.policy = settings.routing});
  const auto placement = PackedPlacement(built->fabric, built->fabric.endpoints().size());
  const PacketInput input{router, settings.switches, settings.transport};
  if (settings.ring) return Ring(input, *placement, Bytes(bytes));
  const TrafficWorkload traffic =
      Permutation(static_cast<std::uint32_t>(placement->rank_count()), Bytes(bytes));
  const auto report = RunPacketTraffic(input, traffic, *placement, settings.run);
  if (!report) {
    for (const Diagnostic& problem : report.error()) std::fputs(Format(problem).c_str(), stderr);
    return 2;
  }
  PrintFlows(*report);
  Print(*report);
  return 0;
}

}  // namespace
}  // namespace trunkline

int main(int argc, char** argv) {
  trunkline::PrepareHeap();
  return trunkline::Main(argc, argv);
}
