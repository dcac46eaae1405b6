#pragma once

#include <string_view>

#include "base/yaml_reader.h"
#include "trunkline/fabric/build.h"

namespace trunkline {

// Reads `kind`, that kind's keys, `switch: {latency: …}`, `cable_latency` and `routing` of a
// `fabric:` mapping into `spec`; problems are noted in the document. A key of another kind is
// refused by name. With `file` in place of a kind, the keys are those of ReadFabricFileKeys.
void ReadFabricSpec(const YamlMap& map, FabricSpec& spec);

// The same of a fabric that is read from a file: `format`, `link` and the keys that all kinds
// share.
void ReadFabricFileKeys(const YamlMap& map, FabricSpec& spec);

// Whether the name of a node template is the path of a file: it contains '/' or ends in .yaml, .xml
// or .txt.
[[nodiscard]] bool IsNodeFile(std::string_view name);

}  // namespace trunkline
