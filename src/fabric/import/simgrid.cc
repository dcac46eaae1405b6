#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "fabric/import/named_cables.h"
#include "fabric/import/reader.h"
#include "fabric/import/scanner.h"
#include "fabric/import/xml_file.h"

// SimGrid's platform XML: one cluster (FLAT, FAT_TREE, DRAGONFLY or TORUS), which a builder makes,
// or hosts, routers and links with a route of one link for each cable.
namespace trunkline {
namespace {

// `50GBps` and `400Gbps` as we write them.
UnitResult<Rate> ParseSimgridRate(std::string_view text) {
  std::string ours(text);
  if (ours.ends_with("ps")) ours.replace(ours.size() - 2, 2, "/s");
  return ParseRate(ours);
}

class SimgridParser {
 public:
  explicit SimgridParser(XmlFile xml) : xml_(std::move(xml)) {}

  Result<FabricSource> Read() {
    const std::vector<pugi::xml_node> clusters = All("cluster");
    FabricSource source;
    if (clusters.size() > 1) {
      xml_.Error(clusters[1], "TL1452", "a second cluster", "a fabric is one cluster");
    } else if (clusters.size() == 1) {
      source = ReadCluster(clusters[0]);
    } else {
      source = ReadRoutes();
    }
    if (xml_.failed()) return std::unexpected(xml_.TakeDiagnostics());
    return source;
  }

 private:
  // Elements of that name at any depth, without recursion.
  [[nodiscard]] std::vector<pugi::xml_node> All(std::string_view name) const {
    std::vector<pugi::xml_node> found;
    std::vector<pugi::xml_node> open = {xml_.root()};
    while (!open.empty()) {
      const pugi::xml_node node = open.back();
      open.pop_back();
      if (name == node.name()) found.push_back(node);
      for (pugi::xml_node child = node.last_child(); child; child = child.previous_sibling()) {
        open.push_back(child);
      }
    }
    return found;
  }

  template <typename T>
  std::optional<T> Quantity(pugi::xml_node node, const char* attribute,
                            UnitResult<T> (*parse)(std::string_view)) {
    const auto value = parse(node.attribute(attribute).value());
    if (value) return *value;
    xml_.Error(node, attribute, "TL1453", fmt::format("{}: {}", attribute, value.error().message),
               value.error().hint);
    return std::nullopt;
  }

  // `2;8,8;1,8;1,1` as lists.
  std::vector<std::vector<std::int64_t>> Lists(pugi::xml_node node, const char* attribute) {
    std::vector<std::vector<std::int64_t>> lists(1);
    std::string_view text = node.attribute(attribute).value();
    while (true) {
      const std::size_t end = text.find_first_of(",;");
      std::int64_t number = 0;
      const std::string_view item = text.substr(0, end);
      const auto [last, error] = std::from_chars(item.data(), item.data() + item.size(), number);
      if (item.empty() || error != std::errc() || last != item.data() + item.size() || number < 1 ||
          number > 262'144) {
        xml_.Error(node, attribute, "TL1451", fmt::format("{}: '{}' is no count", attribute, item),
                   "such as 2;8,8;1,8;1,1");
        return {};
      }
      lists.back().push_back(number);
      if (end == std::string_view::npos) return lists;
      if (text[end] == ';') lists.emplace_back();
      text.remove_prefix(end + 1);
    }
  }

  // False: it meets one of the others, which are kept by their first.
  static bool AddRange(std::uint32_t first, std::uint32_t last,
                       std::map<std::uint32_t, std::uint32_t>& ranges) {
    const auto next = ranges.lower_bound(first);
    if (next != ranges.end() && next->first <= last) return false;
    if (next != ranges.begin() && std::prev(next)->second >= first) return false;
    ranges.emplace_hint(next, first, last);
    return true;
  }

