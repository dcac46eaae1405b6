#pragma once

#include <string>

#include "trunkline/fabric/fabric.h"
#include "trunkline/scenario/jobs_result.h"
#include "trunkline/scenario/result.h"

// How the report names things of a run.
namespace trunkline {

// "dp reduce_scatter".
[[nodiscard]] std::string CollectiveName(const StepCollective& collective);
// "leaf-3 -> spine-1".
[[nodiscard]] std::string LinkName(const Fabric& fabric, LinkId link);
// The same of the classes of its ends: "leaf -> spine".
[[nodiscard]] std::string LinkClassName(const Fabric& fabric, LinkId link);
// The job that a rank of the run is of, or none.
[[nodiscard]] const JobResult* JobOfRank(const JobsResult& jobs, RankId rank);
// "rank 12", or "rank 4 of job": ranks of several jobs are counted in their own.
[[nodiscard]] std::string RankOfJob(const RunResult& result, RankId rank);
// The same with its place, as far as it is known: "rank 12 (stage 1, gpu:1/4)".
[[nodiscard]] std::string RankName(const RunResult& result, RankId rank);
// How far the ranks of a run are spread.
[[nodiscard]] std::string FragmentationText(const RunResult& result);
// "48.67 GB/s".
[[nodiscard]] std::string Bandwidth(double bytes_per_second);
// As people name it: networks in Gb/s, what is inside a server in GB/s.
[[nodiscard]] std::string LinkRate(LinkKind kind, Rate rate);
// The ratio of two times; 0 when the second is 0.
[[nodiscard]] double Ratio(Time a, Time b);

}  // namespace trunkline
