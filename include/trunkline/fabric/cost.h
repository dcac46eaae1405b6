#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/units.h"
#include "trunkline/fabric/build.h"

// The parts that a fabric takes, and what they cost at the prices of a file.
namespace trunkline {

// A switch that can be bought. `ports` 0: any number, priced by the port, at any rate.
struct SwitchPrice {
  std::string name;
  std::uint32_t ports = 0;
  Rate rate;                   // of a port
  std::uint32_t breakout = 1;  // slower cables that can share a port
  double price = 0;
  double per_port = 0;  // beside `price`, for each port in use
  double watts = 0;
  double per_port_watts = 0;
  std::string source;
};

// A cable with what is plugged in at its ends. No rate: prices are for each Gb/s.
struct CablePrice {
  std::string name;
  std::optional<Rate> rate;
  std::uint32_t breakout = 1;  // a port-split cable: so many of `rate` end in one port
  double reach_m = 0;
  double price = 0;
  double per_m = 0;
  double watts = 0;
  std::string source;
};

// Where racks stand: side by side in rows, the hall about square.
struct FloorPlan {
  std::uint32_t nics_per_rack = 32;  // servers are not split; a larger one has a rack of its own
  double rack_width_m = 0.6;
  double row_pitch_m = 3;
  double slack_m = 2;  // of every cable, beside the way between racks
};

struct PriceList {
  std::string name;
  std::string currency;
  FloorPlan floor;
  std::vector<SwitchPrice> switches;
  std::vector<CablePrice> cables;
};

[[nodiscard]] std::vector<std::string> PriceListNames();
// `name` is one of data/prices, or the path (it contains '/' or ends in .yaml) of a file in the
// same form. TL1430: unknown name; TL1431: a list that nothing can be bought from; TL11xx.
[[nodiscard]] Result<PriceList> FindPriceList(std::string_view name);
inline constexpr const char* kDefaultPrices = "ndr-2024";

// Parts that are alike and serve alike.
struct CostLine {
  std::string part;  // name of the price
  std::string use;   // "leaf", "leaf to spine cable"
  bool is_switch = false;
  Rate rate;                   // of a port or a link; zero: any
  std::uint32_t breakout = 1;  // links of a port-split cable, which counts once
  std::uint64_t count = 0;
  std::uint64_t ports_used = 0;  // of switches
  std::uint64_t ports_free = 0;
  double metres = 0;  // of cables together, and the longest
  double longest_m = 0;
  double price = 0;
  double watts = 0;
  std::string source;
};

struct FabricCost {
  std::string prices;
  std::string currency;
  std::vector<CostLine> lines;  // switches from the leaves up, then cables
  // What no price is known for, in words; the totals leave it out.
  std::vector<std::string> unpriced;
  double switches_price = 0;
  double cables_price = 0;
  double watts = 0;
  std::uint64_t ends = 0;  // GPUs, or hosts
  Rate bisection;          // the lower bound
  bool bisection_exact = false;
  FloorPlan floor;  // that cables were measured on

  [[nodiscard]] double price() const { return switches_price + cables_price; }
  // Whether the list sells every part.
  [[nodiscard]] bool complete() const { return unpriced.empty(); }
  // Nothing where there is none to divide by.
  [[nodiscard]] std::optional<double> per_end() const;
  [[nodiscard]] std::optional<double> per_gigabyte_of_bisection() const;
};

// Each switch is the cheapest whose ports suffice and are as fast as the links in it, or where none
// on the list is, as the fastest of all, of which a link takes several; each cable the cheapest
// that reaches of those at its rate (the next above, where none is sold at its own), between racks
// as FloorPlan has them: servers in order, each switch in the rack of the first below it. A cable
// faster than all on the list, or than any port, is a bundle of them. Where slower links share a
// port of one end, port-split cables join them if the list has any, as many as it takes for each
// switch.
[[nodiscard]] FabricCost CostFabric(const BuiltFabric& built, const PriceList& prices,
                                    const Bisection& bisection);

}  // namespace trunkline
