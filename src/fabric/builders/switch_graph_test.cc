#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "fabric/builders/galois_field.h"
#include "fabric/builders/testing.h"
#include "trunkline/fabric/analysis.h"

namespace trunkline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Ends are evenly spread, and every switch has as many cables to others.
void ExpectRegular(const Fabric& fabric, std::size_t ports) {
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    if (fabric.device(DeviceId(i)).kind != DeviceKind::kSwitch) continue;
    EXPECT_EQ(fabric.out(DeviceId(i)).size(), ports) << fabric.name(DeviceId(i));
  }
}

TEST(GaloisField, ObeysTheLawsOfAField) {
  for (std::uint32_t q : {2U, 3U, 4U, 7U, 8U, 9U, 16U, 25U, 27U}) {
    const auto field = GaloisField::Make(q);
    ASSERT_TRUE(field.has_value()) << q;
    for (std::uint32_t a = 0; a < q; ++a) {
      EXPECT_EQ(field->Add(a, 0), a);
      EXPECT_EQ(field->Multiply(a, 1), a);
      bool has_negative = false;
      bool has_inverse = a == 0;
      for (std::uint32_t b = 0; b < q; ++b) {
        has_negative |= field->Add(a, b) == 0;
        has_inverse |= field->Multiply(a, b) == 1;
        for (std::uint32_t c = 0; c < q; ++c) {
          EXPECT_EQ(field->Multiply(a, field->Add(b, c)),
                    field->Add(field->Multiply(a, b), field->Multiply(a, c)));
        }
      }
      EXPECT_TRUE(has_negative && has_inverse) << a << " of " << q;
    }
  }
}

TEST(GaloisField, ExistsForPowersOfPrimesOnly) {
  std::vector<std::uint32_t> orders;
  for (std::uint32_t q = 0; q <= 32; ++q) {
    if (GaloisField::Make(q)) orders.push_back(q);
  }
  EXPECT_THAT(orders, ElementsAre(2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32));
}

TEST(SlimFly, HasDiameterTwoAndTheCountsOfItsFormulas) {
  // Besta and Hoefler, SC14: q = 4w + d, 2q^2 switches of (3q - d) / 2 cables to others.
  for (const auto& [q, delta] :
       {std::pair(3, -1), std::pair(4, 0), std::pair(5, 1), std::pair(7, -1), std::pair(8, 0),
        std::pair(9, 1), std::pair(11, -1), std::pair(13, 1), std::pair(16, 0)}) {
    const BuiltFabric built = Build("slim-fly:p=1,q=" + std::to_string(q));
    const Counts counts = CountsOf(built.fabric);
    const auto radix = static_cast<std::size_t>(3 * q - delta) / 2;
    EXPECT_EQ(counts.switches[0], 2U * static_cast<std::size_t>(q * q));
    EXPECT_EQ(counts.switch_cables, static_cast<std::size_t>(q * q) * radix);
    ExpectRegular(built.fabric, radix + 1);
    const HopStatistics hops = CountHops(built.fabric);
    EXPECT_EQ(hops.diameter_switches, 3U) << q;
    EXPECT_EQ(hops.unreachable, 0);
  }
}

TEST(SlimFly, IsTheHoffmanSingletonGraphForFive) {
  // Degree 7 and diameter 2 with 50 switches: the Moore bound is met, so all others are either one
  // or, by exactly one path, two cables away. 7 and 42 of them, over 4 ends each.
  const BuiltFabric built = Build("slim-fly:q=5");
  EXPECT_EQ(built.fabric.node_count(), 200U);
  const double pairs = 3 * 1 + 4 * 7 * 2 + 4 * 42 * 3;
  EXPECT_DOUBLE_EQ(CountHops(built.fabric).mean_switches, pairs / 199);
}

