#include <algorithm>
#include <array>

#include "scenario/summary.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

// What a program does, whoever runs it.
struct Load {
  Time compute;  // of the stream that computes longest
  Bytes sent;
  Bytes received;
};

Load LoadOf(const Program& program) {
  Load load;
  std::array<Time, UINT8_MAX + 1> compute{};
  for (const Task& task : program.tasks) {
    if (task.kind == TaskKind::kCompute) compute[task.stream] += task.duration;
    if (task.kind == TaskKind::kSend) load.sent += task.bytes;
    if (task.kind == TaskKind::kReceive) load.received += task.bytes;
  }
  load.compute = *std::ranges::max_element(compute);
  return load;
}

// Engines share rates as doubles and round each message's end: a billionth covers both.
Time Least(Bytes bytes, Rate rate) {
  if (bytes == Bytes() || rate == Rate()) return {};  // the engine says who is cut off
  const Time exact = TransferTime(bytes, rate);
  return exact - Time::Picoseconds(exact.ps() / 1'000'000'000 + 1);
}

}  // namespace

Time TraceBound(const TaskGraph& graph, const Fabric& fabric, const Placement& placement) {
  std::vector<Load> loads;
  for (std::uint32_t i = 0; i < graph.program_count(); ++i) {
    loads.push_back(LoadOf(graph.program(i)));
  }
  Time bound;
  for (std::uint32_t rank = 0; rank < graph.ranks(); ++rank) {
    const Load& load = loads[graph.program_of(RankId{rank})];
    bound = std::max(bound, load.compute);
    Rate out;
    Rate in;
    for (const LinkId link : fabric.out(placement.endpoint(RankId{rank}))) {
      out = out + fabric.link(link).rate;
      in = in + fabric.link(LinkId(Index(link) ^ 1U)).rate;  // the cable's other direction
    }
    bound = std::max({bound, Least(load.sent, out), Least(load.received, in)});
  }
  return bound;
}

}  // namespace trunkline
