#include <fmt/format.h>

#include "scenario/reader.h"

namespace trunkline {
namespace {

const Words<PlacementKind>& Kinds() {
  static const Words<PlacementKind> kKinds = {
      {"packed", PlacementKind::kPacked},  {"linear", PlacementKind::kPacked},
      {"by-rail", PlacementKind::kByRail}, {"by-block", PlacementKind::kByBlock},
      {"random", PlacementKind::kRandom},
  };
  return kKinds;
}

void Take(const YamlValue& value, const Result<std::vector<DeviceId>>& listed,
          PlacementSpec& placement) {
  if (!listed) {
    value.Adopt(listed.error());
    return;
  }
  placement.kind = PlacementKind::kListed;
  placement.listed = *listed;
}

void ReadFile(const std::string& file, const YamlValue& value, const Fabric& fabric,
              PlacementSpec& placement) {
  std::string name;
  if (!value.Read(name)) return;
  const auto path = FindFile(file, value);
  if (!path) return;
  const auto text = ReadTextFile(*path);
  if (text) {
    Take(value, ParsePlacementFile(*text, *path, fabric), placement);
  } else {
    value.Adopt(text.error());
  }
}

void ReadNodeList(const YamlValue& value, const Fabric& fabric, PlacementSpec& placement) {
  std::string text;
  if (!value.Read(text)) return;
  const auto names = ParseNodeList(text);
  if (names) {
    Take(value, EndpointsOfNodes(fabric, *names), placement);
  } else {
    value.Adopt(names.error());
  }
}

// Keys that only one kind reads are refused with the others.
void ReadKind(const YamlMap& map, PlacementSpec& placement) {
  map.Read("kind", placement.kind, Kinds());
  if (placement.kind == PlacementKind::kByBlock) {
    map.Require("block", placement.block, IntRange{.min = 1, .max = 1'000'000});
  } else {
    map.Refuse("block", "TL1207", "only placement by block reads 'block'", "kind: by-block");
  }
  std::uint64_t seed = 0;
  if (placement.kind != PlacementKind::kRandom) {
    map.Refuse("seed", "TL1207", "only random placement reads 'seed'", "kind: random");
  } else if (map.Read("seed", seed, IntRange{.min = 0})) {
    placement.seed = seed;
  }
}

}  // namespace

void ReadPlacement(const std::string& file, const YamlMap& map, const BuiltFabric* fabric,
                   PlacementSpec& placement) {
  const auto value = map.Find("placement");
  if (!value) return;
  if (fabric == nullptr) {  // its keys are right or wrong for a fabric: none is reported
    if (value->is_map()) (void)value->AsMap()->Entries();
    return;
  }
  if (value->is_scalar()) {
    if (value->Read(placement.kind, Kinds()) && placement.kind == PlacementKind::kByBlock) {
      value->Error("TL1207", "placement by block, of blocks of no size",
                   "write placement: {kind: by-block, block: 8}");
    }
    return;
  }
  const auto keys = value->AsMap();
  if (!keys) return;
  const auto path = keys->Find("file");
  const auto nodes = keys->Find("nodelist");
  if (int{path.has_value()} + int{nodes.has_value()} + int{keys->Has("kind")} != 1) {
    keys->Error("TL1207", "a placement says once how ranks are laid",
                "write one of `kind`, `file` and `nodelist`");
  } else if (path) {
    ReadFile(file, *path, fabric->fabric, placement);
  } else if (nodes) {
    ReadNodeList(*nodes, fabric->fabric, placement);
  } else {
    ReadKind(*keys, placement);
  }
}

}  // namespace trunkline
