#include "engine/packet/escape_table.h"

#include "engine/packet/plant.h"
#include "fabric/routing/escape_routes.h"

namespace trunkline {

EscapeTable::EscapeTable(const Fabric& fabric, const NetworkPaths& paths,
                         std::span<const std::uint32_t> switch_of_device,
                         std::span<const LinkId> original)
    : destinations_(paths.destination_count()) {
  const EscapeRoutes routes(fabric);
  is_minimal_ = routes.is_minimal();
  const auto name_of = [&](LinkId link) {
    return static_cast<std::uint32_t>(Index(original.empty() ? link : original[Index(link)]));
  };
  std::vector<DeviceId> switches;
  std::vector<DeviceId> ends(destinations_);
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const auto device = DeviceId(i);
    if (switch_of_device[i] != kNoIndex) {
      switches.push_back(device);
    } else if (paths.attached(device)) {
      ends[paths.destination(device)] = device;
    }
  }
  for (const DeviceId at : switches) {
    for (const DeviceId end : ends) {
      const auto link = routes.Next(at, end);
      links_.push_back(link ? name_of(*link) : kNoIndex);
    }
  }
  if (!is_minimal_) return;
  for (const DeviceId at : switches) {
    for (const LinkId link : fabric.out(at)) {
      if (switch_of_device[Index(fabric.link(link).to)] == kNoIndex) continue;
      if (name_of(link) >= steps_.size()) steps_.resize(name_of(link) + 1);
      steps_[name_of(link)] = TorusStepOf(fabric, link);
    }
  }
}

}  // namespace trunkline
