#include <fmt/format.h>

#include <charconv>

#include "scenario/reader.h"

namespace trunkline {
namespace {

void ReadTimes(const YamlValue& value, WindowSpec& window) {
  const auto list = value.AsList();
  if (!list) return;
  Time from;
  Time until;
  if (list->size() != 2) {
    value.Error("TL1213", "a window of time has a beginning and an end",
                "write time: [1.2 s, 1.25 s]");
  } else if ((*list)[0].Read(from) && (*list)[1].Read(until)) {
    if (from >= until) {
      value.Error(
          "TL1213",
          fmt::format("the window from {} to {} is empty", (*list)[0].text(), (*list)[1].text()),
          "write the earlier time first");
    }
    window.time = {from, until};
  }
}

void ReadLayers(const YamlValue& value, WindowSpec& window) {
  std::vector<std::int64_t> layers;
  if (!value.Read(layers, IntRange{.min = 0, .max = 1'000'000})) return;
  if (layers.size() != 2 || layers[0] > layers[1]) {
    value.Error("TL1213", "layers are given by the first and the last, counted from 0",
                "write layers: [0, 0] for the first layer");
    return;
  }
  window.layers = {static_cast<std::uint32_t>(layers[0]), static_cast<std::uint32_t>(layers[1])};
}

// "dp reduce_scatter", or "dp reduce_scatter#3" for the third.
void ReadName(const YamlValue& value, WindowSpec& window) {
  WindowSpec::Name name{.label = {}, .where = value.where(), .excerpt = value.excerpt()};
  if (!value.Read(name.label)) return;
  const std::size_t mark = name.label.find('#');
  if (mark != std::string::npos) {
    const char* begin = name.label.data() + mark + 1;
    const char* end = name.label.data() + name.label.size();
    const auto [stop, error] = std::from_chars(begin, end, name.execution);
    if (error != std::errc() || stop != end || name.execution == 0) {
      value.Error(
          "TL1213",
          fmt::format("'{}' is not the number of an execution", name.label.substr(mark + 1)),
          "write a whole number from 1 on, as in 'dp reduce_scatter#3'");
      return;
    }
    name.label.resize(mark);
  }
  window.collectives.push_back(std::move(name));
}

}  // namespace

void ReadWindow(const YamlMap& packet, Scenario& scenario) {
  const auto value = packet.Find("window");
  const auto map = value ? value->AsMap() : std::nullopt;
  if (!map) return;
  WindowSpec window;
  window.where = value->where();
  window.excerpt = value->excerpt();
  const auto time = map->Find("time");
  const auto layers = map->Find("layers");
  const auto collectives = map->Find("collectives");
  if (int{time.has_value()} + int{layers.has_value()} + int{collectives.has_value()} != 1) {
    value->Error("TL1213", "a window is one of time, layers and collectives",
                 "write window: {layers: [0, 0]}, say");
  } else if (scenario.engine != EngineKind::kFlow) {
    value->Error("TL1213",
                 fmt::format("a window is a part of a run in flows, and engine is {}",
                             ToString(scenario.engine)),
                 scenario.engine == EngineKind::kPacket
                     ? "engine: flow, or remove the window: everything runs as packets"
                     : "engine: flow");
  } else if (time) {
    ReadTimes(*time, window);
  } else if (layers) {
    ReadLayers(*layers, window);
  } else if (const auto names = collectives->AsList()) {
    if (names->empty()) {
      collectives->Error("TL1213", "a window of no collectives",
                         "name one, as in ['dp reduce_scatter#1']");
    }
    for (const YamlValue& name : *names) ReadName(name, window);
  }
  scenario.window = std::move(window);
}

void CheckWindow(const YamlMap& root, const Scenario& scenario) {
  if (!scenario.window) return;
  const YamlValue value = *root.Map("packet")->Find("window");
  if (const auto* job = std::get_if<TrainingJob>(&scenario.workload)) {
    const auto& layers = scenario.window->layers;
    if (layers && layers->last >= job->model.layers && job->model.layers > 0) {
      value.Error(
          "TL1213", fmt::format("layer {} of a model of {}", layers->last, job->model.layers),
          fmt::format("layers are counted from 0: write at most {}", job->model.layers - 1));
    }
  } else if (!std::holds_alternative<TraceJob>(scenario.workload)) {
    value.Error("TL1213", "a window is a part of a training step or a trace",
                "remove it; engine: packet runs collectives and traffic whole");
  } else if (!scenario.window->time) {
    value.Error("TL1213", "a trace has neither layers nor collectives",
                "write window: {time: [0 s, 1 ms]}");
  }
}

}  // namespace trunkline
