#include "trunkline/fabric/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/embedded_yaml.h"
#include "fabric/fabric_reader.h"
#include "fabric/import/node_draft.h"
#include "fabric/node_nics.h"
#include "trunkline/base/check.h"

namespace trunkline {

extern const EmbeddedTable k_trunkline_fabric_data_nodes;
extern const EmbeddedTable k_trunkline_fabric_data_accelerators;

namespace {

constexpr std::string_view kNodeFolder = "nodes/";
// A node is at most an NVLink domain of several racks.
constexpr std::int64_t kMaxDevicesOfKind = 1024;
constexpr std::size_t kMaxBuses = 65'536;
constexpr Rate kMaxNicRate = Rate::GigabitsPerSecond(10'000);

// The order in which devices are numbered: GPUs first, then NICs.
constexpr std::array kDeviceKinds = {DeviceKind::kGpu,        DeviceKind::kHost,
                                     DeviceKind::kNic,        DeviceKind::kNvSwitch,
                                     DeviceKind::kPcieSwitch, DeviceKind::kCpu};

Words<LinkKind> BusKinds() {
  Words<LinkKind> words;
  for (LinkKind kind :
       {LinkKind::kNvlink, LinkKind::kXgmi, LinkKind::kC2c, LinkKind::kPcie, LinkKind::kSocket}) {
    words.emplace_back(ToString(kind), kind);
  }
  return words;
}

Words<DeviceKind> DeviceWords() {
  Words<DeviceKind> words;
  for (DeviceKind kind : kDeviceKinds) words.emplace_back(ToString(kind), kind);
  return words;
}

std::unexpected<Diagnostics> Unknown(std::string_view what, std::string_view name,
                                     const std::vector<std::string>& known) {
  const std::string close = ClosestMatch(name, known);
  return Error("TL1400", fmt::format("unknown {} '{}'", what, name),
               close.empty() ? fmt::format("known: {}", fmt::join(known, ", "))
                             : fmt::format("did you mean '{}'?", close));
}

// Reads one node template.
class NodeReader {
 public:
  explicit NodeReader(const YamlMap& root) : root_(root) {}

  NodeTemplate Read() {
    root_.Require("name", node_.name);
    root_.Require("description", node_.description);
    root_.Read("accelerator", node_.accelerator);
    root_.Require("nic_rate", node_.nic_rate);
    root_.Require("source", node_.source);
    if (node_.nic_rate > kMaxNicRate) {
      root_.Error("TL1407", "nic_rate exceeds " + ToString(kMaxNicRate), "check its unit");
    }
    ReadDevices();
    ReadForwarding();
    if (const auto buses = root_.List("buses")) {
      for (const YamlValue& bus : *buses) {
        if (const auto map = bus.AsMap()) ReadBus(*map);
      }
    }
    return std::move(node_);
  }

 private:
  void ReadDevices() {
    const auto devices = root_.Required("devices");
    const auto map = devices ? devices->AsMap() : std::nullopt;
    if (!map) return;
    for (DeviceKind kind : kDeviceKinds) {
      std::uint32_t count = 0;
      map->Read(ToString(kind), count, IntRange{0, kMaxDevicesOfKind});
      first_[Index(kind)] = static_cast<std::uint32_t>(node_.devices.size());
      count_[Index(kind)] = count;
      for (std::uint32_t i = 0; i < count; ++i) {
        node_.devices.push_back({.kind = kind, .node = 0, .local = i});
      }
    }
    node_.gpus = count_[Index(DeviceKind::kGpu)];
    node_.nics = count_[Index(DeviceKind::kNic)];
    const std::uint32_t hosts = count_[Index(DeviceKind::kHost)];
    if (hosts > 1 || (hosts == 1 && node_.devices.size() > 1)) {
      map->Error("TL1407", "a host stands for the whole server, so it is its only device",
                 "list GPUs, NICs and buses, or `host: 1` alone");
    } else if (hosts == 0 && (node_.gpus == 0 || node_.nics == 0)) {
      map->Error("TL1407", "a node has GPUs and NICs, or is a host",
                 "write such as {gpu: 8, nic: 8, pcie-switch: 4, cpu: 2}, or {host: 1}");
    }
  }

  void ReadForwarding() {
    const auto map = root_.Map("forwarding");
    if (!map) return;
    for (DeviceKind kind : kDeviceKinds) {
      Time latency;
      if (!map->Read(ToString(kind), latency)) continue;
      for (Device& device : node_.devices) {
        if (device.kind == kind) device.latency = latency;
      }
    }
  }

  void ReadBus(const YamlMap& map) {
    DeviceKind from{};
    DeviceKind to{};
    NodeTemplate::Bus bus;
    Rate raw;
    std::string source;
    const bool ends =
        map.Require("from", from, DeviceWords()) && map.Require("to", to, DeviceWords());
    const bool rated = map.Require("kind", bus.kind, BusKinds()) && map.Require("rate", bus.rate) &&
                       map.Require("latency", bus.latency);
    map.Require("source", source);
    if (map.Read("raw", raw) && rated && raw < bus.rate) {
      map.Error("TL1407", "the rate exceeds the raw rate of the bus",
                "rate is what protocols leave of raw");
    }
    std::uint32_t per = 0;
    map.Read("per", per, IntRange{1, kMaxDevicesOfKind});
    if (!ends || !rated) return;
    const std::uint32_t from_count = count_[Index(from)];
    const std::uint32_t to_count = count_[Index(to)];
    if (from_count == 0 || to_count == 0) {
      map.Error("TL1407", fmt::format("the node has no {}", ToString(from_count == 0 ? from : to)),
                "list it under devices");
      return;
    }
    if (per > 0 && (from == to || (from_count + per - 1) / per != to_count)) {
      map.Error("TL1407",
                fmt::format("{} {} in groups of {} do not fill {} {}", from_count, ToString(from),
                            per, to_count, ToString(to)),
                "per: N joins N consecutive devices to one; leave it out to join each with each");
      return;
    }
    AddBuses(map, from, to, per, bus);
  }

  void AddBuses(const YamlMap& map, DeviceKind from, DeviceKind to, std::uint32_t per,
                NodeTemplate::Bus bus) {
    for (std::uint32_t i = 0; i < count_[Index(from)]; ++i) {
      for (std::uint32_t j = 0; j < count_[Index(to)]; ++j) {
        if (per > 0 && i / per != j) continue;
        if (from == to && j <= i) continue;
        if (node_.buses.size() == kMaxBuses) {
          map.Error("TL1407", fmt::format("more than {} buses in one node", kMaxBuses),
                    "model a switch instead of a mesh");
          return;
        }
        bus.from = first_[Index(from)] + i;
        bus.to = first_[Index(to)] + j;
        node_.buses.push_back(bus);
      }
    }
  }

  static std::size_t Index(DeviceKind kind) { return static_cast<std::size_t>(kind); }

  const YamlMap& root_;
  NodeTemplate node_;
  std::array<std::uint32_t, 8> first_{};
  std::array<std::uint32_t, 8> count_{};
};

// With the NIC of each GPU.
Result<NodeTemplate> WithNics(NodeTemplate node, SourcePosition where) {
  auto nic_of_gpu = NicsOf(node);
  if (!nic_of_gpu) {
    auto error = Error("TL1407", fmt::format("gpu {} reaches no NIC", nic_of_gpu.error()),
                       "add the PCIe or C2C bus that joins it to a PCIe switch, a CPU or a NIC");
    error.error().front().where = std::move(where);
    return error;
  }
  node.nic_of_gpu = *std::move(nic_of_gpu);
  return node;
}

Result<NodeTemplate> ReadNode(YamlDocument document) {
  const YamlMap root = document.root();
  NodeTemplate node = NodeReader(root).Read();
  Diagnostics problems = document.TakeDiagnostics();
  if (HasErrors(problems)) return std::unexpected(std::move(problems));
  return WithNics(std::move(node), root.where());
}

// A file in our form, or one of another tool; which, its content tells.
Result<NodeTemplate> ReadNodeFile(const std::string& path) {
  const auto text = ReadTextFile(path);
  if (!text) return std::unexpected(text.error());
  const bool xml = LooksLikeNcclTopology(*text);
  if (!xml && !LooksLikeTopologyMatrix(*text)) {
    auto document = YamlDocument::Parse(*text, path, YamlStyle::kOurs);
    if (!document) return std::unexpected(std::move(document.error()));
    return ReadNode(*std::move(document));
  }
  auto node = xml ? ReadNcclTopology(*text, path) : ReadTopologyMatrix(*text, path);
  if (!node) return node;
  node->name = std::filesystem::path(path).stem().string();
  node->source = path;
  return WithNics(*std::move(node), {.file = path});
}

Accelerator ReadAccelerator(const YamlMap& map) {
  Accelerator accelerator;
  map.Require("name", accelerator.name);
  map.Require("bf16", accelerator.bf16);
  const auto optional_rate = [&](const char* key, std::optional<FlopRate>& out) {
    FlopRate rate;
    if (map.Read(key, rate)) out = rate;
  };
  optional_rate("fp8", accelerator.fp8);
  optional_rate("matmul_bf16", accelerator.best_matmul_bf16);
  optional_rate("matmul_fp8", accelerator.best_matmul_fp8);
  map.Require("memory", accelerator.memory);
  map.Require("memory_bandwidth", accelerator.memory_bandwidth);
  static const Words<GpuGeneration> kGenerations = {{"ampere", GpuGeneration::kAmpere},
                                                    {"hopper", GpuGeneration::kHopper},
                                                    {"blackwell", GpuGeneration::kBlackwell}};
  map.Read("generation", accelerator.generation, kGenerations);
  map.Require("source", accelerator.source);
  return accelerator;
}

// Read once.
const std::vector<Accelerator>& Accelerators() {
  static const std::vector<Accelerator> accelerators = [] {
    YamlDocument document =
        OpenEmbedded(k_trunkline_fabric_data_accelerators, "accelerators/accelerators.yaml");
    std::vector<Accelerator> read;
    const auto entries = document.root().List("accelerators");
    TL_CHECK(entries.has_value());
    for (const YamlValue& entry : *entries) read.push_back(ReadAccelerator(*entry.AsMap()));
    CloseEmbedded(document);
    return read;
  }();
  return accelerators;
}

}  // namespace

bool IsNodeFile(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(kYaml) ||
         name.ends_with(".xml") || name.ends_with(".txt");
}

std::vector<std::string> AcceleratorNames() {
  std::vector<std::string> names;
  for (const Accelerator& accelerator : Accelerators()) names.push_back(accelerator.name);
  return names;
}

std::vector<std::string> NodeTemplateNames() { return k_trunkline_fabric_data_nodes.stems(); }

Result<Accelerator> FindAccelerator(std::string_view name) {
  for (const Accelerator& accelerator : Accelerators()) {
    if (accelerator.name == name) return accelerator;
  }
  return Unknown("accelerator", name, AcceleratorNames());
}

Result<NodeTemplate> FindNodeTemplate(std::string_view name) {
  if (IsNodeFile(name)) {
    return ReadNodeFile(std::string(name));
  }
  const EmbeddedFile* file =
      k_trunkline_fabric_data_nodes.Find(fmt::format("{}{}{}", kNodeFolder, name, kYaml));
  if (file == nullptr) return Unknown("node template", name, NodeTemplateNames());
  auto document = YamlDocument::Parse(file->text(), file->name, YamlStyle::kOurs);
  if (!document) return std::unexpected(std::move(document.error()));
  return ReadNode(*std::move(document));
}

}  // namespace trunkline
