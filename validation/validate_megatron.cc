// Reproduces published Megatron-LM iteration times and prints the error of each row.
//
//   validate_megatron [analytic|flow] [FILE.yaml …]
//
// Nothing in the model is fitted to these rows. Beside each table: the peer's error on the same
// rows, and a null model, one constant share of peak for all rows, which is fitted to them.
// Exit status 1 when a mean error is not the documented one any more.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/yaml_reader.h"
#include "trunkline/fabric/build.h"
#include "trunkline/scenario/run.h"
#include "trunkline/training/training.h"

namespace trunkline {
namespace {

struct PublishedRow {
  std::string name;
  ModelConfig model;
  TrainingPlan plan;
  double seconds = 0;
  double peer_seconds = 0;  // 0: the peer has no figure
};

struct PublishedTable {
  std::string title;
  std::string peer;
  double documented_mean_error = 0;
  std::vector<PublishedRow> rows;
};

PublishedRow ReadRow(const YamlMap& map, std::int64_t vocabulary, std::int64_t sequence) {
  static const Words<Recompute> kRecomputes = {{"full", Recompute::kFull},
                                               {"selective", Recompute::kSelective}};
  PublishedRow row;
  ModelConfig& model = row.model;
  TrainingPlan& plan = row.plan;
  map.Require("model", row.name);
  map.Require("layers", model.layers);
  map.Require("hidden", model.hidden);
  map.Require("heads", model.heads);
  map.Require("tp", plan.tp);
  map.Require("pp", plan.pp);
  map.Require("vp", plan.vp);
  map.Require("dp", plan.dp);
  map.Require("micro_batch", plan.micro_batch);
  map.Require("global_batch", plan.global_batch);
  map.Require("recompute", plan.recompute, kRecomputes);
  map.Require("sequence_parallel", plan.sequence_parallel);
  map.Require("seconds", row.seconds);
  map.Read("peer_seconds", row.peer_seconds);

  // The GPT of Megatron-LM's papers.
  model.name = row.name;
  model.model_type = "gpt2";
  model.ffn = 4 * model.hidden;
  model.kv_heads = model.heads;
  model.head_dim = model.heads > 0 ? model.hidden / model.heads : 0;
  model.vocab = vocabulary;
  model.max_positions = sequence;
  model.gated_mlp = false;
  model.tied_embeddings = model.learned_positions = true;
  model.layer_norm = model.linear_bias = model.dropout = true;

  plan.sequence = sequence;
  plan.schedule = plan.vp > 1 ? PipelineSchedule::kInterleaved : PipelineSchedule::kOneFOneB;
  plan.precision = Precision::kFp16;
  // Megatron-LM of 2021 and 2022: no FlashAttention, nothing overlapped.
  plan.flash_attention = false;
  plan.overlap_grad_reduce = plan.overlap_param_gather = plan.overlap_p2p = false;
  return row;
}

Result<PublishedTable> ReadTable(const std::string& path) {
  auto document = YamlDocument::ReadFile(path, YamlStyle::kOurs);
  if (!document) return std::unexpected(document.error());
  const YamlMap root = document->root();
  PublishedTable table;
  std::int64_t vocabulary = 0;
  std::int64_t sequence = 0;
  root.Require("title", table.title);
  root.Read("peer", table.peer);
  root.Require("documented_mean_error", table.documented_mean_error);
  root.Require("vocabulary", vocabulary);
  root.Require("sequence", sequence);
  const auto rows = root.List("rows");
  if (rows) {
    for (const YamlValue& value : *rows) {
      const auto map = value.AsMap();
      if (map) table.rows.push_back(ReadRow(*map, vocabulary, sequence));
    }
  }
  Diagnostics problems = document->TakeDiagnostics();
  for (const PublishedRow& row : table.rows) {
    const Diagnostics wrong = CheckPlan(row.model, row.plan, row.plan.ranks());
    problems.insert(problems.end(), wrong.begin(), wrong.end());
  }
  if (HasErrors(problems)) return std::unexpected(std::move(problems));
  return table;
}

// Selene: DGX A100 with eight 200 Gb/s HDR ports each, full bisection.
Result<RunResult> Simulate(const PublishedRow& row, EngineKind engine) {
  FabricSpec spec;
  spec.kind = "rail-optimized";
  spec.node = "dgx-a100";
  spec.nodes = static_cast<std::uint32_t>((row.plan.ranks() + 7) / 8);
  auto fabric = BuildFabric(spec);
  if (!fabric) return std::unexpected(fabric.error());
  Scenario scenario;
  scenario.name = row.name;
  scenario.cluster.fabric = std::make_shared<const BuiltFabric>(std::move(*fabric));
  scenario.cluster.transport = DefaultTransport(TransportKind::kInfiniband);
  scenario.cluster.transport_name = "infiniband";
  scenario.workload = TrainingJob{row.model, row.plan};
  scenario.engine = engine;
  return RunScenario(scenario);
}

// Mean and largest absolute relative error.
class ErrorSummary {
 public:
  void Add(double predicted, double measured) {
    const double error = std::abs(predicted / measured - 1);
    sum_ += error;
    max_ = std::max(max_, error);
    ++count_;
  }
  [[nodiscard]] double mean() const { return sum_ / count_; }
  void Print(const char* who) const {
    if (count_ == 0) return;
    std::printf("  %-24s mean %6.2f %%  max %6.2f %%\n", who, 100 * mean(), 100 * max_);
  }

