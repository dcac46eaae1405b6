#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/packet/calendar_queue.h"
#include "engine/packet/calm_window.h"
#include "engine/packet/deadlock.h"
#include "engine/packet/ends_ahead.h"
#include "engine/packet/fault_plan.h"
#include "engine/packet/outbox.h"
#include "engine/packet/packet.h"
#include "engine/packet/packet_application.h"
#include "engine/packet/path_chooser.h"
#include "engine/packet/plant.h"
#include "engine/packet/reorder_window.h"

namespace trunkline {

// Part of a fabric, whole switches and endpoints, and the events there.
//
// A hop through an idle port is one event, the arrival at the far end: nothing happens at a frame's
// end unless something waits for it, in which case kPortDone is a second event. Whatever is decided
// about a packet (class, pause, credit, mark) is decided at the moment its first bit leaves. A
// switch's room is freed when somebody needs to know it: charges that are freed late can only make
// it look fuller, so only a packet that does not fit has to look closer (`Settle`). Once a switch
// pauses somebody, its frames' ends are events (`Switch::exact`).
//
// kFused = false is the plain form for tests: every frame's end is an event, which frees the room
// and sends the packet on its way. Both give the same picoseconds.
template <typename Queue, bool kFused>
class Shard {
 public:
  Shard(Plant& plant, PacketApplication& application, Time bucket, Time horizon);

  // Has OnPost(entity) called at `time`. REQUIRES: time >= now().
  void PostAt(std::uint32_t entity, Time time) {
    if (ahead_.on) ahead_.TouchAll(time.ps() + 1);
    queue_.PushEverywhere(PacketEvent::Make(time.ps(), PacketEventKind::kPost, entity, kNoIndex));
  }
  // The same of what will touch nothing but the endpoint that sends by `link`. REQUIRES: with
  // zones, this window ends before `time`, or it is the zone of the endpoint that goes through it.
  void PostAt(std::uint32_t entity, Time time, std::uint32_t link) {
    if (ahead_.on) ahead_.Touch(link, time.ps() + 1);
    queue_.Push(PacketEvent::Make(time.ps(), PacketEventKind::kPost, entity, link), ZoneFrom(link));
  }
  // Appends a message of `bytes` to a queue pair at now().
  void Post(std::uint32_t queue_pair, std::int64_t bytes);
  // Has the receiver of a queue pair read `bytes` from its sender: a request goes there, and the
  // data comes as a message. REQUIRES: the queue pair carries nothing else.
  void PostRead(std::uint32_t queue_pair, std::int64_t bytes);

  // Packets of the newest message of a queue pair that have never been sent, nor been prepared to
  // be; takes `packets` of them off it. REQUIRES: fewer than there are.
  [[nodiscard]] std::uint32_t Unsent(std::uint32_t queue_pair) const;
  void Shorten(std::uint32_t queue_pair, std::uint32_t packets);

  // Has what befalls this shard's cables happen when its time comes. REQUIRES: nothing has happened
  // yet; the shard has joined others, if it does.
  void ScheduleFaults();

  // The next event's time; Time::Max() when nothing is left to happen.
  [[nodiscard]] Time next_time() {
    const std::int64_t next = std::min(queue_.next_time(), NextAhead());
    return next == INT64_MAX ? Time::Max() : Time::Picoseconds(next);
  }
  // Handles events before `limit`, about `count` at most: what a switch does in a window is not
  // divided. The number handled.
  std::uint64_t Run(Time limit, std::uint64_t count);
  // For the application as it hears something: Run returns once it has heard all there is.
  void Stop() { stop_ = true; }

  // Has every port send what it sends before `limit`, so that counters and queues can be read as of
  // then. REQUIRES: Run(limit, …) has handled all events before.
  void CatchUpTo(Time limit);

  // Writes what waits at this shard's watched ports as of `now` into a slot of Plant::news, and
  // reads `read` from now on. REQUIRES: all events before have been handled.
  void Publish(Time now, std::uint32_t write, std::uint32_t read);

  // --- One of several shards, side by side in windows no longer than a cut cable's delay.

