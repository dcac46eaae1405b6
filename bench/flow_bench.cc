// One collective in the flow engine, timed as a whole process.
//
//   flow_bench FABRIC PRIMITIVE ALGORITHM RANKS BYTES [option…]
//
// FABRIC is `clos:HOSTS_PER_LEAF` (non-blocking leaves and spines) or `star`. Options: ecmp, static,
// random (placement), degraded (one uplink at a quarter of its rate), no-fold, no-memo, rendezvous,
// channels=N, repeat=N.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "trunkline/engine/engine.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/fabric/placement.h"
#include "trunkline/fabric/route.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {
namespace {

struct Settings {
  std::uint32_t ranks = 0;
  std::uint32_t hosts_per_leaf = 0;  // 0: one switch
  bool random = false;
  bool degraded = false;
  std::uint32_t repeat = 1;
  CollectiveChoice choice;
  RouterOptions routing;
  EngineOptions engine;
};

constexpr Rate kRate = Rate::GigabytesPerSecond(50);
constexpr Time kLatency = Time::Nanoseconds(500);

Fabric Build(const Settings& settings) {
  FabricBuilder builder;
  const std::uint32_t per_leaf =
      settings.hosts_per_leaf == 0 ? settings.ranks : settings.hosts_per_leaf;
  std::vector<DeviceId> spines;
  for (std::uint32_t i = 0; settings.hosts_per_leaf != 0 && i < per_leaf; ++i) {
    spines.push_back(builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 2, .local = i}));
  }
  for (std::uint32_t first = 0; first < settings.ranks; first += per_leaf) {
    const DeviceId leaf = builder.AddDevice(
        {.kind = DeviceKind::kSwitch, .tier = 1, .local = first / per_leaf});
    std::vector<LinkId> up;
    std::vector<LinkId> down;
    for (const DeviceId spine : spines) {
      up.push_back(builder.AddCable(leaf, spine, kRate, kLatency, LinkKind::kNetwork));
      down.push_back(LinkId(Index(up.back()) ^ 1U));
    }
    if (!up.empty()) {
      builder.AddTrunk(up);
      builder.AddTrunk(down);
      if (settings.degraded && first == 0) {
        builder.SetRate(up[0], Rate::BitsPerSecond(kRate.bits_per_second() / 4));
      }
    }
    for (std::uint32_t i = 0; i < per_leaf; ++i) {
      const DeviceId host = builder.AddDevice({.kind = DeviceKind::kHost, .node = first + i});
      builder.AddCable(host, leaf, kRate, kLatency, LinkKind::kNetwork);
    }
  }
  return std::move(builder).Build();
}

bool Parse(int argc, char** argv, Settings& settings) {
  if (argc < 6) return false;
  const std::string_view fabric = argv[1];
  if (fabric.starts_with("clos:")) {
    settings.hosts_per_leaf = static_cast<std::uint32_t>(std::atoi(argv[1] + 5));
  } else if (fabric != "star") {
    return false;
  }
  const auto primitive = ParsePrimitive(argv[2]);
  if (!primitive) return false;
  settings.choice.spec.primitive = *primitive;
  settings.choice.algorithm = argv[3];
  settings.ranks = static_cast<std::uint32_t>(std::atoi(argv[4]));
  settings.choice.spec.bytes = Bytes(std::atoll(argv[5]));
  for (int i = 6; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "ecmp") settings.routing.policy = RoutingPolicy::kEcmp;
    else if (option == "static") settings.routing.policy = RoutingPolicy::kStatic;
    else if (option == "random") settings.random = true;
    else if (option == "degraded") settings.degraded = true;
    else if (option == "no-fold") settings.engine.fold = false;
    else if (option == "no-memo") settings.engine.memo = false;
    else if (option == "rendezvous") settings.engine.handshake = Handshake::kRendezvous;
    else if (option.starts_with("channels=")) {
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
  const Fabric fabric = Build(settings);
  const Router router(fabric, settings.routing);
  const auto placement = settings.random ? RandomPlacement(fabric, settings.ranks, 1)
                                         : PackedPlacement(fabric, settings.ranks);
  const auto graph = SingleCollective(settings.choice, settings.ranks, settings.repeat);
  const TransportModel transport = IdealTransport();
  const auto timeline = RunFlow({router, transport, *graph, *placement}, settings.engine);
  if (!timeline) {
    std::fputs(Format(timeline.error().front()).c_str(), stderr);
    return 1;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  std::printf("%s  end %.9f s  cpu %.3f s  rss %.0f MB  transfers %llu of %llu  solves %llu  "
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
    std::fputs("usage: flow_bench clos:HOSTS|star PRIMITIVE ALGORITHM RANKS BYTES [option...]\n",
               stderr);
    return 2;
  }
  return trunkline::Run(settings);
}