  // `0-63,70` is 65.
  std::optional<std::uint32_t> CountRadical(pugi::xml_node node) {
    std::uint64_t count = 0;
    std::map<std::uint32_t, std::uint32_t> ranges;
    std::string_view text = node.attribute("radical").value();
    bool more = !text.empty();
    while (more) {
      const std::size_t comma = text.find(',');
      const std::string_view range = text.substr(0, comma);
      const std::size_t dash = range.find('-');
      std::uint32_t from = 0;
      std::uint32_t to = 0;
      Scanner low(range.substr(0, dash));
      Scanner high(dash == std::string_view::npos ? range : range.substr(dash + 1));
      const auto first = low.Number();
      const auto last = high.Number();
      if (!first || !last || *last < *first) {
        xml_.Error(node, "radical", "TL1451", fmt::format("radical: '{}' is no range", range),
                   "such as 0-63");
        return std::nullopt;
      }
      from = *first;
      to = *last;
      if (!AddRange(from, to, ranges)) {
        xml_.Error(node, "radical", "TL1452", fmt::format("radical: {} names a host again", range),
                   "every host stands in one range");
        return std::nullopt;
      }
      count += std::uint64_t{to} - from + 1;
      more = comma != std::string_view::npos;
      if (more) text.remove_prefix(comma + 1);
    }
    if (count >= 1 && count <= 262'144) return static_cast<std::uint32_t>(count);
    xml_.Error(node, "radical", "TL1451", fmt::format("radical names {} hosts", count),
               "from 1 to 262144");
    return std::nullopt;
  }

  FabricSpec ReadCluster(pugi::xml_node node) {
    FabricSpec spec;
    const auto count = CountRadical(node);
    const auto bandwidth = Quantity<Rate>(node, "bw", ParseSimgridRate);
    const auto latency = Quantity<Time>(node, "lat", ParseTime);
    const std::string topology = node.attribute("topology").as_string("FLAT");
    if (!count || !bandwidth || !latency) return spec;
    spec.nodes = *count;
    spec.cable_latency = *latency;
    spec.switch_latency = Time();  // a route is as long as its links
    Set(spec, "link", *bandwidth);
    if (SameText(topology, "FLAT")) {
      spec.kind = "single-switch";
      if (node.attribute("bb_bw")) {
        xml_.Error(node, "bb_bw", "TL1451", "a backbone that all hosts share is no cable",
                   "leave bb_bw out, or use a FAT_TREE");
      }
      return spec;
    }
    const auto lists = Lists(node, "topo_parameters");
    if (xml_.failed()) return spec;
    if (SameText(topology, "FAT_TREE")) {
      FatTree(node, lists, spec);
    } else if (SameText(topology, "DRAGONFLY")) {
      Dragonfly(node, lists, spec);
    } else if (SameText(topology, "TORUS")) {
      spec.kind = "torus";
      Set(spec, "sizes", lists.front());
      Set(spec, "ends", std::int64_t{1});
    } else {
      xml_.Error(node, "topology", "TL1451", fmt::format("an unknown topology '{}'", topology),
                 "FLAT, FAT_TREE, DRAGONFLY or TORUS");
    }
    return spec;
  }

  template <typename T>
  static void Set(FabricSpec& spec, const char* key, T value) {
    spec.values[key] = FabricValue{.value = std::move(value)};
  }

  void FatTree(pugi::xml_node node, const std::vector<std::vector<std::int64_t>>& lists,
               FabricSpec& spec) {
    const auto levels = static_cast<std::size_t>(lists[0][0]);
    if (lists.size() != 4 || lists[0].size() != 1 || lists[1].size() != levels ||
        lists[2].size() != levels || lists[3].size() != levels) {
      xml_.Error(node, "topo_parameters", "TL1452", "topo_parameters of a FAT_TREE",
                 "levels; children; parents; parallel cables, a number for each level");
      return;
    }
    spec.kind = "fat-tree";
    Set(spec, "children", lists[1]);
    Set(spec, "parents", lists[2]);
    Set(spec, "cables", lists[3]);
  }

  // A number of links is a multiple of the rate in SimGrid too.
  void Dragonfly(pugi::xml_node node, const std::vector<std::vector<std::int64_t>>& lists,
                 FabricSpec& spec) {
    if (lists.size() != 4 || lists[0].size() != 2 || lists[1].size() != 2 || lists[2].size() != 2 ||
        lists[3].size() != 1) {
      xml_.Error(node, "topo_parameters", "TL1452", "topo_parameters of a DRAGONFLY",
                 "groups,links; chassis,links; routers,links; nodes");
      return;
    }
    spec.kind = "dragonfly";
    Set(spec, "groups", lists[0][0]);
    Set(spec, "global", lists[0][1]);
    Set(spec, "chassis", lists[1][0]);
    Set(spec, "across", lists[1][1]);
    Set(spec, "routers", lists[2][0]);
    Set(spec, "local", lists[2][1]);
    Set(spec, "ends", lists[3][0]);
  }

  struct SimLink {
    Rate rate;
    Time latency;
  };

  // What routes make of a link: a cable.
  struct Use {
    std::string src;
    std::string dst;
    pugi::xml_node route;
    bool there = false;
    bool back = false;
  };

  CableList ReadRoutes() {
    NamedCables cables;
    for (pugi::xml_node host : All("host")) {
      AddDevice(host, DeviceKind::kNic, cables);
    }
    for (pugi::xml_node router : All("router")) {
      const std::uint32_t at = AddDevice(router, DeviceKind::kSwitch, cables);
      cables.list.devices[at].latency = Time();
    }
    std::map<std::string, SimLink> links;
    for (pugi::xml_node link : All("link")) {
      const auto rate = Quantity<Rate>(link, "bandwidth", ParseSimgridRate);
      const auto latency = link.attribute("latency") ? Quantity<Time>(link, "latency", ParseTime)
                                                     : std::optional(Time());
      if (!rate || !latency) continue;
      const std::string id = link.attribute("id").value();
      if (!links.try_emplace(id, SimLink{*rate, *latency}).second) {
        xml_.Error(link, "id", "TL1452", fmt::format("a second link '{}'", id),
                   "every link has an id of its own");
      }
    }
    std::map<std::string, Use> uses;
    for (pugi::xml_node route : All("route")) ReadRoute(route, links, uses, cables);
    for (const auto& [id, use] : uses) {
      if (use.there && use.back) continue;
      xml_.Error(
          use.route, "TL1452",
          fmt::format("the link '{}' leads one way, from '{}' to '{}'", id, use.src, use.dst),
          "a cable carries both ways: leave symmetrical out, or give the route back");
    }
    return std::move(cables.list);
  }

  std::uint32_t AddDevice(pugi::xml_node node, DeviceKind kind, NamedCables& cables) {
    const std::string id = node.attribute("id").value();
    if (id.empty() || cables.Has(id)) {
      xml_.Error(node, "id", "TL1452", fmt::format("'{}' stands twice, or for nothing", id),
                 "every host and router has an id of its own");
    }
    return cables.Device(kind, id);
  }

  void ReadRoute(pugi::xml_node route, const std::map<std::string, SimLink>& links,
                 std::map<std::string, Use>& uses, NamedCables& cables) {
    const std::string src = route.attribute("src").value();
    const std::string dst = route.attribute("dst").value();
    const pugi::xml_node first = route.child("link_ctn");
    if (!first || first.next_sibling("link_ctn")) {
      xml_.Error(route, "TL1451", "a route over several links does not say what is between them",
                 "give routers, and a route of one link for each cable");
      return;
    }
    const std::string id = first.attribute("id").value();
    const auto link = links.find(id);
    if (link == links.end() || !cables.Has(src) || !cables.Has(dst) || src == dst) {
      xml_.Error(route, "TL1452", fmt::format("a route from '{}' to '{}' by '{}'", src, dst, id),
                 "src, dst and the link are described, and src is not dst");
      return;
    }
    const auto [known, added] = uses.try_emplace(id, Use{src, dst, route});
    Use& use = known->second;
    const bool forth = use.src == src && use.dst == dst;
    if (!forth && (use.src != dst || use.dst != src)) {
      xml_.Error(route, "TL1452",
                 fmt::format("the link '{}' joins '{}' and '{}', and '{}' and '{}' before", id, src,
                             dst, use.src, use.dst),
                 "a link that routes of several pairs share is no cable: give each its own");
      return;
    }
    const bool both = !SameText(route.attribute("symmetrical").as_string("YES"), "NO");
    use.there = use.there || forth || both;
    use.back = use.back || !forth || both;
    // A route back over the same link is the same cable.
    if (!added) return;
    const std::uint32_t a = cables.Device(DeviceKind::kNic, src);
    const std::uint32_t b = cables.Device(DeviceKind::kNic, dst);
    cables.list.cables.push_back({{a, 0}, {b, 0}, link->second.rate, link->second.latency, 0});
  }

  XmlFile xml_;
};

}  // namespace

const FabricFileReader& SimgridReader() {
  static const FabricFileReader reader = {
      "simgrid", "SimGrid's platform XML",
      [](std::string_view text) {
        return AnyLine(text, [](std::string_view line) {
          return line.find("<platform") != std::string_view::npos;
        });
      },
      [](std::string_view text, const std::string& file) -> Result<FabricSource> {
        auto xml = XmlFile::Parse(text, file);
        if (!xml) return std::unexpected(std::move(xml.error()));
        return SimgridParser(*std::move(xml)).Read();
      }};
  return reader;
}

}  // namespace trunkline
