#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/fabric_verbs.h"

namespace trunkline {
namespace {

struct Verb {
  const char* name;
  std::size_t least;  // words after it
  std::size_t most;
  const char* usage;
  int (*run)(const FabricCommand& command, std::span<const std::string> words);
  std::array<std::string_view, 8> options = {};  // of kFabricOptions
};
constexpr std::array kVerbs = {
    Verb{"show", 1, 1, "trunkline fabric [show] SPEC", FabricShow},
    Verb{"analyse", 1, 1, "trunkline fabric analyse SPEC", FabricAnalyse},
    Verb{"path", 3, 3, "trunkline fabric path SPEC gpu:0/3 gpu:17/5", FabricPath},
    Verb{"cost",
         1,
         1,
         "trunkline fabric cost SPEC --prices FILE --grow 16384",
         FabricBill,
         {"--prices", "--grow", "--out"}},
    Verb{"check", 1, 1, "trunkline fabric check SPEC --expect SPEC", FabricCheckVerb, {"--expect"}},
    Verb{"import", 1, 1, "trunkline fabric import FILE", FabricImport},
    Verb{
        "export", 1, 1, "trunkline fabric export SPEC --format FORMAT", FabricExport, {"--format"}},
    Verb{"advise",
         0,
         0,
         "trunkline fabric advise --gpus 2048 --node dgx-h100 --radix 64 --budget 50M",
         FabricAdvise,
         {"--gpus", "--node", "--radix", "--budget", "--mix", "--scenario", "--prices"}},
    Verb{"compare",
         2,
         16,
         "trunkline fabric compare SPEC SPEC… --prices FILE",
         FabricCompare,
         {"--prices"}},
};

int Refuse(const char* code, const std::string& message, const std::string& hint) {
  PrintDiagnostics(Error(code, message, hint).error());
  return kExitUsage;
}

std::vector<std::string> VerbNames() {
  std::vector<std::string> names;
  for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
  return names;
}

int RefuseVerb(const std::string& word) {
  const std::vector<std::string> names = VerbNames();
  const std::string match = ClosestMatch(word, names);
  return Refuse("TL1002", fmt::format("'{}' is neither a verb nor a fabric", word),
                match.empty() ? fmt::format("the verbs are {}", fmt::join(names, ", "))
                              : fmt::format("did you mean '{}'?", match));
}

}  // namespace

int Execute(const FabricCommand& command) {
  std::span<const std::string> words = command.arguments;
  const auto* verb = std::ranges::find_if(
      kVerbs, [&](const Verb& candidate) { return words.front() == candidate.name; });
  const bool no_fabric =
      !LooksLikeFabricSpec(words.front()) && !std::filesystem::exists(words.front());
  if (verb != kVerbs.end()) {
    words = words.subspan(1);
  } else if (no_fabric && words.size() > 1) {
    return RefuseVerb(words.front());
  } else {
    verb = kVerbs.begin();
  }
  if (words.size() < verb->least || words.size() > verb->most) {
    return Refuse(
        "TL1002",
        fmt::format("`fabric {}` cannot be read with {} words after it", verb->name, words.size()),
        verb->usage);
  }
  for (const auto& [flag, value] : command.options) {
    if (std::ranges::find(verb->options, flag) == verb->options.end()) {
      return Refuse("TL1002", fmt::format("`fabric {}` does not read {}", verb->name, flag),
                    verb->usage);
    }
  }
  return verb->run(command, words);
}

}  // namespace trunkline
