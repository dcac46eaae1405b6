#include "trunkline/scenario/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/test_sanitizers.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

RunResult RunText(const std::string& text, const RunOptions& options = {}) {
  auto scenario = ParseScenario(text, "s.yaml");
  EXPECT_TRUE(scenario) << Format(scenario.error().front());
  if (!scenario) return {};
  auto result = RunScenario(*scenario, options);
  EXPECT_TRUE(result) << Format(result.error().front());
  return result ? std::move(*result) : RunResult{};
}

std::string RingOf(int hosts, const std::string& engine, const std::string& more = "") {
  return "cluster:\n  nodes: " + std::to_string(hosts) +
         "\n  fabric: {kind: single-switch, link: 400 Gb/s}\n  transport: {kind: ideal}\n"
         "workload:\n  collective: {primitive: all_reduce, size: 1 GiB, algorithm: ring, "
         "channels: 1}\nengine: " +
         engine + "\n" + more;
}

Result<Scenario> Demo(const std::vector<Assignment>& assignments) {
  return ReadScenario(TRUNKLINE_SOURCE_DIR "/examples/llama3.1-70b-512xh100.yaml", assignments);
}

// 2(p-1)(alpha + n/(p beta)) with n/(p beta) = 1 GiB / 8 / 50 GB/s; alpha is the way through one
// switch, about a microsecond against 2.68 ms.
TEST(RunScenario, ARingMeetsItsClosedFormInBothEngines) {
  const double transfer = 14.0 * static_cast<double>(1LL << 27) / 50e9;
  for (const char* engine : {"flow", "analytic"}) {
    const RunResult result = RunText(RingOf(8, engine));
    ASSERT_EQ(result.rows.size(), 1U);
    EXPECT_NEAR(result.time.seconds(), transfer, transfer * 1e-3) << engine;
    EXPECT_GE(result.time, result.bound);
    EXPECT_NEAR(result.rows[0].busbw_Bps, 50e9, 50e9 * 1e-3);
  }
}

// A rank that comes early sends what it has; a bandwidth of what is left when the last one comes
// is no link's. 400 Gb/s are 50 GB/s, NVLink gives 370.8.
TEST(RunScenario, NoCollectiveOfAStepBeatsItsBoundOrItsLinks) {
  for (const char* seed : {"1", "2", "3"}) {
    if (kSanitized && seed != std::string("1")) break;
    const auto scenario = Demo({{"cluster.placement=random", "1"},
                                {"cluster.nodes=8", "2"},
                                {"workload.training.parallel.dp=2", "3"},
                                {"workload.training.global_batch=16", "4"},
                                {"workload.training.sequence=512", "5"},
                                {std::string("seed=") + seed, "6"}});
    ASSERT_TRUE(scenario.has_value());
    const auto result = RunScenario(*scenario);
    ASSERT_TRUE(result.has_value());
    for (const StepCollective& collective : result->step_collectives) {
      EXPECT_LE(collective.timed_count, collective.count);
      EXPECT_LE(collective.timed, collective.time - collective.waiting);
      if (collective.timed_count == 0) {
        EXPECT_EQ(collective.row.busbw_Bps, 0);
        continue;
      }
      EXPECT_GE(collective.row.time, collective.row.bound) << collective.role;
      EXPECT_LT(collective.row.busbw_Bps, 370.8e9);
      if (collective.role != "tp") EXPECT_LT(collective.row.busbw_Bps, 50e9);
    }
  }
}

// NCCL 2.30.7's tuning.cc: 8 heads x 40 GB/s x 0.85 x 7/8 x 2 = 476 (Hopper), 8 x 80 x 0.74 x 7/8 x
// 2 = 829 (Blackwell); Ampere has no NVLS, and two nodes do not share an NVSwitch.
TEST(RunScenario, SaysWhatOneNodeDoesBetterThanAnySchedule) {
  const auto assumed = [](const std::string& node, int nodes, const std::string& size) {
    const RunResult result =
        RunText(fmt::format("cluster: {{node: {}, nodes: {}, fabric: {{kind: single-switch}}}}\n"
                            "workload: {{collective: {{primitive: all_reduce, size: {}}}}}\n"
                            "engine: analytic\n",
                            node, nodes, size));
    return fmt::format("{}", fmt::join(result.assumptions, "\n"));
  };
  EXPECT_NE(assumed("dgx-h100", 1, "1 GiB").find(" 476 GB/s"), std::string::npos);
  EXPECT_NE(assumed("dgx-b200", 1, "1 GiB").find(" 829 GB/s"), std::string::npos);
  EXPECT_NE(assumed("mi300x", 1, "1 GiB").find(" 313 GB/s"), std::string::npos);
  EXPECT_EQ(assumed("mi300x", 2, "1 GiB").find(" 313 GB/s"), std::string::npos);
  EXPECT_EQ(assumed("dgx-h100", 1, "64 KiB").find("NVLS"), std::string::npos);
  EXPECT_EQ(assumed("dgx-h100", 2, "1 GiB").find("NVLS"), std::string::npos);
  EXPECT_EQ(assumed("dgx-a100", 1, "1 GiB").find("NVLS"), std::string::npos);
}