  // This shard is number `id` of `count`. REQUIRES: nothing has happened yet.
  void JoinShards(std::uint16_t id, std::size_t count);
  // No later than the next event here or of what waits in this side's outboxes, and no earlier than
  // a zone may be behind; then the end of what should be run at once.
  [[nodiscard]] Time NextWindow()
    requires kFused;
  [[nodiscard]] Time EndOfWindow(Time begin) const
    requires kFused;
  // Outboxes have two sides: while one is filled, others may empty the other.
  void Fill(std::uint32_t side) { side_ = side; }
  [[nodiscard]] Outbox& outbox(std::uint32_t side, std::size_t shard) {
    return outboxes_[side][shard];
  }
  // Has OnSignal(what, now) called in another shard once this window is over. REQUIRES: nothing
  // that comes of it is before `soonest`, which is after this window.
  void Signal(std::uint32_t shard, std::uint32_t what, Time soonest);
  // Takes what another shard sent here, and empties its outbox.
  void Import(Outbox& from);

  [[nodiscard]] Time now() const { return Time::Picoseconds(now_); }
  [[nodiscard]] PacketCounters counters() const;
  // Which queues held the bytes of inputs when these were paused.
  [[nodiscard]] const PauseCauses& pause_causes() const { return pause_causes_; }
  // Adds what packets in this shard's switches hold at `at` and where they queue. REQUIRES:
  // CatchUpTo(at).
  void ListWaits(Time at, std::vector<QueueWait>& waits) const;
  // Arrivals, timers and posts so far; not the ends of frames, which only some ports need.
  [[nodiscard]] std::uint64_t events() const { return events_; }
  // When the last of these was.
  [[nodiscard]] Time last_event() const { return Time::Picoseconds(last_event_); }
  [[nodiscard]] std::uint64_t packets_in_flight() const { return packets_.in_use(); }
  [[nodiscard]] std::uint64_t calm_windows() const { return calm_windows_; }  // of switches

 private:
  static constexpr std::int64_t kAlphaOne = 1 << 16;

  [[gnu::always_inline]] void Handle(const PacketEvent& event);
  void HandleOther(const PacketEvent& event);
  void Prefetch(const PacketEvent* next, const PacketEvent* end)
    requires kFused;
  void PrefetchBucket(std::span<const PacketEvent> bucket)
    requires kFused;
  void PrefetchZone()
    requires kFused;
  void BeginBucket()
    requires kFused;
  // Always inlined: g++ takes a function that only prefetches for one without effect, and drops
  // calls.
  [[gnu::always_inline]] void PrefetchPacket(const PacketEvent& event) const;
  [[gnu::always_inline]] void PrefetchPath(const PacketEvent& event) const;
  [[gnu::always_inline]] void PrefetchReturns(const PacketEvent& event) const;
  [[gnu::always_inline]] void PrefetchFirst(std::uint32_t link) const;
  [[gnu::always_inline]] void PrefetchEnd(const Packet& packet) const;
  [[gnu::always_inline]] void PrefetchSender(std::uint32_t index) const;
  std::uint32_t PrefetchPorts(const PacketEvent& event);

