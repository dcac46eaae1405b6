// How the interpreter reads the ops of a program.
#include <algorithm>
#include <optional>

#include "engine/flow/interpreter.h"
#include "trunkline/base/check.h"

namespace trunkline {
namespace {

// Programs shorter than this are read in blocks: finding their peers would cost as much.
constexpr std::uint64_t kMinSharedOps = 256;
// Bounds the memory of shared programs (16 bytes an op).
constexpr std::uint64_t kMaxSharedOps = std::uint64_t{1} << 22;

}  // namespace

void Interpreter::Share(Program& program) {
  const ChannelProgram& channel = program.channel;
  // To find the peers of a rotated program costs nothing where all pairs are connections.
  const bool rotates = channel.pattern->complete && channel.schedule->rotates();
  if (program.op_count < (rotates ? kBlock : kMinSharedOps)) return;
  if (shared_ops_ + program.op_count > kMaxSharedOps) return;
  constexpr std::uint32_t kRotated = UINT32_MAX;  // no other program has its numbers
  const auto program_class =
      rotates ? std::optional(kRotated) : channel.schedule->program_class(channel.position);
  if (!program_class) return;
  const auto [entry, is_new] =
      shared_.try_emplace({channel.schedule, *program_class, channel.channel});
  if (is_new) return;
  std::unique_ptr<SharedProgram>& shared = entry->second;
  if (!shared) {
    shared = ReadShared(channel, program.op_count, rotates);
    shared_ops_ += shared->ops.size();
  }
  if (rotates) {
    program.rotated = shared.get();
    program.op_count = shared->ops.size();
    return;
  }
  program.shared = shared.get();
  program.size = static_cast<std::uint32_t>(shared->ops.size());
  program.targets.clear();
  for (const std::uint64_t index : shared->peers) {
    Op op;
    channel.schedule->ops(channel.position, channel.channel, index, std::span(&op, 1));
    program.targets.push_back(Decode(program, op).target);
  }
  program.read = program.size;
}

std::unique_ptr<Interpreter::SharedProgram> Interpreter::ReadShared(const ChannelProgram& channel,
                                                                    std::uint64_t op_count,
                                                                    bool rotates) {
  auto shared = std::make_unique<SharedProgram>();
  const std::uint32_t members = channel.pattern->members();
  std::map<std::pair<bool, Participant>, std::uint32_t> peers;
  std::array<Op, kBlock> block;
  for (std::uint64_t first = 0; first < op_count; first += kBlock) {
    const auto ops = std::span(block).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, op_count - first)));
    channel.schedule->ops(channel.position, channel.channel, first, ops);
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const Op& op = ops[i];
      if (op.kind == OpKind::kReduce || op.kind == OpKind::kCopy) continue;
      DecodedOp decoded = DecodeKind(channel, op);
      if (op.peer == channel.position) {
        decoded.target = op.channel;
      } else if (rotates) {
        decoded.target = (op.peer + members - channel.position) % members;
      } else {
        const auto next = static_cast<std::uint32_t>(shared->peers.size());
        const auto [peer, is_new_peer] =
            peers.try_emplace({op.kind == OpKind::kWait, op.peer}, next);
        if (is_new_peer) shared->peers.push_back(first + i);
        decoded.target = peer->second;
      }
      shared->ops.push_back(decoded);
    }
  }
  return shared;
}

Interpreter::DecodedOp Interpreter::NextSharedOp(const Program& program) {
  DecodedOp op = program.shared->ops[program.cursor];
  if (op.kind == DecodedOp::Kind::kSignalSelf) {
    op.target += program.channel.first_program;
  } else if (op.kind != DecodedOp::Kind::kWaitSelf) {
    op.target = program.targets[op.target];
  }
  return op;
}

