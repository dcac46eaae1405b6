// How long messages take that have the network to themselves.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/packet/packet_network.h"

namespace trunkline {
namespace {

// From the first bit of a message that leaves to its last one that arrives.
Time CrossingTime(const Plant& plant, std::span<const std::uint32_t> links, Bytes bytes) {
  const std::int64_t mtu = plant.transport.mtu.count();
  const std::int64_t packets = std::max<std::int64_t>(1, (bytes.count() + mtu - 1) / mtu);
  const auto overhead = static_cast<std::uint32_t>(plant.transport.packet_overhead.count());
  const auto full = static_cast<std::uint32_t>(mtu) + overhead;
  const auto last =
      std::max(1U, static_cast<std::uint32_t>(bytes.count() - (packets - 1) * mtu) + overhead);
  Time first;    // the first packet may begin on the link
  Time before;   // the last but one is in, on the link before
  Time arrived;  // so is the last one
  Rate slowest;  // of the links so far
  for (std::size_t i = 0; i < links.size(); ++i) {
    const WireClock& wire = plant.details[links[i]].wire;
    const Time frame = Time::Picoseconds(wire.Duration(full));
    const Time tail = Time::Picoseconds(wire.Duration(last));
    Time end = arrived + tail;
    if (packets > 1 && (i == 0 || wire.rate() <= slowest)) {
      // Frames follow each other without a gap: their bytes are rounded up once (WireClock).
      slowest = wire.rate();
      const Bytes ahead = Bytes(full) * (packets - 1);
      before = first + TransferTime(ahead, slowest);
      end = std::max(end, first + TransferTime(ahead + Bytes(last), slowest));
    } else if (packets > 1) {
      end = std::max(end, before + TransferTime(Bytes(full + last), wire.rate()));
      before += frame;
    }
    // The next link may begin when a packet is in or, where it is not faster, its headers are.
    const bool cut = plant.switches_model.cut_through && i + 1 < links.size() &&
                     plant.details[links[i + 1]].wire.rate() <= wire.rate();
    const Time headers = Time::Picoseconds(wire.Duration(std::max(1U, overhead)));
    const Time delay = Time::Picoseconds(plant.cables[links[i]].delay);
    first += (cut ? headers : frame) + delay;
    before += (cut ? headers - frame : Time()) + delay;
    arrived = end + (cut ? headers - tail : Time()) + delay;
  }
  return arrived;
}

// The longest of three pipelines: the one whose sender, whose network or whose receiver never
// waits for another. The sender's begins with the overhead of the message.
Time LoneTimeOf(const SocketModel& sockets, const Plant& plant,
                std::span<const std::uint32_t> links, Bytes bytes) {
  const std::int64_t mtu = plant.transport.mtu.count();
  const std::int64_t unit = UnitOf(sockets, plant.transport.mtu).count();
  const std::int64_t size = bytes.count();
  const std::int64_t passes = std::max<std::int64_t>(1, (size + unit - 1) / unit);
  const Bytes first(std::min(size, unit));
  const Bytes last_unit(size - (passes - 1) * unit);
  const Bytes last_packet(size == 0 ? 0 : (size - 1) % mtu + 1);
  const auto in_passes = [&](const SocketCost& cost) {
    return cost.unit * passes + TransferTime(bytes, cost.copy);
  };
  const Time overhead = plant.transport.message_overhead;
  const Time begun = overhead + sockets.send.Of(first);
  const Time taken = sockets.receive.Of(last_packet);
  return std::max(
      {overhead + in_passes(sockets.send) + CrossingTime(plant, links, last_unit) + taken,
       begun + CrossingTime(plant, links, bytes) + taken,
       begun + CrossingTime(plant, links, Bytes(std::min(size, mtu))) +
           in_passes(sockets.receive)});
}

}  // namespace

Time LoneTime(const Plant& plant, std::span<const std::uint32_t> links, Bytes bytes) {
  const auto& sockets = plant.transport.sockets;
  return sockets ? LoneTimeOf(*sockets, plant, links, bytes)
                 : plant.transport.message_overhead + CrossingTime(plant, links, bytes);
}

Time RequestTime(const Plant& plant, std::span<const std::uint32_t> links) {
  const auto bytes = static_cast<std::uint32_t>(plant.transport.ack_bytes.count());
  Time time;
  for (const std::uint32_t link : links) {
    const std::uint32_t back = link ^ 1U;
    time += Time::Picoseconds(plant.details[back].wire.Duration(bytes) + plant.cables[back].delay);
  }
  return time;
}

}  // namespace trunkline