  // shard_forwarding.h: ports and switches.
  [[gnu::always_inline]] void OnArrival(std::uint32_t link, std::uint32_t id);
  [[gnu::always_inline]] void OnArrivalAtEnd(std::uint32_t link, std::uint32_t id);
  void OnPortDone(std::uint32_t link);
  [[gnu::always_inline]] void Enqueue(Port& port, std::uint32_t link, Packet& packet,
                                      std::uint32_t id);
  void Serve(std::uint32_t link);
  [[gnu::always_inline]] bool ServeQueues(std::uint32_t link);
  [[nodiscard]] std::size_t QueueOf(std::uint32_t link, std::uint32_t traffic_class) const {
    return std::size_t{link} * classes_ + traffic_class;
  }
  [[gnu::always_inline]] bool ServeClass(std::uint32_t link, std::uint32_t traffic_class);
  bool ServeFirst(std::uint32_t link, std::uint32_t traffic_class);
  bool ServeData(std::uint32_t link);
  void TakeTurn(Port& port, std::uint32_t link, const Packet& packet);
  void BeginTurn(Port& port, std::uint8_t traffic_class) const;
  bool ServeArbitrated(std::uint32_t link);
  void Transmit(std::uint32_t link, std::uint32_t id);
  [[gnu::always_inline]] void TransmitBy(Port& port, std::uint32_t link, Packet& packet,
                                         std::uint32_t id);
  [[gnu::always_inline]] void Launch(const Port& port, std::uint32_t link, Packet& packet,
                                     std::uint32_t id, std::int64_t end);
  [[nodiscard, gnu::always_inline]] bool CanStart(const Port& port, std::uint32_t link,
                                                  const Packet& packet);
  [[nodiscard]] bool IsLost(std::uint32_t link, const Packet& packet);
  [[nodiscard, gnu::always_inline]] std::uint32_t PeekNextLink(const Packet& packet,
                                                               std::uint32_t at);
  [[nodiscard, gnu::always_inline]] std::uint32_t NextLink(Packet& packet, std::uint32_t at,
                                                           std::uint32_t known);
  [[nodiscard]] std::uint32_t HomeLink(const Home& to, std::uint32_t at) const;
  [[nodiscard]] std::int64_t Reluctance(const Port& port) const;
  // Which of some ports an entropy means at a switch.
  [[nodiscard, gnu::always_inline]] std::uint32_t Spread(std::span<const std::uint32_t> ports,
                                                         std::uint32_t at,
                                                         std::uint32_t entropy) const {
    const std::uint64_t spread = entropy * switches_[at].multiplier;
    return static_cast<std::uint32_t>((spread * ports.size()) >> 32);
  }
  [[nodiscard]] std::uint32_t Choose(std::span<const std::uint32_t> ports, std::uint32_t at,
                                     std::uint32_t entropy);
  // shard_windows.h: ports that need no events of their own, and zones.
  void FindWays();
  [[nodiscard, gnu::always_inline]] std::uint32_t ZoneTo(std::uint32_t link) const;
  [[nodiscard, gnu::always_inline]] std::uint32_t ZoneFrom(std::uint32_t link) const;
  [[nodiscard, gnu::always_inline]] bool CatchesUp(std::uint32_t link) const;
  [[gnu::always_inline]] void CatchUp(std::uint32_t link);
  void SendDue(std::uint32_t link);
  [[gnu::always_inline]] void SetDue(std::uint32_t link);
  [[gnu::always_inline]] void SetWake(std::uint32_t link, std::int64_t time);
  void EndWindow();

  // shard_calm.h: switches where outputs do not matter to each other within a window.
  void FindCalm();
  std::uint64_t RunCalm()
    requires kFused;
  template <typename Function>
  void ForEachUsed(Function function);
  std::optional<std::size_t> CountByOutput(std::uint32_t zone, std::span<PacketEvent> events)
    requires kFused;
  [[nodiscard]] bool HasRoomFor(const Switch& at, std::span<const PacketEvent> arrivals) const;
  void DealOut(const Switch& at, std::span<const PacketEvent> events, std::size_t others)
    requires kFused;

  // shard_passing.h: one of these outputs.
  template <typename Shard, bool kLossy, bool kSource>
  friend struct Passage;
  template <bool kLossy, bool kSource>
  void Pass(std::uint32_t link, std::span<const PacketEvent> arrivals, std::int64_t until);
  void RunPort(std::uint32_t link, std::span<const PacketEvent> arrivals, std::int64_t until);
  void ObserveAt(std::uint32_t link, std::uint32_t id, std::int64_t now);

