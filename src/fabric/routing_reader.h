#pragma once

#include "base/yaml_reader.h"
#include "trunkline/fabric/build.h"

namespace trunkline {

// Reads `routing: NAME` or `routing: {policy: NAME, key: …}` into `spec`. A key that only other
// policies read is refused by name (TL1415).
void ReadRouting(const YamlValue& value, FabricSpec& spec);

}  // namespace trunkline
