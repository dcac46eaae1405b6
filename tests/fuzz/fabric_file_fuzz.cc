// Fabric files of other tools: the first byte chooses the format, 0xff leaves that to the content.
#include <string>
#include <vector>

#include "fuzz/fuzz.h"
#include "trunkline/fabric/analysis.h"
#include "trunkline/fabric/import.h"

namespace trunkline {
namespace {

void RequireSound(const ImportedFabric& imported) {
  const Fabric& fabric = imported.built.fabric;
  Require(!fabric.endpoints().empty(), "an accepted fabric has endpoints");
  Require(imported.built.unit_of_node.size() == fabric.node_count(), "each node has its unit");
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const Link& link = fabric.link(LinkId(i));
    Require(link.rate > Rate() && link.latency >= Time(), "a link has a rate and a latency");
  }
  for (const DeviceId end : fabric.endpoints()) {
    Require(fabric.Find(fabric.name(end)) == std::vector{end}, "an endpoint is found by its name");
  }
  (void)CountParts(fabric);
}

}  // namespace
}  // namespace trunkline

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trunkline;
  if (size == 0) return 0;
  static const std::vector<std::string> formats = [] {
    std::vector<std::string> names;
    for (const FabricFormat& format : FabricFormats()) {
      if (format.reads) names.push_back(format.name);
    }
    return names;
  }();
  ImportOptions options;
  if (data[0] != 0xff) options.format = formats[data[0] % formats.size()];
  const auto imported = ImportFabric(TextOf(data + 1, size - 1), "fabric.txt", options);
  if (imported) {
    RequireSound(*imported);
  } else {
    RequireExplained(imported.error());
  }
  return 0;
}
