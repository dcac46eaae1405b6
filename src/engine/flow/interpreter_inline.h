#pragma once

#include <algorithm>

#include "engine/flow/interpreter.h"

// What an interpreter does most often.
namespace trunkline {

[[gnu::always_inline]] inline void Interpreter::Append(List& list, const Message& message) {
  std::uint32_t index = free_message_;
  if (index == kNone) {
    index = static_cast<std::uint32_t>(messages_.size());
    messages_.push_back(message);
  } else {
    free_message_ = messages_[index].next;
    messages_[index] = message;
  }
  messages_[index].next = kNone;
  if (list.empty()) {
    list.head = index;
  } else {
    messages_[list.tail].next = index;
  }
  list.tail = index;
}

inline Interpreter::Message Interpreter::TakeFirst(List& list) {
  const std::uint32_t index = list.head;
  const Message message = messages_[index];
  list.head = message.next;
  messages_[index].next = free_message_;
  free_message_ = index;
  return message;
}

inline void Interpreter::Wake(std::uint32_t id) {
  programs_[id].wait = Wait::kNothing;
  ready_.push_back(id);
}

[[gnu::always_inline]] inline void Interpreter::CompleteTransfer(std::uint32_t id, Time end) {
  Program& program = programs_[id];
  program.last_sent = std::max(program.last_sent, end);
  if (--program.transfers == 0 && program.wait == Wait::kTransfers) Wake(id);
}

[[gnu::always_inline]] inline void Interpreter::Offer(std::uint32_t id, std::uint32_t connection,
                                                      std::int64_t bytes) {
  Count(connection, bytes);
  Program& program = programs_[id];
  ++program.transfers;
  Append(states_[connection].outgoing, {.time = program.time, .bytes = bytes, .program = id});
  Transmit(connection);
}

// In a rendezvous puts and the waits that follow them are under way together, and both ends are
// held until all have ended (MPI's Sendrecv): whether the program may go on.
[[gnu::always_inline]] inline bool Interpreter::Meet(std::uint32_t id) {
  Program& program = programs_[id];
  if (!program.meets) return true;
  if (program.transfers > 0) {
    program.wait = Wait::kTransfers;
    return false;
  }
  program.time = std::max(program.time, program.last_sent);
  program.meets = false;
  return true;
}

[[gnu::always_inline]] inline bool Interpreter::Put(std::uint32_t id, std::uint32_t connection,
                                                    std::int64_t bytes) {
  if (!rendezvous_) return PutEagerly(id, connection, bytes);
  if (!Meet(id)) return false;
  Offer(id, connection, bytes);
  return true;
}

[[gnu::always_inline]] inline bool Interpreter::AwaitSignal(std::uint32_t id,
                                                            std::uint32_t connection) {
  if (!rendezvous_) return TakeSignal(id, connection);
  Program& program = programs_[id];
  ++program.transfers;
  program.meets = true;
  Append(states_[connection].inbound, {.time = program.time, .program = id});
  Transmit(connection);
  return true;
}

// The first outgoing put has left; its signal flies. The caller lets the next one go.
[[gnu::always_inline]] inline void Interpreter::EndFirst(std::uint32_t connection, Time end) {
  State& state = states_[connection];
  const Message put = TakeFirst(state.outgoing);
  state.busy = false;
  state.free = std::max(state.free, end);
  if (rendezvous_) {
    const std::uint32_t receiver = TakeFirst(state.inbound).program;
    programs_[receiver].received_sent = put.sent;
    CompleteTransfer(receiver, end);
  } else {
    Deliver(connection, Later(end, model_.connections[connection].latency), put.sent);
  }
  CompleteTransfer(put.program, end);
}

[[gnu::always_inline]] inline bool Interpreter::RunReady() {
  if (ready_.empty()) return false;
  const std::uint32_t id = ready_.back();
  ready_.pop_back();
  Run(id);
  return true;
}

}  // namespace trunkline
