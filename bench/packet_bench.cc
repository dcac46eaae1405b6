// A permutation through the packet engine, timed as a whole process.
//
//   packet_bench K BYTES [option…]      a k-ary fat tree of 100 Gb/s links, 1 us each
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/packet/packet_network.h"
#include "engine/packet/shard.h"
#include "trunkline/base/random.h"
#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

class Flows : public PacketApplication {
 public:
  explicit Flows(std::size_t count) : finish(count) {}
  void OnDelivered(std::uint32_t qp, Time now) override {
    finish[qp] = now;
    ++delivered;
  }
  void OnAcknowledged(std::uint32_t, Time) override { ++acknowledged; }
  void OnSent(std::uint32_t, Time) override {}
  void OnPost(std::uint32_t, Time) override {}
  std::vector<Time> finish;
  std::size_t delivered = 0;
  std::size_t acknowledged = 0;
};

template <typename S>
int Drive(Plant& plant, std::size_t count, std::int64_t bytes) {
  Flows flows(count);
  const QueueShape shape = ShapeOf(plant);
  S shard(plant, flows, shape.bucket, shape.horizon);
  for (std::uint32_t i = 0; i < count; ++i) shard.Post(i, bytes);
  while (flows.acknowledged < count && shard.Run(Time::Horizon(), 1 << 20) > 0) {
  }
  Time last;
  Time first = Time::Max();
  double sum = 0;
  for (const Time t : flows.finish) {
    last = std::max(last, t);
    first = std::min(first, t);
    sum += t.seconds();
  }
  const PacketCounters& c = shard.counters();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double cpu = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  std::printf("delivered %zu of %zu, acked %zu; FCT us min %.2f mean %.2f max %.2f\n",
              flows.delivered, count, flows.acknowledged, first.seconds() * 1e6,
              sum / static_cast<double>(count) * 1e6, last.seconds() * 1e6);
  std::printf(
      "data hops %lu ack %lu control %lu; events %lu; drops %lu trims %lu marks %lu pauses %lu rtx "
      "%lu timeouts %lu\n",
      c.hops.data, c.hops.ack, c.hops.control, shard.events(), c.drops, c.trims, c.marks, c.pauses,
      c.retransmissions, c.timeouts);
  std::printf("CPU %.3f s, %.2f M data hops/s, RSS %.1f MiB, in flight at end %lu\n", cpu,
              static_cast<double>(c.hops.data) / cpu * 1e-6,
              static_cast<double>(usage.ru_maxrss) / 1024, shard.packets_in_flight());
  return 0;
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
  RouterOptions routing;
  routing.policy = RoutingPolicy::kEcmp;
  SwitchModel switches;
  PacketTransport transport;
  bool plain = false;
  for (int i = 3; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "spray") routing.policy = RoutingPolicy::kSpray;
    if (option == "adaptive") routing.policy = RoutingPolicy::kAdaptive;
    if (option == "static") routing.policy = RoutingPolicy::kStatic;
    if (option == "credits") switches.loss_control = LossControl::kCredits;
    if (option == "lossy") switches.loss_control = LossControl::kLossy;
    if (option == "plain") plain = true;
    if (option == "any") transport.recovery = LossRecovery::kSelectiveRepeat;
    if (option == "small") switches.buffer = Bytes(4'000'000);
    if (option == "ecn") switches.marking = MarkingCurve{Bytes(400'000), Bytes(1'600'000), 0.2};
  }
  const Router router(built->fabric, routing);
  const NetworkPaths paths(built->fabric);
  Plant plant = BuildPlant(router, paths, switches, transport);
  const auto hosts = built->fabric.endpoints();
  std::vector<std::uint32_t> to(hosts.size());
  for (std::uint32_t i = 0; i < to.size(); ++i) to[i] = i;
  for (std::uint32_t i = static_cast<std::uint32_t>(to.size()) - 1; i > 0; --i) {
    std::swap(to[i], to[Below(Draw(1, 7, i), i)]);  // Sattolo: one cycle, nobody keeps to himself
  }
  for (std::uint32_t i = 0; i < to.size(); ++i) {
    if (!AddQueuePair(plant, router, paths, hosts[i], hosts[to[i]], i)) return 1;
  }
  if (plain) return Drive<Shard<HeapQueue, false>>(plant, to.size(), bytes);
  return Drive<Shard<CalendarQueue, true>>(plant, to.size(), bytes);
}

}  // namespace
}  // namespace trunkline

int main(int argc, char** argv) { return trunkline::Main(argc, argv); }
