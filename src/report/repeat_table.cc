#include "report/repeat_table.h"

#include <fmt/format.h>

#include "report/names.h"

namespace trunkline {

std::string RepeatHeading(const RepeatResult& repeat) {
  return fmt::format("Over {} seeds, {} to {}; the rest is of the first", repeat.seeds.size(),
                     repeat.seeds.front(), repeat.seeds.back());
}

Table RepeatTable(const RepeatResult& repeat) {
  Table table({{"", Align::kLeft}, {"mean"}, {"± 95 %"}, {"least"}, {"most"}});
  for (const RepeatedFigure& figure : repeat.figures) {
    const bool time = figure.name.starts_with("time_s") || figure.name.starts_with("fct_s");
    const auto cell = [&](double value) {
      if (time) return Humanize(Time::FromSeconds(value));
      return figure.name.starts_with("busbw") ? Bandwidth(value) : fmt::format("{:.4g}", value);
    };
    const auto& half = figure.interval.half_width;
    table.Add({figure.name, cell(figure.interval.mean), half ? cell(*half) : "", cell(figure.least),
               cell(figure.most)});
  }
  return table;
}

}  // namespace trunkline
