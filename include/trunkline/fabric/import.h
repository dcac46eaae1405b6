#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/units.h"
#include "trunkline/fabric/build.h"

// Fabrics from and to the files of other tools (docs/formats.md).
namespace trunkline {

struct FabricFormat {
  std::string name;  // "ibnetdiscover"
  std::string summary;
  bool reads = false;
  bool writes = false;
};

[[nodiscard]] std::vector<FabricFormat> FabricFormats();

// A line for each of 2^18 NICs and their switches' ports is some tens of megabytes.
inline constexpr std::size_t kMostFabricFileBytes = std::size_t{256} << 20;

// The format of a fabric file, told by its content; empty: of none that is known.
[[nodiscard]] std::string RecogniseFabric(std::string_view text);

struct ImportOptions {
  std::string format = {};        // empty: told apart by content
  std::string node = {};          // a template that every server is one of; empty: plain hosts
  std::optional<Rate> link = {};  // of cables whose rate the file does not say
  std::optional<Time> switch_latency = {};
  std::optional<Time> cable_latency = {};
};

struct ImportedFabric {
  BuiltFabric built;
  std::string format;
  // The port of its device that each link leaves by, where the file says; else 0.
  std::vector<std::uint32_t> port_of_link;
};

[[nodiscard]] ImportOptions OptionsOf(const FabricSpec& spec);

// TL1101 (cannot be read), TL145x. `file` names the text in diagnostics.
[[nodiscard]] Result<ImportedFabric> ImportFabric(std::string_view text, const std::string& file,
                                                  const ImportOptions& options = {});
[[nodiscard]] Result<ImportedFabric> ImportFabricFile(const std::string& path,
                                                      const ImportOptions& options = {});

// What a scenario would say of a file under `cluster`: `key=value` for node, and for format, link,
// routing, cable_latency and switch.latency of `fabric`. TL11xx.
[[nodiscard]] Result<FabricSpec> ParseFabricFileSpec(const std::string& path,
                                                     std::span<const std::string> assignments);

// TL1458: a format that nothing writes, or that cannot express this fabric.
[[nodiscard]] Result<std::string> ExportFabric(const Fabric& fabric, std::string_view format);

}  // namespace trunkline
