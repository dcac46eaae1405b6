#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/collective/schedule.h"
#include "trunkline/transport/transport.h"

namespace trunkline {

// What to run: the inputs of every schedule generator.
struct CollectiveSpec {
  Primitive primitive = Primitive::kAllReduce;
  // The size nccl-tests prints: AllReduce, Broadcast, Reduce, SendRecv: the buffer of each rank;
  // AllGather: each rank's output; ReduceScatter: each rank's input; AllToAll: each rank's input
  // (= output); Gather, Scatter: the root's buffer.
  Bytes bytes{};
  std::uint32_t element_bytes = 1;  // chunks are cut at multiples of this
  std::uint32_t root = 0;
  std::uint32_t channels = 1;
  std::uint32_t slots = 0;  // pipeline depth of each channel; 0: no limit
  Bytes slice{};            // pipelined algorithms cut chunks into slices of this; 0: into steps
  Bytes step = PipelineStep(Protocol::kSimple);  // of the protocol that moves them
  // kAllToAllV: bytes from rank i to rank j at [i * ranks + j]; must be empty otherwise.
  std::vector<std::int64_t> matrix{};
  auto operator<=>(const CollectiveSpec&) const = default;
};

// How many ranks a group has and how they sit in nodes, as far as costs depend on it.
struct GroupShape {
  std::uint32_t ranks = 1;
  std::uint32_t nodes = 1;
  std::uint32_t per_node = 1;  // of the fullest node
  bool meshed = false;         // as GroupLayout

  static GroupShape Of(const GroupLayout& layout);
};

// A part of a collective in the alpha-beta model. Parts follow one another; what the fields of one
// part name goes on at the same time.
struct CostTerm {
  double inside_steps = 0;   // messages on the critical path between ranks of one node …
  double outside_steps = 0;  // … and between nodes
  double inside_bytes = 0;   // what the busiest rank sends to (or takes from) ranks of its node …
  double outside_bytes = 0;  // … and other nodes
  double node_bytes = 0;     // what leaves (or enters) the busiest node
};

// One collective algorithm: an entry of the registry.
struct Algorithm {
  const char* name;     // "ring"
  const char* summary;  // one line for --help and the docs table
  // Steps and bytes for docs: "2(p-1) steps, 2(p-1)/p n bytes per rank".
  const char* cost;
  bool (*supports)(Primitive primitive);
  // REQUIRES: supports(spec.primitive). Fails with TL1500.. when the layout or sizes do not fit
  // (hierarchical on a non-uniform layout, say).
  Result<std::shared_ptr<const Schedule>> (*make)(const CollectiveSpec& spec,
                                                  const GroupLayout& layout);
  // What it costs, for the tuner. REQUIRES: supports(spec.primitive), shape.ranks > 1.
  std::vector<CostTerm> (*cost_terms)(const CollectiveSpec& spec, const GroupShape& shape);
  // NCCL does this primitive by it on any fabric, so it may be chosen for those who name none.
  bool (*in_nccl)(Primitive primitive) = [](Primitive) { return false; };
  // NCCL's latencies for trees apply rather than those for rings.
  bool is_tree = false;
  // More channels than this are refused.
  std::uint32_t most_channels = 1024;
  // Whether ranks send to the same peers by the same ways on every channel, so that the tuner takes
  // one alone; by GroupLayout::meshed.
  bool (*channels_alike)(bool meshed) = [](bool) { return false; };
  // Switches reduce or multicast (SHARP, NVLS): members need not send every copy themselves.
  bool reduces_in_network = false;
};

// Every algorithm, in the order of docs. One file and one line each.
[[nodiscard]] std::span<const Algorithm> Algorithms();
[[nodiscard]] const Algorithm* FindAlgorithm(std::string_view name);

// The schedule of `algorithm` ("ring", "double_binary_tree", …); an unknown name or an unsupported
// primitive is an error that lists what would work.
[[nodiscard]] Result<std::shared_ptr<const Schedule>> MakeSchedule(std::string_view algorithm,
                                                                   const CollectiveSpec& spec,
                                                                   const GroupLayout& layout);

}  // namespace trunkline
