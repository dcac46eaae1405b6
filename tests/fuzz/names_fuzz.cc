// Words: device names, and the names of primitives, protocols, transports, algorithms and nodes.
#include "fuzz/fuzz.h"
#include "trunkline/collective/algorithm.h"
#include "trunkline/fabric/catalog.h"
#include "trunkline/transport/transport.h"

namespace trunkline {
namespace {

// Two nodes of two GPUs and a NIC each below one leaf.
Fabric SmallFabric() {
  FabricBuilder builder;
  const DeviceId leaf = builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1});
  for (std::uint32_t node = 0; node < 2; ++node) {
    const DeviceId nic = builder.AddDevice({.kind = DeviceKind::kNic, .node = node});
    for (std::uint32_t gpu = 0; gpu < 2; ++gpu) {
      const DeviceId id = builder.AddDevice({.kind = DeviceKind::kGpu, .node = node, .local = gpu});
      builder.AddCable(id, nic, Rate::GigabytesPerSecond(50), Time(), LinkKind::kPcie);
    }
    builder.AddCable(nic, leaf, Rate::GigabitsPerSecond(400), Time(), LinkKind::kNetwork);
  }
  return std::move(builder).Build();
}

void ReadNames(std::string_view text) {
  static const Fabric fabric = SmallFabric();
  for (const DeviceId id : fabric.Find(text)) {
    Require(Index(id) < fabric.device_count(), "a device that is found exists");
    Require(fabric.Find(fabric.name(id)) == std::vector{id}, "Find(name(id)) == id");
  }
  if (const auto primitive = ParsePrimitive(text)) {
    Require(ParsePrimitive(ToString(*primitive)) == primitive, "a primitive's name reads back");
  }
  if (const auto protocol = ParseProtocol(text)) {
    Require(ParseProtocol(ToString(*protocol)) == protocol, "a protocol's name reads back");
  }
  if (const auto kind = ParseTransportKind(text)) {
    Require(ParseTransportKind(ToString(*kind)) == kind, "a transport's name reads back");
  }
  if (FindAlgorithm(text) == nullptr) {
    const auto schedule = MakeSchedule(text, CollectiveSpec{}, GroupLayout::Flat(2));
    Require(!schedule.has_value(), "an unknown algorithm has no schedule");
    RequireExplained(schedule.error());
  }
  if (const auto accelerator = FindAccelerator(text); !accelerator) {
    RequireExplained(accelerator.error());
  }
}

}  // namespace
}  // namespace trunkline

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  trunkline::ReadNames(trunkline::TextOf(data, size));
  return 0;
}
