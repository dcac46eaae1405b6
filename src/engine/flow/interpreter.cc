#include "engine/flow/interpreter.h"

#include <algorithm>

#include "engine/flow/interpreter_inline.h"
#include "trunkline/base/check.h"

namespace trunkline {

Interpreter::Interpreter(const TransferModel& model)
    : model_(model),
      rendezvous_(model.handshake == Handshake::kRendezvous),
      states_(model.connections.size()),
      traffic_(model.connections.size()),
      course_{FlowNetwork(model.capacities), {}, {}} {}

std::uint32_t Interpreter::AddPrograms(std::uint32_t count) {
  const auto first = static_cast<std::uint32_t>(programs_.size());
  programs_.resize(programs_.size() + count);
  return first;
}

// --- Programs -----------------------------------------------------------------------------------

void Interpreter::Begin(std::uint32_t id, Time time) {
  Program& program = programs_[id];
  program.time = time;
  program.last_sent = time;
  program.received_sent = time;
  program.next_op = 0;
  program.op_count = 0;
  program.read = 0;
  program.slots = 0;
  program.meets = false;
  program.shared = nullptr;
  program.rotated = nullptr;
  program.cursor = 0;
  program.size = 0;
  program.wait = Wait::kNothing;
}

void Interpreter::Start(std::uint32_t id, const ChannelProgram& channel, Time time) {
  Begin(id, time);
  Program& program = programs_[id];
  program.channel = channel;
  program.op_count = channel.schedule->op_count(channel.position, channel.channel);
  program.slots = channel.schedule->channel_shape(channel.channel).slots;
  program.last_destination = {};
  program.last_source = {};
  Share(program);
  Wake(id);
}

void Interpreter::StartSend(std::uint32_t id, std::uint32_t connection, Bytes bytes, Time time) {
  Begin(id, time);
  Put(id, connection, bytes.count());
  Finish(id);
}

void Interpreter::StartReceive(std::uint32_t id, std::uint32_t connection, Time time) {
  Begin(id, time);
  programs_[id].size = 1;  // the wait itself
  if (!AwaitSignal(id, connection)) return;
  programs_[id].size = 0;
  Finish(id);
}

bool Interpreter::RunUntilFinished() {
  bool ran = false;
  while (finished_.empty() && RunReady()) ran = true;
  return ran;
}

void Interpreter::RunAll() {
  while (RunReady()) continue;
}

// Brings what a later op needs of its connection nearer: of many connections, few are in a cache.
// Always inlined, since GCC drops calls of functions that do nothing but this.
[[gnu::always_inline]] inline void Interpreter::FetchAhead(const Program& program) const {
  constexpr std::uint32_t kAhead = 2;
  if (program.shared != nullptr || program.cursor + kAhead >= program.size) return;
  const std::uint32_t target = blocks_[program.block][program.cursor + kAhead].target;
  if (target >= states_.size()) return;
  __builtin_prefetch(&states_[target]);
  __builtin_prefetch(&traffic_[target]);
  __builtin_prefetch(&model_.connections[target]);
}

void Interpreter::Run(std::uint32_t id) {
  for (;;) {
    Program& program = programs_[id];
    if (program.cursor == program.size && !Refill(program)) break;
    const DecodedOp op = NextOp(program);
    FetchAhead(program);
    bool done = true;
    switch (op.kind) {
      case DecodedOp::Kind::kPut:
        done = Put(id, op.target, op.bytes);
        break;
      case DecodedOp::Kind::kWait:
        done = AwaitSignal(id, op.target);
        break;
      case DecodedOp::Kind::kSignalSelf:
        SignalSelf(op.target, program.time);
        break;
      case DecodedOp::Kind::kWaitSelf:
        done = AwaitOwnSignal(id);
        break;
    }
    if (!done) return;
    ++program.cursor;
  }
  Finish(id);
}

// Ends the program, once its own transfers have.
void Interpreter::Finish(std::uint32_t id) {
  Program& program = programs_[id];
  if (program.transfers > 0) {
    program.wait = Wait::kTransfers;
    return;
  }
  // Not before: who reads in blocks and who shares depends on who comes first.
  events_ += program.read;
  if (program.block != kNone) {
    free_blocks_.push_back(program.block);
    program.block = kNone;
  }
  finished_.push_back({id, program.received_sent, std::max(program.time, program.last_sent)});
}

// --- Signals to oneself -------------------------------------------------------------------------

void Interpreter::SignalSelf(std::uint32_t id, Time time) {
  Program& program = programs_[id];
  if (program.wait == Wait::kOwnSignal) {
    program.time = std::max(program.time, time);
    ++program.cursor;
    Wake(id);
  } else {
    Append(program.own_signals, {.time = time});
  }
}

bool Interpreter::AwaitOwnSignal(std::uint32_t id) {
  Program& program = programs_[id];
  if (program.own_signals.empty()) {
    program.wait = Wait::kOwnSignal;
    return false;
  }
  program.time = std::max(program.time, TakeFirst(program.own_signals).time);
  return true;
}

// --- Puts ---------------------------------------------------------------------------------------

bool Interpreter::TakeSlot(std::uint32_t id, std::uint32_t connection) {
  Program& program = programs_[id];
  State& state = states_[connection];
  while (state.held >= program.slots) {
    if (state.released.empty()) {
      state.slot_waiter = id;
      program.wait = Wait::kSlot;
      program.on = connection;
      return false;
    }
    program.time = std::max(program.time, TakeFirst(state.released).time);
    --state.held;
  }
  ++state.held;
  return true;
}

bool Interpreter::PutEagerly(std::uint32_t id, std::uint32_t connection, std::int64_t bytes) {
  if (programs_[id].slots > 0 && !TakeSlot(id, connection)) return false;
  Program& program = programs_[id];
  State& state = states_[connection];
  if (model_.connections[connection].binding_hops > 0 || Carried(connection)) {
    Offer(id, connection, bytes);
    return true;
  }
  // Nothing can slow it: its end is known now.
  Count(connection, bytes);
  const Time begin = std::max(program.time, state.free);
  Time end = begin;
  if (bytes > 0) {
    end = Later(Later(begin, model_.message_overhead),
                Duration(connection, bytes, program.time < state.free));
    state.free = end;
    program.last_sent = std::max(program.last_sent, end);
  }
  Deliver(connection, Later(end, model_.connections[connection].latency), begin);
  return true;
}

// How long `bytes` take alone; `follows`: right after the transfer before.
Time Interpreter::Duration(std::uint32_t connection, std::int64_t bytes, bool follows) {
  State& state = states_[connection];
  const FlowRate rate = model_.connections[connection].limit;
  if (follows && state.surplus != 0) return FluidTime(Bytes(bytes), rate, state.surplus);
  if (lone_.empty()) lone_.resize(std::size_t{1} << kLoneBits);
  // 2^64 by the golden ratio: Knuth, The Art of Computer Programming 3, section 6.4.
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15U;
  const std::uint64_t hash = (rate.units ^ static_cast<std::uint64_t>(bytes)) * kOdd;
  LoneTransfer& known = lone_[hash >> (64 - kLoneBits)];
  if (known.bytes != bytes || known.rate != rate) {
    known.rate = rate;
    known.bytes = bytes;
    known.surplus = 0;
    known.duration = FluidTime(Bytes(bytes), rate, known.surplus);
  }
  state.surplus = known.surplus;
  return known.duration;
}

// Not inline, as EndFirst is: TransmitAll has two of it in its loop.
void Interpreter::EndTransfer(std::uint32_t connection, Time end) { EndFirst(connection, end); }

void Interpreter::TransmitAll(std::uint32_t connection) {
  do {
    State& state = states_[connection];
    const Time latency = model_.connections[connection].latency;
    Message& put = messages_[state.outgoing.head];
    Time begin = std::max(put.time, state.free);
    if (rendezvous_) begin = Later(std::max(begin, messages_[state.inbound.head].time), latency);
    put.sent = begin;
    put.follows = put.time < state.free;
    state.busy = true;
    // What has no bytes is a flag, no message.
    const Time bytes_begin = put.bytes > 0 ? Later(begin, model_.message_overhead) : begin;
    if (Carried(connection)) {
      model_.carrier->Send(connection, Bytes(put.bytes), bytes_begin);
    } else if (put.bytes == 0) {
      EndTransfer(connection, begin);
    } else {
      if (model_.connections[connection].binding_hops == 0) {
        EndTransfer(connection, Later(bytes_begin, Duration(connection, put.bytes, put.follows)));
      } else if (bytes_begin == course_.clock && !Held(connection)) {
        BeginTransfer(connection);
      } else {
        course_.begins.Add(connection, bytes_begin);
      }
    }
  } while (CanTransmit(states_[connection]));
}

void Interpreter::BeginTransfer(std::uint32_t index) {
  ++events_;
  const State& state = states_[index];
  const Message& put = messages_[state.outgoing.head];
  Occupy(index);
  course_.network.Start(index, binding_hops(index), model_.connections[index].limit,
                        Bytes(put.bytes), course_.clock, put.follows ? state.surplus : 0);
}

std::span<const FlowHop> Interpreter::binding_hops(std::uint32_t index) const {
  const Connection& connection = model_.connections[index];
  return model_.hops.subspan(connection.first_hop, connection.binding_hops);
}

bool Interpreter::Held(std::uint32_t connection) {
  if (replay_end_ != Time::Max()) return course_.clock == replay_end_;
  if (!model_.occupancy || model_.occupancy->entries.empty()) return false;
  for (const FlowHop& hop : binding_hops(connection)) {
    const Occupancy::Entry& entry = model_.occupancy->entries[hop.resource];
    if (entry.planned == 0) continue;
    model_.occupancy->disturbed = entry.owner;
    return true;
  }
  return false;
}

void Interpreter::Occupy(std::uint32_t connection) {
  if (!model_.occupancy || model_.occupancy->entries.empty()) return;
  for (const FlowHop& hop : binding_hops(connection)) {
    ++model_.occupancy->entries[hop.resource].transfers;
  }
}

void Interpreter::Vacate(std::uint32_t connection) {
  if (!model_.occupancy || model_.occupancy->entries.empty()) return;
  for (const FlowHop& hop : binding_hops(connection)) {
    --model_.occupancy->entries[hop.resource].transfers;
  }
}

// What the carrier has brought: a connection's next message may go.
void Interpreter::TakeNews() {
  for (const MessageCarrier::News& news : model_.carrier->news()) {
    ++events_;
    if (news.kind == MessageCarrier::News::Kind::kDelivered) {
      Deliver(news.connection, Later(news.time, model_.connections[news.connection].latency),
              news.begin);
      continue;
    }
    State& state = states_[news.connection];
    const std::uint32_t program = TakeFirst(state.outgoing).program;
    state.busy = false;
    state.free = news.time;
    CompleteTransfer(program, news.time);
    Transmit(news.connection);
  }
  model_.carrier->news().clear();
}

// --- Signals ------------------------------------------------------------------------------------

void Interpreter::Deliver(std::uint32_t connection, Time arrival, Time sent) {
  State& state = states_[connection];
  if (state.waiter == kNone) {
    Append(state.inbound, {.time = arrival, .sent = sent});
    return;
  }
  const std::uint32_t id = state.waiter;
  state.waiter = kNone;
  Receive(id, connection, arrival, sent);
  Program& program = programs_[id];
  ++program.cursor;
  Wake(id);
}

void Interpreter::Receive(std::uint32_t id, std::uint32_t connection, Time arrival, Time sent) {
  Program& program = programs_[id];
  program.time = std::max(program.time, arrival);
  program.received_sent = sent;
  if (program.slots == 0) return;
  State& state = states_[connection];
  Append(state.released, {.time = program.time});
  if (state.slot_waiter != kNone) {
    Wake(state.slot_waiter);
    state.slot_waiter = kNone;
  }
}

bool Interpreter::TakeSignal(std::uint32_t id, std::uint32_t connection) {
  State& state = states_[connection];
  if (!state.inbound.empty()) {
    const Message signal = TakeFirst(state.inbound);
    Receive(id, connection, signal.time, signal.sent);
    return true;
  }
  TL_CHECK(state.waiter == kNone, "two programs wait for one signal", connection);
  state.waiter = id;
  programs_[id].wait = Wait::kSignal;
  programs_[id].on = connection;
  return false;
}

}  // namespace trunkline
