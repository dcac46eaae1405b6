#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/flow/rate.h"
#include "trunkline/base/int128.h"

namespace trunkline {

// A rate, and whether a resource holds it there (else it is the flow's limit).
class FlowCap {
 public:
  static FlowCap Limit(std::uint64_t rate) { return FlowCap(rate << 1); }
  static FlowCap Held(std::uint64_t rate) { return FlowCap(rate << 1 | 1); }
  [[nodiscard]] std::uint64_t rate() const { return bits_ >> 1; }
  [[nodiscard]] bool is_held() const { return (bits_ & 1) != 0; }
  // The lowest level of a resource at which the flow counts as lower.
  [[nodiscard]] std::uint64_t passes() const { return (bits_ >> 1) + (bits_ & 1); }
  bool operator==(const FlowCap&) const = default;

 private:
  explicit FlowCap(std::uint64_t bits) : bits_(bits) {}
  std::uint64_t bits_;
};

// What a flow gets, and what it could use at most.
struct FlowShare {
  FlowCap cap;
  std::uint64_t limit;
};

// A resource as the flows on it share it: see FlowNetwork. Its first cache line has what changes
// with the rate of any flow.
struct alignas(64) SharedResource {
  static constexpr std::uint64_t kNone = UINT64_MAX;

  struct Active {
    std::uint64_t weight = 0;  // of all flows of
    std::uint32_t bundle = 0;
    std::uint32_t hop = 0;
  };

  // Its flows, while it counts them: those that something else holds lower, by guess, and the
  // others. Flows that nothing holds are lower where their limit is at most `mark`.
  Uint128 lower = 0;  // what they take
  std::uint64_t lower_weight = 0;
  std::uint64_t highest = 0;     // of them: FlowCap::passes() is at most this
  std::uint64_t level = kNone;   // at which it holds flows; kNone: it holds none
  std::uint64_t queued = kNone;  // from where on its level is to be sought; kNone: it is known
  std::uint64_t mark = 0;
  bool contended = false;  // spare < 0
  bool dirty = false;

  Uint128 capacity = 0;               // rate units x weight units
  std::uint64_t weight = 0;           // of the others
  std::uint64_t held = 0;             // of those that it holds already
  std::uint64_t least_limit = kNone;  // of the others: at most theirs
  std::uint64_t greatest_limit = 0;   // of the others: at least theirs
  Int128 spare = 0;                   // capacity - sum of weight x limit over active flows

  std::vector<Active> active;

  [[nodiscard]] bool counts() const { return contended || level != kNone; }
  [[nodiscard]] bool holds(FlowCap cap) const { return cap == FlowCap::Held(level); }
  [[nodiscard]] bool is_lower(FlowCap cap) const {
    return !holds(cap) && (cap.is_held() || cap.rate() <= mark);
  }
  // Whether all its flows may have what they want.
  [[nodiscard]] bool has_room() const {
    return lower + static_cast<Uint128>(weight) * (greatest_limit + 1) + lower_weight <= capacity;
  }
  // It holds none, nor needs to.
  [[nodiscard]] bool idle() const { return level == kNone && has_room(); }

  void IncludeNone(std::uint64_t new_mark);
  void Include(const FlowShare& share, std::uint64_t share_weight);
  void Exclude(FlowCap cap, std::uint64_t share_weight);
  // Exclude and Include of a flow whose rate changes.
  void Move(FlowCap before, const FlowShare& share, std::uint64_t share_weight);

  // The level of flows of this weight that share what is left.
  [[nodiscard]] static std::uint64_t LevelAt(Uint128 left, std::uint64_t weight);
  // The level at which it should hold its flows, kNone: at none, by a glance at the sums; nothing
  // where that does not tell.
  [[nodiscard]] std::optional<std::uint64_t> LikelyLevel() const;
};

// --- Inline: a run does little else --------------------------------------------------------------

inline void SharedResource::IncludeNone(std::uint64_t new_mark) {
  mark = new_mark;
  lower = 0;
  lower_weight = 0;
  highest = 0;
  weight = 0;
  held = 0;
  least_limit = kNone;
  greatest_limit = 0;
}

inline void SharedResource::Include(const FlowShare& share, std::uint64_t share_weight) {
  if (is_lower(share.cap)) {
    lower += static_cast<Uint128>(share_weight) * share.cap.rate();
    lower_weight += share_weight;
    highest = std::max(highest, share.cap.passes());
  } else {
    weight += share_weight;
    if (holds(share.cap)) held += share_weight;
    least_limit = std::min(least_limit, share.limit);
    greatest_limit = std::max(greatest_limit, share.limit);
  }
}

inline void SharedResource::Exclude(FlowCap cap, std::uint64_t share_weight) {
  if (is_lower(cap)) {
    lower -= static_cast<Uint128>(share_weight) * cap.rate();
    lower_weight -= share_weight;
  } else {
    weight -= share_weight;
    if (holds(cap)) held -= share_weight;
  }
}

inline void SharedResource::Move(FlowCap before, const FlowShare& share,
                                 std::uint64_t share_weight) {
  if (!is_lower(before) || !is_lower(share.cap)) {
    Exclude(before, share_weight);
    Include(share, share_weight);
    return;
  }
  // The difference may be negative: sums of unsigned integers wrap back.
  lower += static_cast<Uint128>(share_weight) * share.cap.rate() -
           static_cast<Uint128>(share_weight) * before.rate();
  highest = std::max(highest, share.cap.passes());
}

inline std::uint64_t SharedResource::LevelAt(Uint128 left, std::uint64_t weight) {
  // Most often weights are those of whole bytes, and one division of 64 bits does.
  const Uint128 whole = left >> FlowHop::kFractionBits;
  if (weight % FlowHop::kOne == 0 && whole <= UINT64_MAX) {
    return std::min<std::uint64_t>(static_cast<std::uint64_t>(whole) / (weight / FlowHop::kOne),
                                   INT64_MAX);
  }
  return static_cast<std::uint64_t>(std::min<Uint128>(left / weight, INT64_MAX));
}

// Most often the flows that were lower are. So they are if the level comes out between them and the
// others, and so far above them that rounding cannot make it stop at one of theirs.
inline std::optional<std::uint64_t> SharedResource::LikelyLevel() const {
  if (has_room()) return kNone;
  if (lower > capacity || weight == 0) return std::nullopt;
  const std::uint64_t likely = LevelAt(capacity - lower, weight);
  if (likely < highest || likely >= least_limit) return std::nullopt;
  const Uint128 distance = static_cast<Uint128>(likely - highest) * weight;
  if (distance < lower_weight) return std::nullopt;
  return likely;
}

}  // namespace trunkline
