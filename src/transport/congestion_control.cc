#include "trunkline/transport/congestion_control.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/embedded_yaml.h"
#include "transport/congestion_control/registry.h"
#include "trunkline/base/check.h"

namespace trunkline {

// Generated from data/congestion.
extern const EmbeddedTable k_trunkline_transport_data_congestion;

namespace {

constexpr std::string_view kFolder = "congestion/";
constexpr Rate kCatalogueRate = Rate::GigabitsPerSecond(100);

// A file of data/congestion, with the numbers that it gives for one line rate.
struct Preset {
  std::string policy;
  std::string source;
  std::vector<CongestionOverride> values;
  CongestionControl network;  // all but policy and parameters
};

void ReadValues(const YamlMap& root, const char* key, double factor, Preset& preset) {
  const auto map = root.Map(key);
  if (!map) return;
  for (const auto& [name, value] : map->Entries()) {
    double number = 0;
    TL_CHECK(value.Read(number), "a preset's value is no number", name);
    preset.values.push_back({name, number * factor});
  }
}

void ReadMarking(const YamlMap& root, Rate at_rate, Preset& preset) {
  const auto map = root.Map("marking");
  if (!map) return;
  MarkingCurve curve;
  bool scaled = false;
  map->Require("low", curve.low);
  map->Require("high", curve.high);
  map->Require("most", curve.most);
  map->Read("scaled", scaled);
  map->Read("roots_only", curve.roots_only);
  map->Read("smallest", curve.smallest);
  if (scaled) curve.at_rate = at_rate;
  preset.network.marking = curve;
}

Preset ReadPreset(std::string_view name, Rate line_rate) {
  YamlDocument document = OpenEmbedded(k_trunkline_transport_data_congestion,
                                       fmt::format("{}{}{}", kFolder, name, kYaml));
  const YamlMap root = document.root();
  Preset preset;
  root.Require("policy", preset.policy);
  root.Require("source", preset.source);
  // Values under `scaled` are meant for links of this rate and grow with it.
  Rate at_rate;
  if (!root.Read("at_rate", at_rate)) at_rate = line_rate;
  ReadValues(root, "values", 1, preset);
  ReadValues(root, "scaled", line_rate.bytes_per_second() / at_rate.bytes_per_second(), preset);
  ReadMarking(root, at_rate, preset);
  root.Read("notification_interval", preset.network.notification_interval);
  root.Read("ack_every", preset.network.ack_every, {.min = 1, .max = 1024});
  root.Read("header", preset.network.header);
  root.Read("path_selection", preset.network.path_selection,
            Words<PathSelection>{{"oblivious", PathSelection::kOblivious},
                                 {"mixed", PathSelection::kMixed}});
  root.Read("window_rule", preset.network.window_rule,
            Words<WindowRule>{{"fits", WindowRule::kFits}, {"not_full", WindowRule::kNotFull}});
  CloseEmbedded(document);
  preset.network.preset = name;
  return preset;
}

// The policy that a preset's file names, without reading all of it: whoever wants one preset should
// not pay for the others.
std::string_view PolicyOf(const EmbeddedFile& file) {
  constexpr std::string_view kKey = "\npolicy: ";
  const std::string_view text = file.text();
  const std::size_t at = text.find(kKey);
  TL_CHECK(at != text.npos, "a preset without a policy", file.name);
  const std::string_view rest = text.substr(at + kKey.size());
  return rest.substr(0, rest.find('\n'));
}

// The default preset of a policy first, then the others by name.
std::vector<std::string> PresetsOf(std::string_view policy, std::string_view first) {
  std::vector<std::string> presets;
  for (const EmbeddedFile& file : k_trunkline_transport_data_congestion.files) {
    if (PolicyOf(file) == policy) presets.push_back(file.stem());
  }
  std::ranges::sort(presets, {},
                    [&](const std::string& name) { return std::pair(name != first, name); });
  TL_CHECK(first.empty() == presets.empty() && (first.empty() || presets[0] == first),
           "a policy without its default preset", policy);
  return presets;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& known) {
  const std::string match = ClosestMatch(word, known);
  return match.empty()
             ? fmt::format("one of {}", fmt::join(known, ", "))
             : fmt::format("did you mean '{}'? (choices: {})", match, fmt::join(known, ", "));
}

Diagnostic Problem(std::string code, std::string message, std::string hint) {
  Diagnostic problem;
  problem.code = std::move(code);
  problem.message = std::move(message);
  problem.hint = std::move(hint);
  return problem;
}

template <typename Policy>
CongestionParameters Describe(const typename Policy::Parameters& values) {
  CongestionParameters out;
  for (const auto& spec : Policy::kParameters) {
    out.push_back({.name = spec.name,
                   .unit = spec.unit,
                   .meaning = spec.meaning,
                   .value = values.*spec.field,
                   .low = spec.low,
                   .high = spec.high});
  }
  return out;
}

// Sets one parameter by name; nothing, or why not.
template <typename Policy>
std::optional<Diagnostic> Set(const CongestionOverride& wanted,
                              typename Policy::Parameters& values) {
  std::vector<std::string> names;
  for (const auto& spec : Policy::kParameters) {
    names.emplace_back(spec.name);
    if (wanted.name != spec.name) continue;
    if (!(wanted.value >= spec.low && wanted.value <= spec.high)) {
      return Problem("TL1823",
                     fmt::format("{} of {} is {}, not within {} to {}", spec.name, Policy::kName,
                                 wanted.value, spec.low, spec.high),
                     fmt::format("{}, in {}", spec.meaning, spec.unit));
    }
    values.*spec.field = wanted.value;
    return std::nullopt;
  }
  return Problem(
      "TL1822",
      fmt::format("congestion control {} has no parameter '{}'", Policy::kName, wanted.name),
      DidYouMean(wanted.name, names));
}

template <typename Policy>
Result<CongestionControl> Make(std::string_view preset_name,
                               std::span<const CongestionOverride> overrides, Rate line_rate) {
  typename Policy::Parameters values;
  Preset preset;
  Diagnostics problems;
  if (!preset_name.empty()) preset = ReadPreset(preset_name, line_rate);
  for (const CongestionOverride& value : preset.values) {
    // A preset scaled to a very slow or fast link may leave the range: the user's to mend.
    if (std::ranges::count(overrides, value.name, &CongestionOverride::name) != 0) continue;
    if (const auto problem = Set<Policy>(value, values)) problems.push_back(*problem);
  }
  for (const CongestionOverride& value : overrides) {
    if (const auto problem = Set<Policy>(value, values)) problems.push_back(*problem);
  }
  if constexpr (requires { Policy::Contradiction(values); }) {
    if (const std::string why = Policy::Contradiction(values); !why.empty()) {
      problems.push_back(
          Problem("TL1823", fmt::format("{}: {}", Policy::kName, why), "change one of the two"));
    }
  }
  if (!problems.empty()) return std::unexpected(problems);
  CongestionControl control = std::move(preset.network);
  control.policy = congestion::TableOf<Policy>(values);
  control.parameters = std::make_shared<const typename Policy::Parameters>(values);
  control.values = Describe<Policy>(values);
  return control;
}

template <typename Policy>
CongestionPolicyInfo Info() {
  CongestionPolicyInfo info{
      .name = Policy::kName, .summary = Policy::kSummary, .parameters = {}, .presets = {}};
  for (const std::string& name : PresetsOf(Policy::kName, Policy::kDefaultPreset)) {
    Preset preset = ReadPreset(name, kCatalogueRate);
    TL_CHECK(preset.policy == Policy::kName, "a preset of another policy", name);
    info.presets.push_back({name, std::move(preset.source)});
  }
  auto made = Make<Policy>(Policy::kDefaultPreset, {}, kCatalogueRate);
  TL_CHECK(made.has_value(), "a default preset that does not work", info.name);
  info.parameters = std::move(made->values);
  return info;
}

// One of the type list, for those who know its name only.
struct Entry {
  std::string_view name;
  std::string_view default_preset;
  CongestionPolicyInfo (*info)();
  Result<CongestionControl> (*make)(std::string_view, std::span<const CongestionOverride>, Rate);
};

template <typename List>
struct Registry;
template <typename... Policies>
struct Registry<std::tuple<Policies...>> {
  static constexpr std::array kEntries = {
      Entry{Policies::kName, Policies::kDefaultPreset, &Info<Policies>, &Make<Policies>}...};
};
constexpr auto& kEntries = Registry<congestion::Policies>::kEntries;

}  // namespace

const std::vector<CongestionPolicyInfo>& CongestionPolicies() {
  static const std::vector<CongestionPolicyInfo> infos = [] {
    std::vector<CongestionPolicyInfo> all;
    for (const Entry& entry : kEntries) all.push_back(entry.info());
    return all;
  }();
  return infos;
}

Result<CongestionControl> MakeCongestionControl(std::string_view name, std::string_view preset,
                                                std::span<const CongestionOverride> overrides,
                                                Rate line_rate) {
  const auto found = std::ranges::find(kEntries, name, &Entry::name);
  if (found == kEntries.end()) {
    std::vector<std::string> names;
    for (const Entry& entry : kEntries) names.emplace_back(entry.name);
    return Error("TL1820", fmt::format("there is no congestion control '{}'", name),
                 DidYouMean(name, names));
  }
  if (preset.empty() || preset == found->default_preset) {
    return found->make(found->default_preset, overrides, line_rate);
  }
  const std::vector<std::string> presets = PresetsOf(name, found->default_preset);
  if (std::ranges::count(presets, preset) == 0) {
    return Error("TL1821", fmt::format("congestion control {} has no preset '{}'", name, preset),
                 presets.empty() ? "it has none at all" : DidYouMean(preset, presets));
  }
  return found->make(preset, overrides, line_rate);
}

}  // namespace trunkline
