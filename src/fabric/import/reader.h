#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "fabric/import/cable_list.h"
#include "trunkline/fabric/build.h"

// One format of files is one file here and one line in registry.cc.
namespace trunkline {

// A file lists cables, or names a shape that a builder knows.
using FabricSource = std::variant<CableList, FabricSpec>;

struct FabricFileReader {
  const char* name;
  const char* summary;
  // Whether the text looks like this format; the first in the registry that says so reads it.
  bool (*recognises)(std::string_view text);
  Result<FabricSource> (*read)(std::string_view text, const std::string& file);
};

[[nodiscard]] const FabricFileReader& IbnetdiscoverReader();
[[nodiscard]] const FabricFileReader& IbnetdiscoverPortsReader();
[[nodiscard]] const FabricFileReader& IblinkinfoReader();
[[nodiscard]] const FabricFileReader& SlurmReader();
[[nodiscard]] const FabricFileReader& SlurmYamlReader();
[[nodiscard]] const FabricFileReader& Ns3Reader();
[[nodiscard]] const FabricFileReader& HtsimReader();
[[nodiscard]] const FabricFileReader& HtsimDragonflyReader();
[[nodiscard]] const FabricFileReader& SimgridReader();
[[nodiscard]] const FabricFileReader& ContainerlabReader();
[[nodiscard]] const FabricFileReader& AstraReader();
[[nodiscard]] const FabricFileReader& CsvReader();

[[nodiscard]] std::span<const FabricFileReader* const> FabricFileReaders();

}  // namespace trunkline