  // shard_guiding.h: routes that depend on where a packet has been.
  std::uint32_t Guide(Packet& packet, std::uint32_t at);
  std::uint32_t GuideByPath(Packet& packet, std::uint32_t at);
  std::uint32_t GuideByGroups(Packet& packet, std::uint32_t at);
  std::uint32_t GuideWithEscape(Packet& packet, std::uint32_t at);
  [[nodiscard]] std::uint32_t ClaimPort(Packet& packet, std::span<const std::uint32_t> ports,
                                        std::uint32_t at);
  void MoveTo(Packet& packet, std::uint32_t channel);
  bool TurnsOff(Packet& packet, std::uint32_t at, const GroupRoutes::Goal& home);
  [[nodiscard]] bool PrefersDetour(std::uint32_t at, const GroupRoutes::Goal& via,
                                   const GroupRoutes::Goal& home);
  [[nodiscard]] GroupRoutes::Goal GoalOf(std::uint32_t index) const;
  struct Choice {
    std::uint32_t link = kNoIndex;
    std::int64_t queued = INT64_MAX;
  };
  [[nodiscard]] Choice LeastQueued(std::uint32_t at, const GroupRoutes::Goal& goal,
                                   std::uint32_t turn);
  [[nodiscard]] std::int64_t NewsOfGateways(std::uint32_t at, const GroupRoutes::Goal& goal) const;

  // shard_ends.h: endpoints that have no events of their own.
  void WakeZone(std::uint32_t link, std::int64_t time);
  [[gnu::always_inline]] void ComeTo(std::uint32_t link, std::uint32_t id);
  [[nodiscard]] std::int64_t NextIn(std::uint32_t link) const;
  void RunEnd(std::uint32_t link, std::int64_t departures, std::int64_t arrivals);
  void RunEnds(std::uint32_t zone);
  [[gnu::always_inline]] void PrefetchEnds(std::uint32_t zone) const;
  void CatchUpEnd(const PacketEvent& event);
  [[nodiscard]] std::uint32_t LinkToReceiver(std::uint32_t queue_pair) const;

  // shard_ahead.h: endpoints that run ahead of the rest.
  void CatchUpTowards(std::uint32_t link);
  void DriveEnd(std::uint32_t link);
  void RunAhead(std::uint32_t link, std::int64_t departures, std::int64_t arrivals);
  void RunReadyEnds();
  void BeginAhead(std::int64_t limit);
  void Sweep(std::int64_t time);
  void EndAhead();
  [[nodiscard]] std::int64_t LatestLook(std::uint32_t link) const;
  [[nodiscard]] std::int64_t NextAhead() const;
  bool HandleAhead(const PacketEvent& event);

  void Observe(const Port& port, std::uint32_t link, std::uint32_t id);
  void Mark(const Port& port, std::uint32_t link, Packet& packet);
  void StartTelemetry(std::uint32_t id);

  // shard_buffers.h: room and credits.
  void Drop(std::uint32_t id);
  [[gnu::always_inline]] bool Admit(std::uint32_t link, std::uint32_t id, std::uint32_t out);
  [[gnu::always_inline]] bool AdmitPausing(std::uint32_t link, std::uint32_t id, std::uint32_t out);
  bool AdmitFull(std::uint32_t link, std::uint32_t id, std::uint32_t out);
  [[gnu::always_inline]] void TakeRoom(Switch& at, Ingress& ingress, std::uint32_t bytes);
  [[gnu::always_inline]] bool AdmitLossy(std::uint32_t id, std::uint32_t out);
  bool AdmitLossyFull(std::uint32_t id, std::uint32_t out);
  [[nodiscard, gnu::always_inline]] bool FitsLossy(const Switch& at, const Port& port,
                                                   const Packet& packet) const;
  void Settle(Switch& at);
  void BeExact(Switch& at);
  [[gnu::always_inline]] void Free(Port& port) {
    Release(switches_[port.at_switch], std::exchange(port.held, Charge()));
  }
  [[gnu::always_inline]] void Release(Switch& at, const Charge& held);
  void ReleasePaused(Switch& at, Ingress& ingress, const Charge& held);
  void CatchUpAll(const Switch& at);
  [[nodiscard]] bool Fits(const Switch& at, const Ingress& ingress, const Packet& packet) const;
  [[nodiscard]] bool TakeCredit(std::uint32_t link, std::uint32_t traffic_class,
                                std::uint32_t wire);
  void ReturnCredit(const Packet& packet, std::uint32_t link, std::int64_t time);
  void NoteReturn(std::uint32_t link, std::uint32_t traffic_class, std::uint32_t bytes,
                  std::int64_t known);

