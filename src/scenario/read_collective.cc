#include <fmt/format.h>

#include <algorithm>

#include "base/plural.h"
#include "scenario/reader.h"
#include "trunkline/collective/algorithm.h"

namespace trunkline {
namespace {

struct ElementType {
  std::string name;
  std::uint32_t bytes = 0;
};

// nccl-tests' names and PyTorch's.
const Words<ElementType>& ElementTypes() {
  static const Words<ElementType> kTypes = {
      {"float", {"float", 4}},   {"fp32", {"float", 4}},        {"half", {"half", 2}},
      {"fp16", {"half", 2}},     {"bfloat16", {"bfloat16", 2}}, {"bf16", {"bfloat16", 2}},
      {"double", {"double", 8}}, {"int8", {"int8", 1}},         {"uint8", {"uint8", 1}},
      {"int32", {"int32", 4}},   {"uint32", {"uint32", 4}},     {"int64", {"int64", 8}},
      {"uint64", {"uint64", 8}}, {"fp8", {"f8e4m3", 1}},
  };
  return kTypes;
}

// False when it is not known which primitive runs.
bool ReadPrimitive(const YamlMap& map, CollectiveJob& job) {
  const auto value = map.Required("primitive");
  std::string text;
  if (!value || !value->Read(text)) return false;
  const auto primitive = ParsePrimitive(text);
  if (!primitive) {
    std::vector<std::string> known;
    for (int i = 0; i <= static_cast<int>(Primitive::kBarrier); ++i) {
      known.emplace_back(ToString(static_cast<Primitive>(i)));
    }
    const std::string match = ClosestMatch(text, known);
    value->Error("TL1109", fmt::format("'{}' is no collective", text),
                 match.empty() ? fmt::format("choose one of: {}", fmt::join(known, ", "))
                               : fmt::format("did you mean '{}'?", match));
    return false;
  }
  if (*primitive == Primitive::kAllToAllV) {
    value->Error("TL1202", "all_to_all_v needs a matrix of sizes, which scenarios do not hold yet",
                 "use all_to_all");
    return false;
  }
  job.primitive = *primitive;
  return true;
}

// One `size`, a list of `sizes`, or from … to by a factor. `known`: the primitive is.
void ReadSizes(const YamlMap& map, bool known, CollectiveJob& job) {
  constexpr std::size_t kMostSizes = 256;
  constexpr Bytes kLargest{std::int64_t{1} << 50};
  const Bytes least(job.element_bytes);
  const auto bounded = [&](const YamlValue& value) {
    Bytes size;
    if (!value.Read(size, Bytes(0))) return;
    if (size > kLargest) {
      value.Error("TL1108", fmt::format("{} is out of range", value.text()), "write at most 1 PiB");
      return;
    }
    if (size < least) {
      value.Error(
          "TL1108",
          fmt::format("{} is less than one {} of {}", ToString(size), job.dtype, ToString(least)),
          fmt::format("write at least {}", ToString(least)));
      return;
    }
    job.sizes.push_back(size);
  };
  const auto size = map.Find("size");
  const auto sizes = map.Find("sizes");
  const auto from = map.Find("from");
  const auto to = map.Find("to");
  const bool stepped = from || to || map.Has("factor");
  std::int64_t factor = 2;
  map.Read("factor", factor, IntRange{.min = 2, .max = 1024});
  const int given = int{size.has_value()} + int{sizes.has_value()} + int{stepped};
  if (job.primitive == Primitive::kBarrier) {
    if (given > 0) map.Error("TL1205", "a barrier moves no data", "remove its sizes");
    return;
  }
  if (given == 0 && !known) return;  // it may be a barrier
  if (given != 1 || (stepped && !(from && to))) {
    map.Error("TL1205", "the sizes to run are not given exactly once",
              "write one of `size: 1 GiB`, `sizes: [1 MiB, 1 GiB]` or `from: 8 B` with "
              "`to: 8 GiB` and `factor: 2`");
    return;
  }
  if (size) bounded(*size);
  if (sizes) {
    const auto elements = sizes->AsList();
    if (!elements) return;
    for (const YamlValue& element : *elements) bounded(element);
    if (elements->empty() || elements->size() > kMostSizes) {
      sizes->Error("TL1108", fmt::format("{} sizes", elements->size()),
                   fmt::format("write from 1 to {} sizes", kMostSizes));
    }
  }
  if (!stepped) return;
  bounded(*from);
  bounded(*to);
  if (job.sizes.size() < 2) return;
  const Bytes last = job.sizes.back();
  if (last < job.sizes.front()) {
    to->Error("TL1205",
              fmt::format("the last size, {}, is smaller than the first, {}", ToString(last),
                          ToString(job.sizes.front())),
              "exchange the two");
    return;
  }
  job.sizes.resize(1);
  while (job.sizes.back().count() <= last.count() / factor) {
    job.sizes.push_back(job.sizes.back() * factor);
  }
}

// `known`: the primitive is.
void ReadAlgorithm(const YamlMap& map, bool known, CollectiveJob& job) {
  const auto value = map.Find("algorithm");
  if (!value || !value->Read(job.algorithm) || job.algorithm == "auto" || !known) return;
  job.algorithm_origin = OriginOf(*value);
  std::vector<std::string> choices = {"auto"};
  for (const Algorithm& algorithm : Algorithms()) {
    if (algorithm.supports(job.primitive)) choices.emplace_back(algorithm.name);
  }
  const Algorithm* algorithm = FindAlgorithm(job.algorithm);
  if (algorithm != nullptr && algorithm->supports(job.primitive)) return;
  const std::string match = ClosestMatch(job.algorithm, choices);
  value->Error(
      "TL1109",
      fmt::format("{} does not do {}", algorithm ? job.algorithm : "'" + job.algorithm + "'",
                  ToString(job.primitive)),
      match.empty() ? fmt::format("choose one of: {}", fmt::join(choices, ", "))
                    : fmt::format("did you mean '{}'?", match));
}

// An algorithm that is named has a most of its own.
void CheckChannels(const YamlMap& map, const CollectiveJob& job) {
  const auto channels = map.Find("channels");
  const Algorithm* algorithm = FindAlgorithm(job.algorithm);
  if (!channels || algorithm == nullptr || job.channels <= algorithm->most_channels) return;
  channels->Error("TL1504", fmt::format("{} cannot use {} channels", job.algorithm, job.channels),
                  algorithm->most_channels == 1
                      ? std::string("leave the key out: there is one")
                      : fmt::format("use 1 to {}", algorithm->most_channels));
}

// To whole elements, as nccl-tests does.
void RoundSizes(CollectiveJob& job, std::vector<std::string>& assumptions) {
  std::string rounded;
  for (Bytes& size : job.sizes) {
    const Bytes whole(size.count() - size.count() % job.element_bytes);
    if (whole != size && rounded.empty()) {
      rounded = fmt::format("{} becomes {}", ToString(size), ToString(whole));
    }
    size = whole;
  }
  if (rounded.empty()) return;
  assumptions.push_back(fmt::format("sizes: rounded down to whole elements ({} of {}): {}",
                                    job.dtype, Plural(job.element_bytes, "byte"), rounded));
}

// What of a collective is left to NCCL.
void AssumeChoice(const CollectiveJob& job, std::vector<std::string>& assumptions) {
  const bool algorithm = job.algorithm == "auto";
  const bool protocol = !job.protocol;
  if (!algorithm && !protocol) return;
  const auto [left, remedy] =
      algorithm && protocol
          ? std::pair("algorithm and protocol", "`algorithm` and `protocol` name others")
      : algorithm ? std::pair("algorithm", "`algorithm` names another")
                  : std::pair("protocol", "`protocol` names another");
  assumptions.push_back(fmt::format(
      "{}: NCCL's choice at each size, which need not be the fastest here; {}", left, remedy));
}

}  // namespace

void ReadCollective(const YamlValue& value, std::int64_t endpoints, Scenario& scenario) {
  static const Words<std::optional<Protocol>> kProtocols = {{"auto", std::nullopt},
                                                            {"simple", Protocol::kSimple},
                                                            {"ll", Protocol::kLl},
                                                            {"ll128", Protocol::kLl128}};
  const auto map = value.AsMap();
  if (!map) return;
  CollectiveJob job;
  const bool known = ReadPrimitive(*map, job);
  ElementType type{"float", 4};
  map->Read("dtype", type, ElementTypes());
  job.dtype = type.name;
  job.element_bytes = type.bytes;
  ReadSizes(*map, known, job);
  ReadAlgorithm(*map, known, job);
  map->Read("protocol", job.protocol, kProtocols);
  AssumeChoice(job, scenario.assumptions);
  map->Read("channels", job.channels, IntRange{.min = 1, .max = 64});
  CheckChannels(*map, job);

  job.ranks = static_cast<std::uint32_t>(endpoints);
  if (const auto ranks = map->Find("ranks")) {
    if (ranks->Read(job.ranks, IntRange{.min = 1, .max = kMostRanks}) && endpoints > 0 &&
        job.ranks > endpoints) {
      ranks->Error("TL1206",
                   fmt::format("{} on {}", Plural(job.ranks, "rank"),
                               Plural(static_cast<std::uint64_t>(endpoints), "endpoint")),
                   "use more nodes or fewer ranks");
    }
  }
  const std::int64_t roots = job.ranks > 0 ? job.ranks : kMostRanks;  // 0: no cluster was built
  if (const auto root = map->Find("root")) {
    root->Read(job.root, IntRange{.min = 0, .max = roots - 1});
    if (known && !HasRoot(job.primitive)) {
      root->Error("TL1207", fmt::format("{} has no root", ToString(job.primitive)),
                  "remove the key; nothing would read it");
    }
  }
  RoundSizes(job, scenario.assumptions);
  if (job.primitive == Primitive::kBarrier) job.sizes = {Bytes(0)};
  scenario.workload = std::move(job);
}

}  // namespace trunkline
