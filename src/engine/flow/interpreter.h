#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "engine/flow/message_carrier.h"
#include "engine/flow/network.h"
#include "engine/flow/problem.h"
#include "engine/flow/run_queue.h"
#include "trunkline/collective/schedule.h"
#include "trunkline/engine/engine.h"

namespace trunkline {

// Who is on each resource: transfers that move, and a collective whose course is known ahead
// (planned.h), so that neither misses the other.
struct Occupancy {
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  struct Entry {
    std::uint32_t transfers = 0;    // on it now
    std::uint32_t planned = 0;      // members of a planned collective on it now …
    std::uint32_t owner = kNobody;  // … which is this
  };
  std::vector<Entry> entries;         // by resource; empty: nothing is planned
  std::uint32_t disturbed = kNobody;  // the owner of what a transfer is about to move on
};

// Where messages travel: connections over resources.
struct TransferModel {
  std::span<const Connection> connections;
  std::span<const FlowHop> hops;
  std::span<const Rate> capacities;
  Time message_overhead;
  Handshake handshake = Handshake::kEager;
  Occupancy* occupancy = nullptr;
  MessageCarrier* carrier = nullptr;  // of some of the connections
};

// What a connection has moved.
struct Traffic {
  std::uint64_t transfers = 0;
  std::int64_t bytes = 0;
};

// Executes programs of puts and waits as a conservative dataflow.
//
// Every program has a clock of its own and runs ahead as far as its inputs are known. A transfer on
// a connection without binding hops ends at a time known when it is issued: it needs no event. The
// others are events in one queue, processed in order of time and only when no program can run:
// nothing that runs later can precede them. What a MessageCarrier carries is its own affair: the
// interpreter hands messages over as soon as it knows when they begin, and hears when they end.
class Interpreter {
 public:
  explicit Interpreter(const TransferModel& model);

  // Reserves idle programs; returns the first id. Ids are dense.
  std::uint32_t AddPrograms(std::uint32_t count);

  // A participant's ops of one channel.
  struct ChannelProgram {
    const Schedule* schedule = nullptr;
    const Pattern* pattern = nullptr;
    // The connection of the pattern's pair i is connection_of[i].
    std::span<const std::uint32_t> connection_of;
    Participant position = 0;
    std::uint32_t channel = 0;
    std::uint32_t first_program = 0;  // of the participant's channel 0, for signals to oneself
  };
  // REQUIRES for each Start: the program is idle, and `time` is not before clock().
  void Start(std::uint32_t program, const ChannelProgram& channel, Time time);
  void StartSend(std::uint32_t program, std::uint32_t connection, Bytes bytes, Time time);
  void StartReceive(std::uint32_t program, std::uint32_t connection, Time time);

  // A program that has executed its last op and sent its last byte.
  struct Finished {
    std::uint32_t program = 0;
    Time sent;  // when the message that it last waited for began its transfer
    Time end;
  };
  // Runs programs that can until one ends, which appears in finished(), to be taken there; false
  // when none could, or those in finished() are still there.
  bool RunUntilFinished();
  // Runs all that can.
  void RunAll();
  [[nodiscard]] std::vector<Finished>& finished() { return finished_; }

  // Processes everything that happens at next_time(), or what the carrier does before; false when
  // nothing is left to happen, or nothing until `until`. Stops before a transfer that would disturb
  // a planned collective and names that in the occupancy. REQUIRES: no program can run.
  bool Advance(Time until = Time::Max());
  // When something happens next, the carrier aside; Time::Max(): never, as far as is known.
  [[nodiscard]] Time next_time();

  // Programs started between BeginReplay and EndReplay run from `from` until `until`, apart from
  // all others, which stay at clock(); then they share the resources with them: transfers that end
  // at `until` have ended, those that begin then have not begun. REQUIRES: no program can run, none
  // has finished, and until then nobody else was on the resources that the replayed transfers are
  // on.
  void BeginReplay(Time from, Time until);
  void EndReplay();

  [[nodiscard]] Time clock() const { return course_.clock; }
  // Something would happen only after the horizon of simulated time.
  [[nodiscard]] bool past_horizon() const { return past_horizon_; }
  [[nodiscard]] std::span<const Traffic> traffic() const { return traffic_; }  // by connection
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t solves() const {
    return course_.network.solves() + (aside_ ? aside_->network.solves() : 0);
  }

