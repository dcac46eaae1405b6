#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/yaml_reader.h"
#include "trunkline/fabric/build.h"
#include "trunkline/scenario/scenario.h"
#include "trunkline/training/plan.h"

// The parts of a scenario's reader, one file each. All note their problems in the document.
namespace trunkline {

[[nodiscard]] inline Origin OriginOf(const YamlValue& value) {
  return {value.where(), value.excerpt()};
}

// Remembers a rate that is given, should nothing ever come to an end: networks of the last decades
// carry more than 1 Mb/s.
void NoteRate(const Origin& origin, Rate rate, Scenario& scenario);

// Refuses a key of the contract that no model reads yet. TL1202.
void RefuseReserved(const YamlMap& map, std::string_view key, const std::string& what);

// The file that `name`, a word of the scenario `file`, names: sought beside the scenario when it is
// written there; when it comes from the command line, in the working directory, as the shell would,
// and then beside the scenario. Nothing, with a diagnostic, where there is none. TL1101.
[[nodiscard]] std::optional<std::string> FindFile(const std::string& file, const YamlValue& name);

// `file` is the scenario's path.
void ReadCluster(const std::string& file, const YamlMap& cluster, FabricSpec& fabric,
                 Scenario& scenario);
// `placement` of the cluster or a job, which is not looked at without a fabric.
void ReadPlacement(const std::string& file, const YamlMap& map, const BuiltFabric* fabric,
                   PlacementSpec& placement);
// `faults`: those from the start into `spec`, the others into the scenario.
void ReadFaults(const YamlMap& root, FabricSpec& spec, Scenario& scenario);
// What only the packet engine reads of `cluster`: the inside of switches, and what the ends do
// about loss and congestion. REQUIRES: the rest has been read.
void ReadPackets(const YamlValue& cluster, Scenario& scenario);
// Of a host's or NIC's link into the network; the fastest where they differ.
[[nodiscard]] Rate HostRate(const Fabric& fabric);
// `packet.window`. REQUIRES: the engine has been read.
void ReadWindow(const YamlMap& packet, Scenario& scenario);
// Whether the workload has such a window. REQUIRES: it has been read.
void CheckWindow(const YamlMap& root, const Scenario& scenario);
// `packet.fast_forward`; the second once the workload is known.
void ReadFastForward(const YamlMap& packet, Scenario& scenario);
void CheckFastForward(const YamlMap& root, const Scenario& scenario);
inline constexpr std::int64_t kMostRanks = 10'000'000;  // of a collective

// Where a workload may be placed.
struct Room {
  std::int64_t endpoints = 0;  // 0: the cluster could not be built
  bool all = true;             // a training step has to use them all
  NodeNumbers nodes = {};      // other sizes of it
};
// `workload` of the scenario or a job, into scenario.workload.
void ReadWorkload(const std::string& file, const YamlMap& root, const YamlValue& workload,
                  const Room& room, Scenario& scenario);
void ReadTraining(const std::string& file, const YamlMap& root, const YamlValue& training,
                  const Room& room, Scenario& scenario);
void ReadCollective(const YamlValue& collective, std::int64_t endpoints, Scenario& scenario);
void ReadTrace(const std::string& file, const YamlValue& trace, std::int64_t endpoints,
               Scenario& scenario);
void ReadTraffic(const std::string& file, const YamlValue& traffic, std::int64_t endpoints,
                 Scenario& scenario);
// A job of traffic that comes in time, with any load.
[[nodiscard]] TrafficJob ReadBackgroundTraffic(const std::string& file, const YamlMap& map,
                                               const Scenario& scenario);
// `jobs`, and `background` beside them or the workload. REQUIRES: the rest has been read.
void ReadJobs(const std::string& file, const YamlMap& root, Scenario& scenario);
void ReadBackground(const std::string& file, const YamlMap& root, Scenario& scenario);

}  // namespace trunkline
