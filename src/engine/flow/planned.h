#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "engine/flow/event_queue.h"
#include "engine/flow/group.h"
#include "engine/flow/interpreter.h"
#include "engine/flow/memo.h"
#include "engine/flow/problem.h"

namespace trunkline {

// Collectives that take a course known ahead (memo.h) instead of being executed.
//
// Where no resource of a group can bind, nothing disturbs it: all ends are known when the last
// member has joined. Elsewhere a member is on the binding resources of its own connections from its
// begin to its end (all that it puts leaves in between), and both are events. As long as nobody
// else is on them at the same time, the course is what it would be alone. Should somebody come, be
// it a transfer or a member of another planned collective, the collective is disturbed from that
// instant on: the runner executes it from its start to that instant, by itself, as it went, and it
// goes on as transfers among others. What its members learned of it until then stays true.
//
// At most two collectives of a group are under way at one time: one that some members have left,
// and the next, which they have joined. The next one puts its messages behind those of the first,
// so it is not executed before the first is; and where slots may be held over from the first, it
// waits for that to be over, or is executed.
class PlannedCollectives {
 public:
  PlannedCollectives(const FlowProblem& problem, const Folding& folding,
                     const CollectiveGroups& groups, CollectiveMemo& memo, Occupancy& occupancy);

  // A member joins the next collective of its group. False: it is not planned, the caller executes
  // it.
  bool Join(std::uint32_t member, std::uint32_t task, std::uint32_t collective, Time begin);
  // An executed collective of the group has begun or ended on one member.
  void NoteExecuted(std::uint32_t member, bool begins) {
    states_[groups_.members[member].group].executed += begins ? 1U : -1U;
  }

  [[nodiscard]] Time next_time() const {
    return std::min(leaves_.next_time(), enters_.next_time());
  }
  [[nodiscard]] Time clock() const { return clock_; }
  // Processes what happens at next_time().
  void Advance();

  struct End {
    std::uint32_t member = 0;
    std::uint32_t task = 0;
    Time time;
  };
  // Ends of members, to be taken there.
  [[nodiscard]] std::vector<End>& ended() { return ended_; }

  // What is to be executed from now on.
  struct Start {
    std::uint32_t member = 0;
    std::uint32_t task = 0;
    Time begin;
  };
  using Starts = std::vector<Start>;
  // Collectives, to be executed one after the other, that are disturbed at clock(), or by a
  // transfer that moves on what `owner` uses.
  std::vector<Starts> TakeDisturbed(std::uint32_t owner);
  // Collectives that members have joined and others have not.
  std::vector<Starts> TakeWaiting();

  // Patterns for which the memo's proof failed.
  [[nodiscard]] const std::vector<std::uint32_t>& withdrawn() const { return withdrawn_; }
  [[nodiscard]] std::uint64_t reuses() const { return reuses_; }

 private:
  enum class Stage : std::uint8_t { kAway, kJoined, kPresent, kLeft };
  struct Place {
    std::uint32_t task = 0;
    Time begin;
    Time end;
    Stage stage = Stage::kAway;
  };
  struct Collective {
    std::vector<Place> places;  // by position
    std::uint32_t collective = 0;
    std::uint32_t joined = 0;
    std::uint32_t left = 0;
    bool executed = false;  // members that join are
    bool planned = false;   // all have joined, ends are known
    bool reused = false;
  };
  struct State {
    std::array<Collective, 2> collectives;  // by round, modulo 2
    std::uint32_t executed = 0;             // members under way in an executed collective
    bool undisturbed = true;                // no resource binds, no slots
    bool slots = false;
  };

  [[nodiscard]] std::uint32_t group_of(std::uint32_t owner) const { return owner / 2; }
  [[nodiscard]] Collective& of(std::uint32_t owner) {
    return states_[owner / 2].collectives[owner % 2];
  }
  [[nodiscard]] std::uint32_t size_of(std::uint32_t owner) const {
    return static_cast<std::uint32_t>(groups_.members_of[owner / 2].size());
  }
  void Begin(std::uint32_t owner, std::uint32_t collective);
  void Plan(std::uint32_t owner);
  void Enter(std::uint32_t member);
  void Leave(std::uint32_t member);
  void Finish(std::uint32_t owner);
  void Vacate(std::uint32_t member);
  void Take(std::uint32_t owner, std::vector<Starts>& taken);

  const FlowProblem& problem_;
  const CollectiveGroups& groups_;
  CollectiveMemo& memo_;
  Occupancy& occupancy_;
  std::vector<State> states_;                     // by group
  std::vector<std::uint32_t> round_;              // by member: collectives joined
  std::vector<std::vector<std::uint32_t>> uses_;  // by member: the binding resources it puts on
  EventQueue enters_;                             // by member
  EventQueue leaves_;                             // by member
  Time clock_;
  std::vector<std::uint32_t> disturbed_;  // owners: twice the group, plus the round modulo 2
  std::vector<End> ended_;
  std::vector<std::uint32_t> withdrawn_;
  std::vector<Time> begins_;  // scratch
  std::uint64_t reuses_ = 0;
};

}  // namespace trunkline