TEST(SlimFly, HasTheCountsOfItsPapersLargestExamples) {
  // 10,830 ends of q = 19 (SC14).
  const Counts counts = Count("slim-fly:q=19");
  EXPECT_EQ(counts.nodes, 10'830U);
  EXPECT_EQ(counts.switches[0], 722U);
}

TEST(SlimFly, NamesTheNearestOrdersThatExist) {
  // DeepSeek's table counts a Slim Fly of q = 28 by its formulas; 28 is no power of a prime.
  EXPECT_THAT(ErrorOf("slim-fly:q=28"), HasSubstr("q=27 or q=29"));
  EXPECT_THAT(ErrorOf("slim-fly:q=2"), HasSubstr("that work are q=3"));
  EXPECT_THAT(ErrorOf("slim-fly"), HasSubstr("write q=5"));
  EXPECT_THAT(ErrorOf("slim-fly:q=5,nodes=201"), HasSubstr("nodes=200 at most"));
  EXPECT_EQ(Count("slim-fly:nodes=201").switches[0], 2U * 49);
}

TEST(Torus, HasTheCablesOfItsSides) {
  struct Row {
    const char* spec;
    std::size_t switches;
    std::size_t cables;
    std::uint32_t diameter;  // sum of half the sides
  };
  for (const Row& row :
       {Row{"torus:sizes=[8,8]", 64, 128, 8}, Row{"torus:sizes=[4,5,6]", 120, 360, 2 + 2 + 3},
        Row{"torus:sizes=[2,2,2]", 8, 12, 3}, Row{"torus:sizes=[7]", 7, 7, 3},
        Row{"torus:sizes=[3,1,2]", 6, 6 + 3, 2}}) {
    const BuiltFabric built = Build(row.spec);
    const Counts counts = CountsOf(built.fabric);
    EXPECT_EQ(counts.switches[0], row.switches) << row.spec;
    EXPECT_EQ(counts.nodes, row.switches) << row.spec;
    EXPECT_EQ(counts.switch_cables, row.cables) << row.spec;
    EXPECT_EQ(CountHops(built.fabric).diameter_switches, row.diameter + 1) << row.spec;
  }
  EXPECT_THAT(Build("torus:sizes=[4,5,6]").fabric.torus(), ElementsAre(4, 5, 6));
}

TEST(Torus, SwitchesSitAtTheCoordinatesThatAreTheirDigits) {
  const Fabric fabric = Build("torus:sizes=[4,3]").fabric;
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const Device& from = fabric.device(fabric.link(LinkId(i)).from);
    const Device& to = fabric.device(fabric.link(LinkId(i)).to);
    if (from.kind != DeviceKind::kSwitch || to.kind != DeviceKind::kSwitch) continue;
    const auto apart = [](std::uint32_t a, std::uint32_t b, std::uint32_t side) {
      return std::min((a + side - b) % side, (b + side - a) % side);
    };
    EXPECT_EQ(apart(from.local % 4, to.local % 4, 4) + apart(from.local / 4, to.local / 4, 3), 1U);
  }
}

TEST(Torus, BisectionIsTwiceTheSwitchesOfASlice) {
  // Dally, Towles 2004, 5.2: a k-ary n-cube of even k is halved by 2 k^(n-1) cables, one way.
  for (const auto& [spec, cables] : {std::pair("torus:sizes=[8,8],link=100 Gb/s", 16),
                                     std::pair("torus:sizes=[8,8,8],link=100 Gb/s", 128),
                                     std::pair("torus:sizes=[16,4],ends=4,link=100 Gb/s", 8)}) {
    const BuiltFabric built = Build(spec);
    ASSERT_TRUE(built.bisection.has_value()) << spec;
    EXPECT_EQ(built.bisection->upper, Rate::GigabitsPerSecond(100) * cables) << spec;
    EXPECT_EQ(built.bisection->lower, built.bisection->upper) << spec;
  }
  // The formula holds against the search: METIS and max-flow above, the hose model below.
  const BuiltFabric built = Build("torus:sizes=[4,4],ends=2,link=100 Gb/s");
  const Bisection searched = BoundBisection(built.fabric);
  EXPECT_LE(searched.lower, built.bisection->upper);
  EXPECT_EQ(searched.upper, built.bisection->upper);
}

// Arjona Aroca and Fernandez Anta (TAMC 2012): 2 (k^n - 1) / (k - 1) cables where k is odd, and
// 2 (1 + 4) of a 4 x 5 torus. With fewer ends on a side than that, these are the narrowest.
TEST(Torus, BisectionOfOddSidesIsThatOfThePaper) {
  struct Row {
    const char* spec;
    int cables;
    bool exact;
  };
  for (const auto& [spec, cables, exact] : {Row{"torus:sizes=[5,5],link=100 Gb/s", 12, true},
                                            Row{"torus:sizes=[7,7],link=100 Gb/s", 16, true},
                                            Row{"torus:sizes=[9,9],link=100 Gb/s", 20, true},
                                            Row{"torus:sizes=[4,5],link=100 Gb/s", 10, true},
                                            Row{"torus:sizes=[7,7,7],link=100 Gb/s", 114, false},
                                            Row{"torus:sizes=[3,3,3],link=100 Gb/s", 13, true}}) {
    const Bisection bisection = *Build(spec).bisection;
    EXPECT_EQ(bisection.upper, Rate::GigabitsPerSecond(100) * cables) << spec;
    EXPECT_EQ(bisection.lower == bisection.upper, exact) << spec;
    EXPECT_GE(bisection.lower, Rate::GigabitsPerSecond(85) * cables) << spec;
  }
}

