#include <fmt/format.h>

#include <algorithm>

#include "report/names.h"
#include "report/repeat_table.h"
#include "report/table.h"
#include "trunkline/report/report.h"

// nccl-tests prints each size twice, out of place and in place. A schedule moves the same bytes
// either way, so both halves carry the one simulated time; data is not checked, which nccl-tests
// writes as "N/A" (its -c 0).
namespace trunkline {
namespace {

// Seven characters with falling precision, as nccl-tests prints microseconds.
std::string TimeCell(Time time) {
  const double us = time.seconds() * 1e6;
  if (us >= 10'000) return fmt::format("{:.0f}", us);
  if (us >= 100) return fmt::format("{:.1f}", us);
  return fmt::format("{:.2f}", us);
}

bool Reduces(Primitive primitive) {
  return primitive == Primitive::kAllReduce || primitive == Primitive::kReduceScatter ||
         primitive == Primitive::kReduce;
}

std::string Line(const CollectiveRow& row) {
  const std::string half = fmt::format("  {:>7}  {:>6.2f}  {:>6.2f}    N/A", TimeCell(row.time),
                                       row.algbw_Bps / 1e9, row.busbw_Bps / 1e9);
  return fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}{}{}  {:>8}  {} {}\n", row.bytes.count(),
                     row.count, row.dtype, Reduces(row.primitive) ? "sum" : "none",
                     HasRoot(row.primitive) ? std::int64_t{row.root} : -1, half, half,
                     TimeCell(row.bound), row.algorithm, ToString(row.protocol));
}

}  // namespace

std::string RenderCollectiveTable(const RunResult& result) {
  if (result.rows.empty()) return "";
  const auto [least, most] = std::ranges::minmax(result.rows, {}, &CollectiveRow::bytes);
  std::string out =
      fmt::format("# Collective test starting: {}\n", ToString(result.rows.front().primitive));
  out += fmt::format("# simulated: {}\n", Printable(result.cluster_summary));
  out += fmt::format("# nThread 1 nGpus 1 minBytes {} maxBytes {} ranks {} validation: 0\n",
                     least.bytes.count(), most.bytes.count(), result.placement.rank_count());
  const auto [fewest, many] = std::ranges::minmax(result.rows, {}, &CollectiveRow::channels);
  out += fmt::format("# engine {} channels {} seed {}\n", result.engine,
                     fewest.channels == many.channels
                         ? fmt::format("{}", many.channels)
                         : fmt::format("{}..{}", fewest.channels, many.channels),
                     result.seed);
  if (result.placement_kind != PlacementKind::kPacked) {
    out += Wrap(
        fmt::format("placement {}: {}", ToString(result.placement_kind), FragmentationText(result)),
        "# ", 100);
  }
  for (const std::string& assumption : result.assumptions) {
    out += Wrap(Printable(assumption), "# ", 100);
  }
  const std::string names = fmt::format("  {:>7}  {:>6}  {:>6} #wrong", "time", "algbw", "busbw");
  const std::string units = fmt::format("  {:>7}  {:>6}  {:>6}       ", "(us)", "(GB/s)", "(GB/s)");
  const auto heading = [](auto... cells) {
    return fmt::format("#{:>11}  {:>12}  {:>8}  {:>6}  {:>6}{}{}  {:>8}{}\n", cells...);
  };
  out += fmt::format("#\n#{:66}out-of-place{:20}in-place\n", "", "");
  out += heading("size", "count", "type", "redop", "root", names, names, "bound",
                 "  algorithm protocol");
  out += heading("(B)", "(elements)", "", "", "", units, units, "(us)", "");
  double busbw = 0;
  for (const CollectiveRow& row : result.rows) {
    out += Line(row);
    busbw += row.busbw_Bps;
  }
  out += fmt::format("# Avg bus bandwidth    : {:g}\n",
                     busbw / 1e9 / static_cast<double>(result.rows.size()));
  if (result.repeat) {
    out += fmt::format("# {}\n{}", RepeatHeading(*result.repeat),
                       RepeatTable(*result.repeat).Text("#   "));
  }
  out += fmt::format("# Collective test concluded: {}\n", ToString(result.rows.front().primitive));
  return out;
}

}  // namespace trunkline