  // shard_faults.h: cables that go down, come back, slow down or spoil frames.
  void OnFault(std::uint32_t index);
  void ChangeSending(std::uint32_t link, const CableChange& change);
  void ChangeReceiving(std::uint32_t link, const CableChange& change);
  void GoDown(std::uint32_t link);
  void ComeBack(std::uint32_t link);
  [[nodiscard]] bool WasCutOff(std::uint32_t link, const Packet& packet) const;
  [[nodiscard]] double SpoilChance(std::uint32_t link, std::uint32_t wire) const;
  void LoseOnCable(std::uint32_t link, std::uint32_t id);
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> PathNow(std::uint32_t queue_pair) const;
  void MoveRoutes(std::uint32_t epoch);
  void MoveSender(std::uint32_t index, const FaultPlan::Move& move);
  void Detach(std::uint32_t index);

  // shard_pausing.h: priority flow control.
  static constexpr std::uint32_t kExpiry = 8;  // added to the class in a kRefresh's payload
  void SendPause(std::uint32_t link, std::uint32_t traffic_class, bool pause);
  void OnPause(std::uint32_t link, const Packet& packet);
  void Resume(std::uint32_t link, std::uint32_t traffic_class);
  void GoOn(std::uint32_t link);
  void AwaitExpiry(std::uint32_t link, std::uint32_t traffic_class, std::int64_t time);
  void OnRefresh(std::uint32_t link, std::uint32_t what);
  void RepeatPause(std::uint32_t link, std::uint32_t traffic_class);
  void ExpirePause(std::uint32_t link, std::uint32_t traffic_class);
  [[nodiscard]] std::int64_t PauseTime(std::uint32_t link) const;

  // shard_crossing.h: what leaves for other shards.
  void Export(std::uint32_t link, std::uint32_t id, std::int64_t arrival);

  // shard_sending.h: NICs and the senders of queue pairs.
  struct Frame {
    std::uint32_t psn;
    std::uint16_t payload;
    bool last;   // of its message
    bool again;  // it has been sent before
  };
  void Append(std::uint32_t queue_pair, std::int64_t bytes, std::int64_t overhead);
  bool ServeNic(std::uint32_t link);
  [[nodiscard]] std::uint8_t NextClass(std::uint32_t link, const Nic& nic,
                                       std::uint8_t ready) const;
  [[nodiscard]] Frame NextFrame(const Sender& sender) const;
  std::uint32_t Pack(std::uint32_t index, const Frame& frame);
  void Send(std::uint32_t index, std::uint32_t link, const Frame& frame);
  std::uint32_t Entropy(std::uint32_t index);
  std::uint32_t Flowlet(std::uint32_t index);
  void Ready(std::uint32_t index);
  std::int64_t Line(Nic& nic, std::uint32_t index, std::int64_t idle);
  void Pace(Sender& sender) const;
  void Reconsider(std::uint32_t index);
  void AppendToRing(Nic& nic, std::uint32_t index);
  void PopRing(Nic& nic, std::uint8_t traffic_class);
  std::optional<std::uint8_t> HeldUp(std::uint32_t link, std::uint32_t index, std::uint32_t wire);
  [[nodiscard]] bool MaySend(const Sender& sender) const;
  [[nodiscard]] std::int64_t PacketsInFlight(const Sender& sender) const;
  [[nodiscard]] std::int64_t InFlight(const Sender& sender) const;

  // shard_receiving.h: the receivers of queue pairs.
  void Receive(std::uint32_t link, std::uint32_t id);
  enum class Reply : std::uint8_t { kNone, kAck, kNack };
  void ReceiveData(std::uint32_t link, std::uint32_t id);
  [[nodiscard]] Reply TakeData(std::uint32_t link, std::uint32_t id);
  bool Accept(Receiver& receiver, const Packet& packet);
  void Deliver(const Receiver& receiver, std::uint32_t queue_pair);
  void SlowDown(std::uint32_t link, std::uint32_t data);
  void Answer(std::uint32_t link, std::uint32_t id, PacketKind kind);
  void SendControl(std::uint32_t out, std::uint32_t id);

