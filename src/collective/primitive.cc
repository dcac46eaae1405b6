#include "trunkline/collective/primitive.h"

#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "trunkline/base/check.h"

namespace trunkline {
namespace {

constexpr std::array<std::pair<Primitive, const char*>, 11> kNames = {{
    {Primitive::kAllReduce, "all_reduce"},
    {Primitive::kReduceScatter, "reduce_scatter"},
    {Primitive::kAllGather, "all_gather"},
    {Primitive::kAllToAll, "all_to_all"},
    {Primitive::kAllToAllV, "all_to_all_v"},
    {Primitive::kBroadcast, "broadcast"},
    {Primitive::kReduce, "reduce"},
    {Primitive::kGather, "gather"},
    {Primitive::kScatter, "scatter"},
    {Primitive::kSendRecv, "send_recv"},
    {Primitive::kBarrier, "barrier"},
}};

// "All-Reduce" and "all_reduce" both become "allreduce".
std::string Squeeze(std::string_view text) {
  std::string squeezed;
  for (const char c : text) {
    if (c != '_' && c != '-') {
      squeezed += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return squeezed;
}

}  // namespace

const char* ToString(Primitive primitive) {
  for (const auto& [value, name] : kNames) {
    if (value == primitive) {
      return name;
    }
  }
  TL_CHECK(false, "unknown primitive", static_cast<int>(primitive));
  return "";
}

std::optional<Primitive> ParsePrimitive(std::string_view text) {
  const std::string wanted = Squeeze(text);
  for (const auto& [value, name] : kNames) {
    if (Squeeze(name) == wanted) {
      return value;
    }
  }
  return std::nullopt;
}

bool NeedsEveryMember(Primitive primitive) {
  switch (primitive) {
    case Primitive::kAllReduce:
    case Primitive::kReduceScatter:
    case Primitive::kAllGather:
    case Primitive::kAllToAll:
    case Primitive::kAllToAllV:
    case Primitive::kBarrier:
      return true;
    case Primitive::kBroadcast:
    case Primitive::kReduce:
    case Primitive::kGather:
    case Primitive::kScatter:
    case Primitive::kSendRecv:
      return false;
  }
  TL_CHECK(false, "unknown primitive", static_cast<int>(primitive));
  return false;
}

bool HasRoot(Primitive primitive) {
  return primitive == Primitive::kBroadcast || primitive == Primitive::kReduce ||
         primitive == Primitive::kGather || primitive == Primitive::kScatter;
}

double BusBandwidthFactor(Primitive primitive, std::int64_t ranks) {
  TL_CHECK(ranks > 0, "a collective needs ranks");
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  switch (primitive) {
    case Primitive::kAllReduce:
      return 2 * others;
    case Primitive::kReduceScatter:
    case Primitive::kAllGather:
    case Primitive::kAllToAll:
    case Primitive::kAllToAllV:
    case Primitive::kGather:
    case Primitive::kScatter:
      return others;
    case Primitive::kBroadcast:
    case Primitive::kReduce:
    case Primitive::kSendRecv:
    case Primitive::kBarrier:
      return 1;
  }
  TL_CHECK(false, "unknown primitive", static_cast<int>(primitive));
  return 1;
}

}  // namespace trunkline
