#include "engine/flow/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/test_sanitizers.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

constexpr double kOne = static_cast<double>(FlowHop::kOne);

FlowHop On(std::uint32_t resource, double weight = 1) {
  return {resource, static_cast<std::uint64_t>(weight * kOne)};
}

std::vector<Rate> Gigabytes(std::initializer_list<std::int64_t> rates) {
  std::vector<Rate> capacities;
  for (const std::int64_t rate : rates) capacities.push_back(Rate::GigabytesPerSecond(rate));
  return capacities;
}

FlowRate LimitOf(std::span<const FlowHop> hops, std::span<const Rate> capacities) {
  return LoneRate(hops, capacities, Rate::GigabytesPerSecond(1'000'000));
}

Time TimeAlone(std::int64_t bytes, Rate rate) {
  std::uint64_t surplus = 0;
  return FluidTime(Bytes(bytes), LoneRate({}, {}, rate), surplus);
}

TEST(FluidTime, RoundsUpToThePicosecond) {
  // 3 bytes at 8 GB/s: 375 ps; at 450 GB/s: 6.67 ps.
  EXPECT_EQ(TimeAlone(3, Rate::GigabytesPerSecond(8)).ps(), 375);
  EXPECT_EQ(TimeAlone(3, Rate::GigabytesPerSecond(450)).ps(), 7);
}

TEST(FluidTime, DoesNotAccumulateRoundingOverTransfersWithoutAGap) {
  // 1,000 messages of 3 bytes at 450 GB/s: 6,666.67 ps in all.
  std::uint64_t surplus = 0;
  Time total;
  for (int i = 0; i < 1000; ++i) {
    total += FluidTime(Bytes(3), LoneRate({}, {}, Rate::GigabytesPerSecond(450)), surplus);
  }
  EXPECT_EQ(total.ps(), 6667);
}

TEST(FluidTime, PastTheHorizonIsNever) {
  EXPECT_EQ(TimeAlone(INT64_MAX, Rate::BitsPerSecond(1)), Time::Max());
}

TEST(FlowNetwork, DoesNotAccumulateRoundingOverTransfersWithoutAGap) {
  const auto capacities = Gigabytes({450});
  FlowNetwork network(capacities);
  const std::vector<FlowHop> hops{On(0)};
  Time now;
  std::uint64_t surplus = 0;
  for (int i = 0; i < 1000; ++i) {
    network.Start(0, hops, LimitOf(hops, capacities), Bytes(3), now, surplus);
    now = network.next_completion();
    surplus = network.PopCompleted().surplus;
  }
  EXPECT_EQ(now.ps(), 6667);
}

TEST(FlowNetwork, EndsALoneFlowAtItsExactTime) {
  const auto capacities = Gigabytes({50, 25});
  FlowNetwork network(capacities);
  const std::vector<FlowHop> hops{On(0), On(1)};
  network.Start(7, hops, LimitOf(hops, capacities), Bytes(1'000'000), Time::Microseconds(5));
  EXPECT_FALSE(network.needs_solve());
  EXPECT_EQ(network.next_completion(), Time::Microseconds(45));
  EXPECT_EQ(network.PopCompleted().owner, 7);
  EXPECT_EQ(network.next_completion(), Time::Max());
}