// The Hoffman-Singleton graph: 7 is followed by the eigenvalue 2 among 50, so at least 62.5 cables
// part its halves; 65 do.
TEST(SlimFly, BisectionIsAtLeastThatOfItsSecondEigenvalue) {
  const Bisection bisection = *Build("slim-fly:q=5,link=100 Gb/s").bisection;
  EXPECT_EQ(bisection.lower, Rate::GigabitsPerSecond(63 * 100));
  const Bisection found = Analyse(Build("slim-fly:q=5,link=100 Gb/s")).bisection;
  EXPECT_EQ(found.lower, bisection.lower);
  EXPECT_EQ(found.upper, Rate::GigabitsPerSecond(65 * 100));
  // Of q = 4w + 1 the eigenvalue is (q - 1) / 2, q below the degree: q^3 / 2 cables (of 2 q^2).
  EXPECT_EQ(Build("slim-fly:q=13,link=100 Gb/s").bisection->lower,
            Rate::GigabitsPerSecond(100) * 1'099);
}

// Halves of nodes are halves of NICs, wherever these are seated: as many cables part them as part
// hosts, 63 to 65 of the graph, but for the one node of 25 that is on the larger side.
TEST(SlimFly, BisectionOfNodesOfSeveralNicsIsThatOfHalvesOfNics) {
  const Bisection found = Analyse(Build("slim-fly:q=5,p=4,node=dgx-h100,link=100 Gb/s")).bisection;
  EXPECT_EQ(found.lower, Rate::GigabitsPerSecond(63 * 100));
  EXPECT_GE(found.upper, Rate::GigabitsPerSecond(63 * 100));
  EXPECT_LE(found.upper, Rate::GigabitsPerSecond(70 * 100));
  // Half of the nodes, on a quarter of the switches at least: those, or the ends' own links.
  const Bisection half =
      Analyse(Build("slim-fly:q=5,p=4,node=dgx-h100,nodes=12,link=100 Gb/s")).bisection;
  EXPECT_GE(half.lower, Rate::GigabitsPerSecond(45 * 100));
}

TEST(FullMesh, OfSwitchesJoinsEveryTwo) {
  const BuiltFabric built = Build("full-mesh:switches=6,ends=12,cables=2,link=100 Gb/s");
  const Counts counts = CountsOf(built.fabric);
  EXPECT_EQ(counts.nodes, 72U);
  EXPECT_EQ(counts.switch_cables, 30U);
  ExpectRegular(built.fabric, 12 + 10);
  EXPECT_EQ(CountHops(built.fabric).diameter_switches, 2U);
  // Three switches a side: nine pairs of two cables.
  ASSERT_TRUE(built.bisection.has_value());
  EXPECT_EQ(built.bisection->upper, Rate::GigabitsPerSecond(100) * 18);
  EXPECT_EQ(built.bisection->lower, built.bisection->upper);
}

TEST(FullMesh, OfNodesHasACableForEveryPair) {
  const BuiltFabric built = Build("full-mesh:nodes=9,link=100 Gb/s");
  const Counts counts = CountsOf(built.fabric);
  EXPECT_EQ(counts.switches[0], 0U);
  EXPECT_EQ(counts.host_cables, 9U * 8 / 2);
  EXPECT_EQ(CountHops(built.fabric).diameter_links, 1U);
  EXPECT_EQ(CutCapacity(built.fabric, {true, true, true, true, false, false, false, false, false}),
            Rate::GigabitsPerSecond(100) * 20);
  EXPECT_EQ(built.bisection->upper, Rate::GigabitsPerSecond(100) * 20);
}

TEST(FullMesh, WithoutSwitchesSharesTheRateOfANicAmongItsPorts) {
  const BuiltFabric built = Build("full-mesh:nodes=5");
  EXPECT_EQ(built.fabric.link(LinkId(0)).rate, Rate::GigabitsPerSecond(100));  // 400 over 4
}

TEST(SwitchGraph, SaysHowManyNodesThereIsRoomFor) {
  EXPECT_THAT(ErrorOf("torus:sizes=[4,4],nodes=17"), HasSubstr("nodes=16 at most"));
  EXPECT_THAT(ErrorOf("torus:sizes=[2,2],ends=1,node=dgx-h100"),
              HasSubstr("a node needs 8 places"));
  EXPECT_THAT(ErrorOf("torus"), HasSubstr("write sizes=[8,8,8]"));
  EXPECT_THAT(ErrorOf("torus:sizes=[4096,4096]"), HasSubstr("TL1404"));
  EXPECT_THAT(ErrorOf("full-mesh:nodes=1"), HasSubstr("nodes=2"));
  EXPECT_THAT(ErrorOf("full-mesh:nodes=8,cables=2"), HasSubstr("there are none"));
  EXPECT_THAT(ErrorOf("full-mesh:nodes=262144"), HasSubstr("TL1404"));
}

}  // namespace
}  // namespace trunkline
