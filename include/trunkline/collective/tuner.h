#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/units.h"
#include "trunkline/collective/algorithm.h"
#include "trunkline/fabric/accelerator.h"
#include "trunkline/transport/transport.h"

namespace trunkline {

// The latencies of NCCL's cost model that apply to an algorithm: its row for trees or for rings.
// REQUIRES: the algorithm exists.
[[nodiscard]] const StepLatency& StepLatencyOf(std::string_view algorithm,
                                               const TransportModel& transport);
[[nodiscard]] Time BaseLatencyOf(std::string_view algorithm, Protocol protocol,
                                 const TransportModel& transport);

// The network of a group in plain numbers, each rate per direction and in payload: headers of the
// transport are counted here.
struct GroupNetwork {
  Rate inside{};          // between two ranks of a node; not read where each node holds one rank
  Rate outside{};         // between two ranks of different nodes
  Rate node_outside{};    // out of a node, all its NICs together
  Time inside_latency{};  // of the hardware alone
  Time outside_latency{};
  HopClass inside_hop = HopClass::kNvlink;
  GpuGeneration generation = GpuGeneration::kOther;
};

// What is settled already.
struct TunerLimits {
  std::optional<std::string> algorithm{};
  std::optional<Protocol> protocol{};
  std::optional<std::uint32_t> channels{};
  bool operator==(const TunerLimits&) const = default;
};

struct TunerCandidate {
  std::string algorithm;
  Protocol protocol = Protocol::kSimple;
  std::uint32_t channels = 1;
  Time base{};                    // paid once
  Time latency{};                 // of the steps on the critical path
  Time transfer{};                // of the bytes
  bool chosen_by_default = true;  // false: only for those who name it, since NCCL does not run it

  [[nodiscard]] Time cost() const { return base + latency + transfer; }
};

// Every algorithm, protocol and number of channels that fits the group and `limits`, best first:
// those chosen by default, then the others, each by cost. Never empty.
//
// The shape is that of NCCL's cost model, base + steps x latency + bytes / bandwidth, with NCCL's
// latencies, each algorithm's own steps and bytes, and of the links' bandwidth what NCCL expects
// its own algorithms to reach. Groups that span nodes get a channel for each rank of a node, fewer
// where NCCL finds the buffer too small for them. There is no contention between the steps of a
// part, nor with anything else.
//
// Costs are capped at weeks. Fails with what MakeSchedule says of `spec`, or of the last candidate
// where `limits` leave none. REQUIRES: rates that are read are not 0.
[[nodiscard]] Result<std::vector<TunerCandidate>> RankCandidates(const CollectiveSpec& spec,
                                                                 const GroupLayout& layout,
                                                                 const GroupNetwork& network,
                                                                 const TransportModel& transport,
                                                                 const TunerLimits& limits = {});

}  // namespace trunkline
