#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scenario/prepared_job.h"
#include "trunkline/scenario/jobs_result.h"

// From the timelines of several jobs to the figures that people read.
namespace trunkline {

// Of the job on ranks [first, last) that began at `start`. REQUIRES: all of it has ended.
[[nodiscard]] JobTimes TimesOf(const Timeline& timeline, std::uint32_t first, std::uint32_t last,
                               Time start);

// How long the messages of a job took, from the recorded spans of its ranks: those from `first` on.
// Nothing but traffic has a send for each receive of the same role.
[[nodiscard]] Percentiles CompletionTimes(const Timeline& timeline, const TaskGraph& job,
                                          std::uint32_t first);

// The links that several of the jobs or the background cross, by how full they were. `alone`: by
// job, what it took of links, by link id; `together`: what all took, in `time`.
[[nodiscard]] std::vector<SharedLink> SharedLinks(const Fabric& fabric,
                                                  std::span<const std::vector<LinkUse>> alone,
                                                  std::span<const LinkUse> together, Time time,
                                                  bool background);

}  // namespace trunkline
