#pragma once

#include <optional>
#include <string_view>

#include "base/yaml_reader.h"
#include "trunkline/scenario/scenario.h"

namespace trunkline {

// The value at a path of keys, "fabric.switch.pfc"; nothing where one of them is absent.
[[nodiscard]] std::optional<YamlValue> FindPath(const YamlValue& root, std::string_view path);

// Warns of keys of `cluster` that change nothing: those that the chosen engine does not read
// (TL1210), and those that what is given beside them keeps from having an effect (TL1224).
// REQUIRES: all of the cluster has been read.
void WarnOfUnread(const YamlValue& cluster, const Scenario& scenario);

}  // namespace trunkline