  // shard_recovery.h: acknowledgements, losses, timers and reads.
  static constexpr std::uint32_t kSenderTimer = 0;  // payloads of kTimeout
  static constexpr std::uint32_t kReadRequest = 1;
  static constexpr std::uint32_t kReaderTimer = 2;
  static constexpr std::uint32_t kCorePass = 3;  // of a core instead of a queue pair
  static constexpr std::uint32_t kBusPass = 4;
  void ReceiveAnswer(std::uint32_t id);
  void TellAcknowledged(std::uint32_t index, std::uint32_t id, std::int64_t newly);
  void TellLost(std::uint32_t index, std::uint32_t packets, bool timeout, bool trimmed);
  void Advance(std::uint32_t index, std::uint32_t psn);
  void Continue(Sender& sender, std::uint32_t psn);
  bool GoBack(Sender& sender, std::uint32_t psn);
  Recovery& RecoveryOf(Sender& sender);
  std::uint32_t Lose(Sender& sender, std::uint32_t from, std::uint32_t to);
  std::uint32_t Learn(Sender& sender, const Packet& packet);
  std::uint32_t LoseAgain(Sender& sender, std::uint32_t until);
  void MeasureRoundTrip(std::uint32_t index, std::int64_t sample);
  [[nodiscard]] std::int64_t TimeoutOf(std::uint32_t index) const;
  void ArmTimer(std::uint32_t index);
  void OnTimeout(std::uint32_t queue_pair, std::uint32_t what);
  void OnSenderTimer(std::uint32_t index);
  void Fail(std::uint32_t index);
  void OnReadRequest(std::uint32_t queue_pair);
  void SendRead(std::uint32_t queue_pair, std::uint32_t request);
  void ReceiveRead(const Packet& packet);
  void ArmReader(std::uint32_t queue_pair);
  void OnReaderTimer(std::uint32_t queue_pair);

  // shard_buses.h: the buses between memory and NICs.
  bool HasCrossed(std::uint32_t index, std::uint32_t payload);
  bool IsCrossing(std::uint32_t link, std::uint32_t id);
  void EndCrossing(std::uint32_t index);
  bool HasRoom(std::uint32_t link, const Packet& packet);
  void FreeRoom(std::uint32_t link, const Packet& packet);

  // shard_sockets.h: sockets and the cores that serve them.
  void TakeIn(std::uint32_t link, std::uint32_t id);
  void Prepare(std::uint32_t index);
  void Await(std::uint32_t core, Core::Pass pass);
  void BeginPass(std::uint32_t core);
  void EndPass(std::uint32_t core);
  [[nodiscard]] Time BeginSending(Core& core, std::uint32_t index) const;
  [[nodiscard]] Time BeginReceiving(Core& core, std::uint32_t index) const;
  void EndSending(std::uint32_t index, std::uint32_t packets);
  void EndReceiving(std::uint32_t index, std::uint32_t packets);

  using Notice = PacketNotice;
  void Notify(Notice::Kind kind, std::uint32_t queue_pair, std::int64_t time);
  void DeliverNotices();

