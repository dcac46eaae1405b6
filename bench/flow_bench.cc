// One collective in the flow engine, timed as a whole process.
//
//   flow_bench FABRIC PRIMITIVE ALGORITHM RANKS BYTES [option…]
//
// FABRIC has the form of `trunkline fabric`, as fat-tree:children=[32,32],parents=[1,32]; its
// cables have 500 ns each and its switches none, as in SimGrid's platforms. Options: ecmp, static,
// spray, random (placement), degrade=CABLE (to a quarter of its rate), no-fold, no-memo,
// rendezvous, channels=N, repeat=N.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "trunkline/engine/engine.h"
#include "trunkline/fabric/build.h"
#include "trunkline/fabric/placement.h"
#include "trunkline/fabric/route.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {
namespace {

struct Settings {
  std::uint32_t ranks = 0;
  FabricSpec fabric;
  bool random = false;
  std::uint32_t repeat = 1;
  CollectiveChoice choice;
  RouterOptions routing;
  EngineOptions engine;
};

int Complain(const Diagnostics& problems, int status) {
  for (const Diagnostic& problem : problems) std::fputs(Format(problem).c_str(), stderr);
  return status;
}

bool Parse(int argc, char** argv, Settings& settings) {
  if (argc < 6) return false;
  auto fabric = ParseFabricSpec(argv[1]);
  if (!fabric) return Complain(fabric.error(), 0) != 0;
  settings.fabric = *std::move(fabric);
  settings.fabric.cable_latency = Time::Nanoseconds(500);
  settings.fabric.switch_latency = Time();
  const auto primitive = ParsePrimitive(argv[2]);
  if (!primitive) return false;
  settings.choice.spec.primitive = *primitive;
  settings.choice.algorithm = argv[3];
  settings.ranks = static_cast<std::uint32_t>(std::atoi(argv[4]));
  settings.choice.spec.bytes = Bytes(std::atoll(argv[5]));
  for (int i = 6; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "ecmp")
      settings.routing.policy = RoutingPolicy::kEcmp;
    else if (option == "static")
      settings.routing.policy = RoutingPolicy::kStatic;
    else if (option == "random")
      settings.random = true;
    else if (option == "spray")
      settings.routing.policy = RoutingPolicy::kSpray;
    else if (option == "no-fold")
      settings.engine.fold = false;
    else if (option == "no-memo")
      settings.engine.memo = false;
    else if (option == "rendezvous")
      settings.engine.handshake = Handshake::kRendezvous;
    else if (option.starts_with("degrade=")) {
      settings.fabric.faults.push_back({.target = std::string(option.substr(8)),
                                        .kind = StaticFault::Kind::kDegrade,
                                        .fraction = 0.25});
    } else if (option.starts_with("channels=")) {
      settings.choice.spec.channels = static_cast<std::uint32_t>(std::atoi(argv[i] + 9));
    } else if (option.starts_with("repeat=")) {
      settings.repeat = static_cast<std::uint32_t>(std::atoi(argv[i] + 7));
    } else {
      return false;
    }
  }
  return settings.ranks > 0;
}

int Run(const Settings& settings) {
  const auto built = BuildFabric(settings.fabric);
  if (!built) return Complain(built.error(), 2);
  const Fabric& fabric = built->fabric;
  const Router router(fabric, settings.routing);
  const auto placement = settings.random ? RandomPlacement(fabric, settings.ranks, 1)
                                         : PackedPlacement(fabric, settings.ranks);
  if (!placement) return Complain(placement.error(), 2);
  const auto graph = SingleCollective(settings.choice, settings.ranks, settings.repeat);
  const TransportModel transport = IdealTransport();
  const auto timeline = RunFlow({router, transport, *graph, *placement}, settings.engine);
  if (!timeline) return Complain(timeline.error(), 1);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  std::printf(
      "%s  end %.9f s  cpu %.3f s  rss %.0f MB  transfers %llu of %llu  solves %llu  "
      "reuses %llu  classes %llu\n",
      ToString(timeline->status), timeline->end.seconds(),
      seconds(usage.ru_utime) + seconds(usage.ru_stime),
      static_cast<double>(usage.ru_maxrss) / 1000,
      static_cast<unsigned long long>(timeline->flow.transfers_simulated),
      static_cast<unsigned long long>(timeline->flow.transfers_represented),
      static_cast<unsigned long long>(timeline->flow.solves),
      static_cast<unsigned long long>(timeline->flow.reuses),
      static_cast<unsigned long long>(timeline->flow.fold_classes));
  return 0;
}

}  // namespace
}  // namespace trunkline

int main(int argc, char** argv) {
  trunkline::Settings settings;
  if (!trunkline::Parse(argc, argv, settings)) {
    std::fputs("usage: flow_bench FABRIC PRIMITIVE ALGORITHM RANKS BYTES [option...]\n", stderr);
    return 2;
  }
  return trunkline::Run(settings);
}
