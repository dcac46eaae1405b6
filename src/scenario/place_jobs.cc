#include "scenario/place_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trunkline/fabric/build.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {
namespace {

// Of traffic without a number of its own: as many as there are endpoints.
std::size_t RanksOf(const Workload& workload, std::size_t endpoints) {
  if (const auto* training = std::get_if<TrainingJob>(&workload)) {
    return static_cast<std::size_t>(training->plan.ranks());
  }
  if (const auto* collective = std::get_if<CollectiveJob>(&workload)) return collective->ranks;
  if (const auto* trace = std::get_if<TraceJob>(&workload)) return trace->graph->ranks();
  const auto& messages = std::get<TrafficInput>(workload).messages;
  return messages ? messages->ranks : endpoints;
}

class JobPlacer {
 public:
  explicit JobPlacer(const Scenario& scenario)
      : scenario_(scenario),
        built_(*scenario.cluster.fabric),
        taken_by_(built_.fabric.device_count(), kNobody),
        placed_{.jobs = std::vector<Placement>(scenario.jobs.size()), .others = {}} {}

  Result<PlacedJobs> Place() {
    for (const bool listed : {true, false}) {
      for (std::uint32_t i = 0; i < scenario_.jobs.size(); ++i) {
        if ((scenario_.jobs[i].placement.kind == PlacementKind::kListed) == listed) PlaceJob(i);
      }
    }
    if (!problems_.empty()) return std::unexpected(std::move(problems_));
    placed_.others = Free();
    return std::move(placed_);
  }

 private:
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  [[nodiscard]] std::uint32_t& TakenBy(DeviceId id) { return taken_by_[Index(id)]; }

  [[nodiscard]] std::vector<DeviceId> Free() {
    std::vector<DeviceId> free;
    for (const DeviceId id : built_.fabric.endpoints()) {
      if (TakenBy(id) == kNobody) free.push_back(id);
    }
    return free;
  }

  // The endpoints of the first `nodes` nodes that nobody is on; fewer where there are fewer.
  [[nodiscard]] std::vector<DeviceId> FreeNodes(std::uint32_t nodes) {
    std::vector<DeviceId> free = Free();
    const std::uint32_t whole = built_.fabric.endpoints_per_node();
    std::vector<DeviceId> chosen;
    for (auto first = free.begin(); first != free.end() && chosen.size() < nodes * whole;) {
      const std::uint32_t node = built_.fabric.device(*first).node;
      const auto last = std::find_if(
          first, free.end(), [&](DeviceId id) { return built_.fabric.device(id).node != node; });
      if (last - first == whole) chosen.insert(chosen.end(), first, last);
      first = last;
    }
    return chosen;
  }

  void Note(const Job& job, Diagnostic problem) {
    if (problem.where.file.empty()) {
      problem.where = job.where;
      problem.excerpt = job.excerpt;
    }
    problems_.push_back(std::move(problem));
  }

  void PlaceJob(std::uint32_t index) {
    const Job& job = scenario_.jobs[index];
    const bool listed = job.placement.kind == PlacementKind::kListed;
    const std::vector<DeviceId> room = listed      ? job.placement.listed
                                       : job.nodes ? FreeNodes(job.nodes)
                                                   : Free();
    // Traffic among nobody is refused as one that does not fit.
    const std::size_t ranks = std::max<std::size_t>(1, RanksOf(job.workload, room.size()));
    auto placement = PlaceRanksOn(built_.fabric, built_.unit_of_node, room, job.placement, ranks,
                                  scenario_.seed);
    if (!placement) {
      for (Diagnostic& problem : placement.error()) {
        problem.message = fmt::format("job '{}': {}", job.name, problem.message);
        if (!listed && scenario_.jobs.size() > 1) {
          problem.hint += "; jobs share links, never endpoints: say how many `nodes` each takes";
        }
        Note(job, std::move(problem));
      }
      return;
    }
    Take(index, *placement);
    if (job.nodes > 0) {  // whole ones, whatever it does with them
      for (const DeviceId id : room) TakenBy(id) = index;
    }
    placed_.jobs[index] = *std::move(placement);
  }

  void Take(std::uint32_t index, const Placement& placement) {
    constexpr std::size_t kNamed = 4;
    std::vector<DeviceId> shared;
    std::uint32_t other = kNobody;
    for (std::uint32_t rank = 0; rank < placement.rank_count(); ++rank) {
      std::uint32_t& taken = TakenBy(placement.endpoint(RankId{rank}));
      if (taken != kNobody) {
        other = taken;
        shared.push_back(placement.endpoint(RankId{rank}));
      }
      taken = index;
    }
    if (shared.empty()) return;
    std::string names;
    for (std::size_t i = 0; i < std::min(kNamed, shared.size()); ++i) {
      names += (i == 0 ? "" : ", ") + built_.fabric.name(shared[i]);
    }
    if (shared.size() > kNamed) names += fmt::format(" and {} more", shared.size() - kNamed);
    const Job& job = scenario_.jobs[index];
    Note(job, Error("TL1221",
                    fmt::format("the jobs '{}' and '{}' are both on {}", scenario_.jobs[other].name,
                                job.name, names),
                    "place them apart: jobs share links, never GPUs or hosts")
                  .error()
                  .front());
  }

  const Scenario& scenario_;
  const BuiltFabric& built_;
  std::vector<std::uint32_t> taken_by_;  // by device: the job
  PlacedJobs placed_;
  Diagnostics problems_;
};

}  // namespace

Result<PlacedJobs> PlaceJobs(const Scenario& scenario) { return JobPlacer(scenario).Place(); }

}  // namespace trunkline
