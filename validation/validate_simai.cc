// Runs the AllReduces of simai-allreduce.yaml flow by flow as SimAI does, and compares when the
// last flow ends, and how long that took to find out, with SimAI.
//
//   validate_simai [SEEDS [GPUS [MIB [THREADS]]]]
//
// Paths are ECMP's, so each row is a mean over SEEDS seeds, 10 unless given, with the least and the
// most. With GPUS and MIB, if not 0, only the rows of so many. THREADS is one unless given. Status
// 1 if the error of a row is not the documented one.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "base/yaml_reader.h"
#include "trunkline/base/heap.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/scenario/scenario.h"

namespace trunkline {
namespace {

constexpr std::uint32_t kPerServer = 8;
constexpr std::uint32_t kSpines = 8;
constexpr std::uint32_t kRings = 8;
constexpr Time kSendLatency = Time::Microseconds(3);
constexpr Bytes kHeaders{48};
constexpr Bytes kAck{60};

struct Row {
  std::uint32_t gpus = 0;
  std::int64_t mib = 0;
  double microseconds = 0;
  double wall_s = 0;
  double documented = 0;  // our error
};

struct Published {
  double apart = 0;
  double tolerance = 0;
  std::vector<Row> rows;
};

Result<Published> ReadPublished(const std::string& path) {
  auto document = YamlDocument::ReadFile(path, YamlStyle::kOurs);
  if (!document) return std::unexpected(document.error());
  Published published;
  const YamlMap root = document->root();
  root.Require("apart", published.apart, RealRange{0, 1});
  root.Require("tolerance", published.tolerance, RealRange{0, 1});
  for (const YamlValue& value : root.List("rows").value_or(std::vector<YamlValue>())) {
    const auto map = value.AsMap();
    if (!map) continue;
    Row& row = published.rows.emplace_back();
    map->Require("gpus", row.gpus, IntRange{.min = 16, .max = 1024});
    map->Require("mib", row.mib, IntRange{.min = 1, .max = 1024});
    map->Require("microseconds", row.microseconds);
    map->Require("wall_s", row.wall_s);
    map->Require("documented", row.documented, RealRange{-1, 1});
  }
  Diagnostics problems = document->TakeDiagnostics();
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return published;
}

Fabric BuildSpectrumX(std::uint32_t gpus) {
  FabricBuilder builder;
  const auto add = [&](DeviceKind kind, std::uint8_t tier, std::uint32_t node,
                       std::uint32_t local) {
    return builder.AddDevice(
        {.kind = kind, .tier = tier, .node = node, .local = local, .latency = {}});
  };
  std::vector<DeviceId> spines;
  for (std::uint32_t i = 0; i < kSpines; ++i) {
    spines.push_back(add(DeviceKind::kSwitch, 2, Device::kNoNode, i));
  }
  std::vector<DeviceId> rails;
  for (std::uint32_t i = 0; i < kPerServer; ++i) {
    rails.push_back(add(DeviceKind::kSwitch, 1, Device::kNoNode, i));
    for (const DeviceId spine : spines) {
      builder.AddCable(rails.back(), spine, Rate::GigabitsPerSecond(400), Time::Nanoseconds(500),
                       LinkKind::kNetwork);
    }
  }
  DeviceId nvswitch{};
  for (std::uint32_t i = 0; i < gpus; ++i) {
    if (i % kPerServer == 0) {
      nvswitch = add(DeviceKind::kSwitch, 1, Device::kNoNode, kPerServer + i / kPerServer);
    }
    const DeviceId gpu = add(DeviceKind::kHost, 0, i, 0);
    builder.AddCable(gpu, rails[i % kPerServer], Rate::GigabitsPerSecond(100),
                     Time::Nanoseconds(500), LinkKind::kNetwork);
    builder.AddCable(gpu, nvswitch, Rate::GigabitsPerSecond(2400), Time::Nanoseconds(25),
                     LinkKind::kNetwork);
  }
  return std::move(builder).Build();
}

// The next rank on a ring: around the server, from the rail after `ring` to `ring` itself, and on
// to the next server.
std::uint32_t NextOf(std::uint32_t rank, std::uint32_t ring, std::uint32_t gpus) {
  const std::uint32_t server = rank / kPerServer;
  const std::uint32_t next = (rank + 1) % kPerServer;
  if (rank % kPerServer != ring) return server * kPerServer + next;
  return ((server + 1) * kPerServer + next) % gpus;
}

// Each rank sends a part of the ring's share 2(n-1) times: at first its own, then what has come. In
// SimAI a receiver hears of a flow when its sender has the last acknowledgement (qp_finish in the
// ns-3 frontend's entry.h), and asks for the next as it sends this one on
// (NcclTreeFlowModel::ready): a step waits for what it sends and for the step before it.
TrafficWorkload RingAllReduce(std::uint32_t gpus, Bytes size) {
  TrafficWorkload traffic;
  traffic.ranks = gpus;
  const std::uint32_t steps = 2 * (gpus - 1);
  const Bytes part(size.count() / kRings / gpus);
  traffic.flows.reserve(std::size_t{kRings} * steps * gpus);
  traffic.triggers.reserve(traffic.flows.capacity());
  const auto index = [&](std::uint32_t ring, std::uint32_t step, std::uint32_t rank) {
    return (ring * steps + step) * gpus + rank;
  };
  for (std::uint32_t ring = 0; ring < kRings; ++ring) {
    for (std::uint32_t step = 0; step < steps; ++step) {
      for (std::uint32_t rank = 0; rank < gpus; ++rank) {
        const std::uint32_t next = NextOf(rank, ring, gpus);
        const bool last = step + 1 == steps;
        TrafficFlow flow;
        flow.source = RankId(rank);
        flow.destination = RankId(next);
        flow.bytes = part;
        flow.start = kSendLatency;
        if (step > 0) flow.trigger = index(ring, step, rank);
        if (!last) flow.when_sent = index(ring, step + 1, next);
        traffic.flows.push_back(flow);
        // Of this flow; nothing activates that of a first step.
        TrafficTrigger trigger;
        trigger.kind = TrafficTrigger::Kind::kBarrier;
        trigger.count = step > 1 ? 2 : 1;
        trigger.flows = {index(ring, step, rank)};
        if (step > 0 && !last) trigger.then = index(ring, step + 1, rank);
        traffic.triggers.push_back(std::move(trigger));
      }
    }
  }
  return traffic;
}

// The ends and switches of SimAI.conf. GLOBAL_T gives all flows the round trip of the longest path:
// 2 x 4 x 500 ns, and 9000 B at 100, 400, 400 and 100 Gb/s.
Result<ClusterSpec> Ends() {
  auto scenario = ParseScenario(
      "cluster:\n"
      "  nodes: 2\n"
      "  fabric: {kind: single-switch, link: 100 Gb/s, routing: ecmp, switch: {latency: "
      "0 us, buffer: 32 MiB}}\n"
      "  transport: {kind: rocev2, mtu: 9000 B, acks_with_data: true, base_rtt: 5.8 us, "
      "congestion_control: {name: dcqcn, preset: dcqcn-simai}}\n"
      "workload: {traffic: {pattern: permutation, size: 1 MB}}\n"
      "engine: packet\n",
      "simai");
  if (!scenario) return std::unexpected(scenario.error());
  scenario->cluster.packet_transport.packet_overhead = kHeaders;
  scenario->cluster.packet_transport.ack_bytes = kAck;
  return std::move(scenario->cluster);
}

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

int Refuse(const Diagnostics& problems) {
  for (const Diagnostic& problem : problems) std::fputs(Format(problem).c_str(), stderr);
  return 2;
}

struct Outcome {
  double mean_us = 0;
  double least_us = 0;
  double most_us = 0;
  double wall_s = 0;  // of one run
  double cpu_s = 0;   // likewise
  std::uint64_t pauses = 0;
};

double WallSeconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

Result<Outcome> Simulate(const Row& row, const ClusterSpec& ends, std::uint64_t seeds,
                         std::uint32_t threads) {
  Outcome outcome;
  const double begin = WallSeconds();
  const double before = CpuSeconds();
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Fabric fabric = BuildSpectrumX(row.gpus);
    RouterOptions routing;
    routing.policy = RoutingPolicy::kEcmp;
    routing.seed = seed;
    const Router router(fabric, routing);
    const auto placement = PackedPlacement(fabric, row.gpus);
    if (!placement) return std::unexpected(placement.error());
    PacketOptions options;
    options.seed = seed;
    options.threads = threads;
    const auto report =
        RunPacketTraffic({router, ends.switches, ends.packet_transport},
                         RingAllReduce(row.gpus, Bytes(row.mib << 20)), *placement, options);
    if (!report) return std::unexpected(report.error());
    if (report->status != RunStatus::kFinished) {
      return Error("TL1821", "a run did not finish", "look at the run by itself");
    }
    Time end;  // of the last flow, as its sender knows it
    for (const FlowRecord& flow : report->flows) end = std::max(end, flow.acknowledged);
    const double us = end.seconds() * 1e6;
    outcome.mean_us += us / static_cast<double>(seeds);
    outcome.least_us = seed == 1 ? us : std::min(outcome.least_us, us);
    outcome.most_us = std::max(outcome.most_us, us);
    outcome.pauses += report->counters.pauses;
  }
  outcome.wall_s = (WallSeconds() - begin) / static_cast<double>(seeds);
  outcome.cpu_s = (CpuSeconds() - before) / static_cast<double>(seeds);
  return outcome;
}

int Main(int argc, char** argv) {
  const auto published = ReadPublished(TRUNKLINE_SOURCE_DIR "/validation/simai-allreduce.yaml");
  if (!published) return Refuse(published.error());
  const auto ends = Ends();
  if (!ends) return Refuse(ends.error());
  const std::uint64_t seeds = argc > 1 ? std::max(1UL, std::strtoul(argv[1], nullptr, 10)) : 10;
  const std::uint64_t gpus = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 0;
  const std::int64_t mib = argc > 3 ? std::strtol(argv[3], nullptr, 10) : 0;
  const auto threads =
      static_cast<std::uint32_t>(argc > 4 ? std::max(1UL, std::strtoul(argv[4], nullptr, 10)) : 1);
  std::printf("AllReduce in 8 rings, last flow, %llu seeds, %u threads\n",
              static_cast<unsigned long long>(seeds), threads);
  std::printf("  %5s %5s %10s %10s %8s %17s %9s %9s %9s %8s\n", "GPUs", "MiB", "SimAI us",
              "mean us", "error", "least to most", "SimAI s", "wall s", "CPU s", "times");
  double sum = 0;
  int within = 0;
  int moved = 0;
  int count = 0;
  for (const Row& row : published->rows) {
    if ((gpus != 0 && row.gpus != gpus) || (mib != 0 && row.mib != mib)) continue;
    const auto outcome = Simulate(row, *ends, seeds, threads);
    if (!outcome) return Refuse(outcome.error());
    const double error = outcome->mean_us / row.microseconds - 1;
    const bool as_documented = std::abs(error - row.documented) <= published->tolerance;
    std::printf("  %5u %5lld %10.1f %10.1f %+7.1f %% %8.1f %8.1f %9.2f %9.4f %9.4f %8.1f%s\n",
                row.gpus, static_cast<long long>(row.mib), row.microseconds, outcome->mean_us,
                100 * error, outcome->least_us, outcome->most_us, row.wall_s, outcome->wall_s,
                outcome->cpu_s, row.wall_s / outcome->wall_s,
                as_documented ? "" : "  not the documented error");
    std::fflush(stdout);
    sum += std::abs(error);
    within += std::abs(error) <= published->apart ? 1 : 0;
    moved += as_documented ? 0 : 1;
    ++count;
  }
  if (count == 0) return 2;
  std::printf(
      "  mean error %.1f %%; %d of %d within the %.0f %% by which SimAI's own answers differ\n",
      100 * sum / count, within, count, 100 * published->apart);
  return moved == 0 ? 0 : 1;
}

}  // namespace
}  // namespace trunkline

int main(int argc, char** argv) {
  trunkline::PrepareHeap();  // as trunkline itself does
  return trunkline::Main(argc, argv);
}