 private:
  double sum_ = 0;
  double max_ = 0;
  int count_ = 0;
};

// Seconds at one constant share of peak, the harmonic mean of the rows' own shares.
void PrintNullModel(const std::vector<double>& ideal, const std::vector<PublishedRow>& rows) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) sum += rows[i].seconds / ideal[i];
  const double factor = sum / static_cast<double>(rows.size());
  ErrorSummary summary;
  for (std::size_t i = 0; i < rows.size(); ++i) summary.Add(ideal[i] * factor, rows[i].seconds);
  summary.Print("null model (fitted)");
}

int Refuse(const Diagnostics& problems) {
  for (const Diagnostic& problem : problems) std::fputs(Format(problem).c_str(), stderr);
  return 2;
}

// The exit status.
int Validate(const std::string& path, EngineKind engine) {
  const auto table = ReadTable(path);
  if (!table) return Refuse(table.error());
  std::printf("%s, %s engine\n", table->title.c_str(), ToString(engine));
  std::printf("  %-8s %5s %-10s %9s %9s %8s   %8s %8s %8s %6s\n", "model", "GPUs", "recompute",
              "measured", "simulated", "error", "compute", "exposed", "bubble", "MFU");
  ErrorSummary own;
  ErrorSummary peer;
  std::vector<double> ideal;
  for (const PublishedRow& row : table->rows) {
    const auto result = Simulate(row, engine);
    if (!result) return Refuse(result.error());
    const IterationResult& step = *result->iteration;
    const double seconds = step.time.seconds();
    std::printf("  %-8s %5lld %-10s %7.2f s %7.2f s %+6.2f %%   %6.2f s %6.2f s %6.2f s %4.1f %%\n",
                row.name.c_str(), static_cast<long long>(row.plan.ranks()),
                row.plan.recompute == Recompute::kFull ? "full" : "selective", row.seconds, seconds,
                100 * (seconds / row.seconds - 1), step.compute.seconds(),
                step.exposed_comm.seconds(), step.bubble.seconds(), 100 * step.mfu);
    std::fflush(stdout);  // rows of many stages take the flow engine a while
    own.Add(seconds, row.seconds);
    if (row.peer_seconds > 0) peer.Add(row.peer_seconds, row.seconds);
    const TrainingWorkload& training = *result->training;
    // Recomputing repeats the forward third of the work.
    const double work = row.plan.recompute == Recompute::kFull ? 4.0 / 3 : 1;
    ideal.push_back(work * training.model_flops_per_step.count() /
                    training.peak_per_gpu.per_second() / static_cast<double>(row.plan.ranks()));
  }
  own.Print("Trunkline");
  peer.Print(table->peer.c_str());
  PrintNullModel(ideal, table->rows);
  // Half a point: more is a change that the documents must tell.
  const bool as_documented = std::abs(own.mean() - table->documented_mean_error) < 0.005;
  if (!as_documented) {
    std::printf("  documented mean error: %.2f %%\n", 100 * table->documented_mean_error);
  }
  std::printf("\n");
  return as_documented ? 0 : 1;
}

int Main(int argc, char** argv) {
  EngineKind engine = EngineKind::kAnalytic;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "flow") {
      engine = EngineKind::kFlow;
    } else if (argument != "analytic") {
      files.push_back(argument);
    }
  }
  if (files.empty()) {
    files = {TRUNKLINE_SOURCE_DIR "/validation/megatron-seqpar.yaml",
             TRUNKLINE_SOURCE_DIR "/validation/megatron-sc21.yaml"};
  }
  int status = 0;
  for (const std::string& file : files) status = std::max(status, Validate(file, engine));
  return status;
}

}  // namespace
}  // namespace trunkline

int main(int argc, char** argv) { return trunkline::Main(argc, argv); }
