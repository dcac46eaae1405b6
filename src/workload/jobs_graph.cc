#include "workload/jobs_graph.h"

#include <algorithm>

#include "trunkline/base/check.h"

namespace trunkline {

JobsGraph::JobsGraph(std::vector<Part> parts) : parts_(std::move(parts)) {
  for (const Part& part : parts_) Add(*part.graph);
  first_.push_back({ranks(), program_count(), communicators_});
}

std::uint8_t JobsGraph::StreamOf(const std::string& name) {
  const auto found = std::ranges::find(streams_, name);
  const auto index = static_cast<std::size_t>(found - streams_.begin());
  if (found == streams_.end()) streams_.push_back(name);
  TL_CHECK(index <= UINT8_MAX, "more streams than tasks can name", index);
  return static_cast<std::uint8_t>(index);
}

std::uint16_t JobsGraph::LabelOf(const TaskLabel& label) {
  const auto next = static_cast<std::uint16_t>(labels_.size());
  const auto [entry, is_new] = label_index_.try_emplace({label.name, label.phase}, next);
  if (is_new) {
    TL_CHECK(labels_.size() <= UINT16_MAX, "more labels than tasks can name", labels_.size());
    labels_.push_back(label);
  }
  return entry->second;
}

void JobsGraph::Add(const TaskGraph& graph) {
  const auto job = static_cast<std::uint32_t>(first_.size());
  first_.push_back({ranks(), program_count(), communicators_});
  communicators_ += graph.communicator_count();
  job_of_rank_.resize(job_of_rank_.size() + graph.ranks(), job);
  const auto first_collective = static_cast<std::uint32_t>(collectives_.size());
  collectives_.insert(collectives_.end(), graph.collectives().begin(), graph.collectives().end());
  std::vector<std::uint8_t> stream_of;
  for (const std::string& name : graph.streams()) stream_of.push_back(StreamOf(name));
  std::vector<std::uint16_t> label_of;
  for (const TaskLabel& label : graph.labels()) label_of.push_back(LabelOf(label));
  for (std::uint32_t i = 0; i < graph.program_count(); ++i) {
    Program program = graph.program(i);
    for (Task& task : program.tasks) {
      task.stream = stream_of[task.stream];
      task.label = label_of[task.label];
      if (task.kind == TaskKind::kCollective) task.collective += first_collective;
    }
    programs_.push_back(std::move(program));
  }
}

std::uint32_t JobsGraph::program_of(RankId rank) const {
  return first_[job_of(rank)].program + graph_of(rank).program_of(Local(rank));
}

CommunicatorId JobsGraph::communicator(RankId rank, std::uint32_t role) const {
  const CommunicatorId local = graph_of(rank).communicator(Local(rank), role);
  return CommunicatorId(first_[job_of(rank)].communicator + Index(local));
}

std::uint32_t JobsGraph::JobOf(CommunicatorId communicator) const {
  const auto next = std::ranges::upper_bound(first_, Index(communicator), {}, &First::communicator);
  return static_cast<std::uint32_t>(next - first_.begin() - 1);
}

CommunicatorId JobsGraph::in_job(CommunicatorId communicator) const {
  return CommunicatorId(Index(communicator) - first_[JobOf(communicator)].communicator);
}

std::vector<RankId> JobsGraph::members(CommunicatorId communicator) const {
  const std::uint32_t job = JobOf(communicator);
  std::vector<RankId> members = parts_[job].graph->members(in_job(communicator));
  for (RankId& member : members) member = RankId(first_[job].rank + Index(member));
  return members;
}

RankId JobsGraph::peer(RankId rank, std::uint32_t role) const {
  return RankId(first_[job_of(rank)].rank + Index(graph_of(rank).peer(Local(rank), role)));
}

std::uint32_t JobsGraph::reverse_role(std::uint32_t role) const {
  TL_CHECK(false, "the sender's role depends on the job", role);
  return role;
}

std::uint32_t JobsGraph::sender_role(RankId receiver, std::uint32_t role) const {
  return graph_of(receiver).sender_role(Local(receiver), role);
}

}  // namespace trunkline
