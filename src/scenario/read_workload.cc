#include "scenario/reader.h"

namespace trunkline {
namespace {

// Not every engine runs every workload.
void CheckTraffic(const YamlMap& root, const Scenario& scenario) {
  const auto engine = root.Find("engine");
  if (!engine) return;  // flow runs all
  if (scenario.engine == EngineKind::kAnalytic) {
    engine->Error("TL1212", "there is no closed form for arbitrary traffic",
                  "engine: flow or packet");
  }
  // Beside other work, messages are those of programs, as of a trace.
  if (scenario.engine != EngineKind::kPacket || root.Has("jobs") || root.Has("background")) return;
  const auto cluster = root.Map("cluster");
  if (const auto transport = cluster ? cluster->Find("transport") : std::nullopt) {
    if (const auto map = transport->is_map() ? transport->AsMap() : std::nullopt) {
      map->Refuse("queue_pairs", "TL1207", "each message of traffic has one queue pair",
                  "remove the key; nothing would read it");
    }
  }
  const auto& fabric = scenario.cluster.fabric;
  if (fabric && fabric->node.gpus > 0) {
    root.Find("cluster")->Error("TL1212",
                                "the packet engine runs traffic between plain hosts only, so far",
                                "leave cluster.node out: an endpoint is then a host of one NIC");
  }
}

}  // namespace

void ReadWorkload(const std::string& file, const YamlMap& root, const YamlValue& workload,
                  const Room& room, Scenario& scenario) {
  const auto map = workload.AsMap();
  if (!map) return;
  const auto training = map->Find("training");
  const auto collective = map->Find("collective");
  const auto trace = map->Find("trace");
  const auto traffic = map->Find("traffic");
  if (traffic) CheckTraffic(root, scenario);
  if (int{training.has_value()} + int{collective.has_value()} + int{trace.has_value()} +
          int{traffic.has_value()} >
      1) {
    workload.Error("TL1203", "several workloads in one",
                   "keep one of training, collective, traffic and trace; several go into `jobs`");
    // Which keys are wrong depends on which is kept: none is reported.
    if (collective && collective->is_map()) (void)collective->AsMap()->Entries();
  } else if (traffic) {
    ReadTraffic(file, *traffic, room.endpoints, scenario);
  } else if (trace) {
    ReadTrace(file, *trace, room.endpoints, scenario);
  } else if (training) {
    ReadTraining(file, root, *training, room, scenario);
  } else if (collective) {
    ReadCollective(*collective, room.endpoints, scenario);
  } else {
    workload.Error("TL1203", "no workload",
                   "add `training:`, `collective:`, `traffic:` or `trace:`");
  }
}

}  // namespace trunkline
