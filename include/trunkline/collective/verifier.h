#pragma once

#include <cstdint>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/collective/algorithm.h"
#include "trunkline/collective/schedule.h"

namespace trunkline {

// What a verified schedule moved.
struct ScheduleTraffic {
  std::vector<std::int64_t> sent;                // bytes put, by participant
  std::vector<std::int64_t> received;            // bytes that arrived, by participant
  std::vector<std::int64_t> sent_between_nodes;  // of `sent`, what leaves the rank's node, by rank
  std::int64_t within_nodes = 0;                 // between ranks of one node
  std::int64_t between_nodes = 0;                // between ranks of different nodes
  std::int64_t with_actors = 0;                  // to and from symbolic network actors
  std::uint64_t puts = 0;
  std::uint64_t steps = 0;  // messages on the longest chain in which each waits for the one before
};

// Executes `schedule` on real integers, one for each element, and proves that `spec.primitive`
// comes out: every contribution is a hash of its rank and position, sums are modulo 2^64, and each
// rank's whole output is compared. Runs twice, in orders that differ as much as the schedule
// allows: data moving as soon as a put is issued, and only when its signal is waited for.
//
// Independently of the order, vector clocks prove that no span is written while a put or another
// channel may still read or write it, and that nothing is read before it was written.
//
// Fails with TL1510 (deadlock: who waits for whom), TL1511 (a span outside its buffer, not at an
// element, or of unequal sizes), TL1512 (a put that no one waits for), TL1513 (a data race), TL1514
// (a wrong result), TL1515 (an op that cannot be executed), TL1516 (a read of what nothing wrote).
// Memory and time grow with elements x ranks and with participants^2 x channels^2: for small data.
[[nodiscard]] Result<ScheduleTraffic> Verify(const Schedule& schedule, const CollectiveSpec& spec,
                                             const GroupLayout& layout);

}  // namespace trunkline
