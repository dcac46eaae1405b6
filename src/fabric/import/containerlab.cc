#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "base/plural.h"
#include "base/yaml_reader.h"
#include "fabric/import/named_cables.h"
#include "fabric/import/reader.h"
#include "fabric/import/scanner.h"

// containerlab's topology: nodes with kinds, links with the interfaces at both ends.
//
//   topology:
//     nodes: {leaf1: {kind: nokia_srlinux}, host1: {kind: linux}}
//     links:
//       - endpoints: ["leaf1:e1-1", "host1:eth1"]
namespace trunkline {
namespace {

// The number that an interface's name ends in: 49 of e1-49, 0 of swp.
std::uint32_t PortOf(std::string_view interface) {
  std::size_t begin = interface.size();
  while (begin > 0 && interface[begin - 1] >= '0' && interface[begin - 1] <= '9') --begin;
  std::uint32_t port = 0;
  std::from_chars(interface.data() + begin, interface.data() + interface.size(), port);
  return port <= UINT16_MAX ? port : 0;
}

class ContainerlabParser {
 public:
  explicit ContainerlabParser(YamlDocument document) : document_(std::move(document)) {}

  Result<FabricSource> Read() {
    if (const auto topology = document_.root().Map("topology")) {
      ReadNodes(*topology);
      if (const auto links = topology->List("links")) {
        for (const YamlValue& link : *links) ReadLink(link);
      }
    }
    Diagnostics problems = document_.TakeDiagnostics();
    if (HasErrors(problems)) return std::unexpected(std::move(problems));
    if (left_out_ > 0) {
      cables_.list.notes.push_back(fmt::format(
          "{} out of the lab, to the machine that it runs on, and {} set aside",
          Plural(left_out_, "link leads", "links lead"), left_out_ == 1 ? "is" : "are"));
    }
    return std::move(cables_.list);
  }

 private:
  // What containerlab's brief links name in place of a node where they lead out of the lab
  // (containerlab.dev/manual/topo-def-file, links).
  static bool IsOutside(std::string_view node) {
    static constexpr std::array<std::string_view, 5> kNames = {"host", "mgmt-net", "macvlan",
                                                               "vxlan", "vxlan-stitch"};
    return std::ranges::find(kNames, node) != kNames.end();
  }
  // What runs Linux is a server; all else is a network's.
  static bool IsServer(std::string_view kind) { return kind == "linux" || kind == "host"; }

  void ReadNodes(const YamlMap& topology) {
    std::string usual;
    if (const auto defaults = topology.Map("defaults")) defaults->Read("kind", usual);
    const auto nodes = topology.Map("nodes");
    if (!nodes) return;
    for (const auto& [name, value] : nodes->Entries()) {
      std::string kind = usual;
      if (value.is_map()) value.AsMap()->Read("kind", kind);
      cables_.Device(IsServer(kind) ? DeviceKind::kNic : DeviceKind::kSwitch, name, "",
                     value.where().line);
    }
  }

  std::optional<CableList::End> ReadEnd(const YamlValue& value) {
    std::string node;
    std::string interface;
    if (value.is_map()) {
      const auto map = value.AsMap();
      if (!map->Require("node", node)) return std::nullopt;
      map->Read("interface", interface);
    } else {
      std::string text;
      if (!value.Read(text)) return std::nullopt;
      const std::size_t colon = text.find(':');
      node = text.substr(0, colon);
      if (colon != std::string::npos) interface = text.substr(colon + 1);
    }
    // host:, mgmt-net:, macvlan:, vxlan: and their like lead out of the lab, to the machine that it
    // runs on.
    if (IsOutside(node) && !cables_.Has(node)) {
      outside_ = true;
      return std::nullopt;
    }
    if (!cables_.Has(node)) {
      value.Error("TL1452", fmt::format("'{}' is none of the nodes", node), "describe it first");
      return std::nullopt;
    }
    const std::uint32_t device = cables_.Device(DeviceKind::kSwitch, node);
    if (!interface.empty() && !used_.insert({device, interface}).second) {
      value.Error("TL1452", fmt::format("{} of {} is cabled twice", interface, node),
                  "an interface takes one cable");
      return std::nullopt;
    }
    return CableList::End{device, PortOf(interface)};
  }

  void ReadLink(const YamlValue& value) {
    const auto link = value.AsMap();
    // Of the types of links, all but those between nodes have one endpoint.
    std::string type;
    if (link && link->Read("type", type) && link->Has("endpoint")) {
      ++left_out_;
      return;
    }
    const auto endpoints = link ? link->List("endpoints") : std::nullopt;
    if (!endpoints || endpoints->size() != 2) {
      value.Error("TL1451", "a link without two endpoints",
                  R"(such as endpoints: ["leaf1:e1-1", "host1:eth1"])");
      return;
    }
    outside_ = false;
    const auto a = ReadEnd((*endpoints)[0]);
    const auto b = a || outside_ ? ReadEnd((*endpoints)[1]) : std::nullopt;
    if (outside_) ++left_out_;
    if (!a || !b) return;
    if (a->device == b->device) {
      value.Error("TL1452", "a link from a node to itself", "remove it");
      return;
    }
    cables_.list.cables.push_back({*a, *b, std::nullopt, std::nullopt, value.where().line});
  }

  YamlDocument document_;
  NamedCables cables_;
  std::set<std::pair<std::uint32_t, std::string>> used_;
  bool outside_ = false;      // the link being read leads out of the lab
  std::size_t left_out_ = 0;  // links that do
};

}  // namespace

const FabricFileReader& ContainerlabReader() {
  static const FabricFileReader reader = {
      "containerlab", "containerlab's topology YAML",
      [](std::string_view text) {
        return AnyLine(text, [](std::string_view line) {
          Scanner scan(line);
          return scan.column() == 1 && scan.Token() == "topology:" && scan.done();
        });
      },
      [](std::string_view text, const std::string& file) -> Result<FabricSource> {
        auto document = YamlDocument::Parse(text, file, YamlStyle::kForeign);
        if (!document) return std::unexpected(std::move(document.error()));
        return ContainerlabParser(*std::move(document)).Read();
      }};
  return reader;
}

}  // namespace trunkline
