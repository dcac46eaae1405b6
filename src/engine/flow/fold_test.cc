#include "engine/flow/fold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/test_sanitizers.h"
#include "engine/flow/partition.h"
#include "engine/flow/test_inputs.h"
#include "trunkline/base/random.h"
#include "trunkline/collective/algorithm.h"
#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

TEST(Partition, TellsVerticesApartByTheirDistanceToAnOddOne) {
  // A ring of nine vertices, one of which is different: five classes by distance 0 to 4.
  std::vector<std::uint64_t> attributes(9, 1);
  attributes[0] = 2;
  std::vector<LabelledGraph::Edge> edges;
  for (std::uint32_t i = 0; i < 9; ++i) edges.push_back({i, (i + 1) % 9, 7, 7});
  const auto classes = CoarsestEquitablePartition(LabelledGraph(attributes, edges));
  for (std::uint32_t i = 1; i < 9; ++i) EXPECT_EQ(classes[i], classes[9 - i]) << i;
  std::vector<std::uint32_t> distinct(classes.begin(), classes.begin() + 5);
  std::ranges::sort(distinct);
  EXPECT_EQ(std::ranges::unique(distinct).begin(), distinct.end());
}

TEST(Partition, KeepsDirectedRingsWholeAndSeesEdgeLabels) {
  std::vector<LabelledGraph::Edge> edges;
  for (std::uint32_t i = 0; i < 6; ++i) edges.push_back({i, (i + 1) % 6, 1, 2});
  const std::vector<std::uint64_t> attributes(6, 1);
  const auto whole = CoarsestEquitablePartition(LabelledGraph(attributes, edges));
  EXPECT_EQ(whole, std::vector<std::uint32_t>(6, whole[0]));
  edges[0].label_at_a = 3;
  auto all = CoarsestEquitablePartition(LabelledGraph(attributes, edges));
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::unique(all).begin(), all.end());
}

// Asserts that folding changes no picosecond and no byte, and returns how many ranks it simulated.
std::size_t ExpectSameFolded(FlowCase run, const TaskGraph& graph, const Placement& placement,
                             const std::string& what) {
  run.options.fold = false;
  const Timeline whole = run.Run(graph, placement);
  run.options.fold = true;
  const Timeline folded = run.Run(graph, placement);
  EXPECT_EQ(whole.status, RunStatus::kFinished) << what;
  EXPECT_EQ(whole.end, folded.end) << what;
  EXPECT_EQ(whole.flow.transfers_represented, folded.flow.transfers_represented) << what;
  std::uint32_t represented = 0;
  for (const RankSummary& rank : folded.ranks) {
    const RankSummary& same = whole.ranks[Index(rank.rank)];
    EXPECT_EQ(rank.finish, same.finish) << what << " rank " << Index(rank.rank);
    EXPECT_EQ(rank.exposed_communication, same.exposed_communication) << what;
    EXPECT_EQ(rank.bubble, same.bubble) << what;
    represented += rank.ranks_represented;
  }
  EXPECT_EQ(represented, graph.ranks()) << what;
  EXPECT_EQ(whole.links.size(), folded.links.size()) << what;
  for (std::size_t i = 0; i < std::min(whole.links.size(), folded.links.size()); ++i) {
    EXPECT_EQ(whole.links[i].wire_bytes, folded.links[i].wire_bytes) << what;
  }
  return folded.ranks.size();
}

