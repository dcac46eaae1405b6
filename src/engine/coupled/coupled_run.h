#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/coupled/coupled_shard.h"
#include "engine/coupled/division.h"
#include "engine/coupled/packet_lines.h"
#include "engine/packet/event_rate.h"
#include "engine/packet/sampler.h"
#include "trunkline/engine/packet.h"

namespace trunkline {

// Task programs and their packets, shard by shard, from the start to the end.
//
// What a rank does depends on its own tasks, on the buses inside its node and on the messages that
// come to it. So ranks go with the shards of their nodes, and nothing but packets crosses between
// shards: windows are as long as for packets alone.
class CoupledRun {
 public:
  // The inputs and the division outlive the run, but for the lines and who has them, which it
  // takes.
  CoupledRun(const EngineInput& input, const EngineOptions& options, const FlowProblem& problem,
             const PacketInput& packets, std::vector<CableChange> faults, Division& division);

  Result<RunStatus> Run();
  [[nodiscard]] const TaskRun& tasks() const { return *tasks_; }
  [[nodiscard]] Time last_event() const { return shards_.last_event(); }
  // What it took of the network until `end`, when the run ended.
  [[nodiscard]] PacketReport Report(RunStatus status, Time end);

 private:
  void RunShards();
  bool Stop();
  [[nodiscard]] Time NextLook(Time next);
  bool FindDeadlock();
  [[nodiscard]] Result<RunStatus> Status();
  [[nodiscard]] std::optional<PacketCarrier::Failure> FirstOverrun() const;
  [[nodiscard]] std::string Describe(const PacketCarrier::Failure& failure) const;
  [[nodiscard]] CriticalMessage Describe(const MessageLog::Entry& entry) const;
  [[nodiscard]] std::vector<CriticalMessage> Critical() const;

  const EngineInput& input_;
  const EngineOptions& options_;
  PacketLines lines_;
  ShardSet shards_;
  std::vector<std::unique_ptr<CoupledShard>> parts_;  // by shard
  std::optional<CoupledTasks> tasks_;
  std::optional<Sampler> sampler_;
  EventRate rate_;
  Time next_look_;  // for a deadlock
  bool interrupted_ = false;
  bool deadlocked_ = false;
  std::vector<std::string> stuck_;
};

}  // namespace trunkline
