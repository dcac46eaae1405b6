#include "workload/traffic/message_graph.h"

#include <algorithm>
#include <numeric>

#include "trunkline/base/check.h"

namespace trunkline {
namespace {

constexpr std::uint8_t kClock = 0;
constexpr std::uint8_t kMessages = 1;

}  // namespace

MessageGraph::MessageGraph(const TrafficWorkload& traffic)
    : ends_(traffic.flows.size()),
      programs_(traffic.ranks),
      labels_{{.name = "until the next message", .phase = Phase::kForward},
              {.name = "message", .phase = Phase::kCommunication}},
      streams_{"clock", "messages"} {
  std::vector<Time> clock(traffic.ranks);                      // when its last computation ends …
  std::vector<std::uint32_t> last(traffic.ranks, UINT32_MAX);  // … and which task that is
  const auto add = [&](std::size_t rank, Task task, std::uint32_t dependency) {
    Program& program = programs_[rank];
    task.unordered = true;
    task.first_dependency = static_cast<std::uint32_t>(program.dependencies.size());
    if (dependency != UINT32_MAX) {
      program.dependencies.push_back(dependency);
      task.dependency_count = 1;
    }
    program.tasks.push_back(task);
    return static_cast<std::uint32_t>(program.tasks.size() - 1);
  };
  std::vector<std::uint32_t> order(traffic.flows.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return traffic.flows[i].start; });
  for (const std::uint32_t i : order) {
    const TrafficFlow& flow = traffic.flows[i];
    TL_CHECK(flow.trigger == TrafficFlow::kNoTrigger, "a message that waits for another", i);
    const std::size_t source = Index(flow.source);
    if (flow.start > clock[source]) {
      const Task wait{.kind = TaskKind::kCompute,
                      .stream = kClock,
                      .label = 0,
                      .duration = flow.start - clock[source]};
      last[source] = add(source, wait, last[source]);
      clock[source] = flow.start;
    }
    const Task send{
        .kind = TaskKind::kSend, .stream = kMessages, .label = 1, .role = i, .bytes = flow.bytes};
    add(source, send, last[source]);
    Task receive = send;
    receive.kind = TaskKind::kReceive;
    add(Index(flow.destination), receive, UINT32_MAX);
    ends_[i] = {flow.source, flow.destination};
  }
}

CommunicatorId MessageGraph::communicator(RankId /*rank*/, std::uint32_t role) const {
  TL_CHECK(false, "messages have no communicators", role);
  return {};
}

std::vector<RankId> MessageGraph::members(CommunicatorId communicator) const {
  TL_CHECK(false, "messages have no communicators", Index(communicator));
  return {};
}

}  // namespace trunkline