TEST(FlowNetwork, SharesABottleneckAndReturnsWhatAnEndedFlowLeaves) {
  const auto capacities = Gigabytes({10});
  FlowNetwork network(capacities);
  const std::vector<FlowHop> hops{On(0)};
  const auto limit = LimitOf(hops, capacities);
  network.Start(0, hops, limit, Bytes(10'000), Time());
  network.Start(1, hops, limit, Bytes(30'000), Time());
  network.Solve(Time());
  // Both at 5 GB/s until 2 us; then the large one moves its last 20,000 bytes at 10 GB/s.
  ASSERT_EQ(network.next_completion(), Time::Microseconds(2));
  EXPECT_EQ(network.PopCompleted().owner, 0);
  network.Solve(Time::Microseconds(2));
  EXPECT_EQ(network.next_completion(), Time::Microseconds(4));
}

TEST(FlowNetwork, KeepsFlowsThatGetNothingAndLetsThemGoOn) {
  // A share of less than 2^-10 bit/s is none.
  const std::vector<Rate> capacities{Rate::BitsPerSecond(1)};
  FlowNetwork network(capacities);
  constexpr std::uint32_t kFlows = (1 << FlowRate::kFractionBits) + 1;
  const std::vector<std::vector<FlowHop>> hops(kFlows, {On(0)});
  for (std::uint32_t i = 0; i < kFlows; ++i) {
    network.Start(i, hops[i], LimitOf(hops[i], capacities), Bytes(1), Time());
    network.Solve(Time());
  }
  EXPECT_EQ(network.next_completion(), Time::Max());
  EXPECT_TRUE(network.active());
  std::vector<FlowNetwork::Rest> rest = network.TakeAll(Time());
  ASSERT_EQ(rest.size(), kFlows);
  rest.resize(1);
  network.Resume(rest[0], hops[0], LimitOf(hops[0], capacities), Time());
  network.Solve(Time());
  EXPECT_EQ(network.next_completion(), Time::Microseconds(8'000'000));
}

TEST(FlowNetwork, EndsFlowsOfOneBundleByTheWorkOfEach) {
  const auto capacities = Gigabytes({10});
  FlowNetwork network(capacities);
  const std::vector<FlowHop> hops{On(0)};
  const auto limit = LimitOf(hops, capacities);
  const auto bundle = network.Start(0, hops, limit, Bytes(30'000), Time());
  network.Solve(Time());
  EXPECT_EQ(network.Start(1, hops, limit, Bytes(10'000), Time::Microseconds(1)), bundle);
  network.Solve(Time::Microseconds(1));
  // The first has moved 10,000 bytes alone; both move 10,000 at 5 GB/s, the first its last alone.
  ASSERT_EQ(network.next_completion(), Time::Microseconds(3));
  EXPECT_EQ(network.PopCompleted().owner, 1);
  network.Solve(Time::Microseconds(3));
  ASSERT_EQ(network.next_completion(), Time::Microseconds(4));
  EXPECT_EQ(network.PopCompleted().owner, 0);
  EXPECT_FALSE(network.active());
}

TEST(FlowNetwork, MatchesTheClassicThreeFlowLine) {
  // Links of 10 and 4; one flow over both, one on each: 2, 8, 2 (Bertsekas and Gallager, 6.5.2).
  const auto capacities = Gigabytes({10, 4});
  FlowNetwork network(capacities);
  const std::vector<std::vector<FlowHop>> paths{{On(0), On(1)}, {On(0)}, {On(1)}};
  for (const auto& path : paths) {
    network.Start(0, path, LimitOf(path, capacities), Bytes(1'000'000), Time());
  }
  network.Solve(Time());
  EXPECT_DOUBLE_EQ(network.rate(0).bits_per_second(), 2 * 8e9);
  EXPECT_DOUBLE_EQ(network.rate(1).bits_per_second(), 8 * 8e9);
  EXPECT_DOUBLE_EQ(network.rate(2).bits_per_second(), 2 * 8e9);
}

TEST(FlowNetwork, CountsWeightAsCapacityTaken) {
  const auto capacities = Gigabytes({12});
  FlowNetwork network(capacities);
  const std::vector<FlowHop> heavy{On(0, 2)};
  const std::vector<FlowHop> light{On(0, 1)};
  const auto a = network.Start(0, heavy, LimitOf(heavy, capacities), Bytes(1000), Time());
  const auto b = network.Start(1, light, LimitOf(light, capacities), Bytes(1000), Time());
  network.Solve(Time());
  EXPECT_DOUBLE_EQ(network.rate(a).bits_per_second(), 4 * 8e9);
  EXPECT_DOUBLE_EQ(network.rate(b).bits_per_second(), 4 * 8e9);
}

// A random network and the flows over it. Where it is `even`, capacities and weights are few and
// round: then many levels are equal, or would be but for the rounding.
struct Instance {
  std::vector<Rate> capacities;
  std::vector<std::vector<FlowHop>> paths;
  std::vector<FlowRate> limits;

  Instance(std::uint64_t seed, std::uint64_t most_resources, std::uint64_t most_flows, bool even) {
    std::uint64_t draw = 0;
    const auto next = [&](std::uint64_t n) { return Below(Draw(seed, 0, draw++), n); };
    const std::uint64_t resources = 1 + next(most_resources);
    for (std::uint64_t i = 0; i < resources; ++i) {
      const std::uint64_t gigabits = even ? std::uint64_t{100} << next(3) : 1 + next(400);
      capacities.push_back(Rate::GigabitsPerSecond(static_cast<std::int64_t>(gigabits)));
    }
    const std::uint64_t flows = 1 + next(most_flows);
    const std::uint64_t sparsity = 2 + next(resources);
    for (std::uint64_t i = 0; i < flows; ++i) {
      if (i > 0 && next(3) == 0) {  // one more of a bundle
        const std::uint64_t other = next(i);
        paths.push_back(paths[other]);
        limits.push_back(limits[other]);
        continue;
      }
      std::vector<FlowHop> path;
      for (std::uint32_t r = 0; r < resources; ++r) {
        if (next(sparsity) > 1) continue;
        path.push_back(On(r, even ? 1.0 : 0.25 * static_cast<double>(1 + next(8))));
      }
      if (path.empty()) path.push_back(On(0));
      limits.push_back(LimitOf(path, capacities));
      if (next(4) == 0) limits.back().units >>= 1 + next(4);
      paths.push_back(std::move(path));
    }
  }
};

// Rates by textbook progressive filling in floating point, written apart from the solver.
std::vector<double> Reference(const Instance& instance, const std::vector<char>& active) {
  const std::size_t flows = instance.paths.size();
  std::vector<double> rate(flows, 0);
  std::vector<char> frozen(flows);
  for (std::size_t f = 0; f < flows; ++f) frozen[f] = active[f] == 0;
  std::vector<double> used;
  std::vector<double> growing;
  while (std::ranges::count(frozen, 0) > 0) {
    double step = INFINITY;
    used.assign(instance.capacities.size(), 0);
    growing.assign(instance.capacities.size(), 0);
    for (std::size_t f = 0; f < flows; ++f) {
      if (!active[f]) continue;
      for (const FlowHop& hop : instance.paths[f]) {
        used[hop.resource] += static_cast<double>(hop.weight) / kOne * rate[f];
        if (!frozen[f]) growing[hop.resource] += static_cast<double>(hop.weight) / kOne;
      }
      if (!frozen[f]) step = std::min(step, instance.limits[f].bits_per_second() - rate[f]);
    }
    for (std::size_t r = 0; r < used.size(); ++r) {
      const double capacity = static_cast<double>(instance.capacities[r].bits_per_second());
      if (growing[r] > 0) step = std::min(step, (capacity - used[r]) / growing[r]);
    }
    for (std::size_t f = 0; f < flows; ++f) {
      if (!frozen[f]) rate[f] += step;
    }
    for (std::size_t f = 0; f < flows; ++f) {
      if (frozen[f]) continue;
      bool stop = rate[f] >= instance.limits[f].bits_per_second() * (1 - 1e-12);
      for (const FlowHop& hop : instance.paths[f]) {
        const double capacity =
            static_cast<double>(instance.capacities[hop.resource].bits_per_second());
        const double left = capacity - used[hop.resource] - growing[hop.resource] * step;
        stop = stop || left <= 1e-9 * capacity;
      }
      frozen[f] = stop ? 1 : 0;
    }
  }
  return rate;
}

// Rates by the definition in network.h, for all flows at once: progressive filling whose levels
// round down.
std::vector<std::uint64_t> Filling(const Instance& instance, const std::vector<char>& active) {
  std::vector<std::uint64_t> rate(instance.paths.size(), 0);
  std::vector<char> frozen(rate.size());
  for (std::size_t f = 0; f < rate.size(); ++f) frozen[f] = active[f] == 0;
  while (std::ranges::count(frozen, 0) > 0) {
    std::vector<Uint128> left;
    for (const Rate capacity : instance.capacities) left.push_back(FlowNetwork::Units(capacity));
    std::vector<std::uint64_t> weight(left.size(), 0);
    for (std::size_t f = 0; f < rate.size(); ++f) {
      for (const FlowHop& hop : instance.paths[f]) {
        left[hop.resource] -= static_cast<Uint128>(hop.weight) * rate[f];
        if (!frozen[f]) weight[hop.resource] += hop.weight;
      }
    }
    const auto level = [&](std::uint32_t r) {
      return weight[r] == 0 ? UINT64_MAX : static_cast<std::uint64_t>(left[r] / weight[r]);
    };
    std::uint64_t lowest = UINT64_MAX;
    for (std::uint32_t r = 0; r < left.size(); ++r) lowest = std::min(lowest, level(r));
    bool at_limit = false;
    for (std::size_t f = 0; f < rate.size(); ++f) {
      if (frozen[f] || instance.limits[f].units > lowest) continue;
      rate[f] = instance.limits[f].units;
      frozen[f] = 1;
      at_limit = true;
      break;
    }
    if (at_limit) continue;
    for (std::size_t f = 0; f < rate.size(); ++f) {
      const bool stops = std::ranges::any_of(
          instance.paths[f], [&](const FlowHop& hop) { return level(hop.resource) == lowest; });
      if (frozen[f] || !stops) continue;
      rate[f] = lowest;
      frozen[f] = 1;
    }
  }
  return rate;
}

// Random flows come and go on a network; `check(now, active, rates)` after each solve.
template <typename Check>
void Play(const Instance& instance, std::uint64_t seed, std::uint64_t steps, const Check& check) {
  FlowNetwork network(instance.capacities);
  std::vector<char> active(instance.paths.size(), 0);
  std::vector<std::uint32_t> id(active.size());
  Time now;
  for (std::uint64_t step = 0; step < steps; ++step) {
    for (std::uint32_t f = 0; f < active.size(); ++f) {
      const std::uint64_t draw = Draw(seed, 1 + f, step);
      if (active[f] || Below(draw, 2) == 0) continue;
      const Bytes bytes(static_cast<std::int64_t>(1 + draw % 1'000'000));
      id[f] = network.Start(f, instance.paths[f], instance.limits[f], bytes, now);
      active[f] = 1;
    }
    network.Solve(now);
    std::vector<FlowRate> rates;
    for (std::uint32_t f = 0; f < active.size(); ++f) {
      rates.push_back(active[f] ? network.rate(id[f]) : FlowRate{});
    }
    check(active, rates);
    if (testing::Test::HasFatalFailure()) return;
    now = network.next_completion();
    if (now == Time::Max()) return;
    while (network.next_completion() == now) active[network.PopCompleted().owner] = 0;
  }
}

TEST(FlowNetwork, AgreesWithProgressiveFillingOnRandomNetworksWhileFlowsComeAndGo) {
  for (std::uint64_t seed = 0; seed < RandomCases(3'000); ++seed) {
    const Instance instance(seed, 8, 12, false);
    Play(instance, seed, 12, [&](const auto& active, const auto& rates) {
      const std::vector<double> expected = Reference(instance, active);
      for (std::uint32_t f = 0; f < active.size(); ++f) {
        ASSERT_NEAR(rates[f].bits_per_second(), expected[f], 1e-6 * expected[f] + 1)
            << "seed " << seed << " flow " << f;
      }
    });
    if (HasFatalFailure()) return;
  }
}

TEST(FlowNetwork, TakesTheIntegersOfItsDefinitionWhateverChangedBefore) {
  for (std::uint64_t seed = 0; seed < RandomCases(2'000); ++seed) {
    const Instance instance(seed, 12, 40, seed % 2 == 0);
    Play(instance, seed, 40, [&](const auto& active, const auto& rates) {
      const std::vector<std::uint64_t> expected = Filling(instance, active);
      for (std::uint32_t f = 0; f < active.size(); ++f) {
        ASSERT_EQ(rates[f].units, expected[f]) << "seed " << seed << " flow " << f;
      }
    });
    if (HasFatalFailure()) return;
  }
}

TEST(FlowNetwork, TakesTheSameRatesWhenCongruentFlowsAreFoldedIntoOneOfTheirWeight) {
  for (std::int64_t copies = 1; copies <= 40; ++copies) {
    const auto capacities = Gigabytes({50, 7});
    FlowNetwork whole(capacities);
    FlowNetwork folded(capacities);
    const std::vector<FlowHop> narrow{On(0, 1.0625), On(1, 0.3)};
    const std::vector<FlowHop> wide{On(0)};
    for (std::int64_t i = 0; i < copies; ++i) {
      whole.Start(0, narrow, LimitOf(narrow, capacities), Bytes(12'345), Time());
      whole.Start(0, wide, LimitOf(wide, capacities), Bytes(67'890), Time());
    }
    std::vector<FlowHop> narrow_class = narrow;
    std::vector<FlowHop> wide_class = wide;
    for (FlowHop& hop : narrow_class) hop.weight *= static_cast<std::uint64_t>(copies);
    for (FlowHop& hop : wide_class) hop.weight *= static_cast<std::uint64_t>(copies);
    folded.Start(0, narrow_class, LimitOf(narrow, capacities), Bytes(12'345), Time());
    folded.Start(0, wide_class, LimitOf(wide, capacities), Bytes(67'890), Time());
    whole.Solve(Time());
    folded.Solve(Time());
    EXPECT_EQ(whole.rate(0), folded.rate(0));
    EXPECT_EQ(whole.rate(1), folded.rate(1));
    EXPECT_EQ(whole.next_completion(), folded.next_completion());
  }
}

TEST(FlowNetwork, LetsFlowsThatWereTakenOutGoOnElsewhereToTheSamePicosecond) {
  const auto capacities = Gigabytes({450});
  const std::vector<FlowHop> hops{On(0)};
  const FlowRate limit = LimitOf(hops, capacities);
  // Two flows share 450 GB/s: 4,500 bytes each take 20 ns, and 30 more alone 66.67 ps.
  FlowNetwork before(capacities);
  before.Start(7, hops, limit, Bytes(4'500), Time());
  before.Start(8, hops, limit, Bytes(4'530), Time());
  before.Solve(Time());
  FlowNetwork after(capacities);
  for (const FlowNetwork::Rest& rest : before.TakeAll(Time::Picoseconds(1'237))) {
    after.Resume(rest, hops, limit, Time::Picoseconds(1'237));
  }
  EXPECT_FALSE(before.active());
  after.Solve(Time::Picoseconds(1'237));
  EXPECT_EQ(after.next_completion(), Time::Nanoseconds(20));
  EXPECT_EQ(after.PopCompleted().owner, 7U);
  after.Solve(Time::Nanoseconds(20));
  EXPECT_EQ(after.next_completion(), Time::Picoseconds(20'067));
  EXPECT_EQ(after.PopCompleted().owner, 8U);
}

TEST(EventQueue, ReleasesIdsInOrderOfTimeAfterMovesAndRemovals) {
  EventQueue queue;
  std::vector<std::int64_t> time(200, -1);
  for (std::uint64_t step = 0; step < 5000; ++step) {
    const auto id = static_cast<std::uint32_t>(Below(Draw(7, 0, step), time.size()));
    if (Below(Draw(7, 1, step), 4) == 0) {
      queue.Remove(id);
      time[id] = -1;
    } else {
      time[id] = static_cast<std::int64_t>(Below(Draw(7, 2, step), 50));
      queue.Set(id, Time::Picoseconds(time[id]));
    }
  }
  std::vector<std::pair<std::int64_t, std::uint32_t>> expected;
  for (std::uint32_t id = 0; id < time.size(); ++id) {
    if (time[id] >= 0) expected.emplace_back(time[id], id);
  }
  std::ranges::sort(expected);
  std::vector<std::pair<std::int64_t, std::uint32_t>> actual;
  while (!queue.empty()) {
    const std::int64_t at = queue.next_time().ps();
    actual.emplace_back(at, queue.Pop());
  }
  EXPECT_EQ(actual, expected);
}

}  // namespace
}  // namespace trunkline
