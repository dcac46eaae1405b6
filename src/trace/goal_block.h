#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/workload/task_graph.h"

// GOAL as its two readers, text and binary, hand it to the builder of the graph.
namespace trunkline {

struct GoalOperation {
  static constexpr std::uint32_t kAny = UINT32_MAX;  // of peer and tag: a wildcard

  TaskKind kind = TaskKind::kCompute;
  std::uint8_t cpu = 0;
  std::uint8_t nic = 0;
  std::uint32_t peer = 0;
  std::uint32_t tag = 0;
  std::int64_t amount = 0;  // bytes, or nanoseconds of compute
};

// `task` starts after `needed` has finished or, with `start`, has started.
struct GoalDependency {
  std::uint32_t task = 0;
  std::uint32_t needed = 0;
  bool start = false;
};

// What one rank does.
struct GoalBlock {
  std::size_t begin = 0;  // where it is in the file
  std::uint32_t rank = 0;
  std::vector<GoalOperation> operations;
  std::vector<std::size_t> places;  // by operation: where it is in the file
  std::vector<GoalDependency> dependencies;

  void Clear() {
    operations.clear();
    places.clear();
    dependencies.clear();
  }
};

// Collects what is wrong with a file, as far as a person reads.
class GoalProblems {
 public:
  GoalProblems(std::string_view bytes, std::string file, bool text)
      : bytes_(bytes), file_(std::move(file)), text_(text) {}

  void Add(const char* code, std::size_t place, std::string message, std::string hint,
           Severity severity = Severity::kError);
  // "line 12" or "byte 345".
  [[nodiscard]] std::string Name(std::size_t place) const;

  [[nodiscard]] bool any() const { return errors_ > 0; }
  // More would not be read.
  [[nodiscard]] bool full() const { return errors_ >= kMost; }
  // Those of a text in the order of its lines.
  [[nodiscard]] Diagnostics Take();

 private:
  static constexpr std::size_t kMost = 20;

  [[nodiscard]] int LineOf(std::size_t place) const;

  std::string_view bytes_;
  std::string file_;
  bool text_;
  std::size_t errors_ = 0;
  Diagnostics all_;
};

// A file, block by block.
class GoalReader {
 public:
  virtual ~GoalReader() = default;

  // How many ranks the file says it has; blocks come only after this is known.
  [[nodiscard]] virtual std::uint32_t ranks() const = 0;
  // Reads the next block; false at the end of the file, or where nothing more can be made out.
  virtual bool Next(GoalBlock& block) = 0;
  // Reads again, without noting problems, the block that begins at `begin`.
  virtual void Reread(std::size_t begin, GoalBlock& block) = 0;
};

}  // namespace trunkline
