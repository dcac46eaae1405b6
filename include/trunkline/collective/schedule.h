#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trunkline/base/units.h"
#include "trunkline/collective/primitive.h"

namespace trunkline {

// Who executes a part of a schedule: ranks are [0, ranks), symbolic network actors (a reduction
// vertex of a SHARP tree, an NVLS multicast domain) are [ranks, participants).
using Participant = std::uint32_t;

enum class Buffer : std::uint8_t { kInput, kOutput, kScratch };

// A range of a participant's buffer, in bytes.
struct BufferSpan {
  Buffer buffer = Buffer::kInput;
  std::int64_t offset = 0;
  std::int64_t size = 0;
  bool operator==(const BufferSpan&) const = default;
};

// kPut        send `source` to `peer`'s `target`, then raise the signal (peer, channel): a send.
//             Issuing never blocks the program, except while the channel's slots are full.
// kSignal     a put of no bytes. A signal to oneself orders two channels of one participant and
//             takes no time: it raises the signal (oneself, `channel`), for which the program of
//             `channel` waits with peer = oneself.
// kWait       block until the next signal from (peer, channel) has arrived: a receive.
// kReduce     target[i] += source[i] locally.
// kCopy       target = source locally.
// kMulticastStore   put `source` to the `target` span of every rank through actor `peer`.
// kLoadReduce       target = sum of every rank's `source` span, read through actor `peer`.
//
// A put reads its source and writes its target at any moment between being issued and its signal
// arriving: until a signal that depends on that arrival comes back, its source must not be written.
enum class OpKind : std::uint8_t {
  kPut,
  kSignal,
  kWait,
  kReduce,
  kCopy,
  kMulticastStore,
  kLoadReduce,
};

struct Op {
  OpKind kind = OpKind::kPut;
  std::uint16_t channel = 0;  // signal to oneself: the channel whose program waits for it
  Participant peer = 0;  // put, signal: the destination; wait: the source; multicast: the actor
  BufferSpan source{};   // put, reduce, copy, multicast
  BufferSpan target{};   // put (at the peer), reduce, copy, multicast
  bool operator==(const Op&) const = default;
};

// How a channel pipelines. A put may be issued while fewer than `slots` earlier puts on the same
// (source, destination, channel) are unconsumed (not yet waited for by the receiver); 0: no limit.
struct ChannelShape {
  std::uint32_t slots = 0;
};

// A collective as per-participant programs, generated on demand and never stored whole: immutable,
// random access, storage O(classes) rather than O(ops).
//
// Each (participant, channel) is a sequential program. Puts are asynchronous; waits block; the
// programs of different channels of one participant run concurrently and are ordered only by
// signals to oneself. Signals match waits first-in first-out per (source, destination, channel),
// never by tag: every schedule is deadlock-free and deterministic by construction of its program.
//
// Safe for concurrent readers.
class Schedule {
 public:
  virtual ~Schedule() = default;

  [[nodiscard]] virtual Primitive primitive() const = 0;
  [[nodiscard]] virtual std::string algorithm() const = 0;  // the registry's name: "ring"
  [[nodiscard]] virtual std::uint32_t ranks() const = 0;
  [[nodiscard]] virtual std::uint32_t participants() const { return ranks(); }
  [[nodiscard]] virtual std::uint32_t channels() const { return 1; }
  [[nodiscard]] virtual ChannelShape channel_shape(std::uint32_t channel) const {
    (void)channel;
    return {};
  }

  // Bytes of each rank's buffers, in the conventions of MPI and NCCL.
  [[nodiscard]] virtual std::int64_t input_bytes(std::uint32_t rank) const = 0;
  [[nodiscard]] virtual std::int64_t output_bytes(std::uint32_t rank) const = 0;
  [[nodiscard]] virtual std::int64_t scratch_bytes(Participant participant) const {
    (void)participant;
    return 0;
  }

  [[nodiscard]] virtual std::uint64_t op_count(Participant participant,
                                               std::uint32_t channel) const = 0;
  // Writes ops [first, first + out.size()) of a program into `out`. Engines read in blocks, so that
  // the virtual call is paid once for many ops.
  // REQUIRES: first + out.size() <= op_count(participant, channel).
  virtual void ops(Participant participant, std::uint32_t channel, std::uint64_t first,
                   std::span<Op> out) const = 0;

  // How many bytes a put of `size` takes on its way. Pieces of one cut differ by an element where
  // it does not come out even, and of long ones all are sent as long as the longest: NCCL, too,
  // rounds its chunks up (chunkCount in src/device/all_reduce.h, 2.19), and alike ranks stay alike.
  [[nodiscard]] virtual std::int64_t sent_bytes(std::int64_t size) const { return size; }

  // Participants of equal class run congruent programs on every channel: op for op the same kinds
  // and sizes as sent, and the op that first names a peer, in each direction, has the same index. A
  // hint that spares engines from reading every program; they check it on samples. Default: not
  // known.
  [[nodiscard]] virtual std::optional<std::uint32_t> program_class(Participant participant) const {
    (void)participant;
    return std::nullopt;
  }

  // Whether the program of every rank r is that of rank 0 with every peer p replaced by
  // (p + r) mod ranks, on every channel: op for op the same kinds and sizes as sent. A hint as
  // above.
  [[nodiscard]] virtual bool rotates() const { return false; }

  // Each ordered pair of participants (a, b), a != b, that any op moves data or a signal between,
  // with its channel, sorted and unique. Default: found by reading every program.
  struct Pair {
    Participant source = 0;
    Participant destination = 0;
    std::uint32_t channel = 0;
    auto operator<=>(const Pair&) const = default;
  };
  [[nodiscard]] virtual std::vector<Pair> pairs() const;
};

// How the ranks of a group sit in nodes: what topology-aware algorithms need to know.
struct GroupLayout {
  // node[i] is the node of group rank i, in order of first appearance (0, 1, …); local[i] is the
  // local index of its endpoint in that node.
  std::vector<std::uint32_t> node;
  std::vector<std::uint32_t> local;
  // Ranks of a node are joined pair by pair, as GPUs on xGMI, and not at a switch.
  bool meshed = false;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(node.size()); }
  // Every node holds the same number of ranks with the same local indices.
  [[nodiscard]] bool uniform() const;
  [[nodiscard]] std::uint32_t node_count() const;
  // `n` ranks, one a node (plain hosts).
  static GroupLayout Flat(std::uint32_t n);
  // nodes x per_node ranks, in order.
  static GroupLayout Grid(std::uint32_t nodes, std::uint32_t per_node);
  auto operator<=>(const GroupLayout&) const = default;
};

}  // namespace trunkline
