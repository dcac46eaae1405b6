#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/units.h"
#include "trunkline/fabric/fabric.h"

// What is built in: accelerators and servers, from data/accelerators and data/nodes.
namespace trunkline {

// One accelerator. Peaks are dense (no sparsity). Each figure's source is in its data file.
struct Accelerator {
  std::string name;  // "H100-SXM5-80GB"
  FlopRate bf16;     // peak
  std::optional<FlopRate> fp8;
  std::optional<FlopRate> best_matmul_bf16;  // best measured matmul; none: not known
  std::optional<FlopRate> best_matmul_fp8;
  Bytes memory;
  Rate memory_bandwidth;
  std::string source;
};

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

[[nodiscard]] std::vector<std::string> AcceleratorNames();
[[nodiscard]] std::vector<std::string> NodeTemplateNames();
// TL1400: unknown name, with a did-you-mean.
[[nodiscard]] Result<Accelerator> FindAccelerator(std::string_view name);
// `name` is a catalogue name, or a path (it contains '/' or ends in .yaml) of a file in the same
// form.
[[nodiscard]] Result<NodeTemplate> FindNodeTemplate(std::string_view name);

}  // namespace trunkline
