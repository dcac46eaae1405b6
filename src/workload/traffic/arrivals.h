#pragma once

#include <cstdint>

#include "trunkline/base/units.h"
#include "trunkline/workload/traffic.h"

namespace trunkline {

// What a draw is for: its part of an entity's number.
enum class DrawUse : std::uint8_t { kDestination, kSize, kGap, kPeriod };

// The entity whose draws are those of one rank of one job.
[[nodiscard]] std::uint64_t DrawEntity(std::size_t job, std::uint32_t rank, DrawUse use);

// The moments at which one sender posts, from 0 on: a Poisson process, which runs all the time or,
// with on- and off-times, in the former only. It is in its long-run state from the start.
class ArrivalProcess {
 public:
  struct Parameters {
    double rate = 0;  // messages a second, over all time
    Time mean_on;     // 0: always on
    Time mean_off;
  };
  // `gaps` and `periods` are the entities of its draws.
  ArrivalProcess(const Parameters& parameters, std::uint64_t seed, std::uint64_t gaps,
                 std::uint64_t periods);

  // The next moment; Time::Max() when it is past `end`.
  [[nodiscard]] Time Next(Time end);

 private:
  // A draw of an exponential variable of mean 1.
  double Exponential(std::uint64_t entity, std::uint64_t& index) const;

  std::uint64_t seed_;
  std::uint64_t gaps_;
  std::uint64_t periods_;
  std::uint64_t next_gap_ = 0;
  std::uint64_t next_period_ = 0;
  double mean_gap_;  // of on-time, in picoseconds
  double mean_on_;
  double mean_off_;
  double now_ = 0;
  double on_left_;
};

}  // namespace trunkline
