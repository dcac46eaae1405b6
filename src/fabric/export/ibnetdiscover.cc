#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "fabric/export/writer.h"
#include "fabric/import/infiniband.h"

namespace trunkline {
namespace {

// "4xNDR" of 400 Gb/s: the usual width first, the newest generation last.
std::optional<std::string> SpeedOf(Rate rate) {
  for (const char* width : {"4x", "8x", "2x", "1x", "12x"}) {
    for (const char* speed : {"SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR"}) {
      if (InfinibandRate(width, speed) == rate) return fmt::format("{}{}", width, speed);
    }
  }
  return std::nullopt;
}

// `host hca`, two words, as HCAs describe themselves.
std::string DescriptionOf(const CableList::Device& device, std::uint32_t hca) {
  if (device.kind == DeviceKind::kSwitch) return device.name;
  std::string text =
      device.name.size() > device.host.size() + 1 && device.name.starts_with(device.host + "/")
          ? fmt::format("{} {}", device.host, device.name.substr(device.host.size() + 1))
          : fmt::format("{} HCA-{}", device.host, hca);
  std::ranges::replace(text, '"', '\'');
  return text;
}

struct View {
  std::uint32_t port = 0;
  CableList::End to;
  const std::string* speed = nullptr;
};

Result<std::string> Write(const CableList& list) {
  std::vector<std::vector<View>> views(list.devices.size());
  std::map<Rate, std::string> speeds;
  for (const CableList::Cable& cable : list.cables) {
    const auto speed = SpeedOf(*cable.rate);
    if (!speed) {
      return CannotWrite("ibnetdiscover",
                         fmt::format("no speed of InfiniBand is {}", ToString(*cable.rate)),
                         "4x of HDR, NDR or XDR is 200, 400 or 800 Gb/s");
    }
    const std::string& kept = speeds.try_emplace(*cable.rate, *speed).first->second;
    views[cable.a.device].push_back({cable.a.port, cable.b, &kept});
    views[cable.b.device].push_back({cable.b.port, cable.a, &kept});
  }
  std::vector<std::string> description;
  std::map<std::string, std::uint32_t> hcas;
  for (const CableList::Device& device : list.devices) {
    description.push_back(DescriptionOf(device, ++hcas[device.host]));
  }
  const auto id = [&](std::uint32_t device) {
    return fmt::format("{}-{:016x}", list.devices[device].kind == DeviceKind::kSwitch ? 'S' : 'H',
                       (device + 1) * 0x100);
  };
  std::string text = "# Topology file: written by trunkline\n";
  for (std::uint32_t d = 0; d < list.devices.size(); ++d) {
    const bool is_switch = list.devices[d].kind == DeviceKind::kSwitch;
    std::uint32_t ports = 0;
    for (const View& view : views[d]) ports = std::max(ports, view.port);
    text +=
        fmt::format("\n{}guid=0x{:x}\n{}\t{} \"{}\"\t\t# \"{}\"{}\n", is_switch ? "switch" : "ca",
                    (d + 1) * 0x100, is_switch ? "Switch" : "Ca", ports, id(d), description[d],
                    is_switch ? fmt::format(" enhanced port 0 lid {} lmc 0", d + 1) : "");
    for (const View& view : views[d]) {
      text +=
          fmt::format("[{}]\t\"{}\"[{}]\t\t# \"{}\" lid {} {}\n", view.port, id(view.to.device),
                      view.to.port, description[view.to.device], view.to.device + 1, *view.speed);
    }
  }
  return text;
}

}  // namespace

const FabricFileWriter& IbnetdiscoverWriter() {
  static const FabricFileWriter writer = {
      "ibnetdiscover", "the topology file of ibnetdiscover, and of ibsim", Write};
  return writer;
}

}  // namespace trunkline
