#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "trunkline/base/check.h"
#include "trunkline/base/random.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/build.h"
#include "trunkline/workload/traffic.h"

// BookSim2's dragonflies (dragonflynew: p = k, a = 2k, h = k, g = 2k^2 + 1) as networks of packets,
// for tests, benchmarks and comparisons. A packet is a flit of BookSim and its time on a link a
// cycle: cables take 10 cycles within a group and 100 between groups, and each virtual channel has
// a buffer of 256 packets. BookSim's flits have no acknowledgements; here there is one in 1,024.
namespace trunkline::booksim {

inline constexpr Bytes kPacket{1'000};
inline constexpr Rate kRate = Rate::GigabitsPerSecond(100);
inline constexpr Time kCycle = Time::Nanoseconds(80);

inline Fabric Dragonfly(std::uint32_t k) {
  auto spec = ParseFabricSpec("dragonfly:link=100Gb/s,h=" + std::to_string(k));
  TL_CHECK(spec.has_value(), "spec", k);
  spec->switch_latency = Time();
  const auto built = BuildFabric(*spec);
  TL_CHECK(built.has_value(), "fabric", k);
  FabricBuilder builder;
  builder.CopyDevices(built->fabric);
  for (std::size_t i = 0; i < built->fabric.link_count(); i += 2) {
    const Link& link = built->fabric.link(LinkId(i));
    const std::uint32_t from = built->fabric.device(link.from).group;
    const std::uint32_t to = built->fabric.device(link.to).group;
    const bool host = from == Device::kNoGroup || to == Device::kNoGroup;
    builder.AddCable(link.from, link.to, link.rate,
                     kCycle * (host         ? 1
                               : from == to ? 10
                                            : 100),
                     link.kind);
  }
  return std::move(builder).Build();
}

inline SwitchModel Switches() {
  SwitchModel switches;
  switches.loss_control = LossControl::kCredits;
  switches.lane_buffer = Bytes(256 * 1'024);  // credits are of 64 B
  return switches;
}

inline PacketTransport Ends() {
  PacketTransport transport;
  transport.mtu = kPacket;
  transport.packet_overhead = Bytes(0);
  transport.message_overhead = Time();
  transport.ack_every = 1'024;
  transport.ack_bytes = Bytes(1);
  transport.recovery = LossRecovery::kSelectiveRepeat;
  return transport;
}

// Where each host sends in permutation `p`: random, by a Fisher-Yates shuffle of all.
inline std::vector<std::uint32_t> Permutation(std::uint32_t hosts, std::uint64_t seed,
                                              std::uint32_t p) {
  std::vector<std::uint32_t> to(hosts);
  std::iota(to.begin(), to.end(), 0);
  for (std::uint32_t i = hosts - 1; i > 0; --i) {
    std::swap(to[i], to[Below(Draw(seed, p, i), i + 1)]);
  }
  return to;
}

enum class Pattern : std::uint8_t { kUniform, kGroupShift };

struct Setting {
  RoutingPolicy policy = RoutingPolicy::kMinimal;
  RoutingParameters parameters = {};
  Pattern pattern = Pattern::kGroupShift;
  std::uint32_t threads = 1;
};

// A dragonfly and what is measured on it.
class Network {
 public:
  explicit Network(std::uint32_t k)
      : fabric_(Dragonfly(k)),
        hosts_(static_cast<std::uint32_t>(fabric_.endpoints().size())),
        hosts_per_group_(2 * k * k) {}

  // Every host sends without end: to its like in the next group, or to sixteen others in turn, by
  // random permutations of all.
  [[nodiscard]] PacketReport RunUntil(const Setting& setting, Time until) const {
    return Run(setting, Endless(setting.pattern, until), until);
  }

  // What hosts receive in the second half of 5,000 cycles, as a share of what their links carry.
  [[nodiscard]] double Accepted(const Setting& setting, Time half = kCycle * 2'500) const {
    const std::int64_t before = RunUntil(setting, half).counters.delivered_bytes;
    const std::int64_t after = RunUntil(setting, half * 2).counters.delivered_bytes;
    return static_cast<double>(after - before) /
           (half.seconds() * kRate.bytes_per_second() * hosts_);
  }

  // Mean latency, in cycles, of packets that hosts post at random moments.
  [[nodiscard]] double Latency(const Setting& setting, double load) const {
    TrafficSpec spec;
    TrafficJob job;
    job.pattern = setting.pattern == Pattern::kUniform ? "uniform" : "group-shift";
    if (setting.pattern == Pattern::kGroupShift) {
      job.values["group_size"] = {.value = static_cast<double>(hosts_per_group_)};
    }
    job.sizes = FlowSizes::Fixed(kPacket);
    job.arrivals = Arrivals::kPoisson;
    job.load = load;
    job.raw = true;
    spec.jobs = {job};
    spec.warm_up = kCycle * 1'000;
    spec.window = kCycle * 1'000;
    spec.drain = kCycle * 500;
    const auto traffic = MakeTraffic(spec, hosts_, kRate, 1);
    TL_CHECK(traffic.has_value(), "traffic");
    const PacketReport report = Run(setting, *traffic, Time::Horizon());
    double sum = 0;
    double count = 0;
    for (const FlowRecord& flow : report.flows) {
      if (flow.posted < traffic->measure_from || flow.posted >= traffic->measure_until) continue;
      sum += (flow.delivered - flow.posted).seconds() / kCycle.seconds();
      ++count;
    }
    return sum / count;
  }

 private:
  [[nodiscard]] TrafficWorkload Endless(Pattern pattern, Time until) const {
    constexpr std::uint32_t kPermutations = 16;
    TrafficWorkload traffic;
    traffic.ranks = hosts_;
    const auto add = [&](std::uint32_t from, std::uint32_t to) {
      TrafficFlow flow;
      flow.source = RankId{from};
      flow.destination = RankId{to};
      flow.bytes = Bytes(static_cast<std::int64_t>(until.seconds() * kRate.bytes_per_second()));
      flow.raw = true;
      if (from != to) traffic.flows.push_back(flow);
    };
    if (pattern == Pattern::kGroupShift) {
      for (std::uint32_t host = 0; host < hosts_; ++host) {
        add(host, (host + hosts_per_group_) % hosts_);
      }
      return traffic;
    }
    for (std::uint32_t p = 0; p < kPermutations; ++p) {
      const auto to = Permutation(hosts_, 5, p);
      for (std::uint32_t host = 0; host < hosts_; ++host) add(host, to[host]);
    }
    return traffic;
  }

  [[nodiscard]] PacketReport Run(const Setting& setting, const TrafficWorkload& traffic,
                                 Time until) const {
    RouterOptions options;
    options.policy = setting.policy;
    options.parameters = setting.parameters;
    const Router router(fabric_, options);
    const auto placement = PackedPlacement(fabric_, hosts_);
    TL_CHECK(placement.has_value(), "placement");
    PacketOptions run;
    run.until = until;
    run.threads = setting.threads;
    auto report = RunPacketTraffic({router, Switches(), Ends()}, traffic, *placement, run);
    TL_CHECK(report.has_value(), "run");
    return *std::move(report);
  }

  Fabric fabric_;
  std::uint32_t hosts_;
  std::uint32_t hosts_per_group_;
};

}  // namespace trunkline::booksim
