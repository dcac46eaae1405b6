#include "report/traffic_json.h"

#include "report/names.h"
#include "trunkline/scenario/traffic_result.h"

namespace trunkline {

void WritePercentiles(JsonWriter& json, const char* key, const Percentiles& values) {
  json.Key(key);
  if (values.count == 0) {
    json.Null();
    return;
  }
  json.Object([&] {
    json.Field("mean", values.mean);
    json.Field("p50", values.p50);
    json.Field("p95", values.p95);
    json.Field("p99", values.p99);
    json.Field("max", values.max);
  });
}

namespace {

void WriteStatistics(JsonWriter& json, const TrafficStatistics& statistics) {
  json.Field("count", statistics.flows);
  json.Field("unfinished", statistics.unfinished);
  WritePercentiles(json, "fct_s", statistics.fct_s);
  WritePercentiles(json, "fct_ack_s", statistics.fct_ack_s);
  WritePercentiles(json, "slowdown", statistics.slowdown);
  json.Key("sizes");
  json.Objects(statistics.size_classes, [&](const TrafficStatistics::SizeClass& entry) {
    json.Field("above_bytes", entry.above);
    json.Field("up_to_bytes", entry.up_to);
    json.Field("count", entry.fct_s.count);
    WritePercentiles(json, "fct_s", entry.fct_s);
    WritePercentiles(json, "slowdown", entry.slowdown);
  });
}

void WriteFlows(JsonWriter& json, const TrafficResult& traffic) {
  WriteStatistics(json, traffic.statistics);
  json.Field("unposted", traffic.unposted);
  json.Key("completion");
  json.Objects(traffic.completion, [&](const CompletionPoint& point) {
    json.Field("fct_s", point.fct_s);
    json.Field("share", point.share);
  });
  json.Key("jobs");
  json.Objects(traffic.jobs, [&](const JobTraffic& job) {
    json.Field("name", job.name);
    WriteStatistics(json, job.statistics);
  });
  json.Key("paused");
  json.Objects(traffic.paused, [&](const PausedLink& link) {
    json.Field("from", link.from);
    json.Field("to", link.to);
    json.Field("class", std::uint32_t{link.traffic_class});
    json.Field("pauses", link.pauses);
    json.Field("paused_s", link.paused);
    json.Field("cause_to", link.cause_to);
    json.Field("cause_share", link.cause_share);
  });
  json.Key("stuck");
  json.Values(traffic.stuck);
}

void WriteCounts(JsonWriter& json, const char* key, const PacketCounts& counts) {
  json.Key(key);
  json.Object([&] {
    json.Field("data", counts.data);
    json.Field("ack", counts.ack);
    json.Field("control", counts.control);
  });
}

void WriteLoad(JsonWriter& json, const TrafficResult& traffic) {
  const Saturation& saturation = *traffic.saturation;
  json.Field("offered", traffic.offered_load);
  json.Field("offered_bytes", saturation.offered_bytes);
  json.Field("delivered_bytes", saturation.delivered_bytes);
  json.Field("accepted", saturation.accepted);
  json.Field("least_warm_up_s", saturation.least_warm_up);
  json.Field("least_window_s", saturation.least_window);
  json.Field("chance_bytes", saturation.chance);
  json.Field("backlog_at_start_bytes", saturation.backlog_at_start);
  json.Field("backlog_at_middle_bytes", saturation.backlog_at_middle);
  json.Field("backlog_at_end_bytes", saturation.backlog_at_end);
  json.Field("late_at_start_bytes", saturation.late_at_start);
  json.Field("late_at_middle_bytes", saturation.late_at_middle);
  json.Field("late_at_end_bytes", saturation.late_at_end);
  json.Field("saturated", saturation.saturated);
}

void WriteFastForward(JsonWriter& json, const SkippedTime& skipped, Time whole) {
  json.Field("tolerance", skipped.tolerance);
  json.Field("skips", skipped.skips);
  json.Field("skipped_s", skipped.skipped);
  json.Field("skipped_share", Ratio(skipped.skipped, whole));
  json.Field("error_s", skipped.error);
}

}  // namespace

void WriteCounters(JsonWriter& json, const PacketCounters& counters) {
  json.Field("drops", counters.drops);
  json.Field("fault_drops", counters.fault_drops);
  json.Field("pauses", counters.pauses);
  json.Field("pause_repeats", counters.pause_repeats);
  json.Field("pause_expiries", counters.pause_expiries);
  json.Field("ecn_marks", counters.marks);
  json.Field("trims", counters.trims);
  json.Field("retransmissions", counters.retransmissions);
  json.Field("timeouts", counters.timeouts);
  json.Field("credit_stalls", counters.credit_stalls);
  WriteCounts(json, "packets", counters.packets);
  WriteCounts(json, "link_hops", counters.hops);
}

const PacketCounters* CountersOf(const RunResult& result) {
  if (result.packets != nullptr) return &result.packets->counters;
  const bool traffic = result.traffic != nullptr && result.traffic->counters;
  return traffic ? &*result.traffic->counters : nullptr;
}

void WriteTrafficFields(JsonWriter& json, const RunResult& result) {
  const TrafficResult* traffic = result.traffic.get();
  json.Key("flows");
  if (traffic != nullptr) {
    json.Object([&] { WriteFlows(json, *traffic); });
  } else {
    json.Null();
  }
  json.Key("fast_forward");
  if (traffic != nullptr && traffic->fast_forward) {
    json.Object([&] { WriteFastForward(json, *traffic->fast_forward, result.time); });
  } else {
    json.Null();
  }
  json.Key("load");
  if (traffic != nullptr && traffic->saturation) {
    json.Object([&] { WriteLoad(json, *traffic); });
  } else {
    json.Null();
  }
  if (const PacketCounters* counters = CountersOf(result); counters != nullptr) {
    WriteCounters(json, *counters);
    return;
  }
  for (const char* key :
       {"drops", "fault_drops", "pauses", "pause_repeats", "pause_expiries", "ecn_marks", "trims",
        "retransmissions", "timeouts", "credit_stalls", "packets", "link_hops"}) {
    json.NullField(key);
  }
}

}  // namespace trunkline
