#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "base/yaml_reader.h"
#include "cli/fabric_verbs.h"
#include "trunkline/fabric/import.h"

namespace trunkline {
namespace {

Result<FabricSubject> SubjectOf(BuiltFabric built, const FabricSpec& spec) {
  const RoutingPolicy routing = spec.routing.value_or(RoutingPolicy::kAdaptive);
  Diagnostics problems = CheckRouting(built.fabric, routing);
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return FabricSubject{.built = std::make_shared<const BuiltFabric>(std::move(built)),
                       .routing = routing,
                       .routing_parameters = spec.routing_parameters};
}

// The ports of a switch, the most of a list, as the spec or else its kind says; 0 where neither
// does.
std::uint32_t RadixOf(const FabricSpec& spec) {
  std::int64_t radix = 0;
  for (const FabricKind& kind : FabricKinds()) {
    for (const FabricKey& key : kind.keys) {
      if (kind.name != spec.kind || (key.name != "radix" && key.name != "k")) continue;
      const auto given = spec.values.find(key.name);
      if (given == spec.values.end()) {
        std::from_chars(key.fallback.data(), key.fallback.data() + key.fallback.size(), radix);
      } else if (const auto* one = std::get_if<std::int64_t>(&given->second.value)) {
        radix = *one;
      } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&given->second.value)) {
        radix = std::ranges::max(*list);
      }
    }
  }
  return static_cast<std::uint32_t>(radix);
}

// Problems of a fabric as a whole are those of what its kind is given, or of the kind.
Diagnostics PlaceIn(const std::string& spec, Diagnostics problems) {
  const std::size_t keys = spec.find(':') + 1;
  for (Diagnostic& problem : problems) {
    if (!problem.where.file.empty()) continue;
    problem.where = {spec, 1, static_cast<int>(keys < spec.size() ? keys : 0) + 1};
    problem.excerpt = spec;
  }
  return problems;
}

Result<FabricSubject> OfSpec(const std::string& text, const std::vector<Assignment>& assignments) {
  if (!assignments.empty()) {
    const std::string with = fmt::format("{},{}", text, assignments.front().text);
    return Error("TL1002", "--set changes a scenario or how a file is read, and this is neither",
                 ParseFabricSpec(with)
                     ? "write the key into the spec: " + with
                     : fmt::format("a spec has no such key; one of a scenario needs a scenario: "
                                   "--set cluster.{}",
                                   assignments.front().text));
  }
  const auto spec = ParseFabricSpec(text);
  if (!spec) return std::unexpected(PlaceIn(text, spec.error()));
  auto built = BuildFabric(*spec);
  if (!built) return std::unexpected(PlaceIn(text, built.error()));
  auto subject = SubjectOf(*std::move(built), *spec);
  if (!subject) return std::unexpected(PlaceIn(text, subject.error()));
  subject->radix = RadixOf(*spec);
  return subject;
}

// A scenario has one of these keys, in YAML or JSON.
bool LooksLikeScenario(std::string_view text) {
  return std::ranges::any_of(std::array{"cluster:", "workload:", "\"cluster\"", "\"workload\""},
                             [&](const char* key) { return text.find(key) != text.npos; });
}

// Reads the file's text again without a kind of server where that leaves more servers.
Result<void> KeepAllServers(const std::string& text, const std::string& path, ImportOptions options,
                            ImportedFabric& imported) {
  const std::string node = std::exchange(options.node, "");
  if (node.empty()) return {};
  auto all = ImportFabric(text, path, options);
  if (!all) return std::unexpected(all.error());
  if (all->built.fabric.node_count() <= imported.built.fabric.node_count()) return {};
  all->built.notes.push_back(
      fmt::format("not every server has the NICs of a {}: each NIC counts as a rank, so that none "
                  "is set aside",
                  node));
  imported = *std::move(all);
  return {};
}

Result<FabricSubject> OfFile(const std::string& path, const std::vector<Assignment>& assignments,
                             bool all_servers) {
  const auto text = ReadTextFile(path, kMostFabricFileBytes);
  if (!text) return std::unexpected(text.error());
  const bool says_format = std::ranges::any_of(assignments, [](const Assignment& assignment) {
    return assignment.text.starts_with("format=");
  });
  if (!says_format && RecogniseFabric(*text).empty() && LooksLikeScenario(*text)) {
    const auto scenario = ParseScenario(*text, path, assignments);
    if (!scenario) return std::unexpected(scenario.error());
    return FabricSubject{.built = scenario->cluster.fabric,
                         .routing = scenario->cluster.routing,
                         .routing_parameters = scenario->cluster.routing_parameters};
  }
  std::vector<std::string> keys;
  for (const Assignment& assignment : assignments) keys.push_back(assignment.text);
  const auto spec = ParseFabricFileSpec(path, keys);
  if (!spec) return std::unexpected(spec.error());
  auto imported = ImportFabric(*text, path, OptionsOf(*spec));
  if (!imported) return std::unexpected(imported.error());
  if (all_servers) {
    if (auto kept = KeepAllServers(*text, path, OptionsOf(*spec), *imported); !kept) {
      return std::unexpected(kept.error());
    }
  }
  auto subject = SubjectOf(std::move(imported->built), *spec);
  if (subject) subject->port_of_link = std::move(imported->port_of_link);
  return subject;
}

Result<FabricSubject> Load(const std::string& spec, const std::vector<Assignment>& assignments,
                           bool all_servers) {
  if (LooksLikeFabricSpec(spec)) return OfSpec(spec, assignments);
  return OfFile(spec == "-" ? "/dev/stdin" : spec, assignments, all_servers);
}

}  // namespace

Result<FabricSubject> LoadFabric(const std::string& spec,
                                 const std::vector<Assignment>& assignments) {
  return Load(spec, assignments, false);
}

Result<FabricSubject> LoadAllServers(const std::string& spec,
                                     const std::vector<Assignment>& assignments) {
  return Load(spec, assignments, true);
}

Result<std::uint32_t> CountOption(const FabricCommand& command, const std::string& flag,
                                  const std::string& otherwise) {
  const std::string text = OptionOr(command, flag, otherwise);
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc() && end == text.data() + text.size() && count > 0) return count;
  return Error("TL1002",
               fmt::format("{} {}: not a whole number from 1 to {}", flag, text, UINT32_MAX),
               fmt::format("write {} 64, say", flag));
}

}  // namespace trunkline
