#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/packet/escape_table.h"
#include "engine/packet/packet.h"
#include "engine/packet/port_table.h"
#include "engine/packet/psn_set.h"
#include "engine/packet/vl_arbiter.h"
#include "engine/packet/wire_clock.h"
#include "engine/packet/zones.h"
#include "fabric/routing/group_routes.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/route.h"
#include "trunkline/fabric/switch_model.h"
#include "trunkline/transport/congestion_control.h"
#include "trunkline/transport/packet_transport.h"

// What packets cross: ports, cables, switches, and the queue pairs at the ends. Plain data by dense
// id; every element is written by one shard only.
namespace trunkline {

struct FaultPlan;

inline constexpr std::uint32_t kNoIndex = UINT32_MAX;
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// What a packet takes of a receive buffer: credits are of 64 bytes (InfiniBand).
[[nodiscard]] constexpr std::uint32_t Credits(std::uint32_t wire) { return (wire + 63) / 64 * 64; }

// What never changes of a directed link.
struct Cable {
  std::int64_t delay = 0;              // its latency, and that of the switch it leads to
  std::int64_t latency = 0;            // its own
  std::uint32_t to_switch = kNoIndex;  // kNoIndex: it leads to an endpoint
  std::uint16_t from_shard = 0;        // whose its sending side is
};
static_assert(sizeof(Cable) == 24);

// Room in a switch's buffer that the frame in transmission holds until its last bit has left.
struct Charge {
  std::uint32_t ingress = 0;
  std::uint16_t bytes = 0;
  std::uint8_t traffic_class = 0;
};

// The sending side of a directed link. What every hop touches fills one cache line; the rest is
// PortDetails.
struct alignas(64) Port {
  std::int64_t busy_until = 0;  // when the frame in transmission ends
  std::int64_t wake = kNever;   // when its kPortDone is due
  std::int64_t wire_bytes = 0;
  std::uint64_t packets = 0;
  std::uint16_t byte_time = 0;  // ps a byte takes; 0: that does not do, see PortDetails::wire
  std::uint16_t to_shard = 0;   // whose the receiving side of its cable is
  std::uint32_t at_switch = kNoIndex;  // kNoIndex: an endpoint sends …
  std::uint32_t nic = kNoIndex;        // … by this NIC
  Charge held;                         // bytes 0: nothing
  std::uint32_t queued_bytes = 0;
  std::uint32_t delay = kNoIndex;  // Cable::delay where it fits, else kNoIndex
  std::uint8_t waiting = 0;        // a bit for each class: packets are queued
  std::uint8_t paused = 0;         // a bit for each class: the far end said PAUSE
  std::uint8_t turn = 0;           // the data class served last
  std::uint8_t turn_left = 0;      // packets that it may send yet
};
static_assert(sizeof(Port) == 64);

struct PortDetails {
  WireClock wire;
  std::uint32_t sending = PacketPool::kNone;  // the reference only: the packet in transmission
  double marking_scale = 1;                   // from its queue to that of the marking curve's rate
};

// Packets of one class that wait at a port, first in first out.
struct PacketQueue {
  std::uint32_t head = PacketPool::kNone;
  std::uint32_t tail = PacketPool::kNone;
};

// What one (incoming link, class) holds of its switch's buffer.
struct Ingress {
  std::uint32_t used = 0;      // reserved and shared room
  std::uint32_t headroom = 0;  // room beyond, used after PAUSE was sent
  std::uint32_t headroom_limit = 0;
  std::uint32_t pauses : 31 = 0;  // PAUSE frames sent so far
  std::uint32_t paused : 1 = 0;
};
static_assert(sizeof(Ingress) == 16);

// What faults have made of a link. Its sending side writes the first part, its receiving side the
// second.
struct LinkHealth {
  double frame_loss = 0;  // chance that a frame is spoilt …
  double bit_errors = 0;  // … and that a bit is
  std::uint32_t times_down = 0;

  std::uint32_t heard_down = 0;  // how often it has gone down
  bool down = false;
  std::int64_t last_down = 0;
  Rate rate;  // at which frames come
};

// The sender of a (link, class) under PFC.
struct Pause {
  std::int64_t since = 0;  // when it began
  std::int64_t until = 0;  // when it expires unless it is repeated
  std::int64_t past = 0;   // ps that earlier ones took
  bool timer = false;      // a kRefresh is pending for its expiry
};

// The receiver of a (link, class) under PFC.
struct Pauser {
  std::int64_t told = 0;  // when it sent the newest PAUSE
  bool timer = false;     // a kRefresh is pending for the next
};

struct Switch {
  std::int64_t pool = 0;         // bytes shared by all ports
  std::int64_t used = 0;         // of it; includes frames that have left unless `exact`
  std::uint32_t first_port = 0;  // in Plant::switch_ports
  std::uint32_t port_count = 0;
  std::uint32_t paused = 0;      // how many Ingress are
  std::int64_t in_headroom = 0;  // bytes that all of them hold there
  bool exact = false;            // every frame's end is an event and frees its room at once
  // Odd, of its own: consecutive entropies times it spread evenly over the ports (Fibonacci
  // hashing), and switches do not follow each other's choices.
  std::uint32_t multiplier = 1;
};

// The room in the receive buffer at the far end of a (link, virtual lane), as its sender knows it.
struct Lane {
  struct Return {
    std::int64_t time = 0;
    std::uint32_t bytes = 0;
  };
  std::uint32_t available = 0;
  bool starved = false;     // a packet waits for room
  std::uint32_t first = 0;  // of the returns that are not counted yet
  std::vector<Return> returns;

