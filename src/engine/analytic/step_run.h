#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/accounting.h"
#include "engine/analytic/costs.h"
#include "engine/task_order.h"
#include "trunkline/engine/engine.h"

namespace trunkline {

// Runs the programs of representative ranks as a dataflow: a task starts when everything before it
// is over, a receive ends when its message is there, a collective starts when all representatives
// among its members have come and takes its closed-form time.
class StepRun {
 public:
  // REQUIRES: ranks is Representatives(input.graph).
  StepRun(const EngineInput& input, const EngineOptions& options, StepCosts& costs,
          const std::vector<RankId>& ranks);

  struct Rank {
    RankId id{};
    const Program* program = nullptr;
    std::vector<TaskTimes> times;       // by task; end is kUnknown until it is known
    std::vector<std::uint32_t> groups;  // by communicator role, of StepCosts
  };
  static constexpr Time kUnknown = Time::Max();

  // Runs until nothing more can happen. Fails where a cost cannot be found; says kInterrupted when
  // asked to stop.
  [[nodiscard]] Result<RunStatus> Run();

  [[nodiscard]] const std::vector<Rank>& ranks() const { return ranks_; }
  // The first task of every stream that never ended, and what it waits for.
  [[nodiscard]] std::vector<BlockedTask> Blocked() const;
  [[nodiscard]] std::uint64_t tasks_run() const { return tasks_run_; }

 private:
  // What all ranks of one program share.
  struct Shape {
    explicit Shape(const Program& program);
    TaskOrder order;
    std::vector<std::vector<std::uint32_t>> streams;  // tasks in order
    std::vector<std::uint32_t> ordinal;  // how many tasks of this kind and role come before
  };
  struct Message {
    Time sent;
    Time arrival;
  };
  struct Channel {  // messages of one (source, role), in order
    FabricCosts::Message cost;
    std::uint32_t receiver = 0;  // index into ranks_
    std::vector<Message> messages;
  };
  struct Meeting {  // one execution of a collective
    std::uint32_t arrived = 0;
    Time start;
    Time end = kUnknown;
  };
  struct Meetings {
    std::vector<std::uint32_t> ranks;  // representatives among the members
    std::vector<Meeting> executions;
  };
  struct State {  // of a rank
    std::uint32_t shape = 0;
    std::vector<std::size_t> cursor;      // by stream
    std::vector<char> entered;            // by stream: its next task has come to its meeting
    std::vector<std::uint32_t> sends;     // by peer role: index into channels_
    std::vector<std::uint32_t> receives;  // by peer role: index into channels_
    bool queued = false;
  };
  enum class Progress : std::uint8_t { kBlocked, kDone };

  [[nodiscard]] Result<void> Prepare();
  // The channel of (source, its peer role), made when it is first asked for.
  [[nodiscard]] std::uint32_t ChannelOf(RankId source, std::uint32_t role);
  [[nodiscard]] Result<void> OpenChannel(std::uint32_t rank, std::uint32_t role);
  void AwaitChannel(std::uint32_t rank, std::uint32_t role);
  [[nodiscard]] Result<void> JoinGroup(std::uint32_t rank, std::uint32_t role);
  void Wake(std::uint32_t rank);
  [[nodiscard]] Result<void> RunRank(std::uint32_t rank);
  [[nodiscard]] Result<Progress> RunTask(std::uint32_t rank, std::uint32_t task,
                                         std::uint8_t stream);
  [[nodiscard]] Time ReadyTime(std::uint32_t rank, std::uint32_t task) const;
  [[nodiscard]] Result<Progress> Send(std::uint32_t rank, std::uint32_t task, Time ready);
  [[nodiscard]] Progress Receive(std::uint32_t rank, std::uint32_t task, Time ready);
  [[nodiscard]] Result<Progress> Meet(std::uint32_t rank, std::uint32_t task, Time ready,
                                      std::uint8_t stream);
  [[nodiscard]] std::string WaitsFor(std::uint32_t rank, std::uint32_t task) const;

  const EngineInput input_;
  const EngineOptions& options_;
  StepCosts& costs_;
  std::vector<Rank> ranks_;
  std::vector<State> states_;
  std::vector<Shape> shapes_;
  std::map<RankId, std::uint32_t> index_of_;
  std::map<std::pair<RankId, std::uint32_t>, std::uint32_t> channel_of_;
  std::vector<Channel> channels_;
  std::vector<Meetings> meetings_;  // by group
  std::deque<std::uint32_t> queue_;
  std::uint64_t tasks_run_ = 0;
};

}  // namespace trunkline