TEST(RunScenario, SaysThatACollectiveKeepsToMinimalPathsWhereOnlyQueuesCouldTurnItOff) {
  const auto warns = [](const std::string& routing, const std::string& workload) {
    const RunResult result =
        RunText("cluster: {fabric: {kind: dragonfly, h: 1, routing: " + routing +
                "}, transport: {kind: ideal}}\nworkload: " + workload);
    const auto warning = std::ranges::find(result.warnings, "TL1416", &Diagnostic::code);
    return warning != result.warnings.end() && warning->where.line == 1;
  };
  const std::string collective = "{collective: {primitive: all_to_all, size: 1 MiB}}\n";
  EXPECT_TRUE(warns("ugal-g", collective));
  EXPECT_FALSE(warns("valiant", collective));
  EXPECT_FALSE(warns("ugal-g", "{traffic: {pattern: permutation, size: 100 kB}}\n"));
}

TEST(RunScenario, PlacesWhatAnEngineFindsWrong) {
  const auto place = [](const std::string& text) {
    const auto scenario = ParseScenario(text, "s.yaml");
    EXPECT_TRUE(scenario) << Format(scenario.error().front());
    const auto result = RunScenario(*scenario);
    EXPECT_FALSE(result);
    const Diagnostic& problem = result.error().front();
    return problem.code + " " + problem.where.file + ":" + std::to_string(problem.where.line) +
           " " + problem.excerpt;
  };
  // 1 TiB at 1 kb/s takes 278 years, and the rate is to blame; 1 PiB at 1 Mb/s as long.
  EXPECT_EQ(place("cluster:\n  nodes: 2\n  fabric: {kind: single-switch, link: 1 kb/s}\n"
                  "workload:\n  collective: {primitive: all_reduce, size: 1 TiB}\n"),
            "TL1602 s.yaml:3   fabric: {kind: single-switch, link: 1 kb/s}");
  EXPECT_EQ(place("cluster:\n  nodes: 2\n  fabric: {kind: single-switch, link: 1 Mb/s}\n"
                  "workload:\n  collective: {primitive: all_reduce, size: 1 PiB}\n"),
            "TL1602 s.yaml:5   collective: {primitive: all_reduce, size: 1 PiB}");
  // Plain hosts forward nothing from plane to plane: each of the two is a fabric by itself.
  EXPECT_EQ(place("cluster:\n  nodes: 2\n  fabric: {kind: single-switch}\n"
                  "faults: [{target: host-1, kind: fail}]\n"
                  "workload: {collective: {primitive: all_reduce, size: 1 MiB}}\n"),
            "TL1410 s.yaml:4 faults: [{target: host-1, kind: fail}]");
}

TEST(RunScenario, OneSlowCableHoldsUpTheWholeRing) {
  const RunResult sound = RunText(RingOf(8, "flow"));
  const RunResult slow =
      RunText(RingOf(8, "flow", "faults: [{target: host-3, kind: degrade, value: 50%}]\n"));
  EXPECT_NEAR(slow.time.seconds(), 2 * sound.time.seconds(), sound.time.seconds() * 0.01);
}

TEST(RunScenario, UtilisationIsBytesOverRateAndTimeWorstLinkFirst) {
  const RunResult result = RunText(RingOf(4, "flow"));
  ASSERT_FALSE(result.links.empty());
  EXPECT_EQ(result.links_total, 8U);  // 4 hosts, both directions
  for (std::size_t i = 0; i < result.links.size(); ++i) {
    const LinkRow& row = result.links[i];
    const double rate = result.fabric->link(row.link).rate.bytes_per_second();
    EXPECT_DOUBLE_EQ(row.utilisation,
                     static_cast<double>(row.bytes) / (rate * result.time.seconds()));
    EXPECT_LE(row.utilisation, 1.0);
    if (i > 0) {
      EXPECT_LE(row.utilisation, result.links[i - 1].utilisation);
    }
  }
  // Each host sends 2(p-1)/p n.
  EXPECT_EQ(result.links[0].bytes, (1LL << 30) * 6 / 4);
}

