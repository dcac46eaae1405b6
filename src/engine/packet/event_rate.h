#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace trunkline {

// How many events a run handles in a second of the clock on the wall, for its progress line.
class EventRate {
 public:
  // ", 2.5 M events/s", given how many there have been: of the last half second or more. Empty at
  // first.
  [[nodiscard]] std::string Text(std::uint64_t events) {
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - since_).count();
    if (seconds >= kLeast) {
      const double rate = static_cast<double>(events - events_) / seconds;
      text_ = rate >= 1e6 ? fmt::format(", {:.1f} M events/s", rate * 1e-6)
                          : fmt::format(", {:.0f} k events/s", rate * 1e-3);
      since_ = now;
      events_ = events;
    }
    return text_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kLeast = 0.5;

  Clock::time_point since_ = Clock::now();
  std::uint64_t events_ = 0;
  std::string text_;
};

}  // namespace trunkline
