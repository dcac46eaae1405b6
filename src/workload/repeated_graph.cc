#include "workload/repeated_graph.h"

#include <utility>

namespace trunkline {
namespace {

// Appends copies of one program, each after the one before.
class Repeater {
 public:
  Repeater(const Program& base, std::uint16_t idle_label) : base_(base), idle_label_(idle_label) {
    std::vector<char> awaited(base.tasks.size(), 0);
    for (const Task& task : base.tasks) {
      for (const std::uint32_t earlier : base.dependencies_of(task)) awaited[earlier] = 1;
    }
    for (std::uint32_t i = 0; i < awaited.size(); ++i) {
      if (awaited[i] == 0) last_.push_back(i);
    }
  }

  // A task that takes `duration` after all that came before.
  void AddGate(Time duration) {
    Task gate{.kind = TaskKind::kCompute, .label = idle_label_};
    gate.unordered = !base_.tasks.empty() && base_.tasks.front().unordered;
    gate.duration = duration;
    gate.first_dependency = Size(out_.dependencies);
    if (copies_ > 0) {
      const std::uint32_t first = Size(out_.tasks) - Size(base_.tasks);
      for (const std::uint32_t task : last_) out_.dependencies.push_back(first + task);
    }
    gate.dependency_count = Size(out_.dependencies) - gate.first_dependency;
    gated_ = true;
    out_.tasks.push_back(gate);
  }

  // What depends on nothing waits for the gate.
  void AddCopy() {
    const std::uint32_t first = Size(out_.tasks);
    for (Task task : base_.tasks) {
      const auto all =
          std::span(base_.dependencies)
              .subspan(task.first_dependency, task.dependency_count + task.start_dependency_count);
      task.first_dependency = Size(out_.dependencies);
      if (gated_ && task.dependency_count == 0) {
        out_.dependencies.push_back(first - 1);
        task.dependency_count = 1;
      }
      for (const std::uint32_t earlier : all) out_.dependencies.push_back(first + earlier);
      out_.tasks.push_back(task);
    }
    ++copies_;
  }

  Program Take() && { return std::move(out_); }

 private:
  template <typename T>
  static std::uint32_t Size(const std::vector<T>& list) {
    return static_cast<std::uint32_t>(list.size());
  }

  const Program& base_;
  std::uint16_t idle_label_;
  std::vector<std::uint32_t> last_;  // tasks that no other depends on
  Program out_;
  std::uint32_t copies_ = 0;
  bool gated_ = false;
};

}  // namespace

RepeatedGraph::RepeatedGraph(const TaskGraph& base, Time start, std::uint32_t repetitions)
    : DerivedGraph(base), labels_(base.labels().begin(), base.labels().end()) {
  const auto idle_label = static_cast<std::uint16_t>(labels_.size());
  labels_.push_back({.name = kIdleLabel, .phase = Phase::kForward});
  for (std::uint32_t i = 0; i < base.program_count(); ++i) {
    Repeater repeater(base.program(i), idle_label);
    if (start > Time()) repeater.AddGate(start);
    repeater.AddCopy();
    for (std::uint32_t k = 1; k < repetitions; ++k) {
      repeater.AddGate(Time());
      repeater.AddCopy();
    }
    programs_.push_back(std::move(repeater).Take());
  }
}

}  // namespace trunkline