// Few bytes meet nobody on their way, so what is left of the tuner's price is latency: an AllReduce
// of 8 B on 8 x 8 H100 crosses 14 NVLinks and 6 networks of the tree's row.
TEST(RunScenario, ASmallTreeTakesWhatTheTunerSays) {
  for (const char* engine : {"flow", "analytic"}) {
    const RunResult result = RunText(
        "cluster: {node: dgx-h100, nodes: 8}\nworkload:\n"
        "  collective: {primitive: all_reduce, size: 8 B}\nengine: " +
        std::string(engine) + "\n");
    ASSERT_EQ(result.rows.size(), 1U);
    EXPECT_EQ(result.rows[0].algorithm, "double_binary_tree");
    const double price = result.rows[0].candidates.front().cost().seconds();
    EXPECT_NEAR(result.time.seconds(), price, 0.02 * price) << engine;
  }
}

TEST(RunScenario, FoldingAndMemoChangeNoPicosecond) {
  const std::string text =
      "cluster: {node: dgx-h100, nodes: 4}\nworkload:\n"
      "  collective: {primitive: all_reduce, from: 1 MiB, to: 64 MiB, factor: 8}\n";
  const RunResult fast = RunText(text);
  const RunResult plain = RunText(text, {.fold = false, .memo = false});
  ASSERT_EQ(fast.rows.size(), plain.rows.size());
  for (std::size_t i = 0; i < fast.rows.size(); ++i) {
    EXPECT_EQ(fast.rows[i].time, plain.rows[i].time) << i;
  }
}

TEST(RunScenario, APartOfTheStepIsWhereTheTimeWent) {
  const auto scenario = Demo({{"engine=analytic", "--engine"}});
  ASSERT_TRUE(scenario);
  const auto result = RunScenario(*scenario);
  ASSERT_TRUE(result) << Format(result.error().front());
  ASSERT_TRUE(result->iteration);
  const IterationResult& it = *result->iteration;
  EXPECT_EQ(it.compute + it.exposed_comm + it.bubble + it.other, it.time);
  EXPECT_NEAR(it.mean_compute_s + it.mean_exposed_comm_s + it.mean_bubble_s + it.mean_other_s,
              it.time.seconds(), 1e-9);
  EXPECT_GE(result->time, result->bound);
  // 512 sequences of 8192 tokens.
  EXPECT_NEAR(it.tokens_per_s, 512.0 * 8192 / it.time.seconds(), 1);
  EXPECT_GT(it.mfu, 0);
  EXPECT_LT(it.mfu, 1);
  // (p-1)/m of the ideal time: 4 stages, 32 micro-batches; the stages are not quite equal.
  EXPECT_GT(it.mean_bubble_s / it.mean_compute_s, 0.05);
  EXPECT_LT(it.mean_bubble_s / it.mean_compute_s, 0.2);
}

const TriedChange* Tried(const RunResult& result, std::string_view change) {
  const auto found = std::ranges::find(result.tried, change, &TriedChange::change);
  return found == result.tried.end() ? nullptr : &*found;
}

// (p-1)/(m + p-1) of a step is idle: with one micro-batch, 3/4 of what the pipeline takes.
TEST(RunScenario, TriesWhatShrinksThePipelinesBubble) {
  const auto base =
      RunScenario(*Demo({{"engine=analytic", "1"}, {"workload.training.global_batch=32", "2"}}),
                  {.try_changes = true});
  ASSERT_TRUE(base.has_value());
  std::size_t tried = 0;
  for (const TriedChange& change : base->tried) {
    if (!change.of_pipeline) continue;
    ++tried;
    EXPECT_LT(change.batch_time(), base->time) << change.change;
  }
  EXPECT_GE(tried, 3U);
  const TriedChange* twice = Tried(*base, "workload.training.global_batch: 64");
  ASSERT_NE(twice, nullptr);
  EXPECT_EQ(twice->batches, 2);
  EXPECT_LT(twice->time, base->time * 2);
}

