#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/units.h"
#include "trunkline/fabric/accelerator.h"
#include "trunkline/fabric/fabric.h"

// The servers that are built in, from data/nodes.
namespace trunkline {

// The inside of a server: devices and buses, replicated once per node by the builders.
struct NodeTemplate {
  struct Bus {
    std::uint32_t from = 0;  // indices into `devices`
    std::uint32_t to = 0;
    Rate rate;  // what protocols leave of the raw signalling rate, each direction
    Time latency;
    LinkKind kind = LinkKind::kPcie;
  };

  std::string name;  // "dgx-h100"
  std::string description;
  std::string accelerator;      // name in the accelerator catalogue; empty: none
  std::vector<Device> devices;  // node-relative; GPUs first, then NICs
  std::vector<Bus> buses;
  std::uint32_t gpus = 0;
  std::uint32_t nics = 0;
  Rate nic_rate;
  // nic_of_gpu[g]: the NIC whose PCIe path to GPU g is shortest (its rail).
  std::vector<std::uint32_t> nic_of_gpu;
  std::string source;
};

[[nodiscard]] std::vector<std::string> NodeTemplateNames();
// `name` is a catalogue name, or a path (it contains '/' or ends in .yaml, .xml or .txt) of a file
// in the same form, a topology of NCCL or RCCL, or what nvidia-smi topo -m prints. TL1400: unknown
// name, with a did-you-mean; TL1407, TL145x: of the file.
[[nodiscard]] Result<NodeTemplate> FindNodeTemplate(std::string_view name);

}  // namespace trunkline