  Plant& plant_;
  PacketApplication& application_;
  std::uint16_t id_ = 0;
  std::uint32_t epoch_ = 0;  // of routing: see FaultPlan
  const PortTable* port_table_;
  const GroupRoutes* groups_;
  const EscapeTable* escape_;
  const std::vector<Destination>* destinations_;
  std::array<std::vector<Outbox>, 2> outboxes_;  // by side and shard; empty when this one is alone
  std::uint32_t side_ = 0;                       // that is being filled
  std::vector<Notice> notices_;
  bool stop_ = false;
  const std::uint16_t* zones_;  // by link: Zones::of_link
  bool zoned_;
  std::vector<std::vector<std::uint32_t>> due_in_zone_;  // catch up at windows' ends, or as swept
  bool ends_apart_;                                      // Zones::ends_apart
  EndsAhead ahead_;
  std::vector<PacketQueue> inboxes_;  // by link: on its way to an endpoint apart or ahead
  std::vector<std::vector<std::uint32_t>> ends_in_zone_;  // the links of endpoints that are
  Queue queue_;
  PacketPool packets_;
  std::vector<ReorderWindow> reorder_;
  std::vector<Recovery> recoveries_;
  std::vector<Reader> readers_;
  std::vector<PathChooser> choosers_;
  PauseCauses pause_causes_;
  std::vector<Telemetry> telemetry_;       // by packet; empty: the policy needs none
  std::vector<Telemetry> last_telemetry_;  // by queue pair: of its newest acknowledgement
  std::vector<PacketMessage> messages_;
  std::vector<std::uint32_t> free_messages_;
  // What every hop touches, without the way through the plant. None of these arrays grows.
  Port* ports_;
  PacketQueue* queues_;
  Ingress* ingress_;
  const Cable* cables_;
  Switch* switches_;
  std::array<std::uint32_t, 32> outs_;    // by place in the bucket: what PrefetchPorts found
  std::vector<std::uint32_t> to_switch_;  // by link: Cable::to_switch
  std::vector<std::uint32_t> leads_to_;   // by link: a zone, or
  static constexpr std::uint32_t kToEnd = UINT32_MAX;        // an endpoint that is apart, or
  static constexpr std::uint32_t kToShard = UINT32_MAX - 1;  // another shard
  std::vector<std::uint8_t> catches_up_;  // by link: what due_ then is; 0: the port needs events
  std::vector<std::uint8_t> due_;  // by link: packets wait, and the port has no event for them
  static constexpr std::uint8_t kDueInside = 1;  // the link stays in its zone
  static constexpr std::uint8_t kDueAcross = 2;  // it does not
  static constexpr std::uint8_t kDue = kDueInside | kDueAcross;
  static constexpr std::uint8_t kListed = 4;  // in due_in_zone_
  bool calm_ = false;                         // switches may be
  CalmWindow coming_;                         // to one that is
  std::int64_t frame_;                        // a full packet on the wire
  std::int64_t window_unit_;                  // of a window that a packet in flight takes
  std::int64_t window_room_;                  // that must be left for one more
  bool acks_with_data_;
  // Of a packet: at least one byte, also where headers are free, so that its turn takes time and
  // its place room.
  [[nodiscard]] std::uint32_t WireBytes(std::int64_t payload) const;
  std::int64_t packet_overhead_;   // bytes
  std::int64_t message_overhead_;  // ps; of a NIC: a core takes that of sockets
  std::int64_t reconsider_;        // CongestionPolicy::reconsider, ps
  std::uint32_t loss_distance_;    // PacketTransport::loss_distance; kNoIndex: gaps tell nothing
  std::uint32_t unit_ = 0;         // packets of a pass through the kernel; 0: NICs need none …
  std::uint32_t window_ = 0;       // … and those that a socket holds
  bool any_order_;                 // receivers take packets in any order
  bool gaps_tell_;                 // packets overtaken are lost
  bool faulty_;                    // something may happen to cables
  std::int64_t unobserved_;        // bytes that may wait behind a packet before Observe is due
  bool source_routed_;
  bool sprays_;                             // switches do, and no cable ever fails
  bool paths_stay_;                         // and what follows a link is known before it is crossed
  bool guided_;                             // where packets go is for Guide to say
  bool grades_;                             // adaptive routing compares queues coarsely
  std::int64_t flowlet_gap_;                // 0: no flowlets
  std::vector<std::int64_t> flowlet_sent_;  // by queue pair: when it sent last
  std::uint32_t news_ = 0;                  // the slot of Plant::news that is read
  bool large_;                              // memory, rather than instructions, is what a hop costs
  bool lossy_;
  bool credits_;
  bool gated_;  // credits or buses may hold up what leaves an endpoint
  bool cut_through_;
  bool catch_up_;             // ports may do without events at all
  std::uint32_t reserved_;    // of each ingress
  std::int64_t queue_limit_;  // of a port that drops
  double egress_alpha_;
  std::int64_t alpha_;  // in units of 1/kAlphaOne
  std::int64_t now_ = 0;
  std::uint32_t classes_;
  std::uint8_t control_;
  PacketCounters counters_;  // but for hops
  std::array<std::uint64_t, kPacketKinds> hops_{};
  std::uint64_t events_ = 0;
  std::uint64_t calm_windows_ = 0;
  std::int64_t last_event_ = 0;
};

}  // namespace trunkline
