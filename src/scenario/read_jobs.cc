#include <fmt/format.h>

#include <map>
#include <utility>

#include "scenario/reader.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

// Each is run alone, too.
constexpr std::size_t kMostJobs = 1'024;
constexpr std::int64_t kMostRepetitions = 10'000;

// Whether the workload is one run of programs, which can run beside others.
void CheckRunsBeside(const YamlValue& value, const Workload& workload) {
  if (const auto* collective = std::get_if<CollectiveJob>(&workload)) {
    if (collective->sizes.size() > 1) {
      value.Error(
          "TL1222",
          fmt::format("a collective at {} sizes beside other work", collective->sizes.size()),
          "write one `size`; `repetitions` runs it several times");
    }
    return;
  }
  const auto* traffic = std::get_if<TrafficInput>(&workload);
  if (traffic == nullptr) return;
  bool plain = true;
  for (const TrafficJob& job : traffic->spec.jobs) {
    plain = plain && !job.raw && !job.read && job.traffic_class == 0;
  }
  if (traffic->messages) {
    for (const TrafficFlow& flow : traffic->messages->flows) {
      plain = plain && flow.trigger == TrafficFlow::kNoTrigger && flow.traffic_class == 0;
    }
  }
  if (plain) return;
  value.Error(
      "TL1222",
      "messages that wait for others, are read, raw or of another class than 0, beside "
      "other work",
      "keep to writes of class 0 that start by themselves, or run this traffic alone as the "
      "`workload`");
}

class JobsReader {
 public:
  JobsReader(const std::string& file, const YamlMap& root, Scenario& scenario)
      : file_(file), root_(root), scenario_(scenario) {}

  void Read() {
    const YamlValue value = *root_.Find("jobs");
    const auto list = value.AsList();
    CheckBeside(value);
    if (!list) return;
    if (list->empty() || list->size() > kMostJobs) {
      value.Error("TL1220", fmt::format("{} jobs", list->size()),
                  fmt::format("list 1 to {}, each with a `workload`", kMostJobs));
      return;
    }
    std::map<std::string, SourcePosition> names;
    for (const YamlValue& element : *list) {
      Job job = ReadJob(element);
      const auto [other, is_new] = names.emplace(job.name, job.where);
      if (!is_new) {
        element.Error(
            "TL1220",
            fmt::format("the job of line {} is called '{}', too", other->second.line, job.name),
            "give each job a `name` of its own: results are listed by it");
      }
      scenario_.jobs.push_back(std::move(job));
    }
  }

 private:
  // What of the rest of the scenario goes with a lone workload only.
  void CheckBeside(const YamlValue& jobs) const {
    root_.Refuse("workload", "TL1203", "a workload beside jobs",
                 "make it one of the jobs, or keep one of the two keys");
    const auto cluster = root_.Map("cluster");
    if (cluster && scenario_.cluster.fabric) {
      cluster->Refuse("placement", "TL1207", "each job has a placement of its own",
                      "write it at each of the jobs");
    }
    if (scenario_.engine == EngineKind::kAnalytic) {
      jobs.Error("TL1212", "the closed forms let no job see another",
                 "engine: flow or packet, which share every link; or one workload at a time");
    }
    if (scenario_.window) {
      jobs.Error("TL1207", "'packet.window' is of a lone training step or trace",
                 "remove the window; engine: packet runs all of the jobs as packets");
    }
  }

  // Endpoints of a whole node, where all have as many.
  [[nodiscard]] std::int64_t RoomOn(std::uint32_t nodes, const YamlValue& value) const {
    const Fabric& fabric = scenario_.cluster.fabric->fabric;
    if (nodes > fabric.node_count()) {
      value.Error("TL1206", fmt::format("{} nodes of {}", nodes, fabric.node_count()),
                  "use more nodes in the cluster, or fewer here");
      return 0;
    }
    if (fabric.endpoints_per_node() == 0) {
      value.Error("TL1207", "a number of nodes where nodes have different numbers of GPUs",
                  "write placement: {nodelist: …}, which names them");
    }
    return std::int64_t{nodes} * fabric.endpoints_per_node();
  }