// Whatever the scenario writes for `overlap`.
TEST(RunScenario, AChangeThatIsTriedTakesWhatTheRunTakesWithIt) {
  for (const char* overlap : {"true", "false", "{tp: true, p2p: false}"}) {
    if (kSanitized && overlap[0] != '{') continue;
    std::vector<Assignment> plan = {{"engine=analytic", "1"}};
    plan.push_back({fmt::format("workload.training.overlap={}", overlap), "2"});
    const auto base = RunScenario(*Demo(plan), {.try_changes = true});
    ASSERT_TRUE(base.has_value());
    EXPECT_EQ(base->tried.front().time, base->time);
    EXPECT_GT(base->tried.size(), 8U);
    for (const TriedChange& tried : base->tried) {
      std::string assignment = tried.change;
      if (assignment.empty()) continue;  // as it is
      assignment.replace(assignment.find(": "), 2, "=");
      std::vector<Assignment> followed = plan;
      followed.push_back({assignment, "3"});
      const auto scenario = Demo(followed);
      ASSERT_TRUE(scenario.has_value()) << assignment;
      const auto changed = RunScenario(*scenario);
      ASSERT_TRUE(changed.has_value()) << assignment;
      EXPECT_EQ(tried.time, changed->time) << assignment;
      EXPECT_EQ(tried.memory, changed->memory_per_gpu) << assignment;
    }
  }
}

// With ZeRO-3, gradients that are reduced behind the backward pass keep the weights waiting that
// are gathered on the same stream.
TEST(RunScenario, TriesWithoutTheOverlapThatMakesAStepLonger) {
  const std::string text = fmt::format(
      "cluster: {{node: dgx-h100, nodes: 6, fabric: {{kind: single-switch}}}}\n"
      "workload:\n  training:\n    model: {}/examples/models/llama-3.1-8b.json\n"
      "    parallel: {{tp: 1, pp: 2, dp: 24, zero: 3}}\n    micro_batch: 1\n"
      "    global_batch: 24\n    sequence: 64\n    recompute: full\nengine: analytic\n",
      TRUNKLINE_SOURCE_DIR);
  const RunResult result = RunText(text, {.try_changes = true});
  ASSERT_TRUE(result.iteration.has_value());
  const TriedChange* none = Tried(result, "workload.training.overlap: false");
  const TriedChange* late =
      Tried(result, "workload.training.overlap: {grad_reduce: false, p2p: true}");
  ASSERT_TRUE(none != nullptr && late != nullptr);
  EXPECT_LT(late->time, result.time);
  EXPECT_LT(none->time, result.time);
  EXPECT_EQ(result.iteration->without_overlap, none->time);
  EXPECT_FALSE(result.iteration->serial.has_value());
}

TEST(RunScenario, FoldingChangesNoDigitOfTheMeans) {
  const auto scenario =
      Demo({{"workload.training.global_batch=32", "1"}, {"workload.training.sequence=512", "2"}});
  const auto folded = RunScenario(*scenario);
  const auto plain = RunScenario(*scenario, {.fold = false});
  ASSERT_TRUE(folded.has_value() && plain.has_value());
  EXPECT_LT(folded->timeline.ranks.size(), plain->timeline.ranks.size());
  EXPECT_EQ(folded->iteration->mean_compute_s, plain->iteration->mean_compute_s);
  EXPECT_EQ(folded->iteration->mean_exposed_comm_s, plain->iteration->mean_exposed_comm_s);
  EXPECT_EQ(folded->iteration->mean_bubble_s, plain->iteration->mean_bubble_s);
  EXPECT_EQ(folded->iteration->mean_other_s, plain->iteration->mean_other_s);
}

// What examples/llama3.1-405b-16k.yaml says of itself.
TEST(RunScenario, TheLargeExampleFitsByLittleAndAtAPriceByMore) {
  const auto fits = [](const char* assignment) {
    const auto scenario =
        ReadScenario(TRUNKLINE_SOURCE_DIR "/examples/llama3.1-405b-16k.yaml",
                     std::vector<Assignment>{{"engine=analytic", "1"}, {assignment, "2"}});
    EXPECT_TRUE(scenario.has_value());
    const auto result = RunScenario(*scenario);
    EXPECT_TRUE(result.has_value());
    return std::pair(result->fits_memory, result->time.seconds());
  };
  const auto [as_is, time] = fits("seed=1");
  const auto [full, full_time] = fits("workload.training.recompute=full");
  const auto [sharded, sharded_time] = fits("workload.training.parallel.zero=3");
  EXPECT_TRUE(as_is);
  EXPECT_FALSE(fits("workload.training.parallel.zero=0").first);
  EXPECT_FALSE(fits("workload.training.micro_batch=2").first);
  EXPECT_TRUE(full);
  EXPECT_TRUE(sharded);
  EXPECT_NEAR(full_time / time, 4.0 / 3, 0.05);
  EXPECT_NEAR(sharded_time / time, 5.0 / 3, 0.1);
}

