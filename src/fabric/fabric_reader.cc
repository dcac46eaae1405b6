#include "fabric/fabric_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "fabric/builders/builder.h"
#include "fabric/routing_reader.h"
#include "trunkline/fabric/import.h"

namespace trunkline {
namespace {

Words<const Builder*> KindWords() {
  Words<const Builder*> words;
  for (const Builder* builder : Builders()) words.emplace_back(builder->kind.name, builder);
  return words;
}

// A single number stands for a list of one.
template <typename T>
bool ReadList(const YamlValue& value, std::vector<T>& out, const FabricKey& key) {
  const auto read_one = [&](const YamlValue& element) {
    T number{};
    bool read = false;
    if constexpr (std::is_same_v<T, double>) {
      read = element.Read(number, RealRange{key.min, key.max});
    } else {
      read = element.Read(
          number, IntRange{static_cast<std::int64_t>(key.min), static_cast<std::int64_t>(key.max)});
    }
    if (read) out.push_back(number);
    return read;
  };
  if (!value.is_list()) return read_one(value);
  const auto elements = value.AsList();
  if (elements && elements->empty()) {
    value.Error("TL1107", fmt::format("'{}' is an empty list", key.name), key.summary);
  }
  return elements && !elements->empty() && std::ranges::all_of(*elements, read_one);
}

void ReadKey(const YamlValue& value, const FabricKey& key, FabricSpec& spec) {
  FabricValue read{.value = std::int64_t{0}, .where = value.where(), .excerpt = value.excerpt()};
  bool good = false;
  switch (key.type) {
    case FabricKey::Type::kCount:
      good = value.Read(
          std::get<std::int64_t>(read.value),
          IntRange{static_cast<std::int64_t>(key.min), static_cast<std::int64_t>(key.max)});
      break;
    case FabricKey::Type::kCounts:
      good = ReadList(value, read.value.emplace<std::vector<std::int64_t>>(), key);
      break;
    case FabricKey::Type::kRatios:
      good = ReadList(value, read.value.emplace<std::vector<double>>(), key);
      break;
    case FabricKey::Type::kRate: {
      auto& rate = read.value.emplace<Rate>();
      good = value.Read(rate);
      if (good && static_cast<double>(rate.bits_per_second()) > key.max) {
        value.Error("TL1108", fmt::format("{} is beyond any cable", ToString(rate)),
                    fmt::format("at most {}",
                                ToString(Rate::BitsPerSecond(static_cast<std::int64_t>(key.max)))));
        good = false;
      }
      break;
    }
  }
  if (good) spec.values.emplace(key.name, std::move(read));
}

// Refuses, by name, the keys that only other kinds read.
void RefuseForeignKeys(const YamlMap& map, const std::string& reader, std::set<std::string> known) {
  for (const Builder* other : Builders()) {
    for (const FabricKey& key : other->kind.keys) {
      if (!known.insert(key.name).second) continue;
      map.Refuse(key.name, "TL1402",
                 fmt::format("a {} fabric does not read '{}'", reader, key.name),
                 fmt::format("kind: {} does", other->kind.name));
    }
  }
}

// Longer ones, added up over many messages, would leave no room for a time.
void ReadLatency(const YamlMap& map, const char* key, std::optional<Time>& latency) {
  Time read;
  if (!map.Read(key, read)) return;
  latency = read;
  if (read <= kMaxLatency) return;
  map.Find(key)->Error("TL1108", fmt::format("{} to pass one device", ToString(read)),
                       "write at most " + ToString(kMaxLatency));
}

// What every fabric reads.
void ReadSharedKeys(const YamlMap& map, FabricSpec& spec) {
  if (const auto routing = map.Find("routing")) ReadRouting(*routing, spec);
  ReadLatency(map, "cable_latency", spec.cable_latency);
  if (const auto network_switch = map.Map("switch")) {
    ReadLatency(*network_switch, "latency", spec.switch_latency);
  }
}

}  // namespace

void ReadFabricFileKeys(const YamlMap& map, FabricSpec& spec) {
  Words<std::string> formats;
  for (const FabricFormat& format : FabricFormats()) {
    if (format.reads) formats.emplace_back(format.name, format.name);
  }
  map.Read("format", spec.format, formats);
  if (const auto link = map.Find("link")) ReadKey(*link, LinkKey(), spec);
  map.Refuse("kind", "TL1402", "a fabric has a file or a kind, not both", "keep one of them");
  RefuseForeignKeys(map, "file's", {"link"});
  ReadSharedKeys(map, spec);
}

void ReadFabricSpec(const YamlMap& map, FabricSpec& spec) {
  if (map.Read("file", spec.file)) return ReadFabricFileKeys(map, spec);
  map.Refuse("format", "TL1402", "a format without a file", "name the file with file:");
  const Builder* builder = FindBuilder(spec.kind);
  map.Read("kind", builder, KindWords());
  spec.kind = builder->kind.name;
  for (const FabricKey& key : builder->kind.keys) {
    if (const auto value = map.Find(key.name)) ReadKey(*value, key, spec);
  }
  const FabricKey nics = NicsKey();
  if (const auto value = map.Find(nics.name)) ReadKey(*value, nics, spec);
  std::set<std::string> known{nics.name};
  for (const FabricKey& key : builder->kind.keys) known.insert(key.name);
  RefuseForeignKeys(map, builder->kind.name, std::move(known));
  ReadSharedKeys(map, spec);
}

bool LooksLikeFabricSpec(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  return FindBuilder(kind) != nullptr ||
         (colon != std::string_view::npos && text.find('=', colon) != std::string_view::npos);
}

Result<FabricSpec> ParseFabricSpec(std::string_view text) {
  FabricSpec spec;
  const std::string kind(text.substr(0, text.find(':')));
  if (FindBuilder(kind) == nullptr) return UnknownKind(kind);
  spec.kind = kind;
  const std::string label(text);
  auto document = YamlDocument::Parse(fmt::format("kind: {}", kind), label, YamlStyle::kOurs);
  if (!document) return std::unexpected(std::move(document.error()));

  // Assignments are parted by commas, but for those within a list.
  std::set<std::string, std::less<>> keys;
  int depth = 0;
  std::size_t begin = std::min(text.size(), kind.size() + 1);
  for (std::size_t end = begin; end <= text.size(); ++end) {
    const char c = end < text.size() ? text[end] : ',';
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    // A list that is never closed ends with the text, for the reader to name its place.
    if (end < text.size() && (c != ',' || depth > 0)) continue;
    const std::string_view assignment = text.substr(begin, end - begin);
    if (!assignment.empty()) {
      const auto start = static_cast<int>(begin);
      if (!keys.emplace(assignment.substr(0, assignment.find('='))).second) {
        auto twice =
            Error("TL1105", fmt::format("'{}' is given twice", assignment), "keep one of them");
        twice.error().front().where = {label, 1, start + 1};
        twice.error().front().excerpt = label;
        return twice;
      }
      document->Override(assignment, label, {text, start});
    }
    begin = end + 1;
  }

  const YamlMap map = document->root();
  map.Read("node", spec.node);
  map.Read("nodes", spec.nodes, IntRange{1, kMaxNodes});
  ReadFabricSpec(map, spec);
  Diagnostics problems = document->TakeDiagnostics();
  if (HasErrors(problems)) return std::unexpected(std::move(problems));
  return spec;
}

}  // namespace trunkline
