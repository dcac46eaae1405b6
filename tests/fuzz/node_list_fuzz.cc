// A job's nodes in Slurm's form, and a placement file: two texts that users paste.
#include <string>

#include "fuzz/fuzz.h"
#include "trunkline/fabric/build.h"
#include "trunkline/fabric/placement.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trunkline;
  static const auto built = BuildFabric(*ParseFabricSpec("single-switch:nodes=16"));
  const auto names = ParseNodeList(TextOf(data, size));
  if (names) {
    Require(!names->empty(), "a list names a node");
    for (const std::string& name : *names) Require(!name.empty(), "a node has a name");
    const auto endpoints = EndpointsOfNodes(built->fabric, *names);
    if (!endpoints) RequireExplained(endpoints.error());
  } else {
    RequireExplained(names.error());
  }
  const auto placed = ParsePlacementFile(TextOf(data, size), "ranks.txt", built->fabric);
  if (placed) {
    Require(!placed->empty() && placed->size() <= 16, "an endpoint takes one rank");
  } else {
    RequireExplained(placed.error());
  }
  return 0;
}
