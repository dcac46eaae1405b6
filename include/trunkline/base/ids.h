#pragma once

#include <cstddef>
#include <cstdint>

// Dense ids that cannot be mixed: per-thing data lives in vectors indexed by Index(id).
namespace trunkline {

enum class DeviceId : std::uint32_t {};
enum class LinkId : std::uint32_t {};
// What a flow takes capacity from: every link is a resource, and so is every trunk (a set of
// parallel links over which a routing policy balances perfectly).
enum class ResourceId : std::uint32_t {};
enum class RankId : std::uint32_t {};
enum class CommunicatorId : std::uint32_t {};

template <typename Id>
[[nodiscard]] constexpr std::size_t Index(Id id) {
  return static_cast<std::size_t>(id);
}

}  // namespace trunkline
