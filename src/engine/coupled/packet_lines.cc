#include "engine/coupled/packet_lines.h"

#include <utility>

namespace trunkline {
namespace {

// The program that sends a message has been busy for its overhead already.
Plant WithoutOverhead(Plant plant) {
  plant.transport.message_overhead = Time();
  return plant;
}

}  // namespace

PacketLines::PacketLines(const PacketInput& input, std::vector<CableChange> faults,
                         std::vector<std::uint32_t> line_of, std::vector<Line> lines)
    : input_(input),
      paths_(input.router.fabric()),
      plant_(WithoutOverhead(BuildFaultyPlant(input, paths_, std::move(faults)))),
      line_of_(std::move(line_of)),
      lines_(std::move(lines)),
      sending_(lines_.size()),
      receiving_(lines_.size()) {
  for (const Line& line : lines_) {
    for (const auto* buses : {&line.sending, &line.receiving}) {
      for (const LinkId bus : *buses) AddBus(plant_, input.router.fabric(), bus);
    }
  }
  for (std::size_t i = 0; i < lines_.size(); ++i) receiving_[i].oldest = &sending_[i].first;
}

// All at once and in one order, however many shards there are: a queue pair takes the rate of its
// path as it finds it, and sockets take turns in being given cores.
Result<void> PacketLines::SetUp() {
  const auto count = static_cast<std::uint32_t>(lines_.size());
  ReserveQueuePairs(plant_, count * queue_pairs());
  for (std::uint32_t i = 0; i < count; ++i) {
    const Line& line = lines_[i];
    for (std::uint32_t part = 0; part < queue_pairs(); ++part) {
      const std::uint32_t queue_pair = i * queue_pairs() + part;
      const auto links = SetUpQueuePair(plant_, input_.router, paths_, queue_pair, line.source,
                                        line.destination, FlowOf(i, part));
      if (!links) return std::unexpected(links.error());
      if (!plant_.buses.empty()) UseBuses(plant_, queue_pair, line.sending, line.receiving);
    }
  }
  return {};
}

}  // namespace trunkline