// Reads the next ops that take time or wait; local copies and reductions do neither.
bool Interpreter::Refill(Program& program) {
  if (program.shared != nullptr) return false;
  program.cursor = 0;
  program.size = 0;
  while (program.size == 0) {
    const auto count = static_cast<std::size_t>(
        std::min<std::uint64_t>(kBlock, program.op_count - program.next_op));
    if (count == 0) return false;
    if (program.block == kNone) {
      if (free_blocks_.empty()) {
        free_blocks_.push_back(static_cast<std::uint32_t>(blocks_.size()));
        blocks_.emplace_back();
      }
      program.block = free_blocks_.back();
      free_blocks_.pop_back();
    }
    if (program.rotated != nullptr) {
      CopyBlock(program, count);
    } else {
      ReadBlock(program, count);
    }
    program.next_op += count;
  }
  program.read += program.size;
  return true;
}

void Interpreter::ReadBlock(Program& program, std::size_t count) {
  std::array<Op, kBlock> ops;
  const ChannelProgram& channel = program.channel;
  channel.schedule->ops(channel.position, channel.channel, program.next_op,
                        std::span(ops).first(count));
  for (const Op& op : std::span(ops).first(count)) {
    if (op.kind == OpKind::kReduce || op.kind == OpKind::kCopy) continue;
    blocks_[program.block][program.size++] = Decode(program, op);
  }
}

// From a rotated program.
void Interpreter::CopyBlock(Program& program, std::size_t count) {
  const ChannelProgram& channel = program.channel;
  const Pattern& pattern = *channel.pattern;
  const std::uint32_t members = pattern.members();
  const bool is_whole = pattern.has_all_of(channel.channel);
  const auto ops = std::span(program.rotated->ops).subspan(program.next_op, count);
  DecodedOp* copy = blocks_[program.block].data();
  for (const DecodedOp& op : ops) {
    *copy = op;
    if (op.kind == DecodedOp::Kind::kSignalSelf) {
      copy->target += channel.first_program;
    } else if (op.kind != DecodedOp::Kind::kWaitSelf) {
      const Participant sum = channel.position + op.target;
      const Participant peer = sum < members ? sum : sum - members;
      const bool waits = op.kind == DecodedOp::Kind::kWait;
      const Participant source = waits ? peer : channel.position;
      const Participant destination = waits ? channel.position : peer;
      copy->target =
          channel.connection_of[is_whole
                                    ? pattern.IndexIfComplete(source, destination, channel.channel)
                                    : pattern.IndexOf(source, destination, channel.channel)];
    }
    ++copy;
  }
  program.size = static_cast<std::uint32_t>(count);
}

// What an op is, and how many bytes it sends.
Interpreter::DecodedOp Interpreter::DecodeKind(const ChannelProgram& channel, const Op& op) {
  using Kind = DecodedOp::Kind;
  const bool waits = op.kind == OpKind::kWait;
  TL_CHECK(waits || op.kind == OpKind::kPut || op.kind == OpKind::kSignal,
           "an op inside the network");
  if (op.peer == channel.position) return {.kind = waits ? Kind::kWaitSelf : Kind::kSignalSelf};
  return {.bytes = op.kind == OpKind::kPut ? channel.schedule->sent_bytes(op.source.size) : 0,
          .kind = waits ? Kind::kWait : Kind::kPut};
}

Interpreter::DecodedOp Interpreter::Decode(Program& program, const Op& op) {
  const ChannelProgram& channel = program.channel;
  DecodedOp decoded = DecodeKind(channel, op);
  if (decoded.kind == DecodedOp::Kind::kSignalSelf) {
    decoded.target = channel.first_program + op.channel;
  } else if (decoded.kind != DecodedOp::Kind::kWaitSelf) {
    const bool waits = decoded.kind == DecodedOp::Kind::kWait;
    Peer& last = waits ? program.last_source : program.last_destination;
    if (op.peer != last.position) {
      const std::uint32_t pair =
          waits ? channel.pattern->IndexOf(op.peer, channel.position, channel.channel)
                : channel.pattern->IndexOf(channel.position, op.peer, channel.channel);
      last = {op.peer, channel.connection_of[pair]};
    }
    decoded.target = last.connection;
  }
  return decoded;
}

}  // namespace trunkline
