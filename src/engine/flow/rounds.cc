#include "engine/flow/rounds.h"

#include <algorithm>
#include <array>
#include <utility>

namespace trunkline {
namespace {

// For each resource: the sum over programs of what their most demanding round asks for.
class Peaks {
 public:
  Peaks(const FlowProblem& problem, std::vector<char> watched)
      : problem_(problem),
        watched_(std::move(watched)),
        round_(watched_.size(), 0),
        peak_(round_),
        total_(round_) {}

  void Add(const Connection& connection) {
    for (const FlowHop& hop : problem_.hops_of(connection)) {
      if (!watched_[hop.resource]) continue;
      if (round_[hop.resource] == 0) in_round_.push_back(hop.resource);
      round_[hop.resource] += static_cast<Uint128>(hop.weight) * connection.limit.units;
    }
  }
  void EndRound() {
    for (const std::uint32_t resource : in_round_) {
      if (peak_[resource] == 0) in_program_.push_back(resource);
      peak_[resource] = std::max(peak_[resource], round_[resource]);
      round_[resource] = 0;
    }
    in_round_.clear();
  }
  void EndProgram() {
    EndRound();
    for (const std::uint32_t resource : in_program_) {
      total_[resource] += peak_[resource];
      peak_[resource] = 0;
    }
    in_program_.clear();
  }
  // Once all programs have ended.
  [[nodiscard]] bool Fits(std::uint32_t resource, Uint128 capacity) const {
    return watched_[resource] != 0 && total_[resource] <= capacity;
  }

 private:
  const FlowProblem& problem_;
  std::vector<char> watched_;   // by resource
  std::vector<Uint128> round_;  // by resource: of the current round …
  std::vector<std::uint32_t> in_round_;
  std::vector<Uint128> peak_;  // … of the current program
  std::vector<std::uint32_t> in_program_;
  std::vector<Uint128> total_;
};

// What a member puts and awaits on one channel, one collective after the other.
void AddProgram(const FlowProblem& problem, const FlowProblem::Communicator& communicator,
                Participant position, std::uint32_t channel, Peaks& put, Peaks& awaited) {
  const Pattern& pattern = problem.patterns[communicator.pattern];
  std::array<Op, 32> block;
  for (const Pattern::Use& use : pattern.uses) {
    if (channel >= use.schedule->channels()) continue;
    const std::uint64_t count = use.schedule->op_count(position, channel);
    bool waited = false;
    for (std::uint64_t first = 0; first < count; first += block.size()) {
      const auto ops = std::span(block).first(
          static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), count - first)));
      use.schedule->ops(position, channel, first, ops);
      for (const Op& op : ops) {
        const bool waits = op.kind == OpKind::kWait;
        const bool puts = op.kind == OpKind::kPut || op.kind == OpKind::kSignal;
        if (op.peer == position || !(waits || puts)) continue;
        if (puts && waited) {
          put.EndRound();
          awaited.EndRound();
        }
        waited = waits;
        const std::uint32_t pair = waits ? pattern.IndexOf(op.peer, position, channel)
                                         : pattern.IndexOf(position, op.peer, channel);
        const Connection& connection = problem.connections[communicator.first_connection + pair];
        (waits ? awaited : put).Add(connection);
      }
    }
    put.EndRound();
    awaited.EndRound();
  }
  put.EndProgram();
  awaited.EndProgram();
}

}  // namespace

void UnmarkUnfilledByRounds(const FlowProblem& problem, std::span<const Uint128> capacities,
                            const std::vector<char>& near_source,
                            const std::vector<char>& near_destination, std::vector<char>& binds) {
  const bool sends = std::ranges::any_of(problem.shapes, [](const ProgramShape& shape) {
    return !shape.sends.empty() || !shape.receives.empty();
  });
  if (sends) return;
  const auto those = [&](const std::vector<char>& near) {
    std::vector<char> watched(binds);
    for (std::size_t i = 0; i < binds.size(); ++i) watched[i] &= near[i];
    return watched;
  };
  Peaks put(problem, those(near_source));
  Peaks awaited(problem, those(near_destination));
  for (const FlowProblem::Communicator& communicator : problem.communicators) {
    const Pattern& pattern = problem.patterns[communicator.pattern];
    for (Participant position = 0; position < pattern.period; ++position) {
      for (std::uint32_t channel = 0; channel < pattern.channels; ++channel) {
        AddProgram(problem, communicator, position, channel, put, awaited);
      }
    }
  }
  for (std::uint32_t i = 0; i < binds.size(); ++i) {
    if (put.Fits(i, capacities[i]) || awaited.Fits(i, capacities[i])) binds[i] = 0;
  }
}

}  // namespace trunkline
