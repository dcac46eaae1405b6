#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "base/plural.h"
#include "cli/console.h"
#include "cli/fabric_verbs.h"

namespace trunkline {

namespace {

constexpr std::array kVerbs = {
    FabricVerb{
        .name = "show",
        .words = "SPEC",
        .summary = "What a fabric is made of: switches, cables, oversubscription, bisection, hops",
        .examples = "  trunkline fabric fat-tree:k=16\n"
                    "  trunkline fabric show rail-optimized:node=dgx-h100,nodes=128,radix=64\n"
                    "  trunkline fabric show pod.ibnetdiscover --set node=dgx-h100\n",
        .run = FabricShow},
    FabricVerb{
        .name = "analyse",
        .words = "SPEC",
        .summary =
            "Where it is thin: the cut, loaded switches, single points of failure, deadlocks",
        .examples = "  trunkline fabric analyse tree:arity=[8,4],taper=[3]\n"
                    "  trunkline fabric analyse torus:sizes=[4,4],routing=dor --json\n",
        .run = FabricAnalyse},
    FabricVerb{.name = "path",
               .words = "SPEC FROM TO",
               .least = 3,
               .most = 3,
               .summary = "The way between two ends, link by link, and what GPUDirect changes",
               .examples = "  trunkline fabric path rail-optimized:node=dgx-h100,nodes=128 gpu:0/3 "
                           "gpu:17/5\n"
                           "  trunkline fabric path fat-tree:k=4,routing=ecmp host-0 host-15\n",
               .run = FabricPath},
    FabricVerb{.name = "cost",
               .words = "SPEC",
               .summary =
                   "Its parts and their price, or with --grow what a GPU costs, and work takes, as "
                   "it grows",
               .examples =
                   "  trunkline fabric cost rail-optimized:node=dgx-h100,nodes=128\n"
                   "  trunkline fabric cost slim-fly:q=5 --prices slim-fly-2014\n"
                   "  trunkline fabric cost clos:node=dgx-h100,radix=32 --grow 4096 --out growth\n",
               .run = FabricBill,
               .options = {"--prices", "--grow", "--scenario", "--out"}},
    FabricVerb{
        .name = "check",
        .words = "SPEC",
        .summary = "Which cables of a fabric that exists are missing, wrong or slow, and the cost",
        .examples = "  ibnetdiscover | trunkline fabric check -\n"
                    "  trunkline fabric check pod.ibnetdiscover --expect "
                    "rail-optimized:node=dgx-h100,nodes=64\n",
        .run = FabricCheckVerb,
        .options = {"--expect"}},
    FabricVerb{.name = "compare",
               .words = "SPEC SPEC…",
               .least = 2,
               .most = 16,
               .summary = "Fabrics side by side: parts, bisection, price, AllReduce and AllToAll",
               .examples = "  trunkline fabric compare fat-tree:k=8 "
                           "clos:nodes=128,radix=16,oversubscription=2\n",
               .run = FabricCompare,
               .options = {"--prices"}},
    FabricVerb{
        .name = "advise",
        .words = "",
        .least = 0,
        .most = 0,
        .summary = "Which fabric to build: candidates, run alike and ranked with reasons",
        .examples = "  trunkline fabric advise --gpus 256 --node dgx-h100 --radix 32 --budget 5M\n"
                    "  trunkline fabric advise --gpus 128 --mix allreduce=0.2,alltoall=0.8\n",
        .run = FabricAdvise,
        .options = {"--gpus", "--node", "--radix", "--budget", "--mix", "--scenario", "--prices"}},
    FabricVerb{.name = "import",
               .words = "FILE",
               .summary = "What was understood of a file, as CSV, the format that says all of it",
               .examples = "  trunkline fabric import pod.ibnetdiscover\n"
                           "  trunkline fabric import topology.conf --set format=slurm\n",
               .run = FabricImport},
    FabricVerb{.name = "export",
               .words = "SPEC",
               .summary = "A fabric in the format of another tool",
               .examples =
                   "  trunkline fabric export clos:nodes=64,radix=16 --format ibnetdiscover\n"
                   "  trunkline fabric export fat-tree:k=4 --format dot\n",
               .run = FabricExport,
               .options = {"--format"}},
};

}  // namespace

std::span<const FabricVerb> FabricVerbs() { return kVerbs; }

namespace {

// "`fabric cost` and `fabric compare`".
std::string VerbsWith(const std::string& flag) {
  std::vector<std::string> names;
  for (const FabricVerb& verb : FabricVerbs()) {
    if (std::ranges::find(verb.options, flag) != verb.options.end()) {
      names.push_back(fmt::format("`fabric {}`", verb.name));
    }
  }
  return fmt::format("{}", fmt::join(names, " and "));
}

int Refuse(const char* code, const std::string& message, const std::string& hint) {
  return Refuse(Error(code, message, hint).error());
}

std::vector<std::string> VerbNames() {
  std::vector<std::string> names;
  for (const FabricVerb& verb : FabricVerbs()) names.emplace_back(verb.name);
  return names;
}

// "`fabric path` needs SPEC FROM TO: TO is missing".
int RefuseCount(const FabricVerb& verb, std::size_t given) {
  std::string cause;
  if (given < verb.least) {
    std::string_view missing = verb.words;
    for (std::size_t i = 0; i < given; ++i) missing.remove_prefix(missing.find(' ') + 1);
    cause = fmt::format(": {} missing", missing.contains(' ') ? fmt::format("{} are", missing)
                                                              : fmt::format("{} is", missing));
  } else {
    cause = fmt::format(", not {}", Plural(given, "word"));
  }
  return Refuse(
      "TL1002",
      fmt::format("`fabric {}` needs {}{}", verb.name, verb.words.empty() ? "no words" : verb.words,
                  cause),
      fmt::format("{}; `trunkline fabric {} --help` has examples", verb.summary, verb.name));
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
  auto verb = std::ranges::find(FabricVerbs(), words.front(), &FabricVerb::name);
  const bool no_fabric =
      !LooksLikeFabricSpec(words.front()) && !std::filesystem::exists(words.front());
  if (verb != FabricVerbs().end()) {
    words = words.subspan(1);
  } else if (no_fabric && words.size() > 1) {
    return RefuseVerb(words.front());
  } else {
    verb = FabricVerbs().begin();
  }
  if (words.size() < verb->least || words.size() > verb->most) {
    return RefuseCount(*verb, words.size());
  }
  for (const auto& [flag, value] : command.options) {
    if (std::ranges::find(verb->options, flag) == verb->options.end()) {
      return Refuse("TL1002", fmt::format("`fabric {}` does not read {}", verb->name, flag),
                    fmt::format("it is of {}; keys of a fabric stand in SPEC: kind:key=value",
                                VerbsWith(flag)));
    }
  }
  auto readers = std::ranges::count(words, "-");
  for (const auto& [flag, value] : command.options) readers += value == "-";
  if (readers > 1) {
    return Refuse("TL1002", "standard input can be read once", "name a file for one `-`");
  }
  return verb->run(command, words);
}

}  // namespace trunkline
