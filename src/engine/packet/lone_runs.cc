#include "engine/packet/lone_runs.h"

#include <utility>

#include "engine/packet/packet_application.h"
#include "engine/packet/packet_network.h"
#include "engine/packet/shard_set.h"

namespace trunkline {

// One message at a time: the next when nothing is left of the one before.
class LoneRuns::Network : public PacketApplication {
 public:
  Network(const PacketInput& input, const NetworkPaths& paths)
      : input_(input),
        paths_(paths),
        plant_(BuildPlant(input.router, paths, input.switches, input.transport)),
        shards_(plant_, input.router.fabric(), 1) {
    shards_.Start({this});
  }

  // As LoneRuns::TimeOf. None: it is still under way.
  std::optional<Time> Take(const TrafficFlow& flow, std::uint32_t index, DeviceId source,
                           DeviceId destination, Time limit, const StopToken* stop) {
    const std::uint32_t queue_pair = queue_pairs_++;
    ReserveQueuePairs(plant_, queue_pairs_);
    if (!SetUpQueuePair(plant_, input_.router, paths_, queue_pair, source, destination, index)) {
      return std::nullopt;
    }
    SetUpSender(plant_, queue_pair, flow, index);
    bytes_ = flow.bytes;
    delivered_.reset();
    const auto& shard = shards_.shard(0);
    begun_ = std::max(shards_.last_event(), shard.now()) + Time::Microseconds(1);
    shards_.shard(0).PostAt(queue_pair, begun_);
    const Time until = limit < Time::Horizon() - begun_ ? begun_ + limit : Time::Horizon();
    shards_.Run(until, [stop] { return stop != nullptr && stop->stop_requested(); });
    if (shards_.next_time() != Time::Max()) return std::nullopt;
    return delivered_;
  }

  void OnPost(std::uint32_t queue_pair, Time /*now*/) override {
    shards_.shard(0).Post(queue_pair, bytes_.count());
  }
  void OnDelivered(std::uint32_t /*queue_pair*/, Time now) override { delivered_ = now - begun_; }
  void OnAcknowledged(std::uint32_t /*queue_pair*/, Time /*now*/) override {}
  void OnSent(std::uint32_t /*queue_pair*/, Time /*end*/) override {}

 private:
  const PacketInput& input_;
  const NetworkPaths& paths_;
  Plant plant_;
  ShardSet shards_;
  std::uint32_t queue_pairs_ = 0;
  Bytes bytes_;
  Time begun_;
  std::optional<Time> delivered_;
};

LoneRuns::LoneRuns(const PacketInput& input, const NetworkPaths& paths, Time limit,
                   const StopToken* stop)
    : input_(input), paths_(paths), limit_(limit), stop_(stop) {}

LoneRuns::~LoneRuns() = default;

// Of a switch what its ports are, by which its buffer is divided.
LoneRuns::Key LoneRuns::KeyOf(const TrafficFlow& flow, std::span<const std::uint32_t> links) const {
  const Fabric& fabric = input_.router.fabric();
  Key key = {flow.bytes.count(), flow.traffic_class, flow.raw ? 1 : 0};
  for (const std::uint32_t index : links) {
    const Link& link = fabric.link(LinkId(index));
    std::int64_t bits = 0;
    for (const LinkId port : fabric.out(link.from))
      bits += fabric.link(port).rate.bits_per_second();
    key.insert(key.end(), {link.rate.bits_per_second(), link.latency.ps(), bits,
                           static_cast<std::int64_t>(fabric.out(link.from).size())});
  }
  return key;
}

// Packets that choose their ways choose them by the flow.
std::optional<Time> LoneRuns::TimeOf(const TrafficFlow& flow, std::uint32_t index, DeviceId source,
                                     DeviceId destination, std::span<const std::uint32_t> links) {
  Key key = KeyOf(flow, links);
  if (PathChoiceOf(input_.router.options().policy) != PathChoice::kFlow) key.push_back(index);
  const auto [entry, is_new] = known_.try_emplace(std::move(key));
  if (!is_new) return entry->second;
  if (!network_) network_ = std::make_unique<Network>(input_, paths_);
  entry->second = network_->Take(flow, index, source, destination, limit_, stop_);
  if (!entry->second) network_.reset();  // it is not idle
  return entry->second;
}

void SetUpSender(Plant& plant, std::uint32_t queue_pair, const TrafficFlow& flow,
                 std::uint32_t index) {
  Sender& sender = plant.senders[queue_pair];
  sender.number = index;
  const auto& lanes = plant.switches_model.lane_of_class;
  sender.traffic_class = lanes.empty() ? flow.traffic_class : lanes[flow.traffic_class];
  sender.raw = flow.raw;
}

}  // namespace trunkline
