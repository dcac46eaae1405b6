#include "trunkline/scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "base/plural.h"
#include "base/side_by_side.h"
#include "base/word_reader.h"
#include "fabric/fabric_reader.h"
#include "scenario/reader.h"
#include "training/kernel_tables.h"
#include "trunkline/fabric/build.h"
#include "trunkline/fabric/catalog.h"

namespace trunkline {
namespace {

// `workload.collective.ranks`; 0: not given, or no number, which the workload's reader says.
std::int64_t RanksOfCollective(const YamlMap& root) {
  if (root.Has("jobs")) return 0;  // which say what runs
  YamlMap at = root;
  for (const char* key : {"workload", "collective"}) {
    const auto value = at.Find(key);
    if (!value || !value->is_map()) return 0;
    at = *value->AsMap();
  }
  const auto ranks = at.Find("ranks");
  const auto count = ranks ? Word{ranks->text()}.AsInteger() : std::nullopt;
  return count && *count > 0 && *count <= kMostRanks ? *count : 0;
}

// The document being read, until it is known whether it is a scenario.
class ScenarioReader {
 public:
  ScenarioReader(YamlDocument document, std::string file)
      : document_(std::move(document)), file_(std::move(file)) {
    scenario_.name = std::filesystem::path(file_).stem().string();
  }

  Result<Scenario> Read() {
    const YamlMap root = document_.root();
    ReadSettings(root);
    BuildCluster(root);
    const std::size_t before = document_.error_count();
    ReadAllWorkloads(root);
    if (document_.error_count() == before && scenario_.jobs.empty()) {
      CheckWindow(root, scenario_);
      CheckSampling(root);
    }
    if (document_.error_count() == before) CheckFastForward(root, scenario_);
    Diagnostics problems = document_.TakeDiagnostics();
    if (HasErrors(problems)) return std::unexpected(std::move(problems));
    scenario_.warnings = std::move(problems);
    return std::move(scenario_);
  }

 private:
  void ReadSettings(const YamlMap& root) {
    root.Read("name", scenario_.name);
    static const Words<EngineKind> kEngines = {{"analytic", EngineKind::kAnalytic},
                                               {"flow", EngineKind::kFlow},
                                               {"packet", EngineKind::kPacket}};
    root.Read("engine", scenario_.engine, kEngines);
    root.Read("seed", scenario_.seed, IntRange{.min = 0});
    if (const auto packet = root.Map("packet")) {
      ReadWindow(*packet, scenario_);
      ReadSampling(*packet);
      ReadFastForward(*packet, scenario_);
    }
  }

