#include "report/cost_report.h"

#include <fmt/format.h>

#include <cmath>

#include "base/plural.h"
#include "report/table.h"
#include "trunkline/report/fabric_report.h"

namespace trunkline {
namespace {

void WriteOptional(JsonWriter& json, std::string_view key, std::optional<double> value) {
  json.Key(key);
  if (value) {
    json.Value(*value);
  } else {
    json.Null();
  }
}

// "400 Gb/s", of a port-split cable "2 x 200 Gb/s".
std::string SpeedOf(const CostLine& line) {
  if (line.rate == Rate()) return "any";
  return line.breakout > 1 ? fmt::format("{} x {}", line.breakout, ToString(line.rate))
                           : ToString(line.rate);
}

std::string SwitchTable(const FabricCost& cost) {
  Table table({{"switches", Align::kLeft},
               {"as", Align::kLeft},
               {"ports of"},
               {"count"},
               {"ports used"},
               {"free"},
               {"price"},
               {"power"}});
  for (const CostLine& line : cost.lines) {
    if (!line.is_switch) continue;
    table.Add({Printable(line.part), line.use, SpeedOf(line), GroupedCount(line.count),
               GroupedCount(line.ports_used), GroupedCount(line.ports_free), Money(line.price, ""),
               fmt::format("{:.4g} kW", line.watts / 1e3)});
  }
  return table.Text("  ");
}

std::string CableTable(const FabricCost& cost) {
  Table table({{"cables", Align::kLeft},
               {"as", Align::kLeft},
               {"speed"},
               {"count"},
               {"mean"},
               {"longest"},
               {"price"},
               {"power"}});
  for (const CostLine& line : cost.lines) {
    if (line.is_switch) continue;
    table.Add({Printable(line.part), line.use, SpeedOf(line), GroupedCount(line.count),
               fmt::format("{:.3g} m", line.metres / static_cast<double>(line.count)),
               fmt::format("{:.3g} m", line.longest_m), Money(line.price, ""),
               fmt::format("{:.4g} kW", line.watts / 1e3)});
  }
  return table.Text("  ");
}

}  // namespace

std::string Money(double amount, const std::string& currency) {
  const double size = std::abs(amount);
  const double scale = size >= 1e9 ? 1e9 : size >= 1e6 ? 1e6 : size >= 1e4 ? 1e3 : 1;
  const char* unit = scale == 1e9 ? " G " : scale == 1e6 ? " M " : scale == 1e3 ? " k " : " ";
  const std::string text = fmt::format("{:.4g}{}{}", amount / scale, unit, Printable(currency));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string RenderCostText(const BuiltFabric& built, const FabricCost& cost) {
  std::string text = fmt::format("{}: {}\nprices: {} ({})\n\n", built.kind, built.summary,
                                 Printable(cost.prices), Printable(cost.currency));
  text += SwitchTable(cost) + "\n" + CableTable(cost) + "\n";
  text += fmt::format("{} in all: {} of switches and {} of cables; {:.4g} kW\n",
                      Money(cost.price(), cost.currency), Money(cost.switches_price, cost.currency),
                      Money(cost.cables_price, cost.currency), cost.watts / 1e3);
  if (const auto each = cost.per_end()) {
    text += fmt::format("{} for each of {} {}", Money(*each, cost.currency),
                        GroupedCount(cost.ends), built.node.gpus > 0 ? "GPUs" : "hosts");
    if (const auto bisection = cost.per_gigabyte_of_bisection()) {
      // Of a sum that leaves parts out, the true figure may be above.
      text += fmt::format(", {}{} for each GB/s of bisection{}",
                          cost.bisection_exact || !cost.complete() ? "" : "at most ",
                          Money(*bisection, cost.currency),
                          cost.bisection_exact ? "" : " (its lower bound)");
    }
    text += cost.complete() ? "\n" : ", without what the list does not sell\n";
  }
  const FloorPlan& floor = cost.floor;
  text +=
      Wrap(fmt::format("Cables are as long as the way along the aisles and {:.4g} m: {} NICs a "
                       "rack, racks {:.4g} m wide in rows {:.4g} m apart, filling a square "
                       "from its middle; each switch in the rack of the first server below it.",
                       floor.slack_m, floor.nics_per_rack, floor.rack_width_m, floor.row_pitch_m),
           "", 100);
  for (const std::string& what : cost.unpriced) {
    text += fmt::format("Not in these sums, as the list sells none: {}\n", what);
  }
  return text;
}

void WriteCost(JsonWriter& json, const FabricCost& cost) {
  json.Object([&] {
    json.Field("prices", cost.prices);
    json.Field("currency", cost.currency);
    json.Field("total", cost.price());
    json.Field("switches", cost.switches_price);
    json.Field("cables", cost.cables_price);
    WriteOptional(json, "per_gpu", cost.per_end());
    WriteOptional(json, "per_GBps_of_bisection", cost.per_gigabyte_of_bisection());
    json.Field("bisection_is_bound", !cost.bisection_exact);
    json.Field("watts", cost.watts);
    json.Key("unpriced");
    json.Values(cost.unpriced);
    json.Key("parts");
    json.Objects(cost.lines, [&](const CostLine& line) {
      json.Field("part", line.part);
      json.Field("use", line.use);
      json.Key("rate_Bps");
      if (line.rate > Rate()) {
        json.Value(line.rate.bytes_per_second());
      } else {
        json.Null();
      }
      if (!line.is_switch) json.Field("breakout", line.breakout);
      json.Field("count", line.count);
      if (line.is_switch) {
        json.Field("ports_used", line.ports_used);
        json.Field("ports_free", line.ports_free);
      } else {
        json.Field("metres", line.metres);
        json.Field("longest_m", line.longest_m);
      }
      json.Field("price", line.price);
      json.Field("watts", line.watts);
      json.Field("source", line.source);
    });
  });
}

}  // namespace trunkline
