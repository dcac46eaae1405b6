#include "report/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "fabric/tier_name.h"
#include "report/table.h"
#include "trunkline/training/training.h"

namespace trunkline {

std::string CollectiveName(const StepCollective& collective) {
  return fmt::format("{} {}", collective.role, ToString(collective.row.primitive));
}

std::string LinkName(const Fabric& fabric, LinkId link) {
  return Printable(fmt::format("{} -> {}", fabric.name(fabric.link(link).from),
                               fabric.name(fabric.link(link).to)));
}

std::string LinkClassName(const Fabric& fabric, LinkId link) {
  return fmt::format("{} -> {}", DeviceClass(fabric.device(fabric.link(link).from)),
                     DeviceClass(fabric.device(fabric.link(link).to)));
}

const JobResult* JobOfRank(const JobsResult& jobs, RankId rank) {
  const auto found = std::ranges::find_if(jobs.jobs, [&](const JobResult& job) {
    const std::size_t first = Index(job.first_rank);
    return Index(rank) >= first && Index(rank) < first + job.ranks;
  });
  return found == jobs.jobs.end() ? nullptr : &*found;
}

std::string RankOfJob(const RunResult& result, RankId rank) {
  const JobResult* job = result.jobs ? JobOfRank(*result.jobs, rank) : nullptr;
  if (job == nullptr) return fmt::format("rank {}", Index(rank));
  return fmt::format("rank {} of {}", Index(rank) - Index(job->first_rank), job->name);
}

std::string RankName(const RunResult& result, RankId rank) {
  std::string place;
  if (result.training && result.training->plan.pp > 1) {
    place = fmt::format("stage {}", result.training->graph->program_of(rank));
  }
  if (result.fabric && Index(rank) < result.placement.rank_count()) {
    if (!place.empty()) place += ", ";
    place += result.fabric->name(result.placement.endpoint(rank));
  }
  std::string name = RankOfJob(result, rank);
  return place.empty() ? name : fmt::format("{} ({})", name, place);
}

std::string FragmentationText(const RunResult& result) {
  const Fragmentation& lies = result.fragmentation;
  return fmt::format(
      "{} nodes in {} of {} units, where {} would hold them; {} of ring steps and {} of pairs "
      "climb beyond a switch",
      lies.nodes, lies.units, lies.units_total, lies.units_needed, Percent(lies.ring_over_spines),
      Percent(lies.pairs_over_spines));
}

std::string Bandwidth(double bytes_per_second) {
  return Humanize(Rate::BitsPerSecond(std::llround(8 * bytes_per_second)));
}

std::string LinkRate(LinkKind kind, Rate rate) {
  return kind == LinkKind::kNetwork ? ToString(rate) : Humanize(rate);
}

double Ratio(Time a, Time b) {
  return b == Time() ? 0 : static_cast<double>(a.ps()) / static_cast<double>(b.ps());
}

}  // namespace trunkline
