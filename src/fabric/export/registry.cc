#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "fabric/export/writer.h"
#include "trunkline/fabric/import.h"

namespace trunkline {
namespace {

constexpr std::array kWriters = {&IbnetdiscoverWriter, &SlurmWriter,   &Ns3Writer,
                                 &HtsimWriter,         &SimgridWriter, &ContainerlabWriter,
                                 &CsvWriter,           &DotWriter,     &GraphmlWriter};

}  // namespace

std::span<const FabricFileWriter* const> FabricFileWriters() {
  static const auto writers = [] {
    std::array<const FabricFileWriter*, kWriters.size()> made{};
    for (std::size_t i = 0; i < kWriters.size(); ++i) made[i] = &kWriters[i]();
    return made;
  }();
  return writers;
}

std::unexpected<Diagnostics> CannotWrite(const char* format, const std::string& message,
                                         const std::string& hint) {
  return Error("TL1458", fmt::format("{} cannot express the fabric: {}", format, message), hint);
}

Result<std::string> ExportFabric(const Fabric& fabric, std::string_view format) {
  std::vector<std::string> names;
  for (const FabricFileWriter* writer : FabricFileWriters()) {
    if (format == writer->name) return writer->write(ListCables(fabric));
    names.emplace_back(writer->name);
  }
  return Error("TL1458", fmt::format("nothing writes the format '{}'", format),
               fmt::format("the formats are {}", fmt::join(names, ", ")));
}

}  // namespace trunkline
