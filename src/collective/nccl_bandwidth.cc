#include "collective/nccl_bandwidth.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "trunkline/base/check.h"

// Every constant is one of NCCL 2.30.7, src/graph/tuning.cc.
namespace trunkline {
namespace {

constexpr double kGiga = 1e9;
constexpr double kNoCap = std::numeric_limits<double>::infinity();

// The most that channels carry: between two nodes, and between more.
struct Caps {
  std::array<double, 2> ring_ll128;
  std::array<double, 2> tree_ll128;
  std::array<double, 2> tree;
};
constexpr Caps kAmpere = {{20, 20}, {20, 20}, {23.6, 17.8}};
constexpr Caps kHopper = {{36.7, 36.7}, {36.7, 29.0}, {41.4, 36.0}};
constexpr Caps kBlackwell = {{40, 40}, {31.67, 20}, {42.8, 24}};

// Of all channels together with ll, by nodes; those of one node by generation. Between nodes NCCL
// reads the row of Volta for all generations (that of hosts with Intel's processors).
constexpr std::array<double, 2> kLlBetween = {39.0, 20.4};

// How much of its bandwidth a tree reaches in an AllReduce of 64 B, 128 B, … 256 MiB, by protocol;
// all of it in larger ones.
constexpr std::size_t kSizes = 23;
constexpr std::array<std::array<double, kSizes>, kProtocolCount> kTreeCorrection = {
    {{.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9},
     {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1}}};

bool IsRing(const Algorithm& algorithm) { return algorithm.name == std::string_view("ring"); }
// What NCCL calls a tree.
bool IsTree(const Algorithm& algorithm) {
  return algorithm.name == std::string_view("double_binary_tree");
}

const Caps* CapsOf(GpuGeneration generation) {
  switch (generation) {
    case GpuGeneration::kOther:
      return nullptr;
    case GpuGeneration::kAmpere:
      return &kAmpere;
    case GpuGeneration::kHopper:
      return &kHopper;
    case GpuGeneration::kBlackwell:
      return &kBlackwell;
  }
  TL_CHECK(false, "unknown generation");
  return nullptr;
}

double LlCap(GpuGeneration generation, std::uint32_t nodes) {
  if (generation == GpuGeneration::kOther) return kNoCap;
  if (nodes > 1) return kLlBetween[nodes > 2 ? 1 : 0] * kGiga;
  return kGiga * (generation == GpuGeneration::kAmpere   ? 87.7
                  : generation == GpuGeneration::kHopper ? 141.0
                                                         : 282.0);
}

// Inside one node NCCL has more channels than ours, so that caps of each say nothing.
double ChannelsCap(const Caps* caps, std::array<double, 2> Caps::* kind, const CollectiveSpec& spec,
                   std::uint32_t nodes) {
  if (caps == nullptr || nodes < 2) return kNoCap;
  return (caps->*kind)[nodes > 2 ? 1 : 0] * kGiga * spec.channels;
}

double TreeCorrection(Protocol protocol, std::int64_t bytes) {
  const auto units = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes / 64, 1));
  const auto index = static_cast<std::size_t>(std::bit_width(units)) - 1;
  return index < kSizes ? kTreeCorrection[static_cast<std::size_t>(protocol)][index] : 1;
}

}  // namespace

double NcclRate(const Algorithm& algorithm, Protocol protocol, const CollectiveSpec& spec,
                const GroupShape& shape, GpuGeneration generation, double bus) {
  constexpr double kReached = 0.92;  // of the links, by ll128 and by trees
  const double flags = static_cast<double>(PayloadPer128(protocol)) / 128;
  const Caps* caps = CapsOf(generation);
  const std::uint32_t nodes = shape.nodes;
  if (IsRing(algorithm)) {
    switch (protocol) {
      case Protocol::kSimple:
        return bus;
      case Protocol::kLl:
        return std::min(flags * bus, LlCap(generation, nodes));
      case Protocol::kLl128:
        return std::min(kReached * bus, ChannelsCap(caps, &Caps::ring_ll128, spec, nodes));
    }
  }
  if (IsTree(algorithm) && spec.primitive == Primitive::kAllReduce) {
    const double tree = std::min(kReached * bus, ChannelsCap(caps, &Caps::tree, spec, nodes));
    const double correction = TreeCorrection(protocol, spec.bytes.count());
    switch (protocol) {
      case Protocol::kSimple:
        return correction * tree;
      case Protocol::kLl:
        return correction * std::min(tree / 3.8, LlCap(generation, nodes));
      case Protocol::kLl128:
        return correction * std::min(tree * (nodes > 1 ? flags : 7.0 / 9),
                                     ChannelsCap(caps, &Caps::tree_ll128, spec, nodes));
    }
  }
  return flags * bus;
}

double NcclLatencyFactor(const Algorithm& algorithm, Protocol protocol, const CollectiveSpec& spec,
                         const GroupShape& shape) {
  const bool plateau = IsRing(algorithm) && protocol == Protocol::kSimple &&
                       spec.primitive == Primitive::kAllReduce && shape.nodes > 1 &&
                       spec.bytes.count() / spec.channels / shape.ranks >= 64;
  return plateau ? 1.4 : 1;
}

}  // namespace trunkline
