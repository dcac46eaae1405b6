#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trunkline/collective/schedule.h"

namespace trunkline {

// For each thread (a program of one channel), how many of its events are known to have happened.
using VectorClock = std::vector<std::uint32_t>;

void Join(VectorClock& clock, const VectorClock& other);

// Where an op stands.
struct OpPlace {
  Participant participant = 0;
  std::uint32_t channel = 0;
  std::uint64_t index = 0;
};

// Finds pairs of conflicting accesses to one element that no chain of signals orders.
//
// An access begins at one event and ends at another, which for a put is the wait that consumes its
// signal. It precedes a later access exactly when the later one's thread knows of its end. What one
// execution orders by signals every execution does, so that one run settles the matter.
class RaceDetector {
 public:
  using AccessId = std::uint32_t;

  // A new access, by the op at `place`, whose end is not yet known.
  AccessId Begin(OpPlace place);
  void End(AccessId access, std::uint32_t thread, std::uint32_t event);

  // The elements of one buffer, in the order of offsets.
  struct Element {
    std::optional<AccessId> write;
    std::vector<AccessId> reads;  // since `write`
  };

  // Notes that `access`, beginning in a thread that knows `now`, reads or writes `elements`.
  // Returns the place of an access that it races with, if any.
  [[nodiscard]] std::optional<OpPlace> Read(std::span<Element> elements, AccessId access,
                                            const VectorClock& now);
  [[nodiscard]] std::optional<OpPlace> Write(std::span<Element> elements, AccessId access,
                                             const VectorClock& now);

 private:
  struct Access {
    OpPlace place;
    std::uint32_t end_thread = 0;
    std::uint32_t end_event = 0;  // 0: has not ended
  };
  [[nodiscard]] bool Precedes(AccessId earlier, const VectorClock& now) const;

  std::vector<Access> accesses_;
};

}  // namespace trunkline
