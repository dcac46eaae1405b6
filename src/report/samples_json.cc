#include "report/samples_json.h"

#include "trunkline/engine/packet_samples.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/report/report.h"

namespace trunkline {
namespace {

void WriteEnds(JsonWriter& json, const Fabric& fabric, LinkId id) {
  const Link& link = fabric.link(id);
  json.Field("from", fabric.name(link.from));
  json.Field("to", fabric.name(link.to));
}

template <typename Values>
void WriteSeries(JsonWriter& json, const char* key, const Values& values) {
  json.Key(key);
  json.Values(values);
}

}  // namespace

void WriteSamples(JsonWriter& json, const RunResult& result) {
  const PacketSamples& samples = *result.samples;
  json.BeginObject();
  json.Key("file");
  if (result.samples_file.empty()) {
    json.Null();
  } else {
    json.Value(result.samples_file);
  }
  json.Field("every_s", samples.every);
  json.Field("count", samples.taken);
  json.Field("width_s", samples.width);
  json.Field("intervals", static_cast<std::uint64_t>(samples.intervals));
  json.EndObject();
}

std::string SeriesJson(const RunResult& result) {
  const PacketSamples& samples = *result.samples;
  JsonWriter json;
  json.BeginObject();
  json.Field("width_s", samples.width);
  json.Field("intervals", static_cast<std::uint64_t>(samples.intervals));
  json.Key("links");
  json.Objects(samples.links, [&](const PacketSamples::Link& series) {
    WriteEnds(json, *result.fabric, series.link);
    json.Field("rate_Bps", result.fabric->link(series.link).rate.bytes_per_second());
    WriteSeries(json, "bytes", series.wire_bytes);
    WriteSeries(json, "peak_queue_bytes", series.peak_queue_bytes);
    WriteSeries(json, "pauses", series.pauses);
  });
  json.Key("flows");
  json.Objects(samples.flows, [&](const PacketSamples::Flow& series) {
    json.Field("flow", series.flow);
    WriteSeries(json, "delivered_bytes", series.delivered_bytes);
  });
  json.EndObject();
  return std::move(json).Take();
}

std::string RenderSample(const PacketSample& sample, const Fabric& fabric) {
  JsonWriter json;
  json.BeginObject();
  json.Field("from_s", sample.from);
  json.Field("until_s", sample.until);
  json.Key("links");
  json.Objects(sample.links, [&](const PacketSample::Link& link) {
    WriteEnds(json, fabric, link.link);
    json.Field("bytes", link.wire_bytes);
    json.Field("peak_queue_bytes", link.peak_queue_bytes);
    json.Field("pauses", link.pauses);
  });
  json.Key("flows");
  json.Objects(sample.flows, [&](const PacketSample::Flow& flow) {
    json.Field("flow", flow.flow);
    json.Field("delivered_bytes", flow.delivered_bytes);
  });
  json.EndObject();
  return std::move(json).Take() + "\n";
}

}  // namespace trunkline
