#include "collective/execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trunkline/base/check.h"

namespace trunkline {
namespace {

constexpr int kBlockedShown = 8;

const char* Name(Buffer buffer) {
  switch (buffer) {
    case Buffer::kInput:
      return "input";
    case Buffer::kOutput:
      return "output";
    case Buffer::kScratch:
      return "scratch";
  }
  return "unknown buffer";
}

std::string Describe(const OpPlace& place) {
  return fmt::format("op {} of participant {}, channel {}", place.index, place.participant,
                     place.channel);
}

std::string Describe(const BufferSpan& span) {
  return fmt::format("{} bytes at {} of its {}", span.size, span.offset, Name(span.buffer));
}

}  // namespace

Execution::Execution(const Schedule& schedule, std::int64_t element_bytes, Order order,
                     const std::function<Element(std::uint32_t, std::int64_t)>& input)
    : schedule_(schedule), element_bytes_(element_bytes), order_(order) {
  const auto elements = [&](std::int64_t bytes) {
    return static_cast<std::size_t>((bytes + element_bytes - 1) / element_bytes);
  };
  const std::size_t thread_count = std::size_t{schedule.participants()} * schedule.channels();
  memory_.resize(std::size_t{schedule.participants()} * 3);
  for (Participant p = 0; p < schedule.participants(); ++p) {
    const bool is_rank = p < schedule.ranks();
    const std::size_t sizes[] = {is_rank ? elements(schedule.input_bytes(p)) : 0,
                                 is_rank ? elements(schedule.output_bytes(p)) : 0,
                                 elements(schedule.scratch_bytes(p))};
    for (const Buffer buffer : {Buffer::kInput, Buffer::kOutput, Buffer::kScratch}) {
      const std::size_t size = sizes[static_cast<std::size_t>(buffer)];
      memory(p, buffer) = {.values = std::vector<Element>(size),
                           .shadow = std::vector<RaceDetector::Element>(size),
                           .written = std::vector<bool>(size, buffer == Buffer::kInput)};
    }
    for (std::size_t i = 0; i < sizes[0]; ++i) {
      memory(p, Buffer::kInput).values[i] = input(p, static_cast<std::int64_t>(i));
    }
    for (std::uint32_t channel = 0; channel < schedule.channels(); ++channel) {
      threads_.push_back({.participant = p,
                          .channel = channel,
                          .count = schedule.op_count(p, channel),
                          .clock = VectorClock(thread_count, 0)});
    }
  }
}

Diagnostics Execution::Run(const PutVisitor& on_put) {
  on_put_ = on_put;
  bool progressed = true;
  while (progressed && problems_.empty()) {
    progressed = false;
    for (std::size_t i = 0; i < threads_.size() && problems_.empty(); ++i) {
      const std::size_t at = order_ == Order::kEarly ? i : threads_.size() - 1 - i;
      progressed = RunThread(threads_[at]) || progressed;
    }
  }
  if (problems_.empty()) {
    ReportDeadlock();
  }
  if (problems_.empty()) {
    ReportUnmatched();
  }
  return std::move(problems_);
}

// True if any op was executed.
bool Execution::RunThread(Thread& thread) {
  bool progressed = false;
  while (thread.next < thread.count) {
    Op op;
    schedule_.ops(thread.participant, thread.channel, thread.next, std::span(&op, 1));
    const std::uint32_t id = ThreadId(thread);
    ++thread.clock[id];
    if (Execute(thread, op) != Progress::kDone) {
      --thread.clock[id];
      return progressed;
    }
    ++thread.next;
    progressed = true;
    if (order_ == Order::kLate) {
      return true;
    }
  }
  return progressed;
}

Execution::Progress Execution::Execute(Thread& thread, const Op& op) {
  if (op.peer >= schedule_.participants()) {
    Fail("TL1515", fmt::format("{} names participant {}, of {}", Describe(Place(thread)), op.peer,
                               schedule_.participants()));
    return Progress::kFailed;
  }
  switch (op.kind) {
    case OpKind::kWait:
      return ExecuteWait(thread, op);
    case OpKind::kPut:
    case OpKind::kSignal:
      return ExecutePut(thread, op);
    case OpKind::kReduce:
    case OpKind::kCopy:
      return ExecuteLocal(thread, op);
    case OpKind::kMulticastStore:
    case OpKind::kLoadReduce:
      break;
  }
  Fail("TL1515", fmt::format("{} is a multicast, which only a fabric with multicast can execute",
                             Describe(Place(thread))));
  return Progress::kFailed;
}

Execution::Progress Execution::ExecuteWait(Thread& thread, const Op& op) {
  Fifo& queue = fifo(op.peer, thread.participant, thread.channel);
  if (queue.arrived.empty()) {
    return Progress::kBlocked;
  }
  const Message message = std::move(queue.arrived.front());
  queue.arrived.pop_front();
  Join(thread.clock, message.clock);
  races_.End(message.access, ThreadId(thread), thread.clock[ThreadId(thread)]);
  thread.steps = std::max(thread.steps, message.steps);
  steps_ = std::max(steps_, thread.steps);
  ++queue.consumed_count;
  if (const std::uint32_t slots = schedule_.channel_shape(thread.channel).slots; slots > 0) {
    queue.consumed.push_back(thread.clock);
    if (queue.consumed.size() > slots) {
      queue.consumed.pop_front();
    }
  }
  if (order_ == Order::kLate && !MoveData(message.place, thread.participant, message.op)) {
    return Progress::kFailed;
  }
  return Progress::kDone;
}

Execution::Progress Execution::ExecutePut(Thread& thread, const Op& op) {
  const bool to_itself = op.peer == thread.participant;
  const std::uint32_t channel = to_itself ? op.channel : thread.channel;
  if (channel >= schedule_.channels() || (to_itself && op.kind == OpKind::kPut)) {
    Fail("TL1515", fmt::format("{} puts to itself or names channel {}, of {}",
                               Describe(Place(thread)), channel, schedule_.channels()));
    return Progress::kFailed;
  }
  Fifo& queue = fifo(thread.participant, op.peer, channel);
  const std::uint32_t slots = to_itself ? 0 : schedule_.channel_shape(channel).slots;
  if (slots > 0 && queue.issued_count - queue.consumed_count >= slots) {
    return Progress::kBlocked;
  }
  if (slots > 0 && queue.issued_count >= slots) {
    // What frees the slot is the wait for the put `slots` before this one; it is the oldest kept if
    // everything issued has been consumed.
    const std::uint64_t oldest = queue.consumed_count - queue.consumed.size();
    Join(thread.clock, queue.consumed[queue.issued_count - slots - oldest]);
  }
  const auto access = races_.Begin(Place(thread));
  if (op.kind == OpKind::kPut) {
    if (op.source.size != op.target.size) {
      Fail("TL1511", fmt::format("{} puts {} into {}", Describe(Place(thread)), Describe(op.source),
                                 Describe(op.target)));
      return Progress::kFailed;
    }
    if (!Note(Access::kRead, thread, access, thread.participant, op.source) ||
        !Note(Access::kWrite, thread, access, op.peer, op.target)) {
      return Progress::kFailed;
    }
    if (order_ == Order::kEarly && !MoveData(Place(thread), op.peer, op)) {
      return Progress::kFailed;
    }
  }
  ++queue.issued_count;
  queue.arrived.push_back({.op = op,
                           .place = Place(thread),
                           .access = access,
                           .steps = thread.steps + (to_itself ? 0 : 1),
                           .clock = thread.clock});
  if (on_put_ && !to_itself) {
    on_put_(thread.participant, op.peer, op.source.size);
  }
  return Progress::kDone;
}

Execution::Progress Execution::ExecuteLocal(Thread& thread, const Op& op) {
  const OpPlace place = Place(thread);
  if (op.source.size != op.target.size) {
    Fail("TL1511", fmt::format("{} combines {} and {}", Describe(place), Describe(op.source),
                               Describe(op.target)));
    return Progress::kFailed;
  }
  const auto access = races_.Begin(place);
  const bool reduces = op.kind == OpKind::kReduce;
  if (!Note(Access::kRead, thread, access, thread.participant, op.source) ||
      (reduces && !Note(Access::kRead, thread, access, thread.participant, op.target)) ||
      !Note(Access::kWrite, thread, access, thread.participant, op.target) ||
      !CheckWritten(place, thread.participant, op.source) ||
      (reduces && !CheckWritten(place, thread.participant, op.target))) {
    return Progress::kFailed;
  }
  races_.End(access, ThreadId(thread), thread.clock[ThreadId(thread)]);
  if (!reduces) {
    return MoveData(place, thread.participant, op) ? Progress::kDone : Progress::kFailed;
  }
  const auto source = Values(thread.participant, op.source);
  const auto target = Values(thread.participant, op.target);
  for (std::size_t i = 0; i < target.size(); ++i) {
    target[i] += source[i];
  }
  return Progress::kDone;
}

bool Execution::CheckSpan(const OpPlace& place, Participant owner, const BufferSpan& span) {
  const auto held = static_cast<std::int64_t>(memory(owner, span.buffer).values.size());
  if (span.size >= 0 && span.offset >= 0 && span.size % element_bytes_ == 0 &&
      (span.offset % element_bytes_ == 0 || span.size == 0) && span.size <= held * element_bytes_ &&
      span.offset <= held * element_bytes_ - span.size) {
    return true;
  }
  Fail("TL1511", fmt::format("{} touches {}: participant {} has {} elements of {} bytes there",
                             Describe(place), Describe(span), owner, held, element_bytes_));
  return false;
}

bool Execution::Note(Access access_kind, const Thread& thread, RaceDetector::AccessId access,
                     Participant owner, const BufferSpan& span) {
  const OpPlace place = Place(thread);
  if (!CheckSpan(place, owner, span)) {
    return false;
  }
  const bool writes = access_kind == Access::kWrite;
  if (writes && span.buffer == Buffer::kInput) {
    Fail("TL1515", fmt::format("{} writes to an input", Describe(place)));
    return false;
  }
  if (order_ == Order::kLate || span.size == 0) {
    return true;
  }
  const auto shadow = std::span(memory(owner, span.buffer).shadow)
                          .subspan(static_cast<std::size_t>(span.offset / element_bytes_),
                                   static_cast<std::size_t>(span.size / element_bytes_));
  const auto other = writes ? races_.Write(shadow, access, thread.clock)
                            : races_.Read(shadow, access, thread.clock);
  if (other) {
    Fail("TL1513", fmt::format("{} {} {} of participant {}, which {} may still be {}",
                               Describe(place), writes ? "writes" : "reads", Describe(span), owner,
                               Describe(*other), writes ? "reading or writing" : "writing"));
    return false;
  }
  return true;
}

std::span<Execution::Element> Execution::Values(Participant owner, const BufferSpan& span) {
  if (span.size == 0) {
    return {};
  }
  return std::span(memory(owner, span.buffer).values)
      .subspan(static_cast<std::size_t>(span.offset / element_bytes_),
               static_cast<std::size_t>(span.size / element_bytes_));
}

bool Execution::CheckWritten(const OpPlace& place, Participant owner, const BufferSpan& span) {
  const auto& written = memory(owner, span.buffer).written;
  for (std::int64_t at = span.offset; at < span.offset + span.size; at += element_bytes_) {
    if (!written[static_cast<std::size_t>(at / element_bytes_)]) {
      Fail("TL1516", fmt::format("{} reads {} of participant {} before anything wrote it",
                                 Describe(place), Describe(span), owner));
      return false;
    }
  }
  return true;
}

bool Execution::MoveData(const OpPlace& place, Participant destination, const Op& op) {
  if (!CheckWritten(place, place.participant, op.source)) {
    return false;
  }
  std::ranges::copy(Values(place.participant, op.source), Values(destination, op.target).begin());
  auto& written = memory(destination, op.target.buffer).written;
  for (std::int64_t at = 0; at < op.target.size; at += element_bytes_) {
    written[static_cast<std::size_t>((op.target.offset + at) / element_bytes_)] = true;
  }
  return true;
}

Execution::Fifo& Execution::fifo(Participant source, Participant destination,
                                 std::uint32_t channel) {
  const std::uint64_t participants = schedule_.participants();
  return fifos_[(channel * participants + source) * participants + destination];
}

bool Execution::KnowsOfEveryRank(std::uint32_t rank) const {
  const std::size_t channels = schedule_.channels();
  for (std::uint32_t other = 0; other < schedule_.ranks(); ++other) {
    bool known = other == rank;
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t d = 0; d < channels; ++d) {
        known = known || threads_[rank * channels + c].clock[other * channels + d] > 0;
      }
    }
    if (!known) {
      return false;
    }
  }
  return true;
}

