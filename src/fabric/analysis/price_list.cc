#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/embedded_yaml.h"
#include "trunkline/fabric/cost.h"

namespace trunkline {

extern const EmbeddedTable k_trunkline_fabric_data_prices;

namespace {

constexpr std::string_view kFolder = "prices/";
constexpr RealRange kPrices{0, 1e9};
constexpr RealRange kWatts{0, 1e6};
constexpr RealRange kMetres{0, 1e5};
constexpr std::size_t kMostRows = 10'000;

// A list of mappings at `key`, one of which `read` turns into a row.
template <typename Row, typename Read>
std::vector<Row> ReadRows(const YamlMap& root, std::string_view key, Read read) {
  std::vector<Row> rows;
  const auto value = root.Required(key);
  const auto list = value ? value->AsList() : std::nullopt;
  if (!list) return rows;
  if (list->empty() || list->size() > kMostRows) {
    value->Error("TL1431", fmt::format("{} rows under '{}'", list->size(), key),
                 fmt::format("between 1 and {}", kMostRows));
    return rows;
  }
  for (const YamlValue& element : *list) {
    const auto map = element.AsMap();
    if (!map) continue;
    Row row;
    map->Require("name", row.name);
    map->Read("source", row.source);
    read(element, *map, row);
    rows.push_back(std::move(row));
  }
  return rows;
}

void ReadSwitch(const YamlValue& where, const YamlMap& map, SwitchPrice& row) {
  map.Read("ports", row.ports, IntRange{.min = 1, .max = 65'536});
  map.Read("breakout", row.breakout, IntRange{.min = 1, .max = 64});
  // A price linear in ports may begin below zero.
  map.Require("price", row.price, RealRange{-kPrices.max, kPrices.max});
  map.Read("per_port", row.per_port, kPrices);
  map.Read("watts", row.watts, kWatts);
  map.Read("per_port_watts", row.per_port_watts, kWatts);
  if ((row.ports > 0) != map.Read("rate", row.rate)) {
    where.Error("TL1431", "a switch with one of 'ports' and 'rate'",
                "write both, or neither for a price by the port at any rate");
  } else if (row.ports > 0 && row.price + row.per_port < 0) {
    where.Error("TL1431", "a switch with a price below zero", "correct 'price'");
  }
}

void ReadCable(const YamlValue& where, const YamlMap& map, CablePrice& row) {
  Rate rate;
  if (map.Read("rate", rate)) row.rate = rate;
  map.Read("breakout", row.breakout, IntRange{.min = 1, .max = 64});
  if (row.breakout > 1 && !row.rate) {
    where.Error("TL1431", "a port-split cable without a rate", "write that of each of its links");
  }
  map.Require("reach_m", row.reach_m, kMetres);
  map.Require("price", row.price, kPrices);
  map.Read("per_m", row.per_m, kPrices);
  map.Read("watts", row.watts, kWatts);
}

PriceList ReadPriceList(const YamlMap& root) {
  PriceList list;
  root.Require("name", list.name);
  root.Require("currency", list.currency);
  if (const auto floor = root.Map("floor")) {
    floor->Read("nics_per_rack", list.floor.nics_per_rack, IntRange{.min = 1, .max = 65'536});
    floor->Read("rack_width_m", list.floor.rack_width_m, RealRange{0.01, 100});
    floor->Read("row_pitch_m", list.floor.row_pitch_m, RealRange{0.01, 100});
    floor->Read("slack_m", list.floor.slack_m, RealRange{0, 1000});
  }
  list.switches = ReadRows<SwitchPrice>(root, "switches", ReadSwitch);
  list.cables = ReadRows<CablePrice>(root, "cables", ReadCable);
  return list;
}

Result<PriceList> ReadPriceFile(const std::string& path) {
  auto document = YamlDocument::ReadFile(path, YamlStyle::kOurs);
  if (!document) return std::unexpected(std::move(document.error()));
  PriceList list = ReadPriceList(document->root());
  Diagnostics problems = document->TakeDiagnostics();
  if (HasErrors(problems)) return std::unexpected(std::move(problems));
  return list;
}

}  // namespace

std::vector<std::string> PriceListNames() { return k_trunkline_fabric_data_prices.stems(); }

Result<PriceList> FindPriceList(std::string_view name) {
  if (name.find('/') != std::string_view::npos || name.ends_with(kYaml)) {
    return ReadPriceFile(std::string(name));
  }
  const std::vector<std::string> known = PriceListNames();
  if (std::ranges::find(known, name) == known.end()) {
    const std::string close = ClosestMatch(name, known);
    return Error("TL1430", fmt::format("unknown price list '{}'", name),
                 close.empty() ? fmt::format("known: {}; or a file of your own, prices.yaml",
                                             fmt::join(known, ", "))
                               : fmt::format("did you mean '{}'?", close));
  }
  YamlDocument document =
      OpenEmbedded(k_trunkline_fabric_data_prices, fmt::format("{}{}{}", kFolder, name, kYaml));
  PriceList list = ReadPriceList(document.root());
  CloseEmbedded(document);
  return list;
}

}  // namespace trunkline
