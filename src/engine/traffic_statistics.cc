#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "trunkline/base/check.h"
#include "trunkline/engine/traffic.h"

namespace trunkline {
namespace {

// Classes end at these sizes: 1 kB, 10 kB, … 1 GB; the last one has no end.
constexpr std::array<std::int64_t, 8> kClassEnds = {
    1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000, INT64_MAX};

// When a flow was posted, or was to be where the run did not get that far; FlowRecord::kNot for
// one that waits for a trigger.
Time PostedAt(const TrafficFlow& flow, const FlowRecord& record) {
  if (record.posted != FlowRecord::kNot) return record.posted;
  return flow.trigger == TrafficFlow::kNoTrigger ? flow.start : FlowRecord::kNot;
}

bool IsMeasured(const TrafficWorkload& traffic, Time posted) {
  return posted >= traffic.measure_from && posted < traffic.measure_until;
}

// Times of flows, with the slowdown of each.
struct Sample {
  std::vector<double> fct;
  std::vector<double> slowdown;

  void Add(const FlowRecord& record) {
    const Time taken = record.delivered - record.posted;
    fct.push_back(taken.seconds());
    slowdown.push_back(taken.seconds() / record.alone.seconds());
  }
};

// Whether a backlog grew by more than `allowed`, and went on growing.
bool Grew(double start, double middle, double end, double allowed) {
  return end - start > allowed && middle > start && end - middle > (middle - start) / 2;
}

void FindLeastTimes(const TrafficWorkload& traffic, std::span<const FlowRecord> records,
                    Saturation& result) {
  double bytes = 0;
  double byte_seconds = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!IsMeasured(traffic, PostedAt(traffic.flows[i], records[i]))) continue;
    const auto own = static_cast<double>(traffic.flows[i].bytes.count());
    result.least_warm_up = std::max(result.least_warm_up, records[i].alone);
    bytes += own;
    byte_seconds += own * records[i].alone.seconds();
  }
  result.least_window = Time::FromSeconds(byte_seconds / bytes / (1 - Saturation::kCarried));
  result.long_enough = traffic.measure_from >= result.least_warm_up &&
                       traffic.measure_until - traffic.measure_from >= result.least_window;
}

}  // namespace

Percentiles PercentilesOf(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto rank = [&](std::size_t percent) {
    const std::size_t position = (values.size() * percent + 99) / 100;
    return values[position - 1];
  };
  Percentiles percentiles;
  percentiles.count = values.size();
  for (const double value : values) percentiles.mean += value;
  percentiles.mean /= static_cast<double>(values.size());
  percentiles.p50 = rank(50);
  percentiles.p95 = rank(95);
  percentiles.p99 = rank(99);
  percentiles.max = values.back();
  return percentiles;
}

std::optional<Saturation> JudgeSaturation(const TrafficWorkload& traffic,
                                          std::span<const FlowRecord> records) {
  TL_CHECK(records.size() == traffic.flows.size(), "records of another workload");
  if (traffic.measure_until == Time::Max()) return std::nullopt;
  const Time middle = traffic.measure_from +
                      Time::Picoseconds((traffic.measure_until - traffic.measure_from).ps() / 2);
  Saturation result;
  double squares = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Time posted = PostedAt(traffic.flows[i], records[i]);
    if (posted == FlowRecord::kNot) continue;
    const auto bytes = static_cast<double>(traffic.flows[i].bytes.count());
    const auto waits_at = [&](Time time) {
      return posted < time && records[i].delivered >= time ? bytes : 0;
    };
    if (IsMeasured(traffic, posted)) result.offered_bytes += bytes;
    if (IsMeasured(traffic, records[i].delivered)) result.delivered_bytes += bytes;
    result.backlog_at_start += waits_at(traffic.measure_from);
    result.backlog_at_middle += waits_at(middle);
    result.backlog_at_end += waits_at(traffic.measure_until);
    squares += bytes * (waits_at(traffic.measure_from) + waits_at(traffic.measure_until));
    const auto late_at = [&](Time time) {
      const double age = (time - posted).seconds();
      return age > Saturation::kLate * records[i].alone.seconds() ? waits_at(time) : 0;
    };
    result.late_at_start += late_at(traffic.measure_from);
    result.late_at_middle += late_at(middle);
    result.late_at_end += late_at(traffic.measure_until);
  }
  if (result.offered_bytes == 0) return std::nullopt;
  result.accepted = result.delivered_bytes / result.offered_bytes;
  result.chance = std::sqrt(squares);
  FindLeastTimes(traffic, records, result);
  constexpr double kMissing = 1 - Saturation::kCarried;
  const double allowed = kMissing * result.offered_bytes;
  const bool late = Grew(result.late_at_start, result.late_at_middle, result.late_at_end, allowed);
  const bool refused = Grew(result.backlog_at_start, result.backlog_at_middle,
                            result.backlog_at_end, allowed + 2 * result.chance);
  result.saturated = late || (result.long_enough && refused);
  return result;
}

TrafficStatistics MeasureTraffic(const TrafficWorkload& traffic,
                                 std::span<const FlowRecord> records,
                                 std::optional<std::uint16_t> job) {
  TL_CHECK(records.size() == traffic.flows.size(), "records of another workload");
  TrafficStatistics statistics;
  Sample all;
  std::vector<double> acknowledged;
  std::array<Sample, kClassEnds.size()> by_size;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const TrafficFlow& flow = traffic.flows[i];
    const FlowRecord& record = records[i];
    if (job && flow.job != *job) continue;
    const Time posted = PostedAt(flow, record);
    if (posted != FlowRecord::kNot && !IsMeasured(traffic, posted)) continue;
    ++statistics.flows;
    if (record.delivered == FlowRecord::kNot) {
      ++statistics.unfinished;
      continue;
    }
    all.Add(record);
    const auto end = std::ranges::lower_bound(kClassEnds, flow.bytes.count());
    by_size[static_cast<std::size_t>(end - kClassEnds.begin())].Add(record);
    if (record.acknowledged != FlowRecord::kNot) {
      acknowledged.push_back((record.acknowledged - record.posted).seconds());
    }
  }
  statistics.fct_s = PercentilesOf(std::move(all.fct));
  statistics.slowdown = PercentilesOf(std::move(all.slowdown));
  statistics.fct_ack_s = PercentilesOf(std::move(acknowledged));
  for (std::size_t c = 0; c < by_size.size(); ++c) {
    if (by_size[c].fct.empty()) continue;
    statistics.size_classes.push_back({.above = Bytes(c == 0 ? 0 : kClassEnds[c - 1]),
                                       .up_to = Bytes(kClassEnds[c]),
                                       .fct_s = PercentilesOf(std::move(by_size[c].fct)),
                                       .slowdown = PercentilesOf(std::move(by_size[c].slowdown))});
  }
  return statistics;
}

}  // namespace trunkline