  // What has come back by `now` is available.
  void Count(std::int64_t now) {
    while (first < returns.size() && returns[first].time <= now)
      available += returns[first++].bytes;
    if (first != returns.size()) return;
    returns.clear();
    first = 0;
  }
};

// The sender's half of a queue pair.
struct alignas(64) Sender {
  enum State : std::uint8_t { kIdle, kRinging, kPaced };

  std::uint32_t link = 0;         // the NIC port it sends by
  std::uint32_t next = kNoIndex;  // in its NIC's ring
  std::uint32_t path = 0;         // in Plant::path_links
  std::uint32_t next_psn = 0;
  std::uint32_t acked = 0;                  // everything before has arrived
  std::uint32_t received = 0;               // packets that have arrived, in any order
  std::uint32_t end = 0;                    // one past the last packet posted
  std::uint32_t message = kNoIndex;         // the one that next_psn is of
  std::uint32_t unacknowledged = kNoIndex;  // the oldest
  std::uint32_t last_message = kNoIndex;
  std::uint32_t sent = 0;             // one past the newest packet that was ever sent
  std::uint32_t lost = 0;             // packets known to be lost and not sent again yet
  std::uint32_t recovery = kNoIndex;  // its Recovery, once anything was lost or overtaken
  std::uint32_t entropy = 0;          // packets sent so far, where each takes its own path
  std::uint32_t chooser = kNoIndex;   // its PathChooser, where it has one
  std::uint32_t requests = 0;         // reads that it has answered
  std::int64_t next_send = 0;         // pacing
  std::int64_t pace_from = 0;         // when the packet left that next_send is of
  std::int64_t last_progress = 0;     // when an acknowledgement last moved `acked`
  std::uint16_t pace_wire = 0;        // its bytes on the wire; 0: the rate does not matter
  std::uint8_t traffic_class = 0;
  std::uint8_t state = kIdle;
  bool timer = false;   // a kTimeout is pending
  bool failed = false;  // retries are exceeded
  bool raw = false;     // no congestion control holds it back
  std::uint8_t retries = 0;
  double line_rate = 0;  // of its port, bits per second
  FlowControl control;
  std::uint32_t number = 0;  // of its flow: the lower goes first of two that may go at one time
};

// What the sender of a selective-repeat queue pair knows of the packets beyond `acked`.
struct Recovery {
  PsnSet arrived;
  PsnSet lost;               // and not sent again yet
  std::uint32_t judged = 0;  // packets before have been judged arrived or lost
  // Sockets only: what has been sent again, and the first new packet that was sent after it.
  struct Repeat {
    std::uint32_t psn = 0;
    std::uint32_t before = 0;
  };
  std::vector<Repeat> repeats;  // in this order
};

// A message on its way: packets [first, end) of its queue pair.
struct PacketMessage {
  std::uint32_t first = 0;
  std::uint32_t end = 0;
  std::uint32_t next = kNoIndex;
  std::uint16_t last_payload = 0;  // bytes of the last packet
};

// The receiver's half.
struct alignas(64) Receiver {
  std::uint32_t expected = 0;  // every packet before has arrived
  std::uint32_t received = 0;  // in any order
  std::uint16_t unacknowledged = 0;
  std::uint16_t marked = 0;          // of those
  std::uint16_t repeats_due = 0;     // trimmed packets that have not come again yet
  bool nacked = false;               // the gap at `expected` has been reported
  std::uint32_t reorder = kNoIndex;  // its ReorderWindow, once anything came early
  std::uint32_t reader = kNoIndex;   // its Reader, once it has read anything
  std::int64_t next_notification = 0;
};

// A receiver that reads: its requests, and whether they are heard.
struct Reader {
  std::vector<std::int64_t> bytes;  // by request
  std::uint32_t asked = 0;          // requests sent
  std::uint32_t served = 0;         // requests whose data is whole
  std::int64_t ready = 0;           // when the newest request has been prepared
  std::int64_t last_progress = 0;
  std::uint32_t heard = 0;  // packets that had arrived by then
  std::uint8_t retries = 0;
  bool timer = false;
  bool failed = false;
};

// A core of a host that moves data between applications and a NIC (SocketModel): one pass at a
// time, each of one connection and one way.
struct Core {
  struct Pass {
    std::uint32_t queue_pair = 0;
    bool receives = false;
  };
  std::vector<Pass> waiting;  // the first from `next` on is under way
  std::size_t next = 0;
  std::uint32_t packets = 0;  // of the pass under way
};

// The socket of a sender: what is written is posted, what a core has prepared counts in
// Sender::end.
struct SendSocket {
  std::uint32_t core = kNoIndex;
  std::uint32_t posted = 0;          // one past the last packet
  std::uint32_t message = kNoIndex;  // that the next pass is of
  std::int64_t round_trip = 0;       // smoothed (RFC 6298); 0: none is known
  bool waits = false;                // for its core, or is served by it
  bool probed = false;               // without progress for two round trips, and has sent a probe
};

// The socket of a receiver: packets that have arrived and that no pass has taken up.
struct ReceiveSocket {
  std::uint32_t core = kNoIndex;
  std::uint32_t packets = 0;
  PacketQueue queue;
  bool waits = false;
};

// What switches on the way have written into a packet.
struct Telemetry {
  std::array<TelemetryHop, kMaxTelemetryHops> hops;
  std::size_t count = 0;
  [[nodiscard]] std::span<const TelemetryHop> view() const { return std::span(hops).first(count); }
};

// An end of a queue pair, for switches that choose hop by hop.
struct Home {
  std::uint32_t group = 0;      // destination class of PortTable
  std::uint32_t last_link = 0;  // into it
  // All links into it: a range of Plant::home_links.
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// Where a queue pair's packets go.
struct Destination {
  std::array<Home, 2> homes;  // of the receiver, and of the sender
  [[nodiscard]] Home& receiver() { return homes[0]; }
  [[nodiscard]] Home& sender() { return homes[1]; }
  [[nodiscard]] const Home& receiver() const { return homes[0]; }
  [[nodiscard]] const Home& Of(const Packet& packet) const { return homes[packet.backward()]; }
};

// Bytes in a queue of an output when an input was paused, by [link x classes + class] of both: the
// input's is first. Summed over every 64th pause of an input, and its first ones.
using PauseCauses = std::map<std::pair<std::size_t, std::size_t>, std::uint64_t>;

// How switches choose among equally short ports.
//   kSource    not at all: the sender chose the whole path
//   kSpray     by the packet's entropy, which differs from packet to packet
//   kAdaptive  the shortest queue
//   kGroups    by the groups of a dragonfly (shard_guiding.h)
enum class Forwarding : std::uint8_t { kSource, kSpray, kAdaptive, kGroups };

// How long the queues of cables between groups were a while ago, for routing that every router
// bases on them: two slots, of which one is read while the other is written.
struct QueueNews {
  std::int64_t period = 0;                           // between two writes; 0: nobody reads
  std::vector<std::uint32_t> watched;                // links
  std::vector<std::uint32_t> place;                  // by link: in `watched`
  std::array<std::vector<std::uint32_t>, 2> queued;  // by place, bytes
};

// A NIC port and the queue pairs that send by it.
struct Nic {
  struct Paced {
    std::int64_t time = 0;
    std::uint32_t sender = 0;
    std::uint32_t number = 0;  // Sender::number
    bool operator>(const Paced& other) const {
      return time != other.time ? time > other.time : number > other.number;
    }
  };
  // By class, the last of the circular list of senders that may send now.
  std::array<std::uint32_t, 8> rings{kNoIndex, kNoIndex, kNoIndex, kNoIndex,
                                     kNoIndex, kNoIndex, kNoIndex, kNoIndex};
  std::uint8_t ready = 0;         // a bit for each class whose ring is not empty
  std::uint8_t turn = 0;          // the class served last
  std::vector<Paced> paced;       // a min-heap of those whose pace has them wait
  std::uint32_t connections = 0;  // sockets that have been given one of its cores
  // Bytes that have come in and wait for buses. ConnectX adapters of 100 Gb/s have 262,016 bytes of
  // receive buffer by default (mlnx_qos).
  std::uint32_t backlog = 0;
  static constexpr std::uint32_t kRoom = 262'016;
};

// A bus inside a node: a server of payload bytes, first come first served.
struct Bus {
  WireClock wire;
  std::int64_t free_at = 0;
};

// The buses that the packets of a queue pair cross, in Plant::bus_list: those of the sender from
// `first` on, then those of the receiver.
struct BusPath {
  std::uint32_t first = 0;
  std::uint16_t sending = 0;
  std::uint16_t receiving = 0;
  bool placed = false;     // its next packet has its place on the sender's buses …
  std::int64_t place = 0;  // … from then on
  PacketQueue queue;       // packets on their way to memory
};

// Everything that packets cross and endpoints remember.
struct Plant {
  SwitchModel switches_model;
  PacketTransport transport;
  Forwarding forwarding = Forwarding::kSource;
  std::uint64_t seed = 1;
  bool can_lose = false;  // packets may be lost, so senders need timers

