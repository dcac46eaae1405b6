#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/console.h"
#include "trunkline/fabric/analysis.h"
#include "trunkline/report/fabric_report.h"

namespace trunkline {
namespace {

struct Subject {
  std::shared_ptr<const BuiltFabric> built;
  RoutingPolicy routing = RoutingPolicy::kAdaptive;
};

// The fabric of `kind:key=value,…` or of a scenario file.
Result<Subject> Load(const std::string& spec, const std::vector<Assignment>& assignments) {
  if (LooksLikeFabricSpec(spec)) {
    if (!assignments.empty()) {
      return Error("TL1002", "--set changes a scenario, and this is none",
                   fmt::format("write the key into the spec: {},key=value", spec));
    }
    const auto parsed = ParseFabricSpec(spec);
    if (!parsed) return std::unexpected(parsed.error());
    auto built = BuildFabric(*parsed);
    if (!built) return std::unexpected(built.error());
    return Subject{std::make_shared<const BuiltFabric>(std::move(*built)),
                   parsed->routing.value_or(RoutingPolicy::kAdaptive)};
  }
  const auto scenario = ReadScenario(spec, assignments);
  if (!scenario) return std::unexpected(scenario.error());
  return Subject{scenario->cluster.fabric, scenario->cluster.routing};
}

int Show(const Subject& subject, bool json) {
  const FabricAnalysis analysis = Analyse(*subject.built);
  PrintResult(json ? RenderFabricJson(*subject.built, analysis)
                   : RenderFabricText(*subject.built, analysis));
  return kExitDone;
}

int Path(const Subject& subject, const std::string& from, const std::string& to, bool json) {
  const auto paths = ComparePaths(subject.built->fabric, subject.routing, from, to);
  if (!paths) {
    PrintDiagnostics(paths.error());
    return kExitUsage;
  }
  PrintResult(json ? RenderPathJson(*paths) : RenderPathText(*paths));
  return kExitDone;
}

int Compare(const std::vector<std::string>& specs, const std::vector<Subject>& subjects,
            bool json) {
  std::string text =
      fmt::format("{:>8} {:>8} {:>9} {:>9} {:>8} {:>16} {:>9} {:>10}  {}\n", "nodes", "NICs",
                  "switches", "cables", "oversub", "bisection", "diameter", "mean hops", "fabric");
  std::string documents;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const FabricAnalysis analysis = Analyse(*subjects[i].built);
    std::uint64_t switches = 0;
    for (const TierSummary& tier : analysis.counts.tiers) switches += tier.switches;
    text += fmt::format("{:>8} {:>8} {:>9} {:>9} {:>8.4g} {:>16} {:>9} {:>10.4g}  {}\n",
                        analysis.counts.nodes, analysis.counts.nics, switches,
                        analysis.counts.host_cables + analysis.counts.switch_cables,
                        analysis.counts.oversubscription, Humanize(analysis.bisection.lower),
                        analysis.hops.diameter_switches, analysis.hops.mean_switches, specs[i]);
    documents += (i > 0 ? ",\n" : "") + RenderFabricJson(*subjects[i].built, analysis);
  }
  PrintResult(json ? "{\"fabrics\": [\n" + documents + "]}\n"
                   : text + "Bisection: the lower bound. Hops count switches.\n");
  return kExitDone;
}

int Refuse(const std::string& message, const std::string& hint) {
  PrintDiagnostics(Error("TL1002", message, hint).error());
  return kExitUsage;
}

// What follows the verb: so many specs, so many other words.
struct Shape {
  const char* verb;
  std::size_t least;
  std::size_t most;
  const char* usage;
};
constexpr std::array kVerbs = {
    Shape{"show", 1, 1, "trunkline fabric [show] SPEC"},
    Shape{"analyse", 1, 1, "trunkline fabric analyse SPEC"},
    Shape{"path", 3, 3, "trunkline fabric path SPEC gpu:0/3 gpu:17/5"},
    Shape{"compare", 2, 16, "trunkline fabric compare SPEC SPEC…"},
};

}  // namespace

int Execute(const FabricCommand& command) {
  std::vector<std::string> words = command.arguments;
  auto shape = std::ranges::find_if(
      kVerbs, [&](const Shape& candidate) { return words.front() == candidate.verb; });
  if (shape != kVerbs.end()) {
    words.erase(words.begin());
  } else if (words.size() > 1 && !LooksLikeFabricSpec(words.front()) &&
             !std::filesystem::exists(words.front())) {
    std::vector<std::string> verbs;
    for (const Shape& known : kVerbs) verbs.emplace_back(known.verb);
    const std::string match = ClosestMatch(words.front(), verbs);
    return Refuse(fmt::format("'{}' is neither a verb nor a fabric", words.front()),
                  match.empty() ? fmt::format("the verbs are {}", fmt::join(verbs, ", "))
                                : fmt::format("did you mean '{}'?", match));
  } else {
    shape = kVerbs.begin();
  }
  if (words.size() < shape->least || words.size() > shape->most) {
    return Refuse(
        fmt::format("`fabric {}` cannot be read with {} words after it", shape->verb, words.size()),
        shape->usage);
  }
  const std::string verb = shape->verb;
  const std::size_t specs = verb == "compare" ? words.size() : 1;
  std::vector<Subject> subjects;
  for (std::size_t i = 0; i < specs; ++i) {
    auto subject = Load(words[i], command.assignments);
    if (!subject) {
      PrintDiagnostics(subject.error());
      return kExitUsage;
    }
    subjects.push_back(std::move(*subject));
  }
  if (verb == "path") return Path(subjects.front(), words[1], words[2], command.json);
  if (verb == "compare") return Compare(words, subjects, command.json);
  return Show(subjects.front(), command.json);
}

}  // namespace trunkline
