#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

// The fabric where two NICs have each other's cables.
inline Fabric Exchanged(const Fabric& fabric, const std::string& a, const std::string& b) {
  const DeviceId one = fabric.Find(a)[0];
  const DeviceId two = fabric.Find(b)[0];
  FabricBuilder builder;
  builder.CopyDevices(fabric);
  for (std::size_t i = 0; i < fabric.link_count(); i += 2) {
    const Link& link = fabric.link(LinkId(i));
    DeviceId from = link.from;
    if (link.kind == LinkKind::kNetwork && (from == one || from == two)) {
      from = from == one ? two : one;
    }
    builder.AddCable(from, link.to, link.rate, link.latency, link.kind);
  }
  return std::move(builder).Build();
}

}  // namespace trunkline
