#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "fabric/export/writer.h"
#include "fabric/import/scanner.h"

// What graph tools, SimGrid and containerlab read.
namespace trunkline {
namespace {

// `text` inside double quotes of XML or DOT.
std::string Escaped(std::string_view text, bool xml) {
  std::string out;
  for (char c : text) {
    const bool plain = static_cast<unsigned char>(c) >= 0x20;
    if (xml && (c == '<' || c == '&' || c == '"' || !plain)) {
      out += fmt::format("&#{};", plain ? static_cast<int>(c) : 0xfffd);
    } else if (!xml && (c == '"' || c == '\\')) {
      out += fmt::format("\\{}", c);
    } else {
      out += c;
    }
  }
  return out;
}

Result<std::string> WriteDot(const CableList& list) {
  std::string text = "graph fabric {\n  rankdir=BT;\n  node [shape=box];\n";
  for (std::size_t d = 0; d < list.devices.size(); ++d) {
    text += fmt::format("  n{} [label=\"{}\"{}];\n", d, Escaped(list.devices[d].name, false),
                        list.devices[d].kind == DeviceKind::kSwitch ? "" : ", shape=plain");
  }
  for (const CableList::Cable& cable : list.cables) {
    text += fmt::format("  n{} -- n{} [taillabel=\"{}\", headlabel=\"{}\", label=\"{}\"];\n",
                        cable.a.device, cable.b.device, cable.a.port, cable.b.port,
                        ToString(*cable.rate));
  }
  return text + "}\n";
}

Result<std::string> WriteGraphml(const CableList& list) {
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
      "  <key id=\"name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n"
      "  <key id=\"kind\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>\n"
      "  <key id=\"rate\" for=\"edge\" attr.name=\"rate_bps\" attr.type=\"long\"/>\n"
      "  <key id=\"latency\" for=\"edge\" attr.name=\"latency_ps\" attr.type=\"long\"/>\n"
      "  <graph id=\"fabric\" edgedefault=\"undirected\">\n";
  for (std::size_t d = 0; d < list.devices.size(); ++d) {
    text += fmt::format(
        "    <node id=\"n{}\"><data key=\"name\">{}</data><data key=\"kind\">{}</data></node>\n", d,
        Escaped(list.devices[d].name, true),
        list.devices[d].kind == DeviceKind::kSwitch ? "switch" : "nic");
  }
  for (const CableList::Cable& cable : list.cables) {
    text += fmt::format(
        "    <edge source=\"n{}\" target=\"n{}\"><data key=\"rate\">{}</data><data "
        "key=\"latency\">{}</data></edge>\n",
        cable.a.device, cable.b.device, cable.rate->bits_per_second(), cable.latency->ps());
  }
  return text + "  </graph>\n</graphml>\n";
}

// Parallel cables are one link of their rates together: SimGrid has one route for each pair.
Result<std::string> WriteSimgrid(const CableList& list) {
  std::string text =
      "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<platform version=\"4.1\">\n  <zone id=\"world\" routing=\"Floyd\">\n";
  for (const CableList::Device& device : list.devices) {
    const std::string id = Escaped(device.name, true);
    text += device.kind == DeviceKind::kSwitch
                ? fmt::format("    <router id=\"{}\"/>\n", id)
                : fmt::format("    <host id=\"{}\" speed=\"1Gf\"/>\n", id);
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<Rate, Time>> joined;
  for (const CableList::Cable& cable : list.cables) {
    auto& [rate, latency] = joined[{cable.a.device, cable.b.device}];
    rate = rate + *cable.rate;
    latency = *cable.latency;
  }
  std::string routes;
  std::size_t next = 0;
  for (const auto& [ends, link] : joined) {
    text += fmt::format(
        "    <link id=\"l{}\" bandwidth=\"{}bps\" latency=\"{}ps\" "
        "sharing_policy=\"SPLITDUPLEX\"/>\n",
        next, link.first.bits_per_second(), link.second.ps());
    for (const bool down : {false, true}) {
      const std::uint32_t from = down ? ends.second : ends.first;
      const std::uint32_t to = down ? ends.first : ends.second;
      routes += fmt::format(
          "    <route src=\"{}\" dst=\"{}\" symmetrical=\"NO\"><link_ctn id=\"l{}\" "
          "direction=\"{}\"/></route>\n",
          Escaped(list.devices[from].name, true), Escaped(list.devices[to].name, true), next,
          down ? "DOWN" : "UP");
    }
    ++next;
  }
  return text + routes + "  </zone>\n</platform>\n";
}

// Names of containers are letters, digits, '-', '_' and '.'.
Result<std::string> WriteContainerlab(const CableList& list) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const CableList::Device& device : list.devices) {
    std::string name = device.name;
    for (char& c : name) {
      const bool good = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                        (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
      if (!good) c = '-';
    }
    if (!known.insert(name).second) {
      return CannotWrite("containerlab", fmt::format("two devices would be called '{}'", name),
                         "rename one of them");
    }
    names.push_back(std::move(name));
  }
  std::string text = "name: fabric\ntopology:\n  nodes:\n";
  const auto is_switch = [&](std::uint32_t d) {
    return list.devices[d].kind == DeviceKind::kSwitch;
  };
  for (std::uint32_t d = 0; d < names.size(); ++d) {
    text +=
        fmt::format("    {}: {{kind: {}}}\n", names[d], is_switch(d) ? "nokia_srlinux" : "linux");
  }
  text += "  links:\n";
  const auto end = [&](CableList::End at) {
    return fmt::format("{}:{}{}", names[at.device], is_switch(at.device) ? "e1-" : "eth", at.port);
  };
  for (const CableList::Cable& cable : list.cables) {
    text += fmt::format("    - endpoints: [\"{}\", \"{}\"]\n", end(cable.a), end(cable.b));
  }
  return text;
}

// Slurm's tree has one parent for each node: servers on the same leaves are a unit, and one switch
// joins the units.
Result<std::string> WriteSlurm(const CableList& list) {
  std::map<std::string, std::set<std::uint32_t>> leaves;
  for (const CableList::Cable& cable : list.cables) {
    for (const auto& [low, high] : {std::pair(cable.a, cable.b), std::pair(cable.b, cable.a)}) {
      if (list.devices[low.device].kind == DeviceKind::kSwitch) continue;
      leaves[list.devices[low.device].host].insert(high.device);
    }
  }
  std::map<std::set<std::uint32_t>, std::vector<std::string>> units;
  for (const auto& [host, at] : leaves) units[at].push_back(host);
  std::vector<std::vector<std::string>> in_order;
  for (auto& [at, hosts] : units) {
    std::ranges::sort(hosts, NaturalLess);
    in_order.push_back(std::move(hosts));
  }
  std::ranges::sort(in_order, NaturalLess, [](const auto& hosts) { return hosts.front(); });
  std::string text;
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    text += fmt::format("SwitchName=unit-{} Nodes={}\n", i, fmt::join(in_order[i], ","));
  }
  if (units.size() < 2) return text;  // one switch joins them already
  return text + fmt::format("SwitchName=top Switches=unit-[0-{}]\n", units.size() - 1);
}

}  // namespace

const FabricFileWriter& DotWriter() {
  static const FabricFileWriter writer = {"dot", "a graph for Graphviz", WriteDot};
  return writer;
}
const FabricFileWriter& GraphmlWriter() {
  static const FabricFileWriter writer = {"graphml", "a graph for Gephi, yEd and NetworkX",
                                          WriteGraphml};
  return writer;
}
const FabricFileWriter& SimgridWriter() {
  static const FabricFileWriter writer = {"simgrid", "SimGrid's platform XML", WriteSimgrid};
  return writer;
}
const FabricFileWriter& ContainerlabWriter() {
  static const FabricFileWriter writer = {"containerlab", "containerlab's topology YAML",
                                          WriteContainerlab};
  return writer;
}
const FabricFileWriter& SlurmWriter() {
  static const FabricFileWriter writer = {
      "slurm", "Slurm's topology.conf, of switches or of blocks", WriteSlurm};
  return writer;
}

}  // namespace trunkline