TEST(RunScenario, AStepTakesNoLongerThanItsComputeAndItsCollectives) {
  for (const char* engine : {"engine=analytic", "engine=flow"}) {
    const auto run = RunScenario(*Demo({{engine, "1"},
                                        {"workload.training.parallel.pp=1", "2"},
                                        {"workload.training.parallel.dp=64", "3"}}));
    ASSERT_TRUE(run.has_value());
    Time parts = run->iteration->compute + run->iteration->other;
    for (const StepCollective& collective : run->step_collectives) parts += collective.time;
    ASSERT_TRUE(run->iteration->serial.has_value());
    EXPECT_EQ(*run->iteration->serial, parts);
    EXPECT_LT(run->time, parts);
  }
}

TEST(RunScenario, APipelineTakesNoLongerThanWithNothingOverlapped) {
  const auto run = RunScenario(*Demo({{"engine=analytic", "1"}}), {.try_changes = true});
  std::vector<Assignment> serial = {{"engine=analytic", "1"}};
  for (const char* overlap : {"tp", "grad_reduce", "param_gather", "p2p"}) {
    serial.push_back({fmt::format("workload.training.overlap.{}=false", overlap), "2"});
  }
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->iteration->serial, RunScenario(*Demo(serial))->time);
  EXPECT_GT(run->iteration->serial, run->time);
}

TEST(RunScenario, TriesTheChangesThatFitTheMemoryAndNoOther) {
  const std::vector<Assignment> plan = {{"engine=analytic", "1"},
                                        {"workload.training.micro_batch=4", "2"}};
  const auto base = RunScenario(*Demo(plan), {.try_changes = true});
  ASSERT_TRUE(base.has_value());
  std::size_t fitting = 0;
  const std::vector<std::string> keys = {"parallel.zero: 0", "parallel.zero: 3", "recompute: full",
                                         "micro_batch: 2", "micro_batch: 8"};
  for (const std::string& key : keys) {
    std::string assignment = "workload.training." + key;
    assignment.replace(assignment.find(": "), 2, "=");
    std::vector<Assignment> assignments = plan;
    assignments.push_back({assignment, "3"});
    const auto changed = RunScenario(*Demo(assignments));
    ASSERT_TRUE(changed.has_value());
    // Where all fits, nobody needs what saves memory at a price.
    const bool saves = key == "parallel.zero: 3" || key == "recompute: full";
    EXPECT_EQ(Tried(*base, "workload.training." + key) != nullptr,
              changed->fits_memory && !(base->fits_memory && saves))
        << key;
    fitting += changed->fits_memory ? 1 : 0;
  }
  EXPECT_GT(fitting, 0U);
  EXPECT_LT(fitting, keys.size());
}

TEST(RunScenario, TriesNoChangeThatAScenarioRefuses) {
  const auto result = RunScenario(
      *Demo({{"workload.training.parallel.sequence_parallel=false", "1"}}), {.try_changes = true});
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(std::ranges::none_of(result->tried, [](const TriedChange& tried) {
    return tried.change.find("{tp: true") != std::string::npos;
  }));
  EXPECT_NE(Tried(*result, "workload.training.parallel.sequence_parallel: true"), nullptr);
}

TEST(RunScenario, TriesPackedPlacementWhereRanksLieAtRandom) {
  const auto result = RunScenario(
      *Demo({{"engine=analytic", "1"}, {"cluster.placement=random", "2"}}), {.try_changes = true});
  ASSERT_TRUE(result.has_value());
  const TriedChange* packed = Tried(*result, "cluster.placement: packed");
  ASSERT_NE(packed, nullptr);
  EXPECT_EQ(packed->time, RunScenario(*Demo({{"engine=analytic", "1"}}))->time);
  EXPECT_LT(packed->time, result->time);
}

TEST(RunScenario, NamesItsFaultsBesideTheClusterAndAmongWhatItAssumes) {
  const RunResult result =
      RunText(RingOf(8, "flow", "faults: [{target: host-3, kind: degrade, value: 10%}]\n"));
  EXPECT_TRUE(
      result.cluster_summary.ends_with("; faults: host-3 at 10 % of its rate from the start"))
      << result.cluster_summary;
  EXPECT_EQ(
      std::ranges::count(result.assumptions, "fault: host-3 at 10 % of its rate from the start"),
      1);
}

TEST(RunScenario, StopsWhenAsked) {
  const auto scenario = Demo({});
  ASSERT_TRUE(scenario);
  StopToken stop;
  stop.RequestStop();
  RunOptions options;
  options.stop = &stop;
  const auto result = RunScenario(*scenario, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, RunStatus::kInterrupted);
  EXPECT_FALSE(result->iteration);
}

}  // namespace
}  // namespace trunkline
