#pragma once

#include <span>
#include <string>

#include "fabric/import/cable_list.h"
#include "trunkline/base/diagnostics.h"
#include "trunkline/fabric/fabric.h"

// One format of files is one file here and one line in registry.cc.
namespace trunkline {

// The network of a fabric, without the inside of its servers: every end and switch, ports numbered
// in the order of the cables.
[[nodiscard]] CableList ListCables(const Fabric& fabric);

struct FabricFileWriter {
  const char* name;
  const char* summary;
  // TL1458 where the format cannot say what the fabric is.
  Result<std::string> (*write)(const CableList& list);
};

[[nodiscard]] const FabricFileWriter& IbnetdiscoverWriter();
[[nodiscard]] const FabricFileWriter& SlurmWriter();
[[nodiscard]] const FabricFileWriter& Ns3Writer();
[[nodiscard]] const FabricFileWriter& HtsimWriter();
[[nodiscard]] const FabricFileWriter& SimgridWriter();
[[nodiscard]] const FabricFileWriter& ContainerlabWriter();
[[nodiscard]] const FabricFileWriter& CsvWriter();
[[nodiscard]] const FabricFileWriter& DotWriter();
[[nodiscard]] const FabricFileWriter& GraphmlWriter();

[[nodiscard]] std::span<const FabricFileWriter* const> FabricFileWriters();

// TL1458.
[[nodiscard]] std::unexpected<Diagnostics> CannotWrite(const char* format,
                                                       const std::string& message,
                                                       const std::string& hint);

}  // namespace trunkline
