#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/plural.h"
#include "fabric/builders/galois_field.h"
#include "fabric/builders/switch_graph.h"

namespace trunkline {
namespace {

// Of 2q^2 switches, as many as are supported.
constexpr std::uint32_t kMaxOrder = 181;

// The graphs of McKay, Miller, Širáň (1998) as Besta and Hoefler use them: Slim Fly: A Cost
// Effective Low-Diameter Network Topology (SC14), section II-B; the sets of generators by Hafner:
// Geometric realisation of the graphs of McKay-Miller-Širáň (2004). Switches are (0, x, y) and
// (1, m, c) over the field of q = 4w + delta elements:
//   (0, x, y) ~ (0, x, y') where y - y' is in `columns`
//   (1, m, c) ~ (1, m, c') where c - c' is in `rows`
//   (0, x, y) ~ (1, m, c)  where y = m x + c
struct Generators {
  std::vector<std::uint32_t> columns;
  std::vector<std::uint32_t> rows;
};

bool IsOrder(std::uint32_t q) { return q >= 3 && q % 4 != 2 && GaloisField::Make(q); }

// Powers of a primitive element. Even and odd ones; where -1 is an odd power (delta = -1), the
// upper half of either changes over, so that a set has the negative of each of its elements.
Generators GeneratorsOf(const GaloisField& field) {
  const std::uint32_t q = field.size();
  Generators generators;
  if (q % 4 != 3) {
    const std::uint32_t each = q / 2;  // q even: the last of the odd powers is 1
    for (std::uint32_t i = 0; i < each; ++i) {
      generators.columns.push_back(field.Power(2 * i));
      generators.rows.push_back(field.Power(2 * i + 1));
    }
    return generators;
  }
  const std::uint32_t w = (q + 1) / 4;
  for (std::uint32_t i = 0; i < w; ++i) {
    for (const std::uint32_t power : {2 * i, 2 * w - 1 + 2 * i}) {
      generators.columns.push_back(field.Power(power));
      generators.rows.push_back(field.Power(power + 1));
    }
  }
  return generators;
}

void Cable(std::uint32_t q, Rate rate, const SwitchGraph::AddCable& cable) {
  const GaloisField field = *GaloisField::Make(q);
  const Generators generators = GeneratorsOf(field);
  const auto column = [q](std::uint32_t x, std::uint32_t y) { return x * q + y; };
  const auto row = [q](std::uint32_t m, std::uint32_t c) { return (q + m) * q + c; };
  for (std::uint32_t a = 0; a < q; ++a) {
    for (std::uint32_t b = 0; b < q; ++b) {
      for (const std::uint32_t step : generators.columns) {
        if (const std::uint32_t to = field.Add(b, step); b < to) {
          cable(column(a, b), column(a, to), rate);
        }
      }
      for (const std::uint32_t step : generators.rows) {
        if (const std::uint32_t to = field.Add(b, step); b < to) {
          cable(row(a, b), row(a, to), rate);
        }
      }
      for (std::uint32_t x = 0; x < q; ++x) {
        cable(column(x, field.Add(field.Multiply(a, x), b)), row(a, b), rate);
      }
    }
  }
}

// The largest eigenvalue of the graph below its degree. Its eigenvectors follow a character of the
// field's sum in y and c: for the trivial one they are those of degree and of the sets' size; for
// the others the cables (0, x, y) ~ (1, m, c) are sqrt(q) times a unitary matrix, so that two by
// two
//
//   a  sqrt(q)
//   sqrt(q)  b        where a and b are the characters' sums over the sets of generators.
double SecondEigenvalue(const GaloisField& field, const Generators& generators) {
  const std::uint32_t q = field.size();
  double second = static_cast<double>(generators.columns.size());
  for (std::uint32_t t = 1; t < q; ++t) {
    const auto sum = [&](const std::vector<std::uint32_t>& set) {
      double real = 0;  // -y is in the set with y
      for (const std::uint32_t element : set) real += std::cos(field.Angle(t, element));
      return real;
    };
    const double a = sum(generators.columns);
    const double b = sum(generators.rows);
    second = std::max(second, (a + b) / 2 + std::hypot((a - b) / 2, std::sqrt(q)));
  }
  return second;
}

// Of d cables a switch and second eigenvalue e, m of n switches have at least (d - e) m (n - m) / n
// cables to the others (Mohar: Isoperimetric numbers of graphs, JCT B 47, 1989); the ends of the
// side that are not on them are cut off by their links. This holds for halves of the ends, so for
// those of nodes, wherever their NICs are seated and however few there are.
Rate LeastCut(std::uint32_t q, double ends, double half, double rate, double link) {
  const GaloisField field = *GaloisField::Make(q);
  const Generators generators = GeneratorsOf(field);
  const double degree = static_cast<double>(generators.columns.size()) + q;
  const double switches = 2.0 * q * q;
  const double gap = degree - SecondEigenvalue(field, generators);
  double least = half * link;
  for (double few = 1; few <= switches / 2; ++few) {
    const double cables = std::ceil(gap * few * (switches - few) / switches - 1e-6);
    least = std::min(least, cables * rate + std::max(0.0, half - ends * few) * link);
  }
  return Rate::BitsPerSecond(std::llround(std::min(least, kMaxTotalRate)));
}

std::uint32_t NetworkRadix(std::uint32_t q) {
  return q % 4 == 1 ? (3 * q - 1) / 2 : q % 4 == 3 ? (3 * q + 1) / 2 : 3 * q / 2;
}

std::uint32_t EndsOf(const FabricParameters& parameters, std::uint32_t q) {
  return parameters.Count("p", (NetworkRadix(q) + 1) / 2);
}

// The order that the user gives, or the least whose network has room for the nodes.
Result<std::uint32_t> ReadOrder(const FabricParameters& parameters) {
  if (!parameters.Has("q")) {
    if (parameters.nodes() == 0) {
      return parameters.Fail("q", "TL1405", "a Slim Fly needs q, or a number of nodes",
                             "write q=5, or nodes=200");
    }
    for (std::uint32_t q = 3; q <= kMaxOrder; ++q) {
      const double room = 2.0 * q * q * EndsOf(parameters, q);
      if (room >= parameters.ends(parameters.nodes()) && IsOrder(q)) return q;
    }
    return parameters.Fail("p", "TL1404", "no Slim Fly of so few NICs a switch is large enough",
                           fmt::format("up to q={} is supported: raise p", kMaxOrder));
  }
  const std::uint32_t q = parameters.Count("q", 3);
  if (IsOrder(q)) return q;
  std::uint32_t below = q - 1;
  while (below >= 3 && !IsOrder(below)) --below;
  std::uint32_t above = std::max(q + 1, 3U);
  while (above <= kMaxOrder && !IsOrder(above)) ++above;
  std::string nearest = below >= 3 ? fmt::format("q={}", below) : "";
  if (above <= kMaxOrder) nearest += fmt::format("{}q={}", nearest.empty() ? "" : " or ", above);
  return parameters.Fail("q", "TL1405",
                         fmt::format("there is no Slim Fly of q = {}: q is a power of a prime, and "
                                     "4w - 1, 4w or 4w + 1",
                                     q),
                         "the nearest that work are " + nearest);
}

Result<NetworkPlan> PlanSlimFly(const FabricParameters& parameters) {
  const auto order = ReadOrder(parameters);
  if (!order) return std::unexpected(order.error());
  const std::uint32_t q = *order;
  SwitchGraph graph;
  graph.ends = EndsOf(parameters, q);
  graph.summary = fmt::format("q={}: {} switches, {} and {} each; diameter 2", q, 2 * q * q,
                              Plural(NetworkRadix(q), "cable"), Plural(graph.ends, "end"));
  graph.leaves = 2 * q * q;
  graph.cables = static_cast<double>(q) * q * NetworkRadix(q);
  const Rate rate = parameters.uplink();
  graph.fastest = rate;
  const std::uint64_t full = std::uint64_t{graph.leaves} * graph.ends / parameters.nics();
  const std::uint64_t nodes = parameters.nodes() > 0 ? parameters.nodes() : full;
  if (nodes > 1 && nodes <= full) {
    graph.partly_filled = true;
    graph.bisection = {
        .lower = LeastCut(q, graph.ends, static_cast<double>(nodes / 2 * parameters.nics()),
                          static_cast<double>(rate.bits_per_second()),
                          static_cast<double>(parameters.link().bits_per_second())),
        .method = "lower: the graph's second eigenvalue"};
  }
  graph.cable = [q, rate](const SwitchGraph::AddCable& cable) { Cable(q, rate, cable); };
  return PlanSwitchGraph(parameters, std::move(graph));
}

}  // namespace

const Builder& SlimFlyBuilder() {
  static const Builder builder = {
      {"slim-fly",
       "2q^2 switches, every two at most two cables apart (Besta and Hoefler)",
       {CountKey("q", "the least with room for the nodes",
                 "order: a power of a prime, 4w - 1, 4w or 4w + 1", kMaxOrder),
        CountKey("p", "half of a switch's cables to others, rounded up", "NICs of a switch"),
        LinkKey(), UplinkKey()}},
      PlanSlimFly};
  return builder;
}

}  // namespace trunkline
