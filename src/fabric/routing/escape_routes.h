#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/network_paths.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {

// A way to every end by which packets of adaptive routing leave a jam, on virtual channels of its
// own. Nobody waits for an adaptive channel: a packet takes one only where there is room for it,
// and else waits for its escape channel. If these wait for each other in no circle, some packet
// always moves on (Duato: A Necessary and Sufficient Condition for Deadlock-Free Routing in
// Cut-Through and Store-and-Forward Networks, IEEE TPDS 7(8), 1996).
//
// On a torus without gaps, dimension by dimension on two channels with a dateline: shortest ways,
// so packets may come back to adaptive channels. Elsewhere up and down on one, and for good, since
// these ways may lead away from the end. Safe for concurrent readers.
class EscapeRoutes {
 public:
  explicit EscapeRoutes(const Fabric& fabric);

  [[nodiscard]] bool is_minimal() const { return by_dimension_; }
  [[nodiscard]] const NetworkPaths& paths() const { return paths_; }
  // The link by which the switch `at` sends packets to `dst`, an attached NIC or host on another
  // switch; nothing where no way leads there.
  [[nodiscard]] std::optional<LinkId> Next(DeviceId at, DeviceId dst) const;
  // The channel of `link` for a packet that came by `before` and its `channel`, if it came by an
  // escape channel.
  [[nodiscard]] std::uint8_t ChannelBehind(std::optional<LinkId> before, std::uint8_t channel,
                                           LinkId link) const;

 private:
  const Fabric& fabric_;
  bool by_dimension_;
  NetworkPaths paths_;
};

// Escape channels of a fabric: 2 on a torus, 1 elsewhere.
[[nodiscard]] std::uint32_t EscapeChannels(const Fabric& fabric);

}  // namespace trunkline