  // Samples cost a look at every link each: an interval is at least what a frame takes.
  void ReadSampling(const YamlMap& packet) {
    constexpr Time kLeast = Time::Picoseconds(100'000);
    constexpr Time kMost = Time::Microseconds(1'000'000);
    const auto value = packet.Find("sample");
    const auto sample = value ? value->AsMap() : std::nullopt;
    if (!sample) return;
    PacketSampling& sampling = scenario_.sampling.emplace();
    const auto every = sample->Required("every");
    if (every && every->Read(sampling.every) &&
        (sampling.every < kLeast || sampling.every > kMost)) {
      every->Error("TL1108", fmt::format("a sample every {}", every->text()),
                   "write an interval from 100 ns to 1 s");
    }
    sample->Read("links", sampling.links, IntRange{.min = 1, .max = 1'000});
    sample->Read("flows", sampling.flows, IntRange{.min = 0, .max = 1'000});
    if (!scenario_.has_packets()) {
      value->Warn("TL1210",
                  fmt::format("the {} engine does not read 'sample'", ToString(scenario_.engine)),
                  "run it with engine: packet");
    }
  }

  // Samples are of one run, and a table of sizes has many.
  void CheckSampling(const YamlMap& root) const {
    const auto* job = std::get_if<CollectiveJob>(&scenario_.workload);
    if (!scenario_.sampling || job == nullptr || job->sizes.size() <= 1) return;
    root.Map("packet")->Find("sample")->Error(
        "TL1207", fmt::format("samples of a collective at {} sizes", job->sizes.size()),
        "keep one size: samples are of one run");
  }

  // A cluster is built only from a spec without mistakes of its own.
  void BuildCluster(const YamlMap& root) {
    const auto value = root.Required("cluster");
    const auto cluster = value ? value->AsMap() : std::nullopt;
    if (!cluster) return;
    scenario_.fabric_origin = OriginOf(cluster->Find("fabric").value_or(*value));
    FabricSpec& spec = spec_;
    const std::size_t before = document_.error_count();
    ReadCluster(file_, *cluster, spec, scenario_);
    ReadFaults(root, spec, scenario_);
    WarnOfBlindSpots(root, *cluster, spec);
    if (document_.error_count() == before) {
      auto built = Build(root, spec);
      if (built) {
        CheckRoutingOf(*cluster, built->fabric);
        const auto faults = ResolveFaults(built->fabric, scenario_.cluster.timed_faults);
        if (!faults) value->Adopt(faults.error());
        for (const std::string& note : built->notes) {
          scenario_.assumptions.push_back("fabric: " + note);
        }
        // Files of other tools lack rates, and the description says which are assumed.
        if (IsNodeFile(spec.node) && !built->node.description.empty()) {
          scenario_.assumptions.push_back(
              fmt::format("node: {}, {}", built->node.name, built->node.description));
        }
        if (!cluster->Find("fabric")) AssumeProvisioning(built->fabric);
        WarnOfFastCables(*value, *built);
        AssumeIdleNics(built->node);
        scenario_.cluster.fabric = std::make_shared<const BuiltFabric>(std::move(*built));
      } else {
        for (const Diagnostic& problem : built.error()) {
          Culprit(*cluster, problem.code).value_or(*value).Adopt({problem});
        }
      }
    }
    ReadPlacement(file_, *cluster, scenario_.cluster.fabric.get(), scenario_.cluster.placement);
    ReadPackets(*value, scenario_);
  }

  // `link: 400 GB/s` is easily written for 400 Gb/s. A rate of another NIC may be meant.
  void WarnOfFastCables(const YamlValue& cluster, const BuiltFabric& built) const {
    if (spec_.node.empty() || !spec_.file.empty()) return;
    // Cables at NICs are alike: the first tells.
    for (std::uint32_t i = 0; i < built.fabric.device_count(); ++i) {
      if (built.fabric.device(DeviceId(i)).kind != DeviceKind::kNic) continue;
      for (const LinkId id : built.fabric.out(DeviceId(i))) {
        const Link& link = built.fabric.link(id);
        if (link.kind != LinkKind::kNetwork) continue;
        const Rate nic = built.node.nic_rate;
        if (link.rate <= nic) return;
        const auto fabric = cluster.AsMap()->Find("fabric");
        fabric.value_or(cluster).Warn(
            "TL1417",
            fmt::format("cables of {} at NICs of {}, which are taken to be as fast",
                        ToString(link.rate), ToString(nic)),
            fmt::format("write `link: {}`, or a node with faster NICs", ToString(nic)));
        return;
      }
    }
  }

  // As on servers with several NICs a GPU, or with some for storage.
  void AssumeIdleNics(const NodeTemplate& node) {
    const std::set<std::uint32_t> used(node.nic_of_gpu.begin(), node.nic_of_gpu.end());
    if (used.empty() || used.size() >= node.nics) return;
    scenario_.assumptions.push_back(fmt::format(
        "node: {} of the {} NICs of a {} carry nothing: a GPU sends by the nearest one; "
        "several that it has together are one NIC with `ports`",
        node.nics - used.size(), node.nics, node.name));
  }

  // Leaves that few ends fill keep all their cables up.
  void AssumeProvisioning(const Fabric& fabric) {
    std::uint32_t ends = 0;
    std::uint32_t cables = 0;
    std::optional<DeviceId> last;
    for (std::size_t d = 0; d < fabric.device_count(); ++d) {
      if (fabric.device(DeviceId(d)).tier == 1) last = DeviceId(d);
    }
    if (!last) return;
    for (const LinkId link : fabric.out(*last)) {
      ++(fabric.device(fabric.link(link).to).kind == DeviceKind::kSwitch ? cables : ends);
    }
    if (cables <= ends) return;
    scenario_.assumptions.push_back(
        fmt::format("fabric: provisioned for {} nodes a scale unit: a leaf of the last has {} and "
                    "{} up",
                    cables, Plural(ends, "end"), Plural(cables, "cable")));
  }

  // What a fabric that cannot be built is told of, where its own keys are not to blame: of the keys
  // that can be, the first that the command line gives, since the file by itself may be fine; else
  // the first that is there.
  [[nodiscard]] std::optional<YamlValue> Culprit(const YamlMap& cluster,
                                                 const std::string& code) const {
    std::vector<const char*> keys = {"fabric", "nodes", "node"};  // of a shape with contradictions
    if (code == "TL1400" || code == "TL1407") keys = {"node", "fabric"};
    if (code == "TL1404") keys = {"nodes", "fabric", "node"};
    std::optional<YamlValue> first;
    for (const char* key : keys) {
      const auto value = cluster.Find(key);
      if (value && value->where().file != file_) return value;
      if (!first) first = value;
    }
    return first;
  }

  // A kind that needs a number of nodes gets as many as the ranks of a collective take.
  Result<BuiltFabric> Build(const YamlMap& root, FabricSpec spec) {
    auto built = BuildFabric(spec);
    if (built || spec.nodes > 0 || built.error().front().code != "TL1405") return built;
    const std::int64_t ranks = RanksOfCollective(root);
    if (ranks == 0) return built;
    const auto node = spec.node.empty() ? NodeTemplate{} : FindNodeTemplate(spec.node);
    if (!node) return built;
    const std::int64_t per_node = std::max<std::int64_t>(1, node->gpus);
    spec.nodes = static_cast<std::uint32_t>((ranks + per_node - 1) / per_node);
    built = BuildFabric(spec);
    if (built) {
      scenario_.assumptions.push_back(
          fmt::format("nodes: none are given; {}, as {} take", spec.nodes,
                      Plural(static_cast<std::uint64_t>(ranks), "rank")));
    }
    return built;
  }

  // Blames the policy, else the fabric that it was left out of.
  void CheckRoutingOf(const YamlMap& cluster, const Fabric& fabric) const {
    const Diagnostics problems = CheckRouting(fabric, scenario_.cluster.routing);
    const auto value = cluster.Find("fabric");
    if (problems.empty() || !value) return;
    const auto routing = value->is_map() ? value->AsMap()->Find("routing") : std::nullopt;
    (routing ? *routing : *value).Adopt(problems);
  }

  // The closed forms load the links of a step, and not what runs ahead of it or behind.
  void WarnOfBlindSpots(const YamlMap& root, const YamlMap& cluster, const FabricSpec& spec) const {
    if (scenario_.engine != EngineKind::kAnalytic) return;
    const auto warn = [](const YamlValue& value, const char* what) {
      value.Warn("TL1622", fmt::format("the analytic engine may miss {}", what),
                 "run it with engine: flow, which shares every link");
    };
    const ClusterSpec& read = scenario_.cluster;
    if (!spec.faults.empty()) warn(*root.Find("faults"), "part of the effect of faults");
    if (read.gpudirect == GpuDirect::kOff) {
      warn(*cluster.Find(cluster.Find("gpudirect") ? "gpudirect" : "transport"),
           "what staging in host memory costs where GPUs share a PCIe link");
    }
    if (PathChoiceOf(read.routing) != PathChoice::kPacket) {
      warn(*cluster.Find("fabric"), "collisions of flows that are kept on one path");
    }
  }

  void ReadAllWorkloads(const YamlMap& root) {
    const std::size_t before = document_.error_count();
    if (const auto jobs = root.Find("jobs")) {
      scenario_.workload_origin = OriginOf(*jobs);
      ReadJobs(file_, root, scenario_);
    } else if (document_.error_count() == before) {  // or `jobs` has no value, which is said
      const auto workload = root.Required("workload");
      const std::int64_t endpoints =
          scenario_.cluster.fabric ? static_cast<std::int64_t>(scenario_.cluster.available()) : 0;
      if (workload) {
        scenario_.workload_origin = OriginOf(*workload);
        ReadWorkload(file_, root, *workload, {.endpoints = endpoints, .nodes = OtherSizes()},
                     scenario_);
      }
    }
    ReadBackground(file_, root, scenario_);
  }

  // Where the number of nodes is given, and can be another.
  [[nodiscard]] NodeNumbers OtherSizes() const {
    const auto& built = scenario_.cluster.fabric;
    if (!built || spec_.nodes == 0 || scenario_.cluster.placement.kind == PlacementKind::kListed) {
      return {};
    }
    return {.gpus_per_node = built->fabric.endpoints_per_node(),
            .possible = [spec = spec_](std::int64_t nodes) mutable {
              if (!std::in_range<std::uint32_t>(nodes)) return false;
              spec.nodes = static_cast<std::uint32_t>(nodes);
              return BuildFabric(spec).has_value();
            }};
  }

  YamlDocument document_;
  std::string file_;
  FabricSpec spec_;  // of the cluster
  Scenario scenario_;
};

// Whether the document has the key of a `key.path=value`.
bool Says(const YamlDocument& document, std::string_view assignment) {
  const std::string_view path = assignment.substr(0, assignment.find('='));
  YamlMap at = document.root();
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const auto value = at.Find(path.substr(begin, end - begin));
    if (!value || end == path.size()) return value.has_value();
    if (!value->is_map()) return false;
    at = *value->AsMap();
    begin = end + 1;
  }
}

}  // namespace

std::size_t ClusterSpec::available() const {
  return placement.kind == PlacementKind::kListed ? placement.listed.size()
                                                  : fabric->fabric.endpoints().size();
}

const char* ToString(EngineKind kind) {
  switch (kind) {
    case EngineKind::kAnalytic:
      return "analytic";
    case EngineKind::kFlow:
      return "flow";
    case EngineKind::kPacket:
      return "packet";
  }
  return "";
}

void NoteRate(const Origin& origin, Rate rate, Scenario& scenario) {
  constexpr Rate kLeast = Rate::BitsPerSecond(1'000'000);
  if (rate < kLeast && scenario.slow_origin.where.file.empty()) {
    scenario.slow_origin = origin;
  }
}

void RefuseReserved(const YamlMap& map, std::string_view key, const std::string& what) {
  map.Refuse(key, "TL1202", fmt::format("'{}': {} is not modelled yet", key, what),
             "remove the key; nothing would read it");
}

std::optional<std::string> FindFile(const std::string& file, const YamlValue& name) {
  const bool has_folder = file != "/dev/stdin";
  const auto folder = has_folder ? std::filesystem::path(file).parent_path() : "";
  const std::string beside = (folder / name.text()).string();
  const bool typed = name.where().file != file;
  for (const std::string& path : typed ? std::vector{name.text(), beside} : std::vector{beside}) {
    std::error_code unreadable;  // there is something, then, and its reader says what is wrong
    if (std::filesystem::exists(path, unreadable) || unreadable) return path;
  }
  const auto hint = [&]() -> std::string {
    if (std::filesystem::path(name.text()).is_absolute()) return "check its path";
    if (!typed && has_folder) return "it was sought beside the scenario; check its path";
    if (beside == name.text()) return "it was sought in the working directory; check its path";
    return fmt::format("it was sought in the working directory and beside the scenario, as '{}'",
                       beside);
  };
  name.Error("TL1101", fmt::format("there is no file '{}'", typed ? name.text() : beside), hint());
  return std::nullopt;
}

Result<Scenario> ParseScenario(std::string_view text, const std::string& file,
                               std::span<const Assignment> assignments) {
  auto document = YamlDocument::Parse(text, file, YamlStyle::kOurs);
  if (!document) return std::unexpected(document.error());
  for (const bool if_absent : {false, true}) {
    for (const Assignment& assignment : assignments) {
      if (assignment.if_absent != if_absent) continue;
      if (if_absent && Says(*document, assignment.text)) continue;
      if (assignment.written.empty()) {
        document->Override(assignment.text, assignment.label);
      } else {
        const int before_value = static_cast<int>(assignment.text.find('=')) + 1;
        document->Override(assignment.text, assignment.label, {assignment.written, -before_value});
      }
    }
    // Without what could not be set, what is missing would be no news.
    if (document->error_count() > 0) return std::unexpected(document->TakeDiagnostics());
  }
  // The tables that a training step looks up are read meanwhile, if the text looks like one.
  const bool step = text.contains("training:");
  std::optional<Result<Scenario>> read;
  Beside([&] { read = ScenarioReader(std::move(*document), file).Read(); }, step ? 2 : 0,
         [](std::size_t table) { table == 0 ? (void)Kernels() : (void)AcceleratorNames(); });
  return *std::move(read);
}

Result<Scenario> ReadScenario(const std::string& path, std::span<const Assignment> assignments,
                              ProgressSink* progress, const StopToken* stop) {
  const std::string file = path == "-" ? "/dev/stdin" : path;
  const auto text = ReadTextFile(file, kMostTextBytes, progress, stop);
  if (!text) return std::unexpected(text.error());
  return ParseScenario(*text, file, assignments);
}

}  // namespace trunkline
