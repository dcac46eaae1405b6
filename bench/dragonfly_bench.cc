// BookSim2's run of a dragonfly, as packets (engine/packet/booksim.h): minimal routing, uniform
// traffic of packets of one flit.
//
//   dragonfly_bench [K [LOAD [CYCLES]]]      default: 4 0.3 12362, which took BookSim2 169 s
//
// Each host paces 32 streams at LOAD together, by 32 random permutations of the hosts.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <functional>

#include "engine/packet/booksim.h"
#include "engine/packet/packet_network.h"
#include "engine/packet/shard.h"
#include "trunkline/base/heap.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

using booksim::kCycle;
constexpr std::uint32_t kStreams = 32;

class Quiet : public PacketApplication {
 public:
  void OnDelivered(std::uint32_t /*qp*/, Time /*now*/) override {}
  void OnAcknowledged(std::uint32_t /*qp*/, Time /*now*/) override {}
  void OnSent(std::uint32_t /*qp*/, Time /*end*/) override {}
  void OnPost(std::uint32_t qp, Time /*now*/) override { post(qp); }

  std::function<void(std::uint32_t)> post;
};

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int Main(int argc, char** argv) {
  const auto k = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 4);
  const double load = argc > 2 ? std::atof(argv[2]) : 0.3;
  const std::int64_t cycles = argc > 3 ? std::atoll(argv[3]) : 12'362;
  if (k < 1 || k > 16 || load <= 0 || load > 1 || cycles <= 0) {
    std::fputs("usage: dragonfly_bench [K [LOAD [CYCLES]]]\n", stderr);
    return 2;
  }
  const Fabric fabric = booksim::Dragonfly(k);
  const Router router(fabric, {.policy = RoutingPolicy::kMinimal});
  PacketTransport transport = booksim::Ends();
  transport.recovery = LossRecovery::kGoBackN;
  const NetworkPaths paths(fabric);
  Plant plant = BuildPlant(router, paths, booksim::Switches(), transport);
  const auto hosts = static_cast<std::uint32_t>(fabric.endpoints().size());
  ReserveQueuePairs(plant, hosts * kStreams);
  Quiet application;
  Shard<CalendarQueue, true> shard(plant, application, ShapeOf(plant).bucket,
                                   ShapeOf(plant).horizon);
  const double gap = static_cast<double>(kCycle.ps()) * kStreams / load;
  for (std::uint32_t stream = 0; stream < kStreams; ++stream) {
    const auto to = booksim::Permutation(hosts, 1, stream);
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
