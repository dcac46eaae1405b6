// The analytic engine at scale, timed without the building of fabric and workload.
//
//   analytic_bench collectives [NODES]     every algorithm over NODES (2048) dgx-h100,
//   rail-optimized analytic_bench training CONFIG.json    Llama-3.1-405B's plan on 16,384 GPUs: TP
//   8, PP 16, DP 128
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "scenario/choose.h"
#include "scenario/resolved_graph.h"
#include "trunkline/engine/engine.h"
#include "trunkline/fabric/build.h"
#include "trunkline/training/training.h"

namespace trunkline {
namespace {

int Fail(const Diagnostics& problems) {
  std::fputs(Format(problems.front()).c_str(), stderr);
  return 1;
}

Result<BuiltFabric> BuildRail(std::uint32_t nodes) {
  FabricSpec spec;
  spec.kind = "rail-optimized";
  spec.node = "dgx-h100";
  spec.nodes = nodes;
  return BuildFabric(spec);
}

// Runs and prints one line.
bool Measure(const char* name, const EngineInput& input) {
  const std::clock_t begin = std::clock();
  const auto timeline = RunAnalytic(input, {});
  const double took = 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  if (!timeline) return Fail(timeline.error()) == 0;
  std::printf("%-36s %14.6f s simulated %10.2f ms CPU  %llu tasks\n", name, timeline->end.seconds(),
              took, static_cast<unsigned long long>(timeline->events));
  return true;
}

int Collectives(std::uint32_t nodes) {
  const auto built = BuildRail(nodes);
  if (!built) return Fail(built.error());
  const Router router(built->fabric, {});
  const TransportModel transport = DefaultTransport(TransportKind::kInfiniband);
  const auto ranks = static_cast<std::uint32_t>(built->fabric.endpoints().size());
  const auto placement = PackedPlacement(built->fabric, ranks);
  for (const Algorithm& algorithm : Algorithms()) {
    for (const Primitive primitive : {Primitive::kAllReduce, Primitive::kAllToAll,
                                      Primitive::kAllGather, Primitive::kBroadcast}) {
      if (!algorithm.supports(primitive)) continue;
      CollectiveChoice choice;
      choice.algorithm = algorithm.name;
      choice.spec.primitive = primitive;
      choice.spec.bytes = Bytes(std::int64_t{1} << 30);
      const auto graph = SingleCollective(choice, ranks);
      const std::string name = std::string(algorithm.name) + ' ' + ToString(primitive);
      if (!Measure(name.c_str(), {router, transport, *graph, *placement})) return 1;
    }
  }
  return 0;
}

// One row: both engines on an AllReduce, AllToAll, AllGather or Broadcast of `bytes`.
int Compare(const Router& router, const CollectiveChoice& choice) {
  const TransportModel transport = DefaultTransport(TransportKind::kInfiniband);
  const auto ranks = static_cast<std::uint32_t>(router.fabric().endpoints().size());
  const auto placement = PackedPlacement(router.fabric(), ranks);
  const auto graph = SingleCollective(choice, ranks);
  const EngineInput input{router, transport, *graph, *placement};
  const auto analytic = RunAnalytic(input, {});
  const auto flow = RunFlow(input, {});
  if (!analytic) return Fail(analytic.error());
  if (!flow) return Fail(flow.error());
  std::printf("| %s %s | %u | %lld | %.1f | %.1f | %+.2f %% |\n", choice.algorithm.c_str(),
              ToString(choice.spec.primitive), choice.spec.channels,
              static_cast<long long>(choice.spec.bytes.count()), analytic->end.seconds() * 1e6,
              flow->end.seconds() * 1e6, 100 * (analytic->end.seconds() / flow->end.seconds() - 1));
  return 0;
}

int Agreement(std::uint32_t nodes) {
  const auto built = BuildRail(nodes);
  if (!built) return Fail(built.error());
  const Router router(built->fabric, {});
  std::puts("| algorithm | channels | bytes | analytic us | flow us | difference |");
  std::puts("|---|---|---|---|---|---|");
  for (const Algorithm& algorithm : Algorithms()) {
    if (algorithm.reduces_in_network) continue;
    for (const Primitive primitive : {Primitive::kAllReduce, Primitive::kAllToAll,
                                      Primitive::kAllGather, Primitive::kBroadcast}) {
      if (!algorithm.supports(primitive)) continue;
      for (const std::uint32_t channels : {1U, 8U}) {
        if (channels > 1 && algorithm.name == std::string_view("bruck")) continue;  // TL1504
        for (const std::int64_t bytes : {1LL << 12, 1LL << 22, 1LL << 30}) {
          CollectiveChoice choice;
          choice.algorithm = algorithm.name;
          choice.spec.primitive = primitive;
          choice.spec.bytes = Bytes(bytes);
          choice.spec.channels = channels;
          if (const int status = Compare(router, choice); status != 0) return status;
        }
      }
    }
  }
  return 0;
}

int Training(const char* config) {
  const auto model = ReadModelConfig(config);
  if (!model) return Fail(model.error());
  TrainingPlan plan;
  plan.tp = 8;
  plan.pp = 16;
  plan.dp = 128;
  plan.zero = 1;
  plan.micro_batch = 1;
  plan.global_batch = 2048;
  plan.sequence = 8192;
  // 126 layers: the first and the last stage have one layer fewer, as in the Llama 3 report.
  plan.layout.assign(16, 8);
  plan.layout.front() = plan.layout.back() = 7;
  const auto accelerator = FindAccelerator("H100-SXM5-80GB");
  if (!accelerator) return Fail(accelerator.error());
  const auto workload = BuildTraining(*model, plan, *accelerator);
  if (!workload) return Fail(workload.error());
  const auto built = BuildRail(2048);
  if (!built) return Fail(built.error());
  const Router router(built->fabric, {});
  const TransportModel transport = DefaultTransport(TransportKind::kRocev2);
  const auto placement = PackedPlacement(built->fabric, 16'384);
  Chooser chooser({router, transport, *placement, built->node});
  const auto chosen = chooser.ChooseAll(*workload->graph);
  if (!chosen) return Fail(chosen.error());
  std::vector<CollectiveChoice> choices;
  for (const Chosen& one : *chosen) choices.push_back(one.choice);
  const ResolvedGraph graph(*workload->graph, std::move(choices));
  return Measure("llama-3.1-405b step", {router, transport, graph, *placement}) ? 0 : 1;
}

}  // namespace
}  // namespace trunkline

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "collectives") {
    return trunkline::Collectives(argc > 2 ? static_cast<std::uint32_t>(std::atoi(argv[2])) : 2048);
  }
  if (what == "agreement") {
    return trunkline::Agreement(argc > 2 ? static_cast<std::uint32_t>(std::atoi(argv[2])) : 8);
  }
  if (what == "training" && argc == 3) return trunkline::Training(argv[2]);
  std::fputs(
      "usage: analytic_bench collectives [NODES] | agreement [NODES] | training CONFIG.json\n",
      stderr);
  return 2;
}
