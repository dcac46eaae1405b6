#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trunkline/fabric/catalog.h"

namespace trunkline {

// What a PCIe link carries of payload, at `gigatransfers` per lane and second: as data/nodes/
// dgx-h100.yaml derives it from the 57.88 Gb/s that the transaction layer of generation 3 x8 has,
// of which writes use 256 of 280 bytes. Below 8 GT/s 8b/10b coding replaces 128b/130b.
[[nodiscard]] Rate PcieRate(double gigatransfers, int lanes);

// A server as another tool describes it: devices in any order, then a template of them in ours.
class NodeDraft {
 public:
  // `order` sorts the devices of a kind.
  std::uint32_t Add(DeviceKind kind, std::int64_t order);
  void Join(std::uint32_t a, std::uint32_t b, LinkKind kind, Rate rate);
  // As `a` and `b` reach each other through host bridges: every two CPUs by a socket link.
  void JoinCpus(Rate rate);
  [[nodiscard]] std::size_t Count(DeviceKind kind) const;

  // All but the name, the texts, the NICs' rate and nic_of_gpu.
  [[nodiscard]] NodeTemplate Finish() const;

 private:
  struct Drafted {
    DeviceKind kind = DeviceKind::kGpu;
    std::int64_t order = 0;
  };
  std::vector<Drafted> devices_;
  std::vector<NodeTemplate::Bus> buses_;
};

// Servers in the files of other tools. TL1451 and TL1452, with their places.
[[nodiscard]] bool LooksLikeNcclTopology(std::string_view text);
[[nodiscard]] Result<NodeTemplate> ReadNcclTopology(std::string_view text, const std::string& file);
[[nodiscard]] bool LooksLikeTopologyMatrix(std::string_view text);
[[nodiscard]] Result<NodeTemplate> ReadTopologyMatrix(std::string_view text,
                                                      const std::string& file);

}  // namespace trunkline
