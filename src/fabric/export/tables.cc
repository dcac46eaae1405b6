#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fabric/export/writer.h"

// Formats of a line a cable: comma-separated values, and the topologies of ns-3 simulators.
namespace trunkline {
namespace {

const char* KindOf(const CableList::Device& device) {
  return device.kind == DeviceKind::kSwitch ? "switch" : "nic";
}

Result<std::string> WriteCsv(const CableList& list) {
  for (const CableList::Device& device : list.devices) {
    if (device.name.find_first_of(",\"\n\r#") != std::string::npos) {
      return CannotWrite("csv", fmt::format("the name '{}' has a comma or a quote", device.name),
                         "rename the device");
    }
  }
  std::string text = "from,from_port,from_kind,from_host,to,to_port,to_kind,to_host,rate,latency\n";
  const auto end = [&](CableList::End at) {
    const CableList::Device& device = list.devices[at.device];
    return fmt::format("{},{},{},{}", device.name, at.port, KindOf(device), device.host);
  };
  for (const CableList::Cable& cable : list.cables) {
    text += fmt::format("{},{},{},{}\n", end(cable.a), end(cable.b), ToString(*cable.rate),
                        ToString(*cable.latency));
  }
  return text;
}

std::string WithoutBlank(std::string text) {
  std::erase(text, ' ');
  return text;
}

// Ends come first, as these simulators number them; switches have no delay of their own.
Result<std::string> WriteNs3(const CableList& list) {
  std::vector<std::uint32_t> id(list.devices.size());
  std::uint32_t next = 0;
  std::string switches;
  for (const bool of_switches : {false, true}) {
    for (std::size_t d = 0; d < list.devices.size(); ++d) {
      if ((list.devices[d].kind == DeviceKind::kSwitch) != of_switches) continue;
      id[d] = next++;
      if (of_switches) switches += fmt::format("{}{}", switches.empty() ? "" : " ", id[d]);
    }
  }
  const auto count =
      std::ranges::count(list.devices, DeviceKind::kSwitch, &CableList::Device::kind);
  std::string text =
      fmt::format("{} {} {}\n{}\n", list.devices.size(), count, list.cables.size(), switches);
  for (const CableList::Cable& cable : list.cables) {
    const std::int64_t bits = cable.rate->bits_per_second();
    text += fmt::format("{} {} {} {} 0\n", id[cable.a.device], id[cable.b.device],
                        bits % 1'000'000'000 == 0 ? fmt::format("{}Gbps", bits / 1'000'000'000)
                                                  : fmt::format("{}bps", bits),
                        WithoutBlank(ToString(*cable.latency)));
  }
  return text;
}

}  // namespace

const FabricFileWriter& CsvWriter() {
  static const FabricFileWriter writer = {"csv", "a list of cables, with columns from, to and more",
                                          WriteCsv};
  return writer;
}

const FabricFileWriter& Ns3Writer() {
  static const FabricFileWriter writer = {
      "ns3", "the topology files of HPCC's, ConWeave's, ASTRA-sim's and SimAI's ns-3", WriteNs3};
  return writer;
}

}  // namespace trunkline
