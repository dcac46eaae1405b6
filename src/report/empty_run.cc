#include "report/empty_run.h"

namespace trunkline {

void WriteEmptyRun(JsonWriter& json, std::span<const std::string> assumptions) {
  json.Field("schema", "trunkline.fabric/1");
  json.Field("status", "finished");
  for (const char* key : {"engine", "seed", "time_s", "bound_s", "events"}) json.NullField(key);
  json.Key("assumptions");
  json.Values(assumptions);
  json.Key("warnings");
  json.BeginArray();
  json.EndArray();
}

}  // namespace trunkline