TEST(Fold, GivesTheSamePicosecondsForEveryAlgorithmOnRandomFabrics) {
  const std::vector<RoutingPolicy> policies{RoutingPolicy::kEcmp, RoutingPolicy::kStatic,
                                            RoutingPolicy::kSpray, RoutingPolicy::kAdaptive};
  std::size_t simulated = 0;
  std::size_t ranks_in_all = 0;
  std::uint64_t seed = 0;
  for (const Algorithm& algorithm : Algorithms()) {
    for (std::uint64_t round = 0; round < RandomCases(150); ++round, ++seed) {
      std::uint64_t draws = 0;
      const auto next = [&](std::uint64_t n) {
        return static_cast<std::uint32_t>(Below(Draw(seed, 3, draws++), n));
      };
      const std::uint32_t leaves = 1 + next(5);
      const std::uint32_t hosts = 1 + next(6);
      FlowCase run{.fabric = LeafSpine(leaves, hosts, 1 + next(4), {}, next(4) == 0)};
      run.routing.policy = policies[next(policies.size())];
      run.routing.seed = seed;
      run.transport.message_overhead = Time::Nanoseconds(next(2) * 100);
      const std::uint32_t ranks = next(3) == 0 ? 1 + next(leaves * hosts) : leaves * hosts;
      CollectiveChoice choice = Choose(Primitive::kAllReduce, 0, algorithm.name, 1 + next(2));
      do {
        choice.spec.primitive = static_cast<Primitive>(next(11));
      } while (choice.spec.primitive == Primitive::kAllToAllV ||
               !algorithm.supports(choice.spec.primitive));
      choice.spec.element_bytes = 4;
      choice.spec.slots = next(3) * 2;
      choice.spec.slice = Bytes(next(2) * 4096);
      choice.spec.bytes = Bytes(next(3) == 0 ? 4 * next(10'000) : 12'000 * std::int64_t{ranks});
      if (choice.spec.primitive == Primitive::kBarrier) choice.spec.bytes = Bytes(0);
      GroupLayout layout = GroupLayout::Flat(ranks);
      const auto schedule = MakeSchedule(choice.algorithm, choice.spec, layout);
      if (!schedule || (*schedule)->participants() > (*schedule)->ranks()) continue;
      const auto graph = SingleCollective(choice, ranks, 1 + next(3));
      const Placement placement = next(3) == 0 ? RandomPlacement(run.fabric, ranks, seed).value()
                                               : PackedPlacement(run.fabric, ranks).value();
      simulated +=
          ExpectSameFolded(run, *graph, placement,
                           std::string(algorithm.name) + " " + ToString(choice.spec.primitive) +
                               " seed " + std::to_string(seed));
      ranks_in_all += ranks;
    }
  }
  EXPECT_LT(simulated, ranks_in_all * 9 / 10) << "of " << ranks_in_all;
}

TEST(Fold, GivesTheSamePicosecondsWhereRanksRotate) {
  for (std::uint64_t seed = 0; seed < RandomCases(100); ++seed) {
    std::uint64_t draws = 0;
    const auto next = [&](std::uint64_t n) {
      return static_cast<std::uint32_t>(Below(Draw(seed, 5, draws++), n));
    };
    const std::uint32_t leaves = 2 + next(4);
    const std::uint32_t spines = 1 + next(3);
    const std::uint32_t hosts = spines * (1 + next(2));
    FlowCase run{.fabric = LeafSpine(leaves, hosts, spines)};
    run.routing.policy = RoutingPolicy::kStatic;
    run.transport.message_overhead = Time::Nanoseconds(next(2) * 100);
    run.options.handshake = next(2) == 0 ? Handshake::kEager : Handshake::kRendezvous;
    const std::uint32_t ranks = leaves * hosts;
    CollectiveChoice choice = Choose(next(4) == 0 ? Primitive::kAllGather : Primitive::kAllToAll,
                                     std::int64_t{1000} * ranks * (1 + next(500)),
                                     next(2) == 0 ? "pairwise" : "direct", 1 + next(2));
    choice.spec.slots = next(3) * 2;
    const auto graph = SingleCollective(choice, ranks, 1 + next(2));
    EXPECT_LE(ExpectSameFolded(run, *graph, PackedPlacement(run.fabric, ranks).value(),
                               "rotation seed " + std::to_string(seed)),
              hosts);
  }
}

TEST(Fold, GivesTheSamePicosecondsOnToriWhoseRoutesTakeAllPaths) {
  const std::pair<const char*, std::uint32_t> tori[] = {// and what one row or slab has
                                                        {"torus:sizes=[4,3]", 4},
                                                        {"torus:sizes=[5,4],ends=2", 10},
                                                        {"torus:sizes=[3,4,2]", 12}};
  for (const auto& [spec, slab] : tori) {
    for (const RoutingPolicy policy : {RoutingPolicy::kAdaptive, RoutingPolicy::kSpray}) {
      for (const char* algorithm : {"pairwise", "direct"}) {
        FlowCase run{.fabric = BuildFabric(ParseFabricSpec(spec).value())->fabric};
        run.routing.policy = policy;
        run.routing.wire_bytes = 4166;
        run.routing.payload_bytes = 4096;
        const auto ranks = static_cast<std::uint32_t>(run.fabric.endpoints().size());
        const CollectiveChoice choice =
            Choose(Primitive::kAllToAll, std::int64_t{100'000} * ranks, algorithm);
        const auto graph = SingleCollective(choice, ranks);
        EXPECT_LE(ExpectSameFolded(run, *graph, PackedPlacement(run.fabric, ranks).value(), spec),
                  slab);
      }
    }
  }
}

// Every server has kGpus GPUs, each with a NIC of its own, and channel c is to GPU g + 1 what
// channel c - 1 is to GPU g: at most one rank of a server is simulated, whatever the servers are to
// one another.
TEST(Fold, GivesTheSamePicosecondsForTheChannelsOfServers) {
  constexpr std::uint32_t kGpus = 8;
  std::uint64_t seed = 0;
  for (const char* algorithm : {"ring", "double_binary_tree", "hierarchical"}) {
    for (const std::uint32_t channels : {3U, kGpus, 2 * kGpus}) {
      for (const char* fabric : {"rail-optimized:node=dgx-h100,radix=16,unit=2,nodes=",
                                 "clos:node=dgx-h100,radix=16,nodes="}) {
        const std::uint32_t nodes = 2 + ++seed % 4;
        FlowCase run{
            .fabric = BuildFabric(ParseFabricSpec(fabric + std::to_string(nodes)).value())->fabric};
        run.routing.policy = RoutingPolicy::kAdaptive;
        const std::uint32_t ranks = nodes * kGpus;
        CollectiveChoice choice =
            Choose(Primitive::kAllReduce, std::int64_t{48'000} * ranks, algorithm, channels);
        choice.spec.slots = 2;
        choice.spec.slice = Bytes(4096);
        const auto graph = SingleCollective(choice, ranks, 2);
        const std::size_t simulated =
            ExpectSameFolded(run, *graph, PackedPlacement(run.fabric, ranks).value(),
                             std::string(fabric) + std::to_string(nodes) + " " + algorithm);
        const bool turns = channels % kGpus == 0;
        EXPECT_LE(simulated, turns ? nodes : ranks) << fabric << algorithm << channels;
      }
    }
  }
}

// Of 12 x 3 pieces of 1 MB some have an element more than others: all are sent as long as those.
TEST(Fold, TakesLongPiecesThatDifferByAnElementAsAlike) {
  constexpr std::int64_t kLongest = 4 * 6945;
  constexpr std::int64_t kBytes = 1'000'000;
  for (const char* algorithm : {"ring", "hierarchical"}) {
    FlowCase star{.fabric = Star(12, {CableSpec{}})};
    const Placement placement = PackedPlacement(star.fabric, 12).value();
    const auto graph_of = [&](std::int64_t bytes) {
      CollectiveChoice choice = Choose(Primitive::kAllReduce, bytes, algorithm, 3);
      choice.spec.element_bytes = 4;
      return SingleCollective(choice, 12);
    };
    const auto graph = graph_of(kBytes);
    ExpectSameFolded(star, *graph, placement, algorithm);
    const Timeline even = star.Run(*graph_of(std::int64_t{12} * 3 * kLongest), placement);
    const Timeline uneven = star.Run(*graph, placement);
    EXPECT_EQ(uneven.end, even.end) << algorithm;
    EXPECT_EQ(uneven.flow.fold_classes, 1U) << algorithm;
    // Of short ones an element is more than a thousandth.
    EXPECT_EQ(star.Run(*graph_of(12'004), placement).flow.fold_classes % 12, 0U) << algorithm;
  }
}

// Channels that a rank runs alike are simulated once, also where ranks differ.
TEST(Fold, SimulatesAlikeChannelsOnce) {
  for (const auto& [algorithm, primitive] :
       {std::pair("ring", Primitive::kAllReduce), std::pair("ring", Primitive::kReduceScatter),
        std::pair("double_binary_tree", Primitive::kAllReduce),
        std::pair("tree", Primitive::kReduce), std::pair("ring", Primitive::kBroadcast),
        std::pair("hierarchical", Primitive::kAllGather)}) {
    FlowCase star{.fabric = Star(6, {{}, {Rate::GigabytesPerSecond(25)}, {}, {}, {}, {}})};
    // `more`: elements that some pieces have and others have not.
    const auto transfers = [&](std::uint32_t channels, std::int64_t more) {
      CollectiveChoice choice =
          Choose(primitive, 4 * (std::int64_t{12'000} * channels + more), algorithm, channels);
      choice.spec.element_bytes = 4;
      const auto graph = SingleCollective(choice, 6);
      const Placement placement = PackedPlacement(star.fabric, 6).value();
      ExpectSameFolded(star, *graph, placement, algorithm);
      return star.Run(*graph, placement).flow.transfers_simulated;
    };
    EXPECT_EQ(transfers(1, 0), transfers(4, 0)) << algorithm;
    EXPECT_EQ(transfers(1, 0), transfers(4, 6)) << algorithm;
  }
}

TEST(Fold, SimulatesOneRankOfARingOnOneSwitch) {
  FlowCase star{.fabric = Star(64, {CableSpec{}})};
  const auto graph = SingleCollective(Choose(Primitive::kAllReduce, 64'000), 64);
  EXPECT_EQ(ExpectSameFolded(star, *graph, PackedPlacement(star.fabric, 64).value(), "ring"), 1U);
}

TEST(Fold, KeepsRanksApartWhoseChunksDiffer) {
  FlowCase star{.fabric = Star(8, {CableSpec{}})};
  const auto graph = SingleCollective(Choose(Primitive::kAllReduce, 8'001), 8);
  EXPECT_EQ(ExpectSameFolded(star, *graph, PackedPlacement(star.fabric, 8).value(), "ring"), 8U);
}

// A step of `stages` pipeline stages x `replicas`: activations from stage to stage, then an
// AllReduce in each stage.
HandGraph Pipeline(std::uint32_t stages, std::uint32_t replicas, std::uint32_t micro_batches,
                   std::int64_t bytes) {
  HandGraph graph;
  graph.choices = {Choose(Primitive::kAllReduce, bytes)};
  graph.groups.resize(stages);
  graph.programs.resize(stages);
  constexpr std::uint32_t kNext = 0;
  constexpr std::uint32_t kPrevious = 1;
  graph.reverse_roles = {{kNext, kPrevious}, {kPrevious, kNext}};
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    Program& program = graph.programs[stage];
    for (std::uint32_t i = 0; i < micro_batches; ++i) {
      const auto add = [&](Task task, bool depends) {
        if (depends) {
          task.first_dependency = static_cast<std::uint32_t>(program.dependencies.size());
          task.dependency_count = 1;
          program.dependencies.push_back(static_cast<std::uint32_t>(program.tasks.size() - 1));
        }
        program.tasks.push_back(task);
      };
      if (stage > 0) {
        add({.kind = TaskKind::kReceive, .stream = 1, .role = kPrevious, .bytes = Bytes(bytes)},
            false);
      }
      add({.duration = Time::Microseconds(10 + stage)}, stage > 0);
      if (stage + 1 < stages) {
        add({.kind = TaskKind::kSend, .stream = 2, .role = kNext, .bytes = Bytes(bytes)}, true);
      }
    }
    program.tasks.push_back({.kind = TaskKind::kCollective, .stream = 0});
  }
  for (std::uint32_t rank = 0; rank < stages * replicas; ++rank) {
    const std::uint32_t stage = rank / replicas;
    graph.program_index.push_back(stage);
    graph.groups[stage].push_back(RankId(rank));
    graph.communicator_of.push_back({stage});
    if (stage + 1 < stages) graph.peers[{rank, kNext}] = rank + replicas;
    if (stage > 0) graph.peers[{rank, kPrevious}] = rank - replicas;
  }
  return graph;
}

TEST(Fold, GivesTheSamePicosecondsForPipelinesOfReplicas) {
  for (std::uint64_t seed = 0; seed < RandomCases(40); ++seed) {
    std::uint64_t draws = 0;
    const auto next = [&](std::uint64_t n) {
      return static_cast<std::uint32_t>(Below(Draw(seed, 4, draws++), n));
    };
    const std::uint32_t replicas = 1 + next(4);
    const std::uint32_t stages = 1 + next(4);
    FlowCase run{.fabric = LeafSpine(stages, replicas, 1 + next(3), {}, next(4) == 0)};
    run.routing.policy = next(2) == 0 ? RoutingPolicy::kEcmp : RoutingPolicy::kAdaptive;
    const HandGraph graph = Pipeline(stages, replicas, 1 + next(5), 1000 * (1 + next(900)));
    const std::uint32_t ranks = stages * replicas;
    const Placement placement = next(2) == 0 ? RandomPlacement(run.fabric, ranks, seed).value()
                                             : PackedPlacement(run.fabric, ranks).value();
    ExpectSameFolded(run, graph, placement, "pipeline seed " + std::to_string(seed));
  }
}

}  // namespace
}  // namespace trunkline
