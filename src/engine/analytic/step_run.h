#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/accounting.h"
#include "engine/analytic/costs.h"
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
  static constexpr std::uint32_t kNone = UINT32_MAX;

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
    std::vector<std::vector<std::uint32_t>> streams;  // tasks in order
    std::vector<std::uint32_t> ordinal;  // by task: how many of its kind and role come before
    // By task: the one before it of its kind and role, where that is on another stream. Empty:
    // none is.
    std::vector<std::uint32_t> elsewhere;
    std::vector<std::uint32_t> firsts;  // of every kind and role, but compute
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
  struct Stream {            // of a rank
    std::size_t cursor = 0;  // its next task
    Time end;                // when the task before that ended
    bool entered = false;    // the next task has come to its meeting
  };
  struct State {  // of a rank
    std::uint32_t shape = 0;
    std::uint32_t next = 0;  // all tasks before it have ended
    std::vector<Stream> streams;
    std::vector<std::uint32_t> sends;     // by peer role: index into channels_
    std::vector<std::uint32_t> receives;  // by peer role: index into channels_
    bool queued = false;
  };
  enum class Progress : std::uint8_t { kBlocked, kDone, kFailed };
  // A task and where it is to run.
  struct Turn {
    std::uint32_t rank = 0;
    std::uint32_t task = 0;
    const Task& what;
    Time ready;
  };

  [[nodiscard]] Result<void> Prepare();
  // The channel of (source, its peer role), made when it is first asked for.
  [[nodiscard]] std::uint32_t ChannelOf(RankId source, std::uint32_t role);
  [[nodiscard]] Result<void> OpenChannel(std::uint32_t rank, std::uint32_t role);
  void AwaitChannel(std::uint32_t rank, std::uint32_t role);
  [[nodiscard]] Result<void> JoinGroup(std::uint32_t rank, std::uint32_t role);
  void Wake(std::uint32_t rank);
  [[nodiscard]] Progress RunRank(std::uint32_t rank);
  [[nodiscard]] Progress RunInOrder(std::uint32_t rank);
  [[nodiscard]] Progress RunStream(std::uint32_t rank, std::uint8_t stream, bool& moved);
  [[nodiscard]] Progress RunTask(std::uint32_t rank, std::uint32_t task);
  [[nodiscard]] Time ReadyTime(std::uint32_t rank, std::uint32_t task) const;
  [[nodiscard]] Progress Send(const Turn& turn);
  [[nodiscard]] Progress Receive(const Turn& turn);
  [[nodiscard]] Progress Meet(const Turn& turn);
  [[nodiscard]] Progress MeetAlone(const Turn& turn, std::uint32_t group);
  // What the collective takes in that group, or kUnknown: it failed.
  [[nodiscard]] Time TimeOf(std::uint32_t group, std::uint32_t collective);
  // `time` + `delay`, or kUnknown: that is past the horizon of simulated time, and the run fails.
  [[nodiscard]] Time Later(Time time, Time delay);
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
  std::vector<Meetings> meetings_;                  // by group
  std::vector<std::vector<Time>> collective_time_;  // by group, by collective
  std::deque<std::uint32_t> queue_;
  std::uint64_t tasks_run_ = 0;
  Diagnostics failure_;  // of what is kFailed
};

}  // namespace trunkline