  [[nodiscard]] Room ReadRoom(const YamlMap& map, Job& job) const {
    const auto nodes = map.Find("nodes");
    const bool known = !nodes || nodes->Read(job.nodes, IntRange{.min = 1, .max = 1'000'000});
    const BuiltFabric* fabric = scenario_.cluster.fabric.get();
    ReadPlacement(file_, map, fabric, job.placement);
    if (fabric == nullptr || !known) return {};
    if (job.placement.kind == PlacementKind::kListed) {
      map.Refuse("nodes", "TL1207", "the placement lists where the job runs",
                 "remove `nodes`, or choose a placement by kind");
      return {.endpoints = static_cast<std::int64_t>(job.placement.listed.size())};
    }
    if (nodes) {
      const auto most = static_cast<std::int64_t>(fabric->fabric.node_count());
      return {.endpoints = RoomOn(job.nodes, *nodes),
              .nodes = {.gpus_per_node = fabric->fabric.endpoints_per_node(),
                        .possible = [most](std::int64_t number) { return number <= most; }}};
    }
    return {.endpoints = static_cast<std::int64_t>(fabric->fabric.endpoints().size()),
            .all = false};
  }

  Job ReadJob(const YamlValue& element) {
    Job job;
    job.name = fmt::format("job {}", scenario_.jobs.size() + 1);
    job.where = element.where();
    job.excerpt = element.excerpt();
    const auto map = element.AsMap();
    if (!map) return job;
    map->Read("name", job.name);
    map->Read("start", job.start);
    map->Read("repetitions", job.repetitions, IntRange{.min = 1, .max = kMostRepetitions});
    const Room room = ReadRoom(*map, job);
    const auto workload = map->Required("workload");
    if (!workload) return job;
    const std::size_t assumed = scenario_.assumptions.size();
    const std::size_t before = workload->error_count();
    ReadWorkload(file_, root_, *workload, room, scenario_);
    if (workload->error_count() == before) CheckRunsBeside(*workload, scenario_.workload);
    for (std::size_t i = assumed; i < scenario_.assumptions.size(); ++i) {
      scenario_.assumptions[i] = fmt::format("{}: {}", job.name, scenario_.assumptions[i]);
    }
    job.workload = std::exchange(scenario_.workload, {});
    return job;
  }

  const std::string& file_;
  const YamlMap& root_;
  Scenario& scenario_;
};

}  // namespace

void ReadJobs(const std::string& file, const YamlMap& root, Scenario& scenario) {
  JobsReader(file, root, scenario).Read();
}

void ReadBackground(const std::string& file, const YamlMap& root, Scenario& scenario) {
  const auto value = root.Find("background");
  const auto map = value ? value->AsMap() : std::nullopt;
  if (!map) return;
  if (scenario.engine == EngineKind::kAnalytic) {
    value->Error("TL1212", "the closed forms let no job see other traffic",
                 "engine: flow or packet, which share every link");
  }
  if (scenario.window) {
    value->Error("TL1207", "'packet.window' is of a lone training step or trace",
                 "remove the window; engine: packet runs all as packets");
  }
  static const Words<bool> kEndpoints = {{"free", false}, {"all", true}};
  Background background;
  background.where = value->where();
  background.excerpt = value->excerpt();
  map->Read("endpoints", background.all_endpoints, kEndpoints);
  background.traffic = ReadBackgroundTraffic(file, *map, scenario);
  scenario.background = std::move(background);
  const auto workload = root.Find("workload");
  if (!workload) return;
  CheckRunsBeside(*workload, scenario.workload);
  // A lone workload under background traffic is the only job.
  Job job;
  job.name = "workload";
  job.workload = std::exchange(scenario.workload, {});
  job.placement = scenario.cluster.placement;
  job.where = workload->where();
  job.excerpt = workload->excerpt();
  scenario.jobs.push_back(std::move(job));
}

}  // namespace trunkline
