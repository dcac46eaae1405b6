#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "trunkline/base/random.h"

namespace trunkline {

// Which of 64 entropies, and so which path, each packet of a sprayed queue pair takes, given what
// came back from those before: PathSelection::kMixed, the default of the Ultra Ethernet
// Consortium's simulator (uet-htsim 40ccb05, uec_mp.cpp). An entropy that was acknowledged without
// a mark is used once more, first come first served (REPS, Bonato et al., arXiv 2407.21625).
// Without one, all take turns, but those with a penalty are passed over and pay a point of it off.
class PathChooser {
 public:
  static constexpr std::uint32_t kEntropies = 64;

  enum class News : std::uint8_t { kGood, kMarked, kTrimmed };

  // `seed` orders the turns of each round.
  explicit PathChooser(std::uint64_t seed) : seed_(seed) {}

  // A packet with this entropy has been heard of.
  void Hear(std::uint32_t entropy, News news) {
    entropy %= kEntropies;
    if (news == News::kGood) {
      if (good_count_ == good_.size()) return;
      good_[(good_first_ + good_count_++) % good_.size()] = static_cast<std::uint8_t>(entropy);
      return;
    }
    const int points = penalty_[entropy] + (news == News::kMarked ? 1 : 4);
    penalty_[entropy] = static_cast<std::uint8_t>(std::min(points, kMostPenalty));
  }

  // The next packet's.
  std::uint32_t Next() {
    if (good_count_ != 0) {
      const std::uint32_t entropy = good_[good_first_];
      good_first_ = static_cast<std::uint16_t>((good_first_ + 1) % good_.size());
      --good_count_;
      return entropy;
    }
    std::uint32_t entropy = Turn();
    if (penalty_[entropy] == 0) return entropy;
    --penalty_[entropy];  // one alone, however many are passed over
    for (std::uint32_t i = 0; i < kEntropies; ++i) {
      entropy = Turn();
      if (penalty_[entropy] == 0) break;
    }
    return entropy;
  }

 private:
  static constexpr int kMostPenalty = 15;

  std::uint32_t Turn() {
    if (turn_ == 0) order_ = static_cast<std::uint8_t>(Mix64(seed_ + rounds_++) % kEntropies);
    const std::uint32_t entropy = turn_ ^ order_;
    turn_ = static_cast<std::uint8_t>((turn_ + 1) % kEntropies);
    return entropy;
  }

  std::uint64_t seed_;
  std::uint64_t rounds_ = 0;
  std::array<std::uint8_t, kEntropies> penalty_{};
  std::array<std::uint8_t, 4 * kEntropies> good_{};  // a queue
  std::uint16_t good_first_ = 0;
  std::uint16_t good_count_ = 0;
  std::uint8_t turn_ = 0;
  std::uint8_t order_ = 0;
};

}  // namespace trunkline
