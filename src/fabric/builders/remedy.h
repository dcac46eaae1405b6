#pragma once

#include <functional>
#include <optional>
#include <string>

#include "fabric/builders/builder.h"

namespace trunkline {

// The NICs of the fabric that a spec describes; nothing when it cannot be built.
using SizeFabric = std::function<std::optional<double>(const FabricSpec&)>;

// Numbers that would make a fabric that cannot be built one that can, as they are written in a
// spec: "nodes=16, sizes=[5,4]". For every number that the spec gives, and the number of nodes, the
// nearest below and above that works, the others unchanged; where there is none, the least of the
// kind's first key if the spec does not give it. Empty: no single one does.
[[nodiscard]] std::string FindRemedies(const FabricSpec& spec, const Builder& builder,
                                       const SizeFabric& size);

}  // namespace trunkline
