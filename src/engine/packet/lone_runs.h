#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/packet/plant.h"
#include "fabric/network_paths.h"
#include "trunkline/base/progress.h"
#include "trunkline/engine/packet.h"
#include "trunkline/workload/traffic.h"

namespace trunkline {

// How long messages take that have the network to themselves, where no closed form tells: a
// kernel's window opens as acknowledgements come back, and what a pass at the receiver finds there
// hangs on when the passes before it ended. So they are sent, one after the other, over a network
// of their own that nothing befalls. Messages of one size over cables alike take the same.
class LoneRuns {
 public:
  // Nothing is longer than `limit`. REQUIRES: what is referred to outlives this.
  LoneRuns(const PacketInput& input, const NetworkPaths& paths, Time limit, const StopToken* stop);
  ~LoneRuns();

  // Of `flow`, which is number `index` and goes by `links`, from post to delivery; none: it would
  // take longer than the limit, or the run has been stopped.
  [[nodiscard]] std::optional<Time> TimeOf(const TrafficFlow& flow, std::uint32_t index,
                                           DeviceId source, DeviceId destination,
                                           std::span<const std::uint32_t> links);

 private:
  class Network;
  using Key = std::vector<std::int64_t>;
  [[nodiscard]] Key KeyOf(const TrafficFlow& flow, std::span<const std::uint32_t> links) const;

  const PacketInput& input_;
  const NetworkPaths& paths_;
  Time limit_;
  const StopToken* stop_;
  std::map<Key, std::optional<Time>> known_;
  std::unique_ptr<Network> network_;  // none: yet to be built
};

// Lane of a flow's class, and whether it is raw: what a queue pair needs to know of its flow.
void SetUpSender(Plant& plant, std::uint32_t queue_pair, const TrafficFlow& flow,
                 std::uint32_t index);

}  // namespace trunkline
