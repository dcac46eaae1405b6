#include "collective/registry.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace trunkline {
namespace {

// Larger buffers than any machine has, and small enough that sums of sizes cannot overflow.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
constexpr std::uint32_t kMostSlots = 4096;
constexpr std::int64_t kMostSlices = std::int64_t{1} << 20;

// The names of the algorithms that `keep` keeps.
std::vector<std::string> Names(const std::function<bool(const Algorithm&)>& keep) {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : Algorithms()) {
    if (keep(algorithm)) {
      names.emplace_back(algorithm.name);
    }
  }
  return names;
}

void Add(Diagnostics& problems, std::string code, std::string message, std::string hint) {
  problems.push_back({.severity = Severity::kError,
                      .code = std::move(code),
                      .where = {},
                      .message = std::move(message),
                      .hint = std::move(hint),
                      .excerpt = {}});
}

void CheckSizes(const CollectiveSpec& spec, Diagnostics& problems) {
  const std::int64_t bytes = spec.bytes.count();
  if (bytes < 0 || bytes > kMostBytes) {
    Add(problems, "TL1502", fmt::format("a collective of {} bytes cannot be run", bytes),
        "sizes are between 0 and 1 PiB");
  }
  if (spec.element_bytes == 0) {
    Add(problems, "TL1502", "an element of 0 bytes cannot be reduced or moved",
        "give the size of the data type, 2 for bf16");
  } else if (bytes % spec.element_bytes != 0) {
    Add(problems, "TL1502",
        fmt::format("{} bytes is not a whole number of {}-byte elements", bytes,
                    spec.element_bytes),
        fmt::format("use {} bytes", bytes / spec.element_bytes * spec.element_bytes));
  }
  if (spec.step.count() <= 0) {
    Add(problems, "TL1502", fmt::format("a step of {} bytes moves nothing", spec.step.count()),
        "leave it as it is, or give what the protocol moves at once");
  }
  if (spec.slice.count() < 0) {
    Add(problems, "TL1502", fmt::format("a slice of {} bytes is negative", spec.slice.count()),
        "0 takes what the protocol moves at once");
  } else if (spec.slice.count() > 0 && bytes / spec.slice.count() > kMostSlices) {
    Add(problems, "TL1502",
        fmt::format("slices of {} bytes cut {} bytes into more than {} parts", spec.slice.count(),
                    bytes, kMostSlices),
        fmt::format("use slices of {} bytes or more", bytes / kMostSlices + 1));
  }
  if (spec.slots > kMostSlots) {
    Add(problems, "TL1504", fmt::format("{} slots is out of range", spec.slots),
        fmt::format("use 1 to {}, or 0 for no limit", kMostSlots));
  }
}

void CheckMatrix(const CollectiveSpec& spec, std::uint32_t ranks, Diagnostics& problems) {
  if (spec.primitive != Primitive::kAllToAllV) {
    if (!spec.matrix.empty()) {
      Add(problems, "TL1505", fmt::format("{} takes no matrix of sizes", ToString(spec.primitive)),
          "only all_to_all_v does");
    }
    return;
  }
  const std::size_t wanted = std::size_t{ranks} * ranks;
  if (spec.matrix.size() != wanted) {
    Add(problems, "TL1505",
        fmt::format("the matrix of sizes has {} entries for {} ranks", spec.matrix.size(), ranks),
        fmt::format("give ranks x ranks = {} sizes, row by row", wanted));
    return;
  }
  std::int64_t left = kMostBytes;
  for (std::size_t i = 0; i < wanted; ++i) {
    if (spec.matrix[i] < 0 || spec.matrix[i] > left ||
        (spec.element_bytes > 0 && spec.matrix[i] % spec.element_bytes != 0)) {
      Add(problems, "TL1505",
          fmt::format("rank {} sends {} bytes to rank {}", i / ranks, spec.matrix[i], i % ranks),
          "sizes are whole elements, not negative, and add up to 1 PiB at most");
      return;
    }
    left -= spec.matrix[i];
  }
}

}  // namespace

Diagnostics CheckSpec(const CollectiveSpec& spec, const GroupLayout& layout) {
  Diagnostics problems;
  if (layout.size() == 0) {
    Add(problems, "TL1506", "the group of a collective has no ranks", "give at least one");
    return problems;
  }
  if (layout.local.size() != layout.node.size()) {
    Add(problems, "TL1506",
        fmt::format("the layout names {} nodes and {} local indices", layout.node.size(),
                    layout.local.size()),
        "give both for every rank");
    return problems;
  }
  CheckSizes(spec, problems);
  CheckMatrix(spec, layout.size(), problems);
  if (spec.root >= layout.size()) {
    Add(problems, "TL1503", fmt::format("root {} is not one of {} ranks", spec.root, layout.size()),
        fmt::format("use 0 to {}", layout.size() - 1));
  }
  return problems;
}

std::span<const Algorithm> Algorithms() {
  static const std::array kAlgorithms = {
      RingAlgorithm(),
      TreeAlgorithm(),
      DoubleBinaryTreeAlgorithm(),
      RecursiveDoublingAlgorithm(),
      RecursiveMultiplyingAlgorithm(),
      HalvingDoublingAlgorithm(),
      HierarchicalAlgorithm(),
      PairwiseAlgorithm(),
      DirectAlgorithm(),
      BruckAlgorithm(),
      SharpAlgorithm(),
  };
  return kAlgorithms;
}

const Algorithm* FindAlgorithm(std::string_view name) {
  for (const Algorithm& algorithm : Algorithms()) {
    if (algorithm.name == name) {
      return &algorithm;
    }
  }
  return nullptr;
}

Result<std::shared_ptr<const Schedule>> MakeSchedule(std::string_view algorithm,
                                                     const CollectiveSpec& spec,
                                                     const GroupLayout& layout) {
  const Algorithm* found = FindAlgorithm(algorithm);
  if (found == nullptr) {
    const auto known = Names([](const Algorithm&) { return true; });
    const std::string closest = ClosestMatch(algorithm, known);
    return Error("TL1500", fmt::format("no collective algorithm is called '{}'", algorithm),
                 closest.empty() ? fmt::format("known: {}", fmt::join(known, ", "))
                                 : fmt::format("did you mean '{}'?", closest));
  }
  if (!found->supports(spec.primitive)) {
    const auto able = Names([&](const Algorithm& each) { return each.supports(spec.primitive); });
    return Error("TL1501",
                 fmt::format("{} is not an algorithm for {}", algorithm, ToString(spec.primitive)),
                 fmt::format("use {}", fmt::join(able, ", ")));
  }
  Diagnostics problems = CheckSpec(spec, layout);
  if (spec.channels == 0 || spec.channels > found->most_channels) {
    Add(problems, "TL1504", fmt::format("{} cannot use {} channels", algorithm, spec.channels),
        fmt::format("use 1 to {}", found->most_channels));
  }
  if (!problems.empty()) {
    return std::unexpected(std::move(problems));
  }
  return found->make(spec, layout);
}

}  // namespace trunkline