  // What a program that is not idle waits for.
  enum class Wait : std::uint8_t { kNothing, kSignal, kOwnSignal, kSlot, kTransfers };
  [[nodiscard]] Wait wait(std::uint32_t program) const { return programs_[program].wait; }
  // REQUIRES: wait(program) is kSignal or kSlot.
  [[nodiscard]] std::uint32_t waits_on(std::uint32_t program) const {
    return programs_[program].on;
  }

  // Whether something put on the connection has not arrived.
  [[nodiscard]] bool has_outgoing(std::uint32_t connection) const {
    return !states_[connection].outgoing.empty();
  }

  // `time` + `delay`; beyond the horizon it stays and past_horizon() turns true.
  [[gnu::always_inline]] Time Later(Time time, Time delay) {
    if (delay <= Time::Horizon() - time) return time + delay;
    past_horizon_ = true;
    return time;
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct DecodedOp {
    enum class Kind : std::uint8_t { kPut, kWait, kSignalSelf, kWaitSelf };
    std::int64_t bytes = 0;
    std::uint32_t target = 0;  // connection; kSignalSelf: program
    Kind kind = Kind::kPut;
  };
  static constexpr std::size_t kBlock = 16;
  static constexpr std::size_t kLoneBits = 10;  // more rates and sizes at once than runs have

  // A long program of a class of participants, read once: targets are indices into `peers`, those
  // of signals to oneself are channels. One that rotates is of all participants: targets are how
  // far the peers are from oneself, and it is copied into blocks.
  struct SharedProgram {
    std::vector<DecodedOp> ops;
    std::vector<std::uint64_t> peers;  // by peer and direction: the op that first names it
  };
  struct SharedKey {
    const Schedule* schedule = nullptr;
    std::uint32_t program_class = 0;
    std::uint32_t channel = 0;
    auto operator<=>(const SharedKey&) const = default;
  };

  // A put on its way (issue, bytes, program, transfer started at `sent`), an arrived signal or a
  // released slot (time). Pooled; lists are first-in first-out.
  struct Message {
    Time time{};
    Time sent{};
    std::int64_t bytes = 0;
    bool follows = false;  // it waited for the put before it
    std::uint32_t program = kNone;
    std::uint32_t next = kNone;
  };
  struct List {
    std::uint32_t head = kNone;
    std::uint32_t tail = kNone;
    [[nodiscard]] bool empty() const { return head == kNone; }
  };

  struct Peer {
    Participant position = kNone;
    std::uint32_t connection = 0;
  };

  struct Program {
    ChannelProgram channel;
    std::uint64_t next_op = 0;
    std::uint64_t op_count = 0;
    std::uint64_t read = 0;  // ops that take time or wait, so far
    Time time;
    Time last_sent;      // end of its last transfer so far
    Time received_sent;  // see Finished::sent
    // Puts whose transfer has no known end yet; in a rendezvous also waits.
    std::uint32_t transfers = 0;
    bool meets = false;  // rendezvous: it has waited since its last put
    std::uint32_t slots = 0;
    std::uint32_t block = kNone;  // into blocks_
    const SharedProgram* shared = nullptr;
    const SharedProgram* rotated = nullptr;
    std::vector<std::uint32_t> targets;  // of a shared program's peers
    std::uint32_t cursor = 0;            // into the block or the shared program
    std::uint32_t size = 0;
    Wait wait = Wait::kNothing;
    std::uint32_t on = kNone;
    List own_signals;
    Peer last_destination;  // of the last put
    Peer last_source;       // of the last wait
  };

  // What a put needs of its connection, in a cache line.
  struct State {
    Time free;                          // when the sender's side is no longer busy
    std::uint64_t surplus = 0;          // see FluidTime
    List outgoing;                      // puts whose transfer has not ended
    List inbound;                       // signals that nobody has waited for; in a rendezvous waits
                                        // that no put has met
    List released;                      // slots given back
    std::uint32_t held = 0;             // slots taken and not known to be given back
    std::uint32_t waiter = kNone;       // program that waits for the next signal
    std::uint32_t slot_waiter = kNone;  // program that waits for a slot
    bool busy = false;                  // the first outgoing put is on its way
  };

  // How long a size takes alone at a rate, after a pause.
  struct LoneTransfer {
    FlowRate rate;
    std::int64_t bytes = -1;
    Time duration;
    std::uint64_t surplus = 0;
  };

  // What moves, and what is about to.
  struct Course {
    FlowNetwork network;
    RunQueue begins;  // of connections: when the first outgoing put begins its transfer
    Time clock;
  };

  void Begin(std::uint32_t program, Time time);
  // Runs one program that can; false when none can.
  bool RunReady();
  void Run(std::uint32_t id);
  void FetchAhead(const Program& program) const;
  bool Refill(Program& program);
  void ReadBlock(Program& program, std::size_t count);
  void CopyBlock(Program& program, std::size_t count);
  static DecodedOp DecodeKind(const ChannelProgram& channel, const Op& op);
  DecodedOp Decode(Program& program, const Op& op);
  [[nodiscard]] DecodedOp NextOp(const Program& program) const {
    return program.shared == nullptr ? blocks_[program.block][program.cursor]
                                     : NextSharedOp(program);
  }
  [[nodiscard]] static DecodedOp NextSharedOp(const Program& program);
  // Looks for the shared form of a program that is run not for the first time.
  void Share(Program& program);
  static std::unique_ptr<SharedProgram> ReadShared(const ChannelProgram& channel,
                                                   std::uint64_t op_count, bool rotates);
  bool Put(std::uint32_t id, std::uint32_t connection, std::int64_t bytes);
  bool PutEagerly(std::uint32_t id, std::uint32_t connection, std::int64_t bytes);
  // Puts that go when they can.
  void Offer(std::uint32_t id, std::uint32_t connection, std::int64_t bytes);
  void Count(std::uint32_t connection, std::int64_t bytes) {
    ++traffic_[connection].transfers;
    traffic_[connection].bytes += bytes;
  }
  bool TakeSlot(std::uint32_t id, std::uint32_t connection);
  bool AwaitSignal(std::uint32_t id, std::uint32_t connection);
  bool TakeSignal(std::uint32_t id, std::uint32_t connection);
  bool AwaitOwnSignal(std::uint32_t id);
  void SignalSelf(std::uint32_t id, Time time);
  void Finish(std::uint32_t id);
  // Lets outgoing puts go as far as their times are known.
  void Transmit(std::uint32_t connection) {
    if (CanTransmit(states_[connection])) TransmitAll(connection);
  }
  [[nodiscard]] bool CanTransmit(const State& state) const {
    return !state.busy && !state.outgoing.empty() && !(rendezvous_ && state.inbound.empty());
  }
  // REQUIRES: CanTransmit.
  void TransmitAll(std::uint32_t connection);
  void BeginTransfer(std::uint32_t connection);
  [[nodiscard]] std::span<const FlowHop> binding_hops(std::uint32_t connection) const;
  // Whether a transfer has to wait, at this instant: for a planned collective that it disturbs to
  // be executed, or for the replay to end.
  bool Held(std::uint32_t connection);
  // One transfer more or less on the connection's resources.
  void Occupy(std::uint32_t connection);
  void Vacate(std::uint32_t connection);
  void EndTransfer(std::uint32_t connection, Time end);
  void EndFirst(std::uint32_t connection, Time end);
  [[nodiscard]] bool Carried(std::uint32_t connection) const {
    return model_.carrier != nullptr && model_.carrier->Carries(connection);
  }
  void TakeNews();
  bool Meet(std::uint32_t id);
  void CompleteTransfer(std::uint32_t program, Time end);
  void Deliver(std::uint32_t connection, Time arrival, Time sent);
  void Receive(std::uint32_t id, std::uint32_t connection, Time arrival, Time sent);
  void Wake(std::uint32_t id);
  Time Duration(std::uint32_t connection, std::int64_t bytes, bool follows);

  void Append(List& list, const Message& message);
  Message TakeFirst(List& list);

  TransferModel model_;
  bool rendezvous_;
  std::vector<State> states_;       // by connection
  std::vector<Traffic> traffic_;    // by connection
  std::vector<LoneTransfer> lone_;  // by a hash, the last one; empty: none so far
  std::vector<Program> programs_;
  std::vector<std::uint32_t> ready_;
  std::vector<Finished> finished_;
  Course course_;
  std::unique_ptr<Course> aside_;  // what BeginReplay put aside, or idle
  Time replay_end_ = Time::Max();  // Time::Max(): no replay
  std::uint64_t events_ = 0;
  bool past_horizon_ = false;

  std::vector<Message> messages_;
  std::uint32_t free_message_ = kNone;
  std::vector<std::array<DecodedOp, kBlock>> blocks_;
  std::vector<std::uint32_t> free_blocks_;
  // A null program has been asked for once.
  std::map<SharedKey, std::unique_ptr<SharedProgram>> shared_;
  std::uint64_t shared_ops_ = 0;
};

}  // namespace trunkline
