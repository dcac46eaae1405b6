#pragma once

#include "engine/packet/shard.h"

namespace trunkline {

// A socket waits for its core, or for nothing.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Await(std::uint32_t core, Core::Pass pass) {
  Core& of_host = plant_.cores[core];
  of_host.waiting.push_back(pass);
  if (of_host.waiting.size() - of_host.next == 1) BeginPass(core);
}

// The pass whose turn it is takes up all there is of its connection, at most a unit.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::BeginPass(std::uint32_t core) {
  Core& of_host = plant_.cores[core];
  const Core::Pass pass = of_host.waiting[of_host.next];
  const Time time = pass.receives ? BeginReceiving(of_host, pass.queue_pair)
                                  : BeginSending(of_host, pass.queue_pair);
  queue_.Push(PacketEvent::Make(now_ + time.ps(), PacketEventKind::kTimeout, core, kCorePass));
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::EndPass(std::uint32_t core) {
  Core& of_host = plant_.cores[core];
  const Core::Pass pass = of_host.waiting[of_host.next++];
  if (of_host.next == of_host.waiting.size()) {
    of_host.waiting.clear();
    of_host.next = 0;
  } else {
    if (of_host.next >= 64 && of_host.next * 2 >= of_host.waiting.size()) {
      of_host.waiting.erase(
          of_host.waiting.begin(),
          of_host.waiting.begin() + static_cast<std::ptrdiff_t>(std::exchange(of_host.next, 0)));
    }
  }
  const std::uint32_t packets = of_host.packets;
  if (of_host.next < of_host.waiting.size()) BeginPass(core);
  // May line up at the core again, behind those that wait.
  if (pass.receives) {
    EndReceiving(pass.queue_pair, packets);
  } else {
    EndSending(pass.queue_pair, packets);
  }
}

// --- The sender ---------------------------------------------------------------------------------

// There may be something written that the window has room for.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::Prepare(std::uint32_t index) {
  SendSocket& socket = plant_.send_sockets[index];
  const Sender& sender = plant_.senders[index];
  if (socket.waits || sender.end == socket.posted || sender.failed) return;
  if (sender.end - sender.acked >= window_) return;
  socket.waits = true;
  Await(socket.core, {.queue_pair = index, .receives = false});
}

// The core is busy for the overhead of a message before it copies the first of it.
template <typename Queue, bool kFused>
Time Shard<Queue, kFused>::BeginSending(Core& core, std::uint32_t index) const {
  const Sender& sender = plant_.senders[index];
  const PacketMessage& message = messages_[plant_.send_sockets[index].message];
  const std::uint32_t room = window_ - (sender.end - sender.acked);
  core.packets = std::min({unit_, message.end - sender.end, room});
  const std::int64_t mtu = plant_.transport.mtu.count();
  const bool whole = sender.end + core.packets == message.end;
  const Bytes bytes(core.packets * mtu - (whole ? mtu - message.last_payload : 0));
  const Time before = sender.end == message.first ? plant_.transport.message_overhead : Time();
  return before + plant_.transport.sockets->send.Of(bytes);
}

template <typename Queue, bool kFused>
void Shard<Queue, kFused>::EndSending(std::uint32_t index, std::uint32_t packets) {
  SendSocket& socket = plant_.send_sockets[index];
  Sender& sender = plant_.senders[index];
  socket.waits = false;
  sender.end += packets;
  const PacketMessage& message = messages_[socket.message];
  if (sender.end == message.end) socket.message = message.next;
  Ready(index);
  Prepare(index);
}

// --- The receiver -------------------------------------------------------------------------------

// A data packet has come in by `link` and waits for the receiver's core.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::TakeIn(std::uint32_t link, std::uint32_t id) {
  const std::uint32_t index = packets_[id].queue_pair;
  ReceiveSocket& socket = plant_.receive_sockets[index];
  packets_[id].ingress = link;
  if (socket.packets++ == 0) {
    socket.queue.head = id;
  } else {
    packets_[socket.queue.tail].next = id;
  }
  socket.queue.tail = id;
  if (std::exchange(socket.waits, true)) return;
  Await(socket.core, {.queue_pair = index, .receives = true});
}

template <typename Queue, bool kFused>
Time Shard<Queue, kFused>::BeginReceiving(Core& core, std::uint32_t index) const {
  const ReceiveSocket& socket = plant_.receive_sockets[index];
  core.packets = std::min(unit_, socket.packets);
  std::int64_t bytes = 0;
  std::uint32_t id = socket.queue.head;
  for (std::uint32_t i = 0; i < core.packets; ++i, id = packets_[id].next) {
    bytes += packets_[id].payload;
  }
  return plant_.transport.sockets->receive.Of(Bytes(bytes));
}

// One acknowledgement, if any is due, answers all packets of a pass.
template <typename Queue, bool kFused>
void Shard<Queue, kFused>::EndReceiving(std::uint32_t index, std::uint32_t packets) {
  ReceiveSocket& socket = plant_.receive_sockets[index];
  socket.packets -= packets;
  bool due = false;
  for (std::uint32_t left = packets; left > 0; --left) {
    const std::uint32_t id = socket.queue.head;
    const std::uint32_t link = packets_[id].ingress;
    socket.queue.head = packets_[id].next;
    const Reply reply = TakeData(link, id);
    due = due || reply == Reply::kAck;
    if (reply == Reply::kNack) {
      Answer(link, id, PacketKind::kNack);
    } else if (left == 1 && due) {
      Answer(link, id, PacketKind::kAck);
    } else {
      packets_.Give(id);
    }
  }
  socket.waits = socket.packets > 0;
  if (socket.waits) Await(socket.core, {.queue_pair = index, .receives = true});
}

}  // namespace trunkline
