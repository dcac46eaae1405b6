#include "scenario/repeat.h"

#include <algorithm>

#include "trunkline/base/check.h"
#include "trunkline/scenario/jobs_result.h"
#include "trunkline/scenario/traffic_result.h"

namespace trunkline {

Figures FiguresOf(const RunResult& result) {
  Figures out = {{"time_s", result.time.seconds()}};
  if (result.iteration) out.emplace_back("mfu", result.iteration->mfu);
  for (const CollectiveRow& row : result.rows) {
    out.emplace_back("busbw_Bps of " + ToString(row.bytes), row.busbw_Bps);
  }
  if (result.jobs) {
    for (const JobResult& job : result.jobs->jobs) {
      out.emplace_back("slowdown of " + job.name, job.slowdown());
    }
  }
  if (!result.traffic) return out;
  const TrafficStatistics& flows = result.traffic->statistics;
  out.emplace_back("fct_s.mean", flows.fct_s.mean);
  out.emplace_back("fct_s.p50", flows.fct_s.p50);
  out.emplace_back("fct_s.p99", flows.fct_s.p99);
  out.emplace_back("slowdown.mean", flows.slowdown.mean);
  out.emplace_back("slowdown.p50", flows.slowdown.p50);
  out.emplace_back("slowdown.p99", flows.slowdown.p99);
  return out;
}

RepeatResult SummariseRuns(std::span<const std::uint64_t> seeds, std::span<const Figures> runs) {
  RepeatResult out{.seeds = {seeds.begin(), seeds.end()}, .figures = {}};
  for (std::size_t f = 0; f < runs.front().size(); ++f) {
    std::vector<double> samples;
    for (const Figures& run : runs) {
      TL_CHECK(f < run.size() && run[f].first == runs.front()[f].first, "runs of other figures");
      samples.push_back(run[f].second);
    }
    const auto [least, most] = std::ranges::minmax(samples);
    out.figures.push_back({.name = runs.front()[f].first,
                           .interval = MeanWithConfidence(samples),
                           .least = least,
                           .most = most});
  }
  return out;
}

}  // namespace trunkline
