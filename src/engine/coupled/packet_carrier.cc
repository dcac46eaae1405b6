#include "engine/coupled/packet_carrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/packet/deadlock.h"
#include "engine/packet/fault_plan.h"
#include "engine/packet/held_up.h"
#include "engine/packet/network_report.h"
#include "trunkline/base/check.h"

namespace trunkline {
namespace {

// Events after which the caller may look around.
constexpr std::uint64_t kSlice = 4096;
// Simulated time between two looks for a deadlock where switches hold packets back.
constexpr Time kBetweenLooks = Time::Microseconds(1000);
// Parts of a message are cut at multiples of this.
constexpr std::int64_t kPartUnit = 128;

// The program that sends a message has been busy for its overhead already.
Plant WithoutOverhead(Plant plant) {
  plant.transport.message_overhead = Time();
  return plant;
}

}  // namespace

PacketCarrier::PacketCarrier(const PacketInput& input, std::vector<CableChange> faults,
                             std::vector<std::uint32_t> line_of, std::vector<Line> lines,
                             std::uint32_t ranks)
    : input_(input),
      paths_(input.router.fabric()),
      plant_(WithoutOverhead(BuildFaultyPlant(input, paths_, std::move(faults)))),
      shards_(plant_, input.router.fabric(), 1),
      line_of_(std::move(line_of)),
      lines_(std::move(lines)),
      queues_(lines_.size()),
      log_(ranks),
      next_look_(plant_.switches_model.loss_control == LossControl::kLossy ? Time::Max()
                                                                           : kBetweenLooks) {
  for (const Line& line : lines_) {
    for (const auto* buses : {&line.sending, &line.receiving}) {
      for (const LinkId bus : *buses) AddBus(plant_, input.router.fabric(), bus);
    }
  }
  shards_.Start({this});
  if (input.sampling) {
    static const TrafficWorkload kNoFlows;
    sampler_.emplace(plant_, kNoFlows, *input.sampling, input.samples);
    next_sample_ = Time();
  }
  // A queue pair takes the rate of its path as it finds it, so all come before any cable fails.
  for (std::uint32_t i = 0; plant_.faults != nullptr && i < lines_.size(); ++i) {
    Open(i);
    for (std::uint32_t part = 0; part < queue_pairs(); ++part) {
      if (auto done = SetUp(i, part); !done) problems_ = done.error();
    }
  }
  for (std::uint32_t i = 0; i < line_of_.size(); ++i) {
    if (line_of_[i] != kNotCarried) queues_[line_of_[i]].connection = i;
  }
}

void PacketCarrier::Send(std::uint32_t connection, Bytes bytes, Time begin) {
  TL_CHECK(begin >= shard().now(), "a message begins in the past", begin.ps(), shard().now().ps());
  const std::uint32_t line = line_of_[connection];
  std::uint32_t index = free_message_;
  if (index == kNone) {
    index = static_cast<std::uint32_t>(messages_.size());
    messages_.emplace_back();
  } else {
    free_message_ = messages_[index].next;
  }
  Message& message = messages_[index];
  message = {};
  const std::int64_t payload = lines_[line].payload_per_128;
  message.bytes = (bytes.count() * 128 + payload - 1) / payload;
  const std::int64_t unit = kPartUnit * queue_pairs();
  message.part_bytes = std::max<std::int64_t>(1, (message.bytes + unit - 1) / unit) * kPartUnit;
  message.unsent = static_cast<std::uint32_t>(
      std::max<std::int64_t>(1, (message.bytes + message.part_bytes - 1) / message.part_bytes));
  message.missing = static_cast<std::uint32_t>((std::uint64_t{1} << message.unsent) - 1);
  message.begin = begin;
  std::uint64_t surplus = 0;
  message.least =
      begin + std::min(FluidTime(bytes, lines_[line].bus_rate, surplus), Time::Horizon() - begin);
  Queue& queue = queues_[line];
  if (queue.oldest == kNone) {
    queue.oldest = index;
  } else {
    messages_[queue.newest].next = index;
  }
  queue.newest = index;
  shard().PostAt(line, begin);
}

void PacketCarrier::Open(std::uint32_t line) {
  std::uint32_t& first = queues_[line].first_pair;
  if (first != kNone) return;
  first = static_cast<std::uint32_t>(set_up_.size());
  open_.push_back(line);
  set_up_.resize(first + queue_pairs());
  ReserveQueuePairs(plant_, first + queue_pairs());
}

Result<void> PacketCarrier::SetUp(std::uint32_t index, std::uint32_t part) {
  const std::uint32_t queue_pair = queues_[index].first_pair + part;
  if (std::exchange(set_up_[queue_pair], 1) != 0) return {};
  const Line& line = lines_[index];
  // Paths do not depend on who is first.
  const auto links = SetUpQueuePair(plant_, input_.router, paths_, queue_pair, line.source,
                                    line.destination, FlowOf(line, part));
  if (!links) return std::unexpected(links.error());
  if (!plant_.buses.empty()) UseBuses(plant_, queue_pair, line.sending, line.receiving);
  return {};
}

Result<void> PacketCarrier::PostPart(std::uint32_t line, std::uint32_t part, std::int64_t bytes) {
  const Line& ends = lines_[line];
  Open(line);
  const std::uint32_t queue_pair = queues_[line].first_pair + part;
  if (auto done = SetUp(line, part); !done) return done;
  const std::int64_t packets = bytes / plant_.transport.mtu.count() + 1;
  if (packets >= INT64_C(0x7fffffff) - plant_.senders[queue_pair].end) {
    return Error(
        "TL1817",
        fmt::format("rank {} sends rank {} more packets than packet numbers can tell apart",
                    Index(ends.source_rank), Index(ends.destination_rank)),
        "a larger MTU, more queue pairs, smaller messages, or the flow engine");
  }
  shard().Post(queue_pair, bytes);
  return {};
}

void PacketCarrier::OnPost(std::uint32_t line, Time /*now*/) {
  const Message& message = messages_[queues_[line].newest];
  std::int64_t left = message.bytes;
  for (std::uint32_t part = 0; part < message.unsent; ++part) {
    if (auto posted = PostPart(line, part, std::min(left, message.part_bytes)); !posted) {
      problems_ = posted.error();
      return;
    }
    left -= message.part_bytes;
  }
}

void PacketCarrier::Tell(News::Kind kind, std::uint32_t line, Time time, Time begin) {
  news_.push_back({kind, queues_[line].connection, time, begin});
  shard().Stop();
}

void PacketCarrier::OnSent(std::uint32_t queue_pair, Time end) {
  const std::uint32_t line = line_of_pair(queue_pair);
  Message& message = messages_[queues_[line].newest];
  message.sent = std::max(message.sent, end);
  if (--message.unsent > 0) return;
  Tell(News::Kind::kSent, line, std::max(message.sent, message.least), message.begin);
}

void PacketCarrier::OnDelivered(std::uint32_t queue_pair, Time now) {
  const std::uint32_t line = line_of_pair(queue_pair);
  const std::uint32_t part = std::uint32_t{1} << queue_pair % queue_pairs();
  Queue& queue = queues_[line];
  std::uint32_t index = queue.oldest;
  while ((messages_[index].missing & part) == 0) index = messages_[index].next;
  messages_[index].missing ^= part;
  while (queue.oldest != kNone && messages_[queue.oldest].missing == 0) {
    Message& message = messages_[queue.oldest];
    Tell(News::Kind::kDelivered, line, std::max(now, message.least + lines_[line].flight),
         message.begin);
    if (lines_[line].awaited) {
      log_.Add({.source = lines_[line].source_rank,
                .destination = lines_[line].destination_rank,
                .line = line,
                .bytes = message.bytes,
                .begin = message.begin,
                .delivered = now});
    }
    const std::uint32_t next = queue.oldest == queue.newest ? kNone : message.next;
    message.next = std::exchange(free_message_, queue.oldest);
    queue.oldest = next;
  }
}

void PacketCarrier::OnError(std::uint32_t queue_pair, Time now) {
  const Line& line = lines_[line_of_pair(queue_pair)];
  stuck_.push_back(fmt::format(
      "messages from rank {} to rank {}: the queue pair failed at {}, after {} timeouts "
      "in a row{}",
      Index(line.source_rank), Index(line.destination_rank), Humanize(now),
      input_.transport.retry_limit + 1, WhatHoldsUp(input_.router.fabric(), plant_, queue_pair)));
}

// Samples that are due by the next event, before which nothing more can be sent than until `known`.
void PacketCarrier::Sample(Time known) {
  const Time next = shard().next_time();
  if (next == Time::Max() || std::min(next, known) < next_sample_) return;
  if (next_sample_ > Time() && sampler_->IsDue(next_sample_)) {
    shard().CatchUpTo(next_sample_);
    sampler_->Take(next_sample_);
  }
  next_sample_ = sampler_->Next(next);
}

std::string PacketCarrier::Progress() const {
  return fmt::format("at {}{}", Humanize(shards_.last_event()), rate_.Text(shards_.events()));
}

bool PacketCarrier::Run(Time limit) {
  if (!problems_.empty() || deadlocked_) return false;
  if (sampler_) Sample(limit);
  const Time next = shard().next_time();
  if (next >= std::min(limit, Time::Horizon())) {
    if (next != Time::Max() && limit > Time::Horizon()) {
      problems_ = Error("TL1602", "simulated time passes 100 days",
                        "look for a rate or a size that is off by orders of magnitude")
                      .error();
    }
    return false;
  }
  if (next >= next_look_) {
    if (FindDeadlock()) return false;
    next_look_ = kBetweenLooks * (next.ps() / kBetweenLooks.ps() + 1);
  }
  shard().Run(std::min({limit, next_look_, next_sample_, Time::Horizon()}), kSlice);
  return true;
}

bool PacketCarrier::FindDeadlock() {
  if (deadlocked_) return true;
  const Time at = std::min(next_look_, shards_.last_event() + Time::Picoseconds(1));
  const auto cycle = shards_.FindDeadlock(at);
  if (cycle.empty()) return false;
  stuck_.push_back(DescribeDeadlock(input_.router.fabric(), plant_, cycle));
  return deadlocked_ = true;
}

CriticalMessage PacketCarrier::Describe(const MessageLog::Entry& entry) const {
  CriticalMessage message{.source = entry.source,
                          .destination = entry.destination,
                          .begin = entry.begin,
                          .taken = entry.delivered - entry.begin,
                          .alone = {},
                          .queue = {}};
  const Line& line = lines_[entry.line];
  std::vector<std::uint32_t> links;
  if (const auto path = input_.router.FindPath(line.source, line.destination, FlowOf(line, 0))) {
    for (const LinkId link : *path) links.push_back(static_cast<std::uint32_t>(Index(link)));
    message.alone = LoneTime(plant_, links, Bytes(entry.bytes));
  }
  double longest = -1;
  for (const std::uint32_t link : LinksOf(plant_, queues_[entry.line].first_pair)) {
    const std::uint32_t bytes = plant_.max_queue_bytes[link];
    const double drain = bytes / plant_.details[link].wire.rate().bytes_per_second();
    if (drain <= longest) continue;
    longest = drain;
    message.queue = LinkId(link);
    message.max_queue_bytes = bytes;
  }
  return message;
}

PacketReport PacketCarrier::Report(RunStatus status, Time end) {
  // What happens until then beside messages: acknowledgements, mostly.
  shards_.Run(end, [] { return false; });
  PacketReport report;
  report.status = status;
  report.end = end;
  report.stuck = stuck_;
  if (sampler_) report.samples = sampler_->Finish(shards_.end());
  ReportNetwork(plant_, shards_, end, report);
  for (const MessageLog::Entry& entry : log_.Chain()) report.critical.push_back(Describe(entry));
  return report;
}

}  // namespace trunkline
