// BookSim2's run of a dragonfly, as packets: p = k, a = 2k, h = k, g = 2k^2 + 1, minimal routing,
// uniform traffic of packets of one flit, a packet time a cycle; cables of 10 cycles within groups
// and 100 between, 256 packets of buffer in each of two virtual channels.
//
//   dragonfly_bench [K [LOAD [CYCLES]]]      default: 4 0.3 12362, which took BookSim2 169 s
//
// Each host paces 32 streams at LOAD together, by 32 random permutations of the hosts. BookSim's
// flits have no acknowledgements; here there is one in 1,024 packets.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "engine/packet/packet_network.h"
#include "engine/packet/shard.h"
#include "trunkline/base/heap.h"
#include "trunkline/base/random.h"
#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

constexpr Time kCycle = Time::Nanoseconds(80);  // 1,000 B at 100 Gb/s
constexpr std::uint32_t kStreams = 32;

class Quiet : public PacketApplication {
 public:
  void OnDelivered(std::uint32_t /*qp*/, Time /*now*/) override {}
  void OnAcknowledged(std::uint32_t /*qp*/, Time /*now*/) override {}
  void OnSent(std::uint32_t /*qp*/, Time /*end*/) override {}
  void OnPost(std::uint32_t qp, Time /*now*/) override { post(qp); }

  std::function<void(std::uint32_t)> post;
};

Fabric WithBookSimsLatencies(const Fabric& built) {
  FabricBuilder builder;
  builder.CopyDevices(built);
  for (std::size_t i = 0; i < built.link_count(); i += 2) {
    const Link& link = built.link(LinkId(i));
    const std::uint32_t from = built.device(link.from).group;
    const std::uint32_t to = built.device(link.to).group;
    const bool host = from == Device::kNoGroup || to == Device::kNoGroup;
    builder.AddCable(link.from, link.to, link.rate,
                     kCycle * (host         ? 1
                               : from == to ? 10
                                            : 100),
                     link.kind);
  }
  return std::move(builder).Build();
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int Main(int argc, char** argv) {
  const std::string k = argc > 1 ? argv[1] : "4";
  const double load = argc > 2 ? std::atof(argv[2]) : 0.3;
  const std::int64_t cycles = argc > 3 ? std::atoll(argv[3]) : 12'362;
  const auto spec = ParseFabricSpec("dragonfly:link=100Gb/s,h=" + k);
  const auto built = spec ? BuildFabric(*spec) : std::unexpected(spec.error());
  if (!built || load <= 0 || load > 1 || cycles <= 0) {
    std::fputs("usage: dragonfly_bench [K [LOAD [CYCLES]]]\n", stderr);
    return 2;
  }
  const Fabric fabric = WithBookSimsLatencies(built->fabric);
  const Router router(fabric, {.policy = RoutingPolicy::kMinimal});
  SwitchModel switches;
  switches.loss_control = LossControl::kCredits;
  switches.lane_buffer = Bytes(256 * 1'024);
  PacketTransport transport;
  transport.mtu = Bytes(1'000);
  transport.packet_overhead = Bytes(0);
  transport.ack_every = 1'024;
  transport.ack_bytes = Bytes(1);
  const NetworkPaths paths(fabric);
  Plant plant = BuildPlant(router, paths, switches, transport);
  const auto hosts = static_cast<std::uint32_t>(fabric.endpoints().size());
  ReserveQueuePairs(plant, hosts * kStreams);
  Quiet application;
  Shard<CalendarQueue, true> shard(plant, application, ShapeOf(plant).bucket,
                                   ShapeOf(plant).horizon);
  const double gap = static_cast<double>(kCycle.ps()) * kStreams / load;
  std::vector<std::uint32_t> to(hosts);
  for (std::uint32_t stream = 0; stream < kStreams; ++stream) {
    std::iota(to.begin(), to.end(), 0);
    for (std::uint32_t i = hosts - 1; i > 0; --i) {
      std::swap(to[i], to[Below(Draw(1, stream, i), i + 1)]);
    }
    for (std::uint32_t host = 0; host < hosts; ++host) {
      if (to[host] == host) continue;
      const std::uint32_t index = stream * hosts + host;
      const auto made = SetUpQueuePair(plant, router, paths, index, fabric.endpoints()[host],
                                       fabric.endpoints()[to[host]]);
      if (!made) return 2;
      plant.senders[index].control.rate *= load / kStreams;
      const double phase = ToUnit(Draw(2, stream, host));
      shard.PostAt(index, Time::Picoseconds(static_cast<std::int64_t>(phase * gap)));
    }
  }
  application.post = [&](std::uint32_t index) { shard.Post(index, INT64_C(1'000'000'000)); };
  const double before = CpuSeconds();
  shard.Run(kCycle * cycles, UINT64_MAX);
  const double running = CpuSeconds() - before;
  const PacketCounters counters = shard.counters();
  const double accepted = static_cast<double>(counters.delivered_bytes) / 1'000 /
                          (static_cast<double>(hosts) * static_cast<double>(cycles));
  std::printf("%u hosts, %ld cycles at load %.2f: accepted %.3f, %lu data hops\n", hosts, cycles,
              load, accepted, counters.hops.data);
  std::printf("CPU %.2f s, %.2f s of them running: %.1f M data hops/s\n", CpuSeconds(), running,
              static_cast<double>(counters.hops.data) / running * 1e-6);
  return 0;
}

}  // namespace
}  // namespace trunkline

int main(int argc, char** argv) {
  trunkline::PrepareHeap();
  return trunkline::Main(argc, argv);
}