void Execution::Fail(std::string code, std::string message) {
  problems_.push_back({.severity = Severity::kError,
                       .code = std::move(code),
                       .where = {},
                       .message = std::move(message),
                       .hint = {},
                       .excerpt = {}});
}

void Execution::ReportDeadlock() {
  int blocked = 0;
  for (const Thread& thread : threads_) {
    if (thread.next == thread.count || ++blocked > kBlockedShown) {
      continue;
    }
    Op op;
    schedule_.ops(thread.participant, thread.channel, thread.next, std::span(&op, 1));
    Fail("TL1510", op.kind == OpKind::kWait
                       ? fmt::format("deadlock: {} waits for a signal from participant {}",
                                     Describe(Place(thread)), op.peer)
                       : fmt::format("deadlock: {} waits for a slot towards participant {}",
                                     Describe(Place(thread)), op.peer));
  }
  if (blocked > kBlockedShown) {
    Fail("TL1510", fmt::format("deadlock: {} programs more are blocked", blocked - kBlockedShown));
  }
}

void Execution::ReportUnmatched() {
  for (const auto& [key, queue] : fifos_) {
    if (!queue.arrived.empty()) {
      Fail("TL1512", fmt::format("nothing waits for {} signals, the first from {}",
                                 queue.arrived.size(), Describe(queue.arrived.front().place)));
      return;
    }
  }
}

}  // namespace trunkline
