#include "training/program_writer.h"

#include <algorithm>

namespace trunkline {
namespace {

Task MakeTask(TaskKind kind, Stream stream, Label label) {
  return {.kind = kind,
          .stream = static_cast<std::uint8_t>(stream),
          .label = static_cast<std::uint16_t>(label)};
}

}  // namespace

std::span<const std::string> StreamNames() {
  static const std::vector<std::string> names = {"compute", "tp",        "dp",   "pp-send",
                                                 "pp-recv", "embedding", "world"};
  return names;
}

std::span<const TaskLabel> TrainingLabels() {
  static const std::vector<TaskLabel> labels = {
      {"forward embedding", Phase::kForward},
      {"forward norm", Phase::kForward},
      {"forward attention", Phase::kForward},
      {"forward mlp", Phase::kForward},
      {"forward head", Phase::kForward},
      {"recompute norm", Phase::kRecompute},
      {"recompute attention", Phase::kRecompute},
      {"recompute mlp", Phase::kRecompute},
      {"backward head", Phase::kBackward},
      {"backward mlp", Phase::kBackward},
      {"backward attention", Phase::kBackward},
      {"backward norm", Phase::kBackward},
      {"backward embedding", Phase::kBackward},
      {"gradient norm", Phase::kOptimizer},
      {"optimizer", Phase::kOptimizer},
      {"tp all_reduce", Phase::kCommunication},
      {"tp all_gather", Phase::kCommunication},
      {"tp reduce_scatter", Phase::kCommunication},
      {"dp all_reduce", Phase::kCommunication},
      {"dp reduce_scatter", Phase::kCommunication},
      {"dp all_gather", Phase::kCommunication},
      {"embedding all_reduce", Phase::kCommunication},
      {"world all_reduce", Phase::kCommunication},
      {"pp send activations", Phase::kCommunication},
      {"pp send gradients", Phase::kCommunication},
      {"pp receive activations", Phase::kCommunication},
      {"pp receive gradients", Phase::kCommunication},
  };
  return labels;
}

std::uint32_t CollectiveTable::Find(GroupRole role, Primitive primitive, std::int64_t bytes,
                                    std::int64_t element_bytes, const std::string& algorithm) {
  CollectiveChoice choice;
  choice.spec.primitive = primitive;
  choice.spec.bytes = Bytes(bytes);
  choice.spec.element_bytes = static_cast<std::uint32_t>(element_bytes);
  choice.algorithm = algorithm;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (roles_[i] == role && choices_[i].spec == choice.spec &&
        choices_[i].algorithm == algorithm) {
      return static_cast<std::uint32_t>(i);
    }
  }
  choices_.push_back(std::move(choice));
  roles_.push_back(role);
  return static_cast<std::uint32_t>(choices_.size() - 1);
}

ProgramWriter::TaskIndex ProgramWriter::Append(const Task& given, TaskIndex compute,
                                               std::span<const TaskIndex> waits) {
  Task& task = program_.tasks.emplace_back(given);
  task.first_dependency = static_cast<std::uint32_t>(program_.dependencies.size());
  if (compute != kNone) program_.dependencies.push_back(compute);
  for (const TaskIndex wait : waits) program_.dependencies.push_back(wait);
  task.dependency_count =
      static_cast<std::uint32_t>(program_.dependencies.size()) - task.first_dependency;
  return static_cast<TaskIndex>(program_.tasks.size() - 1);
}

void ProgramWriter::Compute(Label label, Time duration) {
  Task task = MakeTask(TaskKind::kCompute, Stream::kCompute, label);
  task.duration = duration;
  last_compute_ = Append(task, kNone, waits_);
  waits_.clear();
  compute_time_ += duration;
}

ProgramWriter::TaskIndex ProgramWriter::CollectiveFrom(const Mark& mark, Stream stream, Label label,
                                                       GroupRole role, std::uint32_t collective) {
  return AppendCollective(stream, label, role, collective, mark.compute, mark.waits);
}

ProgramWriter::TaskIndex ProgramWriter::Collective(Stream stream, Label label, GroupRole role,
                                                   std::uint32_t collective) {
  return AppendCollective(stream, label, role, collective, last_compute_, waits_);
}

ProgramWriter::TaskIndex ProgramWriter::AppendCollective(Stream stream, Label label, GroupRole role,
                                                         std::uint32_t collective,
                                                         TaskIndex compute,
                                                         std::span<const TaskIndex> waits) {
  Task task = MakeTask(TaskKind::kCollective, stream, label);
  task.role = static_cast<std::uint32_t>(role);
  task.collective = collective;
  return Append(task, compute, waits);
}

ProgramWriter::TaskIndex ProgramWriter::Send(Label label, PeerRole role, Bytes bytes) {
  Task task = MakeTask(TaskKind::kSend, Stream::kSend, label);
  task.role = static_cast<std::uint32_t>(role);
  task.bytes = bytes;
  return Append(task, last_compute_, waits_);
}

ProgramWriter::TaskIndex ProgramWriter::Receive(Label label, PeerRole role, Bytes bytes) {
  Task task = MakeTask(TaskKind::kReceive, Stream::kReceive, label);
  task.role = static_cast<std::uint32_t>(role);
  task.bytes = bytes;
  return Append(task, kNone, {});
}

}  // namespace trunkline