  std::vector<Cable> cables;                   // by link
  std::vector<Port> ports;                     // by link
  std::vector<PortDetails> details;            // by link
  std::vector<std::uint32_t> max_queue_bytes;  // by link
  std::vector<std::uint64_t> marks;            // by link
  std::vector<PacketQueue> queues;             // [link x classes + class]
  std::vector<Ingress> ingress;                // [link x classes + class]; kPause only
  std::vector<Pause> pauses;                   // [link x classes + class]; kPause only
  std::vector<Pauser> pausers;                 // [link x classes + class]; kPause only
  std::vector<LinkHealth> health;              // by link; empty: nothing happens to cables
  std::vector<VlArbiter> arbiters;             // by link; empty: classes take turns
  std::vector<Lane> lanes;                     // [link x classes + class]; kCredits only
  std::vector<Switch> switches;
  std::vector<std::uint32_t> switch_ports;
  Zones zones;
  std::vector<std::uint32_t> host_of_link;  // see ends_ahead.h; empty: endpoints do not run ahead
  std::vector<Nic> nics;
  std::unique_ptr<PortTable> port_table;  // kSpray, kAdaptive
  std::unique_ptr<GroupRoutes> groups;    // kGroups
  std::unique_ptr<EscapeTable> escape;    // kAdaptive with virtual channels
  QueueNews news;

