// A price list, as a user writes one.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <string>

#include "fuzz/fuzz.h"
#include "trunkline/fabric/cost.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trunkline;
  const int file = memfd_create("prices.yaml", 0);
  Require(file >= 0 && write(file, data, size) == static_cast<ssize_t>(size), "a file in memory");
  const auto list = FindPriceList("/proc/self/fd/" + std::to_string(file));
  close(file);
  if (!list) {
    RequireExplained(list.error());
    return 0;
  }
  Require(!list->switches.empty() && !list->cables.empty(), "a list sells something");
  for (const SwitchPrice& row : list->switches) {
    Require(std::isfinite(row.price) && (row.ports == 0 || row.rate > Rate()),
            "a switch has a price, and a rate where it has ports");
  }
  static const auto fabric = [] {
    const auto spec = ParseFabricSpec("fat-tree:k=4");
    return BuildFabric(*spec);
  }();
  const FabricCost cost = CostFabric(*fabric, *list, {});
  Require(std::isfinite(cost.price()) && cost.price() >= 0, "a fabric's price is a number");
  return 0;
}
