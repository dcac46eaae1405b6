#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "fabric/import/node_draft.h"
#include "fabric/import/scanner.h"
#include "fabric/import/xml_file.h"

// The topology that NCCL and RCCL dump and take (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE): a tree of
// CPUs, PCI devices, GPUs and NICs.
namespace trunkline {
namespace {

// Rates of NCCL 2.30's and RCCL's topo.h, of one link in one direction.
Rate NvlinkRate(int sm) {
  if (sm >= 100) return Rate::BitsPerSecond(320'800'000'000);  // 40.1 GB/s
  if (sm >= 90) return Rate::BitsPerSecond(164'800'000'000);   // 20.6 GB/s
  if (sm == 86) return Rate::GigabytesPerSecond(12);
  if (sm >= 70) return Rate::GigabytesPerSecond(20);
  return Rate::GigabytesPerSecond(18);
}
Rate XgmiRate(std::string_view gcn) {
  if (gcn.find("94") != std::string_view::npos || gcn.find("95") != std::string_view::npos) {
    return Rate::GigabytesPerSecond(48);
  }
  return Rate::GigabytesPerSecond(gcn == "910" || gcn.find("90a") != std::string_view::npos ? 36
                                                                                            : 24);
}
// Between the sockets of a CPU's kind.
Rate SocketRate(pugi::xml_node cpu) {
  const std::string_view vendor = cpu.attribute("vendor").value();
  if (vendor == "AuthenticAMD") return Rate::GigabytesPerSecond(16);
  if (vendor != "GenuineIntel") return Rate::GigabytesPerSecond(6);
  const int model = cpu.attribute("modelid").as_int();
  return Rate::GigabytesPerSecond(model >= 0x8f ? 22 : model >= 0x55 ? 10 : 6);
}

constexpr int kMostDepth = 32;
constexpr std::size_t kMostOfKind = 1024;
constexpr int kMostDev = 1'000'000;  // of numbers that devices are given

class NcclTopologyParser {
 public:
  explicit NcclTopologyParser(XmlFile xml) : xml_(std::move(xml)) {}

  Result<NodeTemplate> Read() {
    for (pugi::xml_node cpu : xml_.root().children("cpu")) {
      const std::uint32_t at = draft_.Add(DeviceKind::kCpu, Integer(cpu, "numaid", -1, kMostDev));
      socket_ = SocketRate(cpu);
      ReadChildren(cpu, at, Rate(), 0);
    }
    draft_.JoinCpus(socket_);
    JoinGpus();
    for (DeviceKind kind : {DeviceKind::kGpu, DeviceKind::kNic}) {
      const std::size_t count = draft_.Count(kind);
      if (count == 0 || count > kMostOfKind) {
        xml_.Error(xml_.root(), "TL1452",
                   fmt::format("{} {}s in the server", count, ToString(kind)),
                   fmt::format("from 1 to {}", kMostOfKind));
      }
    }
    if (xml_.failed()) return std::unexpected(xml_.TakeDiagnostics());
    NodeTemplate node = draft_.Finish();
    node.nic_rate = fastest_ > Rate() ? fastest_ : Rate::GigabitsPerSecond(400);
    node.description = fastest_ > Rate() ? "as NCCL sees it"
                                         : "as NCCL sees it; the file has no speeds of NICs, "
                                           "400 Gb/s is assumed";
    return node;
  }

 private:
  struct Gpu {
    std::uint32_t device = 0;
    pugi::xml_node node;
    int sm = 0;
  };

  // What hangs below a CPU or a PCI bridge, whose own link is `above`.
  void ReadChildren(pugi::xml_node node, std::uint32_t parent, Rate above, int depth) {
    if (depth > kMostDepth) {
      xml_.Error(node, "TL1451", "PCI bridges below one another without end", "at most 32");
      return;
    }
    for (pugi::xml_node pci : node.children("pci")) ReadPci(pci, parent, depth);
    for (pugi::xml_node nic : node.children("nic")) {
      for (pugi::xml_node net : nic.children("net")) ReadNet(net, parent, above);
    }
  }

  void ReadPci(pugi::xml_node pci, std::uint32_t parent, int depth) {
    const Rate rate = LinkRate(pci);
    const std::string_view kind = pci.attribute("class").value();
    const pugi::xml_node gpu = pci.child("gpu");
    const bool leaf = !pci.child("pci") && !pci.child("nic");
    const std::string_view busid = pci.attribute("busid").value();
    if (!busids_.insert(busid).second) {
      xml_.Error(pci, "busid", "TL1452", fmt::format("two devices have the busid '{}'", busid),
                 "remove one, or correct its busid");
      return;
    }
    if (gpu || (leaf && (kind.starts_with("0x03") || kind.starts_with("0x12")))) {
      const int order = gpu ? Integer(gpu, "dev", 0, kMostDev) : static_cast<int>(gpus_.size());
      const std::uint32_t at = draft_.Add(DeviceKind::kGpu, order);
      draft_.Join(at, parent, LinkKind::kPcie, rate);
      gpus_[std::string(busid)] = {at, gpu, Integer(gpu, "sm", 0, 10'000)};
    } else if (leaf && kind.starts_with("0x02")) {
      const std::uint32_t at =
          draft_.Add(DeviceKind::kNic, static_cast<std::int64_t>(draft_.Count(DeviceKind::kNic)));
      draft_.Join(at, parent, LinkKind::kPcie, rate);
    } else if (pci.child("nic") && !pci.child("pci")) {
      ReadChildren(pci, parent, rate, depth + 1);  // the NIC's own function
    } else if (!leaf) {
      const std::uint32_t at =
          draft_.Add(DeviceKind::kPcieSwitch,
                     static_cast<std::int64_t>(draft_.Count(DeviceKind::kPcieSwitch)));
      draft_.Join(at, parent, LinkKind::kPcie, rate);
      ReadChildren(pci, at, rate, depth + 1);
    }
  }

  // NCCL takes 8 GT/s and 16 lanes where the file does not say.
  Rate LinkRate(pugi::xml_node pci) {
    Scanner scan(pci.attribute("link_speed").value());
    const std::string_view text = scan.Token();
    double speed = 8;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), speed);
    if (!text.empty() && (error != std::errc() || !(speed >= 1 && speed <= 256))) {
      xml_.Error(pci, "link_speed", "TL1453",
                 fmt::format("link_speed: '{}' is no speed of PCIe", text),
                 "such as 32.0 GT/s PCIe");
      speed = 8;
    }
    const int width = Integer(pci, "link_width", 0, 32);
    return PcieRate(speed, width >= 1 ? width : 16);
  }

  void ReadNet(pugi::xml_node net, std::uint32_t parent, Rate above) {
    const std::int64_t speed = Integer(net, "speed", 1, 10'000'000);  // in Mb/s
    const std::string_view name = net.attribute("name").value();
    if (!name.empty() && !nets_.insert({name, net.attribute("port").value()}).second) {
      xml_.Error(net, "name", "TL1452", fmt::format("two NICs are called '{}'", name),
                 "remove one, or correct its name or port");
      return;
    }
    const Rate rate = Rate::BitsPerSecond(speed * 1'000'000);
    fastest_ = std::max(fastest_, rate);
    const std::uint32_t at = draft_.Add(DeviceKind::kNic, Integer(net, "dev", 0, kMostDev));
    draft_.Join(at, parent, LinkKind::kPcie, above > Rate() ? above : rate);
  }

  // A whole number in [least, most], 0 where the file has none or an empty one; what is noted as a
  // mistake counts as `least`.
  int Integer(pugi::xml_node node, const char* attribute, int least, int most) {
    const std::string_view text = node.attribute(attribute).value();
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool good = text.empty() || (error == std::errc() && end == text.data() + text.size());
    if (good && value >= least && value <= most) return value;
    xml_.Error(node, attribute, "TL1453", fmt::format("{}: '{}'", attribute, text),
               fmt::format("a whole number from {} to {}", least, most));
    return least;
  }

  // NVLinks and xGMI: between two GPUs both list them, an NVSwitch is one crossbar.
  void JoinGpus() {
    std::optional<std::uint32_t> crossbar;
    std::map<std::pair<std::string, std::string>, int> counts;
    for (const auto& [busid, gpu] : gpus_) {
      int to_switch = 0;
      for (const char* kind : {"nvlink", "xgmi"}) {
        for (pugi::xml_node link : gpu.node.children(kind)) {
          const int count = Integer(link, "count", 1, 64);
          const std::string target = link.attribute("target").value();
          if (gpus_.contains(target)) {
            counts[{busid, target}] += count;
          } else if (std::string_view(link.attribute("tclass").value()).starts_with("0x0680")) {
            to_switch += count;
          }
        }
      }
      if (to_switch == 0) continue;
      if (!crossbar) crossbar = draft_.Add(DeviceKind::kNvSwitch, 0);
      JoinBy(gpu, *crossbar, to_switch);
    }
    for (const auto& [ends, count] : counts) {
      const auto& [busid, target] = ends;
      const Gpu& gpu = gpus_.at(busid);
      const auto back = counts.find({target, busid});
      const int listed = back == counts.end() ? 0 : back->second;
      if (listed != count) {
        xml_.Error(gpu.node, "TL1452",
                   fmt::format("GPU {} lists {} links to {}, which lists {} to it", busid, count,
                               target, listed),
                   "both ends of a link list it");
      } else if (busid < target) {
        JoinBy(gpu, gpus_.at(target).device, count);
      }
    }
  }

  // By so many links of the kind that the GPU has.
  void JoinBy(const Gpu& gpu, std::uint32_t other, int count) {
    const bool xgmi = static_cast<bool>(gpu.node.child("xgmi"));
    const Rate one = xgmi ? XgmiRate(gpu.node.attribute("gcn").value()) : NvlinkRate(gpu.sm);
    draft_.Join(gpu.device, other, xgmi ? LinkKind::kXgmi : LinkKind::kNvlink, one * count);
  }

  XmlFile xml_;
  NodeDraft draft_;
  std::map<std::string, Gpu> gpus_;                               // by PCI address
  std::set<std::string_view> busids_;                             // of all PCI devices
  std::set<std::pair<std::string_view, std::string_view>> nets_;  // names and ports
  Rate socket_ = Rate::GigabytesPerSecond(6);
  Rate fastest_;
};

}  // namespace

bool LooksLikeNcclTopology(std::string_view text) {
  return AnyLine(
      text, [](std::string_view line) { return line.find("<system") != std::string_view::npos; });
}

Result<NodeTemplate> ReadNcclTopology(std::string_view text, const std::string& file) {
  auto xml = XmlFile::Parse(text, file);
  if (!xml) return std::unexpected(std::move(xml.error()));
  return NcclTopologyParser(*std::move(xml)).Read();
}

}  // namespace trunkline
