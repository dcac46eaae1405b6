#include "trunkline/trace/goal.h"

#include <filesystem>
#include <system_error>

#include "base/yaml_reader.h"
#include "trace/goal_binary.h"
#include "trace/goal_builder.h"
#include "trace/goal_limits.h"
#include "trace/goal_text.h"

namespace trunkline {

Result<GoalTrace> ParseGoal(std::string_view bytes, const std::string& file) {
  const bool binary = LooksLikeGoalBinary(bytes);
  GoalProblems problems(bytes, file, !binary);
  const auto reader =
      binary ? MakeGoalBinaryReader(bytes, problems) : MakeGoalTextReader(bytes, problems);
  GoalBuilder builder(*reader, problems);
  GoalBlock block;
  while (!problems.full() && reader->Next(block)) builder.Add(block);
  GoalTrace trace;
  trace.graph = builder.Finish();
  trace.operations = builder.operations();
  if (!trace.graph) return std::unexpected(problems.Take());
  trace.warnings = problems.Take();
  return trace;
}

Result<GoalTrace> ReadGoal(const std::string& path) {
  // What a pipe or a device holds has no end that could be seen beforehand.
  std::error_code failure;
  const bool sized = std::filesystem::is_regular_file(path, failure);
  const auto bytes = sized ? ReadTextFile(path, kGoalMostFileBytes) : ReadTextFile(path);
  if (!bytes) return std::unexpected(bytes.error());
  return ParseGoal(*bytes, path);
}

}  // namespace trunkline