  RoutingPolicy policy = RoutingPolicy::kEcmp;
  RoutingParameters routing;
  std::int64_t flowlet_gap = 0;       // 0: packets, or whole flows, choose paths
  std::uint8_t channels = 1;          // virtual channels of each data class
  std::uint8_t control_channels = 1;  // and of the control class

  std::vector<Core> cores;                     // [NIC x cores + core]; SocketModel only, as are …
  std::vector<SendSocket> send_sockets;        // … by queue pair
  std::vector<ReceiveSocket> receive_sockets;  // … by queue pair

  std::vector<Bus> buses;                  // those that may delay packets
  std::vector<std::uint32_t> bus_of_link;  // kNoIndex: none; empty: there are none
  std::vector<std::uint32_t> bus_list;
  std::vector<BusPath> bus_paths;  // by queue pair; empty: there are no buses

  std::vector<std::uint32_t> path_links;
  // By place in path_links: the virtual channel of packets along the path, and in the high four
  // bits of those against it. Empty where there is one.
  std::vector<std::uint8_t> path_channels;
  std::vector<Sender> senders;
  std::vector<Receiver> receivers;
  std::vector<PathView> paths;            // by queue pair
  std::vector<Destination> destinations;  // by queue pair; not for kSource
  std::vector<std::uint32_t> home_links;
  std::shared_ptr<FaultPlan> faults;  // none: nothing happens to cables

  void SetRate(std::uint32_t link, Rate rate) {
    PortDetails& of_port = details[link];
    of_port.wire.SetRate(rate);
    ports[link].byte_time = of_port.wire.byte_time();
    if (!switches_model.marking || switches_model.marking->at_rate == Rate()) return;
    of_port.marking_scale =
        switches_model.marking->at_rate.bytes_per_second() / rate.bytes_per_second();
  }
  // Bytes that may wait at any port before one of its packets might be marked.
  [[nodiscard]] std::int64_t LeastMarkedQueue() const {
    if (!switches_model.marking) return kNever;
    double scale = 1;
    for (const PortDetails& of_port : details) scale = std::max(scale, of_port.marking_scale);
    return static_cast<std::int64_t>(static_cast<double>(switches_model.marking->low.count()) /
                                     scale) -
           1;
  }
  // Whether memory, rather than instructions, is what a hop costs: 2,048 ports with what belongs to
  // them are a quarter of a megabyte.
  [[nodiscard]] bool large() const { return ports.size() > 2048; }
  [[nodiscard]] std::size_t QueueOf(std::uint32_t link, std::uint32_t traffic_class) const {
    return std::size_t{link} * switches_model.classes + traffic_class;
  }
  // A port that is down counts as paused in all classes, control included, which PFC never pauses.
  [[nodiscard]] bool IsDown(const Port& port) const {
    return (port.paused >> control_class() & 1) != 0;
  }
  // The first of the control class's virtual channels.
  [[nodiscard]] std::uint8_t control_class() const {
    return static_cast<std::uint8_t>(switches_model.classes - control_channels);
  }
};

}  // namespace trunkline
