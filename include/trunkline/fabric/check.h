#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trunkline/base/units.h"
#include "trunkline/fabric/fabric.h"

// What is wrong with the cables of a fabric that exists.
namespace trunkline {

// One thing that is not as expected, in the names of the fabric found.
struct FabricFinding {
  enum class Kind : std::uint8_t {
    // `from` is its name in what was expected; of a NIC, `to` is its leaf there and `ports` are
    // that leaf's, where the file numbers them.
    kMissingDevice,
    kExtraDevice,
    // Between `from`, a device or a server, and `to`: `found` where `expected` should be.
    kMissingCables,
    kExtraCables,
    kMiscabled,       // a cable from `from` leads to `to`, and should to `instead`
    kSlowCable,       // found_rate in place of expected_rate
    kMissingUplinks,  // a switch, `from`, has none, where its likes have `expected`
    kWrongRail,  // `from`, a NIC, is on the leaf `to` of another rail, and should be on `instead`
  };

  Kind kind = Kind::kMissingCables;
  std::string from;
  std::string to = {};
  std::string instead = {};
  std::uint32_t found = 0;
  std::uint32_t expected = 0;
  // Of `from` (extra, mis-cabled and slow cables), or free ones of it that other switches use for
  // cables to `to` (missing cables); empty where the file numbers no ports.
  std::vector<std::uint32_t> ports = {};
  Rate found_rate = {};
  Rate expected_rate = {};
};
[[nodiscard]] const char* ToString(FabricFinding::Kind kind);  // "missing-cables"
// A line for people: "leaf-3 misses 2 of 2 cables to spine-1".
[[nodiscard]] std::string Describe(const FabricFinding& finding);

// A switch with other cables upwards than expected.
struct ShortSwitch {
  std::string name;
  std::uint32_t cables_down = 0;
  std::uint32_t cables_up = 0;
  std::uint32_t cables_up_expected = 0;
  double uplink_rate_share = 0;  // rate up over that expected
  double oversubscription = 0;   // rate down over rate up; 0: nothing leads up, or down
  double oversubscription_expected = 0;
};

// Where NIC i of every server is meant to be on leaves of rail i.
struct RailCheck {
  bool rails = false;  // whether leaves are of one rail each at all
  std::uint64_t nics = 0;
  std::uint64_t wrong = 0;
  // Pairs of NICs of one rail and one leaf, as it should be; and those of them that a spine parts.
  std::uint64_t pairs = 0;
  std::uint64_t pairs_over_spines = 0;
};

// How many of a kind there are: "servers", "NICs", "leaf switches".
struct ShapeCount {
  std::string what;
  std::uint64_t found = 0;
  std::uint64_t expected = 0;
};

struct FabricCheck {
  std::string expectation;  // what was expected, and on what ground; a sentence
  // Servers, NICs and the switches of each tier, where any differs from those of the fabric given;
  // else empty.
  std::vector<ShapeCount> shape;
  std::vector<FabricFinding> findings;
  std::vector<ShortSwitch> switches;  // the worst first
  std::uint64_t switches_with_uplinks = 0;
  RailCheck rail;
  // The fabric found, with all switches, cables between switches and rates as expected.
  Fabric mended;
};

// Compares with `expected` after matching both up to names; null: with the regularity of the fabric
// itself, where every switch of a group of equals should be cabled as most of them are. A NIC on a
// leaf of another rail is no finding where it was expected there.
// `port_of_link` and `expected_ports` are ImportedFabric's of each, or empty.
[[nodiscard]] FabricCheck CheckFabric(const Fabric& found,
                                      std::span<const std::uint32_t> port_of_link,
                                      const Fabric* expected,
                                      std::span<const std::uint32_t> expected_ports = {});

}  // namespace trunkline
