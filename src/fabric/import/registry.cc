#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/yaml_reader.h"
#include "fabric/export/writer.h"
#include "fabric/fabric_reader.h"
#include "fabric/import/build_cables.h"
#include "fabric/import/reader.h"
#include "trunkline/fabric/import.h"

namespace trunkline {
namespace {

constexpr std::array kReaders = {&IbnetdiscoverReader, &IbnetdiscoverPortsReader,
                                 &IblinkinfoReader,    &SlurmReader,
                                 &SlurmYamlReader,     &Ns3Reader,
                                 &HtsimReader,         &HtsimDragonflyReader,
                                 &SimgridReader,       &ContainerlabReader,
                                 &AstraReader,         &CsvReader};

const FabricFileReader* FindReader(std::string_view name) {
  const auto readers = FabricFileReaders();
  const auto found = std::ranges::find(readers, name, &FabricFileReader::name);
  return found == readers.end() ? nullptr : *found;
}

const FabricFileReader* Recognise(std::string_view text) {
  const auto readers = FabricFileReaders();
  const auto found = std::ranges::find_if(
      readers, [&](const FabricFileReader* reader) { return reader->recognises(text); });
  return found == readers.end() ? nullptr : *found;
}

std::vector<std::string> ReaderNames() {
  std::vector<std::string> names;
  for (const FabricFileReader* reader : FabricFileReaders()) names.emplace_back(reader->name);
  return names;
}

std::unexpected<Diagnostics> UnknownFormat(const std::string& file, const std::string& format) {
  auto error = Error("TL1450",
                     format.empty() ? "the file is in no format of fabrics that is known"
                                    : fmt::format("unknown format of fabrics '{}'", format),
                     fmt::format("the formats are {}", fmt::join(ReaderNames(), ", ")));
  error.error().front().where.file = file;
  return error;
}

}  // namespace

std::span<const FabricFileReader* const> FabricFileReaders() {
  static const auto readers = [] {
    std::array<const FabricFileReader*, kReaders.size()> made{};
    for (std::size_t i = 0; i < kReaders.size(); ++i) made[i] = &kReaders[i]();
    return made;
  }();
  return readers;
}

std::string RecogniseFabric(std::string_view text) {
  const FabricFileReader* reader = Recognise(text);
  return reader == nullptr ? "" : reader->name;
}

ImportOptions OptionsOf(const FabricSpec& spec) {
  ImportOptions options{.format = spec.format,
                        .node = spec.node,
                        .switch_latency = spec.switch_latency,
                        .cable_latency = spec.cable_latency};
  const auto link = spec.values.find("link");
  if (link != spec.values.end()) options.link = std::get<Rate>(link->second.value);
  return options;
}

Result<ImportedFabric> ImportFabric(std::string_view text, const std::string& file,
                                    const ImportOptions& options) {
  const FabricFileReader* reader =
      options.format.empty() ? Recognise(text) : FindReader(options.format);
  if (reader == nullptr) return UnknownFormat(file, options.format);
  auto source = reader->read(text, file);
  if (!source) return std::unexpected(std::move(source.error()));
  Result<ImportedFabric> imported;
  if (auto* list = std::get_if<CableList>(&*source)) {
    imported = BuildFromCables(*list, file, options);
  } else {
    auto& spec = std::get<FabricSpec>(*source);
    spec.node = options.node;
    if (options.switch_latency) spec.switch_latency = options.switch_latency;
    if (options.cable_latency) spec.cable_latency = options.cable_latency;
    auto built = BuildFabric(spec);
    if (!built) return std::unexpected(std::move(built.error()));
    imported->built = *std::move(built);
  }
  if (imported) imported->format = reader->name;
  return imported;
}

Result<ImportedFabric> ImportFabricFile(const std::string& path, const ImportOptions& options) {
  const auto text = ReadTextFile(path, kMostFabricFileBytes);
  if (!text) return std::unexpected(text.error());
  return ImportFabric(*text, path, options);
}

Result<FabricSpec> ParseFabricFileSpec(const std::string& path,
                                       std::span<const std::string> assignments) {
  auto document = YamlDocument::Parse("{}", path, YamlStyle::kOurs);
  if (!document) return std::unexpected(std::move(document.error()));
  for (const std::string& assignment : assignments) document->Override(assignment, "--set");
  const YamlMap map = document->root();
  FabricSpec spec;
  spec.file = path;
  map.Read("node", spec.node);
  ReadFabricFileKeys(map, spec);
  Diagnostics problems = document->TakeDiagnostics();
  if (HasErrors(problems)) return std::unexpected(std::move(problems));
  return spec;
}

std::vector<FabricFormat> FabricFormats() {
  std::vector<FabricFormat> formats;
  for (const FabricFileReader* reader : FabricFileReaders()) {
    formats.push_back({.name = reader->name, .summary = reader->summary, .reads = true});
  }
  for (const FabricFileWriter* writer : FabricFileWriters()) {
    const auto known = std::ranges::find(formats, writer->name, &FabricFormat::name);
    if (known == formats.end()) {
      formats.push_back({.name = writer->name, .summary = writer->summary, .writes = true});
    } else {
      known->writes = true;
    }
  }
  return formats;
}

}  // namespace trunkline
