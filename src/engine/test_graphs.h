#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trunkline/workload/task_graph.h"

namespace trunkline {

inline CollectiveChoice Choice(Primitive primitive, std::int64_t bytes,
                               const std::string& algorithm = "ring") {
  CollectiveChoice choice;
  choice.spec.primitive = primitive;
  choice.spec.bytes = Bytes(bytes);
  choice.algorithm = algorithm;
  return choice;
}

// A task graph written down rank by rank, for the engines' tests.
class TableGraph : public TaskGraph {
 public:
  // What a task is, without the bookkeeping of dependencies.
  struct Step {
    TaskKind kind = TaskKind::kCompute;
    std::uint8_t stream = 0;
    std::uint32_t role = 0;
    std::uint32_t collective = 0;
    Time duration{};
    Bytes bytes{};
    std::vector<std::uint32_t> dependencies{};
    std::vector<std::uint32_t> start_dependencies{};
  };

  std::uint32_t AddProgram(const std::vector<Step>& steps) {
    Program program;
    for (const Step& step : steps) {
      Task task;
      task.kind = step.kind;
      task.stream = step.stream;
      task.role = step.role;
      task.collective = step.collective;
      task.duration = step.duration;
      task.bytes = step.bytes;
      task.first_dependency = static_cast<std::uint32_t>(program.dependencies.size());
      task.dependency_count = static_cast<std::uint32_t>(step.dependencies.size());
      program.dependencies.insert(program.dependencies.end(), step.dependencies.begin(),
                                  step.dependencies.end());
      task.start_dependency_count = static_cast<std::uint32_t>(step.start_dependencies.size());
      program.dependencies.insert(program.dependencies.end(), step.start_dependencies.begin(),
                                  step.start_dependencies.end());
      program.tasks.push_back(task);
    }
    programs_.push_back(std::move(program));
    return static_cast<std::uint32_t>(programs_.size() - 1);
  }
  RankId AddRank(std::uint32_t program) {
    program_of_.push_back(program);
    return RankId(static_cast<std::uint32_t>(program_of_.size() - 1));
  }
  // Messages by `role` of `from` arrive by `reverse` at `to`, and the other way around.
  void Connect(RankId from, std::uint32_t role, RankId to, std::uint32_t reverse) {
    peers_[{from, role}] = to;
    peers_[{to, reverse}] = from;
    reverse_[role] = reverse;
    reverse_[reverse] = role;
  }
  void AddCommunicator(std::uint32_t role, std::vector<RankId> members) {
    const auto id = CommunicatorId(static_cast<std::uint32_t>(members_.size()));
    for (const RankId member : members) communicators_[{member, role}] = id;
    members_.push_back(std::move(members));
  }
  void AddCollective(CollectiveChoice choice) { collectives_.push_back(std::move(choice)); }

  [[nodiscard]] std::uint32_t ranks() const override {
    return static_cast<std::uint32_t>(program_of_.size());
  }
  [[nodiscard]] std::uint32_t program_count() const override {
    return static_cast<std::uint32_t>(programs_.size());
  }
  [[nodiscard]] std::uint32_t program_of(RankId rank) const override {
    return program_of_[Index(rank)];
  }
  [[nodiscard]] const Program& program(std::uint32_t index) const override {
    return programs_[index];
  }
  [[nodiscard]] std::span<const CollectiveChoice> collectives() const override {
    return collectives_;
  }
  [[nodiscard]] std::span<const TaskLabel> labels() const override { return labels_; }
  [[nodiscard]] std::span<const std::string> streams() const override { return streams_; }
  [[nodiscard]] std::uint32_t communicator_count() const override {
    return static_cast<std::uint32_t>(members_.size());
  }
  [[nodiscard]] CommunicatorId communicator(RankId rank, std::uint32_t role) const override {
    return communicators_.at({rank, role});
  }
  [[nodiscard]] std::vector<RankId> members(CommunicatorId communicator) const override {
    return members_[Index(communicator)];
  }
  [[nodiscard]] RankId peer(RankId rank, std::uint32_t role) const override {
    return peers_.at({rank, role});
  }
  [[nodiscard]] std::uint32_t reverse_role(std::uint32_t role) const override {
    return reverse_.at(role);
  }

 private:
  std::vector<Program> programs_;
  std::vector<std::uint32_t> program_of_;
  std::vector<CollectiveChoice> collectives_;
  std::vector<TaskLabel> labels_ = {{.name = "task", .phase = Phase::kForward}};
  std::vector<std::string> streams_ = {"compute", "communication", "send", "receive"};
  std::map<std::pair<RankId, std::uint32_t>, RankId> peers_;
  std::map<std::uint32_t, std::uint32_t> reverse_;
  std::map<std::pair<RankId, std::uint32_t>, CommunicatorId> communicators_;
  std::vector<std::vector<RankId>> members_;
};

}  // namespace trunkline
