#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "engine/flow/fold.h"
#include "engine/flow/group.h"
#include "engine/flow/interpreter.h"
#include "engine/flow/memo.h"
#include "engine/flow/planned.h"
#include "engine/flow/problem.h"
#include "engine/flow/task_run.h"
#include "trunkline/engine/engine.h"

namespace trunkline {

// Runs the task programs of the simulated ranks: streams start tasks, the interpreter moves their
// messages.
class TaskRunner final : public TaskRun {
 public:
  // `withdrawn`: by pattern, whether the memo must leave it alone. `carrier`: of some of the
  // connections, none of them in a pattern that the memo may look at.
  TaskRunner(const EngineInput& input, const EngineOptions& options, const FlowProblem& problem,
             const Folding& folding, const std::vector<char>& withdrawn,
             MessageCarrier* carrier = nullptr);

  // Runs to the end. Fails with TL1602 when simulated time leaves its horizon.
  Result<RunStatus> Run();

  // --- The same step by step, for who runs several side by side, each with some of the ranks.

  // Lets the next thing happen that does before `end` or, unless the carrier does it, at `end`.
  // False: there is none, or the run is over.
  bool Step(Time end);
  // When something happens next, the carrier aside. REQUIRES: Step has returned false.
  [[nodiscard]] Time NextTime();
  // Whether only others are left than those that are awaited.
  [[nodiscard]] bool IsOver();
  // How it ended. Fails as Run does.
  [[nodiscard]] Result<RunStatus> Status() const;
  // Tasks that the run waits for: all, and those that have not ended.
  [[nodiscard]] std::uint64_t awaited() const { return awaited_tasks_; }
  [[nodiscard]] std::uint64_t awaited_left() const { return awaited_left_; }

  // Patterns for which the memo's proof failed: the run is void and has to be made again without.
  [[nodiscard]] const std::vector<std::uint32_t>& to_withdraw() const {
    return planned_.withdrawn();
  }

  [[nodiscard]] std::span<const TaskTimes> times(std::uint32_t rank) const override {
    const RankState& state = ranks_[rank];
    return std::span(times_).subspan(state.first_task, program_of(rank).tasks.size());
  }
  [[nodiscard]] const Program& program_of(std::uint32_t rank) const override {
    return input_.graph.program(problem_.ranks[Index(folding_.ranks[rank])].program);
  }
  [[nodiscard]] std::vector<BlockedTask> Blocked() const override;
  [[nodiscard]] std::vector<Traffic> AllTraffic() const override;
  [[nodiscard]] FlowCounters counters() const override;
  [[nodiscard]] std::uint64_t events() const override {
    return interpreter_.events() + memo_.events();
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct RankState {
    std::uint32_t first_task = 0;
    std::uint32_t first_stream = 0;
    std::uint32_t first_port = 0;
    std::uint32_t first_missing = 0;
    std::uint32_t first_peer_program = 0;  // the interpreter's, for sends, then receives
  };
  struct Stream {
    std::uint32_t next = 0;            // into the program's list for this stream
    std::uint32_t blocked_on = kNone;  // task
    Time free;                         // of unordered compute tasks
  };
  // A rank's part in the collective that its communicator runs now. A member of the groups.
  struct Port {
    std::uint32_t first_program = 0;
    std::uint32_t running = 0;  // channel programs that have not ended
    Time end;
  };
  struct Owner {
    std::uint32_t rank = 0;
    std::uint32_t port = kNone;  // kNone: point to point
    std::uint32_t task = kNone;
  };
  struct ReadyStream {
    std::uint32_t rank = 0;
    std::uint32_t stream = 0;
  };

  // Unordered tasks that can start.
  struct ReadyTask {
    std::uint32_t rank = 0;
    std::uint32_t task = 0;
  };
  struct ReadyCompute {
    Time time;
    std::uint32_t rank = 0;
    std::uint32_t task = 0;
    auto operator<=>(const ReadyCompute&) const = default;
  };

  void AddRank(std::uint32_t rank);
  bool RunSomething();
  void AdvanceStream(std::uint32_t rank, std::uint32_t stream);
  // When the task can start; before time zero: not known, and `blocked_on` says why.
  Time StartOf(std::uint32_t rank, std::uint32_t task, Time stream_free, std::uint32_t& blocked_on);
  void Launch(std::uint32_t rank, std::uint32_t task, Time start);
  void StartUnordered(std::uint32_t rank, std::uint32_t task);
  bool StartCompute();
  void Release(std::uint32_t rank, std::span<const std::uint32_t> waiters);
  void LaunchCollective(std::uint32_t rank, std::uint32_t task, Time start);
  void StartPrograms(std::uint32_t member, std::uint32_t task, Time begin);
  void Execute(const std::vector<PlannedCollectives::Starts>& collectives);
  bool AdvanceClock(Time end);
  void TakeFinished(const Interpreter::Finished& finished);
  void End(std::uint32_t rank, std::uint32_t task, Time end);
  void ReportProgress();
  [[nodiscard]] RankId PeerOf(std::uint32_t program, bool sends) const;
  void DescribeWait(std::uint32_t program, BlockedTask& task) const;
  // Whether the rank is awaited (TaskGraph).
  [[nodiscard]] bool Awaited(std::uint32_t rank) const {
    return input_.graph.awaited(folding_.ranks[rank]);
  }
  [[nodiscard]] TaskTimes& At(std::uint32_t rank, std::uint32_t task) {
    return times_[ranks_[rank].first_task + task];
  }
  [[nodiscard]] const ProgramShape& shape_of(std::uint32_t rank) const {
    return problem_.shapes[problem_.ranks[Index(folding_.ranks[rank])].program];
  }

  const EngineInput& input_;
  const EngineOptions& options_;
  const MessageCarrier* carrier_;
  const FlowProblem& problem_;
  const Folding& folding_;
  CollectiveGroups groups_;
  Occupancy occupancy_;
  TransferModel model_;
  Interpreter interpreter_;
  CollectiveMemo memo_;
  PlannedCollectives planned_;
  std::vector<RankState> ranks_;
  std::vector<TaskTimes> times_;
  std::vector<Stream> streams_;
  std::vector<Port> ports_;
  std::vector<Owner> owners_;  // by the interpreter's program
  std::vector<ReadyStream> ready_;
  std::vector<std::uint32_t> missing_;  // by task: of what Waiters::missing counts, what is left
  std::vector<ReadyTask> ready_tasks_;
  // Unordered compute tasks, by when they became ready: a stream serves them in that order, so each
  // waits here until nothing can become ready before it.
  std::priority_queue<ReadyCompute, std::vector<ReadyCompute>, std::greater<>> computes_;
  // Tasks of awaited ranks: all, and those that have not ended.
  std::uint64_t awaited_tasks_ = 0;
  std::uint64_t awaited_left_ = 0;
  Time awaited_end_;  // of those that have ended
};

}  // namespace trunkline
