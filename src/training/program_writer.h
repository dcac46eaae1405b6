#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "training/rank_grid.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {

enum class Stream : std::uint8_t {
  kCompute,
  kTensor,
  kData,
  kSend,
  kReceive,
  kEmbedding,
  kWorld,
};
[[nodiscard]] std::span<const std::string> StreamNames();

// Every label of a training program.
enum class Label : std::uint16_t {
  kForwardEmbedding,
  kForwardNorm,
  kForwardAttention,
  kForwardMlp,
  kForwardHead,
  kRecomputeNorm,
  kRecomputeAttention,
  kRecomputeMlp,
  kBackwardHead,
  kBackwardMlp,
  kBackwardAttention,
  kBackwardNorm,
  kBackwardEmbedding,
  kGradientNorm,
  kOptimizer,
  kTensorAllReduce,
  kTensorAllGather,
  kTensorReduceScatter,
  kDataAllReduce,
  kDataReduceScatter,
  kDataAllGather,
  kEmbeddingAllReduce,
  kNormAllReduce,
  kSendActivations,
  kSendGradients,
  kReceiveActivations,
  kReceiveGradients,
};
[[nodiscard]] std::span<const TaskLabel> TrainingLabels();

// The collectives of a graph, each kept once for every role that runs it: its algorithm is chosen
// for the groups of that role.
class CollectiveTable {
 public:
  [[nodiscard]] std::uint32_t Find(GroupRole role, Primitive primitive, std::int64_t bytes,
                                   std::int64_t element_bytes, const std::string& algorithm);
  [[nodiscard]] std::vector<CollectiveChoice> Take() && { return std::move(choices_); }

 private:
  std::vector<CollectiveChoice> choices_;
  std::vector<GroupRole> roles_;  // of each choice
};

// Appends tasks to a program. Compute tasks follow each other on one stream; every other task is
// asynchronous: it starts after what has been computed so far, and compute goes on beside it until
// it is waited for.
class ProgramWriter {
 public:
  using TaskIndex = std::uint32_t;
  static constexpr TaskIndex kNone = UINT32_MAX;

  // Starts when the previous compute task and everything waited for are done.
  void Compute(Label label, Time duration);
  // Each starts after the last compute task and everything waited for so far.
  TaskIndex Collective(Stream stream, Label label, GroupRole role, std::uint32_t collective);
  TaskIndex Send(Label label, PeerRole role, Bytes bytes);
  // Starts at once: a receive is posted as early as its stream is free.
  TaskIndex Receive(Label label, PeerRole role, Bytes bytes);

  // The next compute task depends on `task`.
  void Wait(TaskIndex task) { waits_.push_back(task); }

  // Where an asynchronous task may start that need not follow later compute.
  struct Mark {
    TaskIndex compute = kNone;
    std::vector<TaskIndex> waits;
  };
  [[nodiscard]] Mark mark() const { return {last_compute_, waits_}; }
  TaskIndex CollectiveFrom(const Mark& mark, Stream stream, Label label, GroupRole role,
                           std::uint32_t collective);

  [[nodiscard]] TaskIndex next() const { return static_cast<TaskIndex>(program_.tasks.size()); }
  [[nodiscard]] Time compute_time() const { return compute_time_; }
  [[nodiscard]] Program Take() && { return std::move(program_); }

 private:
  // Each appends a task that depends on `compute`, unless kNone, and on `waits`.
  TaskIndex Append(const Task& given, TaskIndex compute, std::span<const TaskIndex> waits);
  TaskIndex AppendCollective(Stream stream, Label label, GroupRole role, std::uint32_t collective,
                             TaskIndex compute, std::span<const TaskIndex> waits);

  Program program_;
  std::vector<TaskIndex> waits_;
  TaskIndex last_compute_ = kNone;
  Time compute_time_;
};

}  // namespace trunkline
