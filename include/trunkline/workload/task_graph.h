#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trunkline/base/ids.h"
#include "trunkline/base/units.h"
#include "trunkline/collective/algorithm.h"
#include "trunkline/transport/transport.h"

namespace trunkline {

enum class TaskKind : std::uint8_t { kCompute, kCollective, kSend, kReceive };

// One step of a rank's program.
//
// Tasks of one stream run one after another in program order; a task starts when its stream is
// free and its dependencies (indices of earlier tasks of the same program) are done.
//
// An `unordered` task does not wait for its turn: it starts as soon as its dependencies are done,
// whatever precedes it on its stream. Unordered compute tasks of one stream still exclude each
// other, first ready first served. Only an unordered task has start dependencies: tasks that must
// have started. A program's tasks are all ordered or all unordered.
//
// Send and receive: asynchronous point-to-point on the (source, destination, peer role) channel,
// matched first-in first-out. A send ends when its last byte has left, a receive when the matching
// message has arrived.
struct Task {
  TaskKind kind = TaskKind::kCompute;
  std::uint8_t stream = 0;
  std::uint16_t label = 0;       // index into TaskGraph::labels()
  std::uint32_t collective = 0;  // kCollective: index into TaskGraph::collectives()
  std::uint32_t role = 0;        // kCollective: communicator role; send/receive: peer role
  std::uint32_t first_dependency = 0;
  std::uint32_t dependency_count = 0;        // a range of Program::dependencies
  std::uint32_t start_dependency_count = 0;  // the range that follows it
  bool unordered = false;
  Time duration{};  // kCompute
  Bytes bytes{};    // kSend, kReceive
};

struct Program {
  std::vector<Task> tasks;
  std::vector<std::uint32_t> dependencies;

  [[nodiscard]] std::span<const std::uint32_t> dependencies_of(const Task& task) const {
    return std::span(dependencies).subspan(task.first_dependency, task.dependency_count);
  }
  [[nodiscard]] std::span<const std::uint32_t> start_dependencies_of(const Task& task) const {
    return std::span(dependencies)
        .subspan(task.first_dependency + task.dependency_count, task.start_dependency_count);
  }
};

// A collective that tasks refer to: what, and by which algorithm and protocol.
struct CollectiveChoice {
  CollectiveSpec spec;
  std::string algorithm;
  Protocol protocol = Protocol::kSimple;
  bool operator==(const CollectiveChoice&) const = default;
};

// What a label is for: where its time is counted and how it is coloured.
enum class Phase : std::uint8_t { kForward, kBackward, kRecompute, kOptimizer, kCommunication };
struct TaskLabel {
  std::string name;  // "forward attention", "dp reduce_scatter"
  Phase phase = Phase::kForward;
};

// What every rank does, when, and with whom. Ranks of the same kind (a pipeline stage) share one
// program: communicators and peers are named by *role* ("my tensor-parallel group", "the next
// stage") and resolved per rank, so that 16,384 ranks x 10^4 tasks are never materialised.
//
// A rank executes the collectives of one communicator in program order (as NCCL requires), and
// every member of a communicator executes the same sequence of collectives on it.
// Safe for concurrent readers.
class TaskGraph {
 public:
  virtual ~TaskGraph() = default;

  [[nodiscard]] virtual std::uint32_t ranks() const = 0;
  [[nodiscard]] virtual std::uint32_t program_count() const = 0;
  [[nodiscard]] virtual std::uint32_t program_of(RankId rank) const = 0;
  [[nodiscard]] virtual const Program& program(std::uint32_t index) const = 0;
  [[nodiscard]] virtual std::span<const CollectiveChoice> collectives() const = 0;
  [[nodiscard]] virtual std::span<const TaskLabel> labels() const = 0;
  [[nodiscard]] virtual std::span<const std::string> streams() const = 0;  // "compute", "tp", …

  [[nodiscard]] virtual std::uint32_t communicator_count() const = 0;
  [[nodiscard]] virtual CommunicatorId communicator(RankId rank, std::uint32_t role) const = 0;
  // Members in group-rank order.
  [[nodiscard]] virtual std::vector<RankId> members(CommunicatorId communicator) const = 0;
  [[nodiscard]] virtual RankId peer(RankId rank, std::uint32_t role) const = 0;
  // For a receive by `role`, the sender's role towards this rank (roles pair up: next/previous).
  [[nodiscard]] virtual std::uint32_t reverse_role(std::uint32_t role) const = 0;
  // The same where it also depends on who receives: what engines ask.
  [[nodiscard]] virtual std::uint32_t sender_role(RankId receiver, std::uint32_t role) const {
    (void)receiver;
    return reverse_role(role);
  }

  // A name for who belongs with whom: graphs of one name answer program_of, communicator, members
  // and peer alike for every rank and role. Empty: it has none.
  [[nodiscard]] virtual std::string layout() const { return {}; }

  // Where several independent jobs are one graph: which of them the rank belongs to.
  [[nodiscard]] virtual std::uint32_t job_of(RankId rank) const {
    (void)rank;
    return 0;
  }
  // The number of a communicator among those of its job. Paths are chosen by it, so that a job
  // takes the same ones whatever runs beside it.
  [[nodiscard]] virtual CommunicatorId in_job(CommunicatorId communicator) const {
    return communicator;
  }
  // Whether a run lasts until the rank's program has ended. Those that are not awaited, which only
  // disturb the others, come last.
  [[nodiscard]] virtual bool awaited(RankId rank) const {
    (void)rank;
    return true;
  }
};

// One collective over all ranks, repeated `count` times back to back: what `trunkline collective`
// runs.
[[nodiscard]] std::unique_ptr<TaskGraph> SingleCollective(CollectiveChoice choice,
                                                          std::uint32_t ranks,
                                                          std::uint32_t count = 1);

}  // namespace trunkline
