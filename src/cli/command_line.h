#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/units.h"
#include "trunkline/engine/engine.h"
#include "trunkline/scenario/scenario.h"

// What a user typed, as plain data: the parser (CLI11, slow to compile) is met in one file only.
namespace trunkline {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFoundFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInfeasible = 3;
inline constexpr int kExitInternal = 70;
inline constexpr int kExitInterrupted = 130;

// Flags of every command that runs an engine. Those that a scenario can hold too (--engine, --seed,
// --node, …) become assignments to its keys, so that both are checked in one place.
struct RunFlags {
  std::vector<Assignment> assignments;
  bool json = false;
  bool explain = false;
  bool quiet = false;
  std::string out;  // folder; empty: none
  std::int64_t threads = 1;
  std::int64_t repeat = 1;
  bool all_links = false;
  bool fold = true;
  bool memo = true;
  Handshake handshake = Handshake::kEager;
};

struct RunCommand {
  std::string scenario;
  RunFlags flags;
};

// `scenario` is empty when the flags say all; they are assignments already.
struct CollectiveCommand {
  std::string scenario;
  RunFlags flags;
};

struct FabricCommand {
  std::vector<std::string> arguments;  // [verb] SPEC…, names of devices
  std::vector<Assignment> assignments;
  std::map<std::string, std::string> options;  // flags of single verbs, as given
  bool json = false;
  bool quiet = false;
};

struct CatalogCommand {
  std::string kind;  // "nodes", "algorithms", …; empty: everything
};

struct ExplainCommand {
  std::string term;  // empty: list what can be explained
};

// A text to print instead of running anything: help, version.
struct PrintCommand {
  std::string text;
};

using Command = std::variant<RunCommand, CollectiveCommand, FabricCommand, CatalogCommand,
                             ExplainCommand, PrintCommand>;

// TL1001 (unknown subcommand or flag), TL1002 (a value is missing or malformed).
[[nodiscard]] Result<Command> ParseCommandLine(const std::vector<std::string>& arguments);

// One file each; they print and return the exit status.
int Execute(const RunCommand& command);
int Execute(const CollectiveCommand& command);
int Execute(const FabricCommand& command);
int Execute(const CatalogCommand& command);
int Execute(const ExplainCommand& command);

}  // namespace trunkline
