#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "trunkline/fabric/build.h"
#include "trunkline/fabric/route.h"

// The verbs of `trunkline fabric`, one file each. A new one is its file, an entry in FabricVerbs()
// and, for flags of its own, lines in `kFabricOptions`.
namespace trunkline {

// A flag with a value that only some verbs read.
struct FabricOption {
  const char* flag;  // "--prices"
  const char* help;
};
inline constexpr std::array kFabricOptions = {
    FabricOption{"--expect", "What should be there: a fabric in any form that SPEC can take"},
    FabricOption{"--format", "The format to write: see docs/formats.md (default: csv)"},
    FabricOption{"--prices", "A price list of `trunkline catalog prices`, or a file in that form"},
    FabricOption{"--grow", "Up to so many GPUs, step by step: what growth costs"},
    FabricOption{"--out", "With --grow: write report.html and growth.json to a folder"},
    FabricOption{"--gpus", "GPUs to join"},
    FabricOption{"--node", "The servers they are in, dgx-h100 if left out"},
    FabricOption{"--radix", "Ports of a switch, 64 if left out"},
    FabricOption{"--budget", "The most to spend: 800k, 50M, 1.2G"},
    FabricOption{"--mix", "Weights of the work: allreduce=0.7,alltoall=0.3"},
    FabricOption{"--scenario", "Its workload, as one step"},
};

struct FabricVerb {
  std::string_view name;
  std::string_view words;  // after it: "SPEC FROM TO"
  std::size_t least = 1;   // of them
  std::size_t most = 1;
  const char* summary = "";
  const char* examples = "";  // a line each
  int (*run)(const FabricCommand& command, std::span<const std::string> words) = nullptr;
  std::array<std::string_view, 7> options = {};  // of kFabricOptions
};
// The first is what holds where none is named.
[[nodiscard]] std::span<const FabricVerb> FabricVerbs();

// What a verb is to work on: what was built, and how it is routed.
struct FabricSubject {
  std::shared_ptr<const BuiltFabric> built;
  RoutingPolicy routing = RoutingPolicy::kAdaptive;
  RoutingParameters routing_parameters = {};
  std::uint32_t radix = 0;                       // ports of a switch; 0: unknown
  std::vector<std::uint32_t> port_of_link = {};  // as ImportedFabric's; of other fabrics empty
};

// The fabric of `kind:key=value,…` or of a scenario file.
[[nodiscard]] Result<FabricSubject> LoadFabric(const std::string& spec,
                                               const std::vector<Assignment>& assignments);

// The same, of all servers: where a file has some that are not whole servers of the kind `node`,
// every NIC of it is a rank, and none is set aside.
[[nodiscard]] Result<FabricSubject> LoadAllServers(const std::string& spec,
                                                   const std::vector<Assignment>& assignments);

// A flag's value as a whole number above 0. TL1002.
[[nodiscard]] Result<std::uint32_t> CountOption(const FabricCommand& command,
                                                const std::string& flag,
                                                const std::string& otherwise);

// The value of a flag of kFabricOptions, or `otherwise` where it is not given.
[[nodiscard]] inline std::string OptionOr(const FabricCommand& command, const std::string& flag,
                                          const std::string& otherwise) {
  const auto given = command.options.find(flag);
  return given == command.options.end() ? otherwise : given->second;
}

// `words` are what follows the verb; each prints and returns the exit status.
int FabricShow(const FabricCommand& command, std::span<const std::string> words);
int FabricAnalyse(const FabricCommand& command, std::span<const std::string> words);
int FabricPath(const FabricCommand& command, std::span<const std::string> words);
int FabricBill(const FabricCommand& command, std::span<const std::string> words);
int FabricCheckVerb(const FabricCommand& command, std::span<const std::string> words);
int FabricExport(const FabricCommand& command, std::span<const std::string> words);
int FabricImport(const FabricCommand& command, std::span<const std::string> words);
int FabricCompare(const FabricCommand& command, std::span<const std::string> words);
int FabricAdvise(const FabricCommand& command, std::span<const std::string> words);

}  // namespace trunkline
