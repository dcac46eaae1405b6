#include <fmt/format.h>

#include <map>

#include "scenario/prepare.h"
#include "scenario/reader.h"
#include "trunkline/collective/algorithm.h"
#include "trunkline/training/training.h"

namespace trunkline {
namespace {

constexpr IntRange kExtent{.min = 1, .max = 1'000'000};

void ReadParallel(const YamlMap& parallel, TrainingPlan& plan) {
  static const Words<PipelineSchedule> kSchedules = {
      {"gpipe", PipelineSchedule::kGpipe},
      {"1f1b", PipelineSchedule::kOneFOneB},
      {"interleaved", PipelineSchedule::kInterleaved}};
  parallel.Read("tp", plan.tp, kExtent);
  parallel.Read("pp", plan.pp, kExtent);
  parallel.Read("dp", plan.dp, kExtent);
  parallel.Read("cp", plan.cp, kExtent);
  parallel.Read("vp", plan.vp, kExtent);
  parallel.Read("zero", plan.zero, IntRange{.min = 0, .max = 3});
  parallel.Read("sequence_parallel", plan.sequence_parallel);
  parallel.Read("schedule", plan.schedule, kSchedules);
  parallel.Read("order", plan.order);
  parallel.Read("layout", plan.layout, IntRange{.min = 0, .max = 1'000'000});
  if (const auto fsdp = parallel.Map("fsdp")) {
    fsdp->Require("shard_size", plan.fsdp_shard_size, kExtent);
  }
  RefuseReserved(parallel, "ep", "expert parallelism");
  RefuseReserved(parallel, "etp", "expert tensor parallelism");
}

// `overlap: false` switches everything off; a mapping names each.
void ReadOverlap(const YamlMap& training, TrainingPlan& plan) {
  const auto overlap = training.Find("overlap");
  if (!overlap) return;
  if (overlap->is_scalar()) {
    bool all = true;
    if (!overlap->Read(all)) return;
    plan.overlap_grad_reduce = plan.overlap_param_gather = plan.overlap_p2p = all;
    plan.overlap_tp = all;
    return;
  }
  if (const auto map = overlap->AsMap()) {
    map->Read("grad_reduce", plan.overlap_grad_reduce);
    map->Read("param_gather", plan.overlap_param_gather);
    map->Read("tp", plan.overlap_tp);
    map->Read("p2p", plan.overlap_p2p);
  }
}

// Warns of keys that are written, but that nothing reads at these extents.
void WarnOfMootKeys(const YamlMap& training, const TrainingPlan& plan) {
  const auto warn = [](const std::optional<YamlMap>& map, const char* key, bool moot,
                       const char* why) {
    const auto value = moot && map ? map->Find(key) : std::nullopt;
    if (!value) return;
    value->Warn("TL1341", fmt::format("'{}' changes nothing: {}", key, why),
                "leave it out, or change the extent that it needs");
  };
  const auto map_of = [&training](const char* key) {
    const auto value = training.Find(key);
    return value && value->is_map() ? value->AsMap() : std::nullopt;
  };
  const bool no_tp = plan.tp == 1;
  const bool no_dp = plan.dp == 1;
  const bool whole = plan.zero == 0;
  const auto parallel = map_of("parallel");
  warn(parallel, "sequence_parallel", no_tp, "tp is 1");
  warn(parallel, "schedule", plan.pp == 1, "pp is 1");
  warn(parallel, "zero", no_dp, "dp is 1");
  const auto overlap = map_of("overlap");
  warn(overlap, "tp", no_tp, "tp is 1");
  warn(overlap, "p2p", plan.pp == 1, "pp is 1");
  warn(overlap, "grad_reduce", no_dp, "dp is 1");
  warn(overlap, "param_gather", no_dp || whole, no_dp ? "dp is 1" : "zero is 0");
  warn(overlap, "param_gather", !no_dp && plan.zero == 3, "zero 3 gathers layer by layer");
  const auto algorithms = map_of("algorithms");
  warn(algorithms, "tp", no_tp, "tp is 1");
  warn(algorithms, "dp", no_dp, "dp is 1");
}

void ReadNumerics(const YamlMap& training, TrainingPlan& plan) {
  static const Words<Precision> kPrecisions = {{"bf16", Precision::kBf16},
                                               {"fp16", Precision::kFp16},
                                               {"fp32", Precision::kFp32},
                                               {"fp8", Precision::kFp8}};
  static const Words<Recompute> kRecomputes = {
      {"none", Recompute::kNone}, {"selective", Recompute::kSelective}, {"full", Recompute::kFull}};
  static const Words<Optimizer> kOptimizers = {{"adam", Optimizer::kAdam},
                                               {"sgd", Optimizer::kSgd}};
  static const Words<bool> kGradients = {{"fp32", true}, {"bf16", false}};
  training.Read("precision", plan.precision, kPrecisions);
  training.Read("recompute", plan.recompute, kRecomputes);
  training.Read("optimizer", plan.optimizer, kOptimizers);
  training.Read("gradients", plan.grad_fp32, kGradients);
  training.Read("flash_attention", plan.flash_attention);
}

Words<std::string> AlgorithmWords() {
  Words<std::string> words = {{"auto", "auto"}};
  for (const Algorithm& algorithm : Algorithms()) {
    words.emplace_back(algorithm.name, algorithm.name);
  }
  return words;
}

// Of the keys that a contradiction of the plan is between, the first that the command line gives,
// since the file by itself may be fine; else the first that is there.
YamlValue Culprit(const std::string& file, const YamlMap& root, const YamlMap& training,
                  const YamlValue& whole, const std::string& code) {
  using Keys = std::vector<const char*>;  // "a/b": b of the mapping a; "/a": of the scenario
  static const std::map<std::string, Keys> kKeys = {
      {"TL1208", {"/cluster/node", "/cluster"}},
      {"TL1311", {"precision"}},
      {"TL1320", {"sequence"}},
      {"TL1321",
       {"parallel", "parallel/tp", "parallel/pp", "parallel/dp", "parallel/cp", "/cluster/nodes",
        "/cluster/node"}},
      {"TL1322", {"parallel/tp", "parallel", "model"}},
      {"TL1323", {"parallel/schedule", "parallel/vp", "parallel/pp"}},
      {"TL1324", {"parallel", "parallel/pp", "parallel/vp", "model"}},
      {"TL1325", {"parallel/layout", "parallel/pp", "parallel/vp", "model"}},
      {"TL1326", {"global_batch", "micro_batch", "parallel/dp"}},
      {"TL1327", {"parallel/fsdp", "parallel/zero", "parallel/dp"}},
      {"TL1328", {"sequence", "parallel/tp", "parallel/sequence_parallel", "model"}},
      {"TL1329", {"parallel/cp"}},
      {"TL1330", {"parallel/order"}},
      {"TL1331", {"overlap", "parallel/sequence_parallel"}},
      {"TL1332", {"global_batch", "micro_batch", "parallel/dp"}},
      {"TL1333", {"sequence", "micro_batch", "global_batch"}},
      {"TL1334", {"sequence", "global_batch", "model"}}};
  const auto find = [&](std::string_view path) {
    const bool of_scenario = path.starts_with('/');
    if (of_scenario) path.remove_prefix(1);
    const YamlMap& start = of_scenario ? root : training;
    const std::size_t slash = path.find('/');
    if (slash == std::string_view::npos) return start.Find(path);
    const auto map = start.Find(path.substr(0, slash));
    return map && map->is_map() ? map->AsMap()->Find(path.substr(slash + 1)) : std::nullopt;
  };
  std::optional<YamlValue> first;
  if (const auto keys = kKeys.find(code); keys != kKeys.end()) {
    for (const char* path : keys->second) {
      const auto value = find(path);
      if (value && value->where().file != file) return *value;
      if (!first) first = value;
    }
  }
  return first.value_or(whole);
}

}  // namespace

void ReadTraining(const std::string& file, const YamlMap& root, const YamlValue& value,
                  const Room& room, Scenario& scenario) {
  const auto training = value.AsMap();
  if (!training) return;
  const std::size_t before = value.error_count();
  TrainingJob job;
  TrainingPlan& plan = job.plan;
  if (const auto parallel = training->Map("parallel")) ReadParallel(*parallel, plan);
  training->Require("micro_batch", plan.micro_batch, kExtent);
  training->Require("global_batch", plan.global_batch, kExtent);
  training->Read("sequence", plan.sequence, IntRange{.min = 1, .max = 1'000'000'000});
  ReadNumerics(*training, plan);
  ReadOverlap(*training, plan);
  if (const auto algorithms = training->Map("algorithms")) {
    job.algorithms_origin = OriginOf(*training->Find("algorithms"));
    static const Words<std::string> kAlgorithms = AlgorithmWords();
    algorithms->Read("tp", plan.tp_algorithm, kAlgorithms);
    algorithms->Read("dp", plan.dp_algorithm, kAlgorithms);
  }

  const auto model_name = training->Required("model");
  std::string text;
  if (!model_name || !model_name->Read(text)) return;
  const auto path = FindFile(file, *model_name);
  if (!path) return;
  Result<ModelConfig> model = ReadModelConfig(*path);
  if (!model) {
    model_name->Adopt(model.error());
    return;
  }
  job.model = std::move(*model);
  if (const auto dense = CheckDense(job.model); !dense) model_name->Adopt(dense.error());
  if (plan.sequence == 0) {
    plan.sequence = job.model.max_positions;
    scenario.assumptions.push_back(
        fmt::format("sequence: {} tokens, all positions of the model", plan.sequence));
  }
  const bool trains = !scenario.cluster.fabric || HasAccelerators(scenario.cluster);
  if (!trains) {
    Culprit(file, root, *training, value, "TL1208").Adopt(NoAccelerators());
  } else if (room.endpoints > 0 && value.error_count() == before) {  // else the plan is another
    const bool takes_all = room.all || plan.ranks() > room.endpoints;
    const std::int64_t gpus = takes_all ? room.endpoints : plan.ranks();
    for (const Diagnostic& problem : CheckPlan(job.model, plan, gpus, room.nodes)) {
      Culprit(file, root, *training, value, problem.code).Adopt({problem});
    }
    WarnOfMootKeys(*training, plan);
  }
  for (const char* code : {"TL1208", "TL1311", "TL1334"}) {
    job.origins.emplace(code, OriginOf(Culprit(file, root, *training, value, code)));
  }
  scenario.workload = std::move(job);
}

}  // namespace trunkline
