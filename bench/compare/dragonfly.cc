// One collective in the flow engine on SimGrid's dragonfly: Trunkline's side of bench/compare/run
// where no builder of ours makes the same fabric. Prints the simulated time.
//
//   compare_dragonfly GROUPS CABLES ROUTERS HOSTS PRIMITIVE ALGORITHM BYTES eager|rendezvous
//
// GROUPS groups of ROUTERS routers, each with HOSTS hosts; the routers of a group are pairwise
// connected; between groups i and j runs one link, CABLES times as fast, from router j of group i
// to router i of group j. Requires GROUPS <= ROUTERS, as SimGrid does.
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "trunkline/base/heap.h"
#include "trunkline/engine/engine.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

struct Shape {
  std::uint32_t groups = 0;
  std::uint32_t cables = 0;
  std::uint32_t routers = 0;
  std::uint32_t hosts = 0;
};

constexpr Rate kRate = Rate::GigabytesPerSecond(50);
constexpr Time kLatency = Time::Nanoseconds(500);

Fabric Dragonfly(const Shape& shape) {
  FabricBuilder builder;
  std::vector<std::vector<DeviceId>> routers(shape.groups);
  std::uint32_t hosts = 0;
  for (std::uint32_t group = 0; group < shape.groups; ++group) {
    for (std::uint32_t i = 0; i < shape.routers; ++i) {
      const DeviceId router = builder.AddDevice(
          {.kind = DeviceKind::kSwitch, .tier = 1, .local = group * shape.routers + i});
      for (const DeviceId other : routers[group]) {
        builder.AddCable(other, router, kRate, kLatency, LinkKind::kNetwork);
      }
      routers[group].push_back(router);
      for (std::uint32_t host = 0; host < shape.hosts; ++host) {
        const DeviceId id = builder.AddDevice({.kind = DeviceKind::kHost, .node = hosts++});
        builder.AddCable(id, router, kRate, kLatency, LinkKind::kNetwork);
      }
    }
  }
  // A repeater in the middle of each global link makes it count twice, so that the way through a
  // third group (two global links and one local) is never as short as local, global, local.
  std::uint32_t repeaters = 0;
  for (std::uint32_t a = 0; a < shape.groups; ++a) {
    for (std::uint32_t b = a + 1; b < shape.groups; ++b) {
      const DeviceId repeater =
          builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 2, .local = repeaters++});
      builder.AddCable(routers[a][b], repeater, kRate * shape.cables, kLatency, LinkKind::kNetwork);
      builder.AddCable(repeater, routers[b][a], kRate * shape.cables, Time(), LinkKind::kNetwork);
    }
  }
  return std::move(builder).Build();
}

int Run(const Shape& shape, const CollectiveChoice& choice, Handshake handshake) {
  const Fabric fabric = Dragonfly(shape);
  const Router router(fabric, {.policy = RoutingPolicy::kStatic});
  const auto ranks = static_cast<std::uint32_t>(fabric.endpoints().size());
  const auto placement = PackedPlacement(fabric, ranks);
  const auto graph = SingleCollective(choice, ranks);
  const TransportModel transport = IdealTransport();
  EngineOptions options;
  options.handshake = handshake;
  const auto timeline = RunFlow({router, transport, *graph, *placement}, options);
  if (!timeline) {
    std::fputs(Format(timeline.error().front()).c_str(), stderr);
    return 1;
  }
  if (timeline->status != RunStatus::kFinished) {
    std::fprintf(stderr, "the run is %s\n", ToString(timeline->status));
    return 1;
  }
  std::printf("%.6f us simulated\n", timeline->end.seconds() * 1e6);
  return 0;
}

}  // namespace
}  // namespace trunkline

int main(int argc, char** argv) {
  using namespace trunkline;
  PrepareHeap();
  const auto number = [argv](int index) {
    return static_cast<std::uint32_t>(std::strtoul(argv[index], nullptr, 10));
  };
  const auto primitive = argc == 9 ? ParsePrimitive(argv[5]) : std::nullopt;
  if (!primitive) {
    std::fputs(
        "usage: compare_dragonfly GROUPS CABLES ROUTERS HOSTS PRIMITIVE ALGORITHM BYTES "
        "eager|rendezvous\n",
        stderr);
    return 2;
  }
  const Shape shape{
      .groups = number(1), .cables = number(2), .routers = number(3), .hosts = number(4)};
  if (shape.groups < 1 || shape.cables < 1 || shape.hosts < 1 || shape.groups > shape.routers) {
    std::fputs("compare_dragonfly: needs 1 <= GROUPS <= ROUTERS, CABLES and HOSTS\n", stderr);
    return 2;
  }
  CollectiveChoice choice;
  choice.spec.primitive = *primitive;
  choice.spec.bytes = Bytes(std::strtoll(argv[7], nullptr, 10));
  choice.algorithm = argv[6];
  const bool rendezvous = std::string_view(argv[8]) == "rendezvous";
  return Run(shape, choice, rendezvous ? Handshake::kRendezvous : Handshake::kEager);
}
