#include "engine/flow/planned.h"

#include <algorithm>
#include <utility>

namespace trunkline {

PlannedCollectives::PlannedCollectives(const FlowProblem& problem, const Folding& folding,
                                       const CollectiveGroups& groups, CollectiveMemo& memo,
                                       Occupancy& occupancy)
    : problem_(problem),
      groups_(groups),
      memo_(memo),
      occupancy_(occupancy),
      states_(groups.size()),
      round_(groups.members.size(), 0),
      uses_(groups.members.size()) {
  std::vector<std::uint32_t> last_user(folding.capacities.size(), UINT32_MAX);
  for (std::uint32_t i = 0; i < groups.members.size(); ++i) {
    const CollectiveGroups::Member& member = groups.members[i];
    const Pattern& pattern =
        problem.patterns[problem.communicators[member.seat.communicator].pattern];
    const bool is_covered = std::ranges::any_of(pattern.uses, [&](const Pattern::Use& use) {
      return memo.Covers(member.group, use.collective);
    });
    if (!is_covered) continue;
    State& state = states_[member.group];
    std::vector<std::uint32_t>& uses = uses_[i];
    ForEachOutbound(problem, folding, member.seat, [&](std::uint32_t, std::uint32_t index) {
      const Connection& connection = folding.connections[index];
      for (std::uint32_t hop = 0; hop < connection.binding_hops; ++hop) {
        const std::uint32_t resource = folding.hops[connection.first_hop + hop].resource;
        if (std::exchange(last_user[resource], i) != i) uses.push_back(resource);
      }
    });
    for (const Pattern::Use& use : pattern.uses) {
      for (std::uint32_t channel = 0; channel < use.schedule->channels(); ++channel) {
        if (use.schedule->channel_shape(channel).slots > 0) state.slots = true;
      }
    }
    if (!uses.empty()) occupancy.entries.resize(folding.capacities.size());
    if (!uses.empty() || state.slots) state.undisturbed = false;
  }
}

bool PlannedCollectives::Join(std::uint32_t index, std::uint32_t task, std::uint32_t collective,
                              Time begin) {
  const CollectiveGroups::Member& member = groups_.members[index];
  const std::uint32_t owner = 2 * member.group + (round_[index]++ & 1);
  Collective& joined = of(owner);
  if (joined.joined == 0) Begin(owner, collective);
  if (joined.collective != collective) disturbed_.push_back(owner);
  ++joined.joined;
  const bool last = joined.joined == size_of(owner);
  if (joined.executed) {
    if (last) joined.joined = 0;
    return false;
  }
  joined.places[member.position] = {task, begin, Time(), Stage::kJoined};
  if (!states_[member.group].undisturbed) enters_.Set(index, begin);
  if (last) Plan(owner);
  return true;
}

void PlannedCollectives::Begin(std::uint32_t owner, std::uint32_t collective) {
  Collective& next = of(owner);
  const State& state = states_[group_of(owner)];
  next.places.resize(size_of(owner));
  std::ranges::fill(next.places, Place());
  next.collective = collective;
  next.left = 0;
  next.planned = false;
  next.executed = false;
  const bool previous_planned = of(owner ^ 1U).joined > 0;
  const bool previous_runs = previous_planned || state.executed > 0;
  if (memo_.Covers(group_of(owner), collective) && !(state.slots && previous_runs)) return;
  if (previous_planned) {
    disturbed_.push_back(owner);
  } else {
    next.executed = true;
  }
}

void PlannedCollectives::Plan(std::uint32_t owner) {
  Collective& collective = of(owner);
  if (std::ranges::find(disturbed_, owner) != disturbed_.end()) return;
  begins_.clear();
  for (const Place& place : collective.places) begins_.push_back(place.begin);
  const Time first = std::ranges::min(begins_);
  const CollectiveMemo::Outcome& outcome =
      memo_.Find(group_of(owner), collective.collective, begins_, collective.reused);
  const std::vector<std::uint32_t>& members = groups_.members_of[group_of(owner)];
  if (!outcome.proven || outcome.quiet > Time::Horizon() - first) {
    for (const std::uint32_t member : members) {
      const FlowProblem::Seat& seat = groups_.members[member].seat;
      withdrawn_.push_back(problem_.communicators[seat.communicator].pattern);
    }
    return;
  }
  collective.planned = true;
  for (std::uint32_t position = 0; position < members.size(); ++position) {
    Place& place = collective.places[position];
    place.end = first + outcome.end[position];
    if (states_[group_of(owner)].undisturbed) {
      ended_.push_back({members[position], place.task, place.end});
    } else {
      leaves_.Set(members[position], place.end);
    }
  }
  if (states_[group_of(owner)].undisturbed) Finish(owner);
}

void PlannedCollectives::Finish(std::uint32_t owner) {
  Collective& collective = of(owner);
  collective.joined = 0;
  memo_.Count(group_of(owner), collective.collective);
  if (collective.reused) ++reuses_;
}

void PlannedCollectives::Advance() {
  clock_ = next_time();
  if (leaves_.next_time() == clock_) {
    while (leaves_.next_time() == clock_) Leave(leaves_.Pop());
    return;
  }
  while (enters_.next_time() == clock_ && disturbed_.empty()) Enter(enters_.Pop());
}

void PlannedCollectives::Enter(std::uint32_t index) {
  const CollectiveGroups::Member& member = groups_.members[index];
  const std::uint32_t owner = 2 * member.group + ((round_[index] - 1) & 1);
  for (const std::uint32_t resource : uses_[index]) {
    const Occupancy::Entry& entry = occupancy_.entries[resource];
    const bool others = entry.planned > 0 && entry.owner != owner;
    if (others) disturbed_.push_back(entry.owner);
    if (others || entry.transfers > 0) disturbed_.push_back(owner);
  }
  if (!disturbed_.empty()) return;
  for (const std::uint32_t resource : uses_[index]) {
    Occupancy::Entry& entry = occupancy_.entries[resource];
    ++entry.planned;
    entry.owner = owner;
  }
  of(owner).places[member.position].stage = Stage::kPresent;
}

void PlannedCollectives::Vacate(std::uint32_t member) {
  for (const std::uint32_t resource : uses_[member]) --occupancy_.entries[resource].planned;
}

void PlannedCollectives::Leave(std::uint32_t index) {
  const CollectiveGroups::Member& member = groups_.members[index];
  const std::uint32_t owner = 2 * member.group + ((round_[index] - 1) & 1);
  Collective& collective = of(owner);
  Place& place = collective.places[member.position];
  // It may enter and leave at one instant.
  if (place.stage == Stage::kPresent) Vacate(index);
  enters_.Remove(index);
  place.stage = Stage::kLeft;
  ended_.push_back({index, place.task, place.end});
  if (++collective.left == collective.places.size()) Finish(owner);
}

void PlannedCollectives::Take(std::uint32_t owner, std::vector<Starts>& taken) {
  Collective& collective = of(owner);
  if (collective.joined == 0 || collective.executed) return;  // it has been taken
  if (!collective.planned) Take(owner ^ 1U, taken);
  const std::vector<std::uint32_t>& members = groups_.members_of[group_of(owner)];
  Starts starts;
  for (std::uint32_t position = 0; position < members.size(); ++position) {
    const Place& place = collective.places[position];
    if (place.stage == Stage::kAway) continue;
    if (place.stage == Stage::kPresent) Vacate(members[position]);
    if (place.stage == Stage::kJoined) enters_.Remove(members[position]);
    if (place.stage != Stage::kLeft) leaves_.Remove(members[position]);
    starts.push_back({members[position], place.task, place.begin});
  }
  collective.executed = true;
  if (collective.joined == size_of(owner)) collective.joined = 0;
  taken.push_back(std::move(starts));
}

std::vector<PlannedCollectives::Starts> PlannedCollectives::TakeDisturbed(std::uint32_t owner) {
  std::vector<Starts> taken;
  if (owner != Occupancy::kNobody) disturbed_.push_back(owner);
  for (const std::uint32_t disturbed : disturbed_) Take(disturbed, taken);
  disturbed_.clear();
  return taken;
}

std::vector<PlannedCollectives::Starts> PlannedCollectives::TakeWaiting() {
  std::vector<Starts> taken;
  for (std::uint32_t owner = 0; owner < 2 * states_.size(); ++owner) Take(owner, taken);
  return taken;
}

}  // namespace trunkline
