#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/network_paths.h"
#include "fabric/routing/torus_order.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {

// The escape ways of adaptive routing (EscapeRoutes), one look-up a hop.
class EscapeTable {
 public:
  // `paths` numbers the destinations; `original` has the names of the fabric's links in the table,
  // empty: their own.
  EscapeTable(const Fabric& fabric, const NetworkPaths& paths,
              std::span<const std::uint32_t> switch_of_device,
              std::span<const LinkId> original = {});

  [[nodiscard]] bool is_minimal() const { return is_minimal_; }
  // From `at`, a switch's index, towards a destination; kNoIndex at its switches, and where nothing
  // leads there.
  [[nodiscard]] std::uint32_t Link(std::uint32_t at, std::uint32_t destination) const {
    return links_[std::size_t{at} * destinations_ + destination];
  }
  // The channel, counted from the first of the escape, of `link` for a packet that came by `before`
  // and its `channel`, an escape channel.
  [[nodiscard]] std::uint8_t ChannelBehind(std::uint32_t before, std::uint8_t channel,
                                           std::uint32_t link) const {
    return is_minimal_ ? TorusChannelBehind(steps_[before], channel, steps_[link]) : 0;
  }

 private:
  bool is_minimal_;
  std::uint32_t destinations_;
  std::vector<std::uint32_t> links_;
  std::vector<TorusStep> steps_;  // by link
};

}  // namespace trunkline
