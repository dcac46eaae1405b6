#include <fmt/format.h>

#include "scenario/reader.h"

namespace trunkline {

// `true`, or what differs from the default.
void ReadFastForward(const YamlMap& packet, Scenario& scenario) {
  constexpr RealRange kTolerance = {.min = 0.001, .max = 0.1};
  const auto value = packet.Find("fast_forward");
  if (!value) return;
  FastForwarding fast_forward;
  bool on = true;
  if (!value->is_map()) {
    value->Read(on);
  } else if (const auto map = value->AsMap()) {
    map->Read("tolerance", fast_forward.tolerance, kTolerance);
  }
  if (on) scenario.fast_forward = fast_forward;
}

void CheckFastForward(const YamlMap& root, const Scenario& scenario) {
  if (!scenario.fast_forward) return;
  const YamlMap packet = *root.Map("packet");
  const YamlValue value = *packet.Find("fast_forward");
  const bool alone =
      scenario.jobs.empty() && std::holds_alternative<TrafficInput>(scenario.workload);
  if (scenario.engine != EngineKind::kPacket) {
    value.Warn("TL1210",
               fmt::format("the {} engine does not read 'fast_forward'", ToString(scenario.engine)),
               alone ? "run it with engine: packet"
                     : "remove it: packets are skipped of traffic alone, which has the fabric to "
                       "itself");
  } else if (!alone) {
    value.Error("TL1217", "only traffic that has the fabric to itself is run with 'fast_forward'",
                "remove it: messages of steps and collectives begin and end all the time");
  } else if (scenario.cluster.packet_transport.policy.needs_telemetry) {
    // Windows of some round trips agree while shares drift for hundreds (its additive step is small
    // against its window): completions were measured 16 times as far off as the bound says.
    value.Error("TL1217",
                fmt::format("flows under {} drift towards their shares too slowly for what is seen "
                            "of them to tell what will be",
                            scenario.cluster.packet_transport.policy.name),
                "remove it, or choose another congestion control");
  } else if (scenario.sampling) {
    value.Error("TL1217", "samples of time that is skipped",
                "remove either: packet.sample or this");
  }
}

}  // namespace trunkline
