#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trunkline/base/ids.h"
#include "trunkline/base/units.h"
#include "trunkline/engine/traffic.h"
#include "trunkline/fabric/placement.h"

namespace trunkline {

// What a run of several jobs on one fabric says about each of them.

// From a job's start to its end, and where that time went on the rank that was done last: the parts
// add up to `time` exactly.
struct JobTimes {
  Time time;
  Time compute;
  Time exposed_comm;
  Time bubble;
  Time other;
  RankId critical_rank{};  // counted in the job
  Percentiles fct_s;       // of traffic: from the post of a message to its arrival
};

struct JobResult {
  std::string name;
  std::string workload;  // "collective", or which of the others
  std::uint32_t ranks = 0;
  RankId first_rank{};  // of the run
  PlacementKind placement_kind = PlacementKind::kPacked;
  Fragmentation fragmentation;
  Time start;
  std::uint32_t repetitions = 1;
  JobTimes alone;                    // on the same endpoints, with nothing beside it
  std::optional<JobTimes> together;  // none: the run did not end
  Time bound;                        // of `time`
  bool fits_memory = true;

  // How many times as long together; 1 where it takes no time.
  [[nodiscard]] double slowdown() const {
    if (!together || alone.time <= Time()) return 1;
    return together->time.seconds() / alone.time.seconds();
  }
};

// A link that several cross.
struct SharedLink {
  struct User {
    std::size_t job = 0;     // index into JobsResult::jobs
    std::int64_t bytes = 0;  // on the wire, of the job alone
  };
  LinkId link{};
  std::string from;
  std::string to;
  double utilisation = 0;   // over the whole run
  std::int64_t bytes = 0;   // on the wire, of all
  std::vector<User> users;  // most first
  std::int64_t background_bytes = 0;
};

struct BackgroundResult {
  std::string pattern;
  double load = 0;
  std::uint32_t ranks = 0;
  std::uint64_t messages = 0;  // posted before the jobs had ended
};

struct JobsResult {
  std::vector<JobResult> jobs;     // as listed
  std::vector<SharedLink> shared;  // by utilisation, the worst thousand
  std::size_t shared_total = 0;
  std::optional<BackgroundResult> background;
};

}  // namespace trunkline
