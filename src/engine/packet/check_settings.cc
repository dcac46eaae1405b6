#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <tuple>

#include "engine/packet/packet_network.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

constexpr std::int64_t kLargestFrame = 65'535;          // packets hold their size in 16 bits
constexpr Bytes kLargestBuffer{std::int64_t{1} << 30};  // of a port; queues count in 32 bits

bool IsNetwork(const Link& link) { return link.kind == LinkKind::kNetwork; }

class Checker {
 public:
  Checker(const Fabric& fabric, RoutingPolicy routing, const SwitchModel& switches,
          const PacketTransport& transport, bool cables_fail, const RoutingParameters& parameters)
      : fabric_(fabric),
        routing_(routing),
        parameters_(parameters),
        given_(switches),
        channels_(ChannelsOf(fabric, routing, parameters, switches, cables_fail)),
        switches_(WithChannels(switches, channels_)),
        transport_(transport),
        cables_fail_(cables_fail),
        frame_(transport.mtu + transport.packet_overhead) {}

  Diagnostics Run() {
    if (!CheckSizes() || !CheckChannels()) return std::move(problems_);
    MeasureRoundTrip();
    CheckRouting();
    CheckEnds();
    CheckMarking();
    CheckFrameLoss();
    switch (switches_.loss_control) {
      case LossControl::kPause:
        CheckPause();
        break;
      case LossControl::kCredits:
        CheckCredits();
        break;
      case LossControl::kLossy:
        CheckLossy();
        break;
    }
    return std::move(problems_);
  }

 private:
  void Note(Severity severity, std::string code, std::string message, std::string hint) {
    problems_.push_back({.severity = severity,
                         .code = std::move(code),
                         .where = {},
                         .message = std::move(message),
                         .hint = std::move(hint),
                         .excerpt = {}});
  }
  void Refuse(std::string code, std::string message, std::string hint) {
    Note(Severity::kError, std::move(code), std::move(message), std::move(hint));
  }
  void Warn(std::string code, std::string message, std::string hint) {
    Note(Severity::kWarning, std::move(code), std::move(message), std::move(hint));
  }

  // Whether everything is of a size that the engine can count.
  bool CheckSizes() {
    if (frame_.count() > kLargestFrame) {
      Refuse("TL1801",
             fmt::format("packets of {} and {} of headers", ToString(transport_.mtu),
                         ToString(transport_.packet_overhead)),
             fmt::format("an MTU of at most {} B",
                         kLargestFrame - transport_.packet_overhead.count()));
    }
    for (const Bytes size :
         {given_.lane_buffer, given_.pause.reserved, given_.pause.headroom.value_or(Bytes())}) {
      if (size <= kLargestBuffer) continue;
      Refuse("TL1801", fmt::format("{} of buffer for one port", ToString(size)),
             fmt::format("at most {}", ToString(kLargestBuffer)));
    }
    if (given_.classes < 2 || given_.classes > 8) {
      Refuse("TL1801", fmt::format("{} classes", int{given_.classes}),
             "2 to 8: at least one for data, and the last for acknowledgements");
    } else if (!given_.weights.empty() &&
               (given_.weights.size() != given_.classes - 1U ||
                std::ranges::find(given_.weights, 0) != given_.weights.end())) {
      Refuse("TL1801", fmt::format("{} weights", given_.weights.size()),
             fmt::format("one of at least 1 for each of the {} data classes", given_.classes - 1));
    }
    if (transport_.queue_pairs < 1 || transport_.queue_pairs > PacketTransport::kMostQueuePairs) {
      Refuse("TL1801", fmt::format("{} queue pairs for a connection", int{transport_.queue_pairs}),
             fmt::format("1 to {}", int{PacketTransport::kMostQueuePairs}));
    }
    CheckLanes();
    return problems_.empty();
  }

  // Whether there are as many lanes as the policy's virtual channels of all classes take.
  bool CheckChannels() {
    if (routing_ == RoutingPolicy::kAdaptive && parameters_.virtual_channels.value_or(false) &&
        given_.loss_control != LossControl::kCredits) {
      Refuse(
          "TL1829",
          "an escape of adaptive routing where no sender knows that the next buffer has room",
          "virtual channels of adaptive routing under credits (InfiniBand), or routing: up-down");
      return false;
    }
    if (switches_.classes <= 8) return true;
    Refuse("TL1828",
           fmt::format("{} routing moves packets among {} virtual channels of each of {} data "
                       "classes and {} for acknowledgements: {} lanes, where ports have 8",
                       ToString(routing_), int{channels_.data}, given_.classes - 1,
                       int{channels_.control}, int{switches_.classes}),
           fmt::format("switch.classes of at most {}, or routing: {{policy: {}, virtual_channels: "
                       "false}}, which may deadlock",
                       1 + (8 - channels_.control) / channels_.data, ToString(routing_)));
    return false;
  }

  // Whether lanes named exist, and each is served.
  void CheckLanes() {
    const int lanes = given_.classes - 1;
    const auto refuse_lane = [&](int lane) {
      Refuse("TL1819", fmt::format("virtual lane {} where there are {} for data", lane, lanes),
             fmt::format("lanes 0 to {}, or more of them", lanes - 1));
    };
    for (const std::uint8_t lane : given_.lane_of_class) {
      if (lane >= lanes) refuse_lane(lane);
    }
    if (!given_.arbitration) return;
    std::vector<bool> served(8, false);
    for (const auto* table : {&given_.arbitration->high, &given_.arbitration->low}) {
      for (const VlWeight& entry : *table) {
        if (entry.lane >= lanes) {
          refuse_lane(entry.lane);
        } else if (entry.weight > 0) {
          served[entry.lane] = true;
        }
      }
    }
    for (int lane = 0; lane < lanes; ++lane) {
      if (served[static_cast<std::size_t>(lane)]) continue;
      Refuse("TL1819", fmt::format("no arbitration table serves virtual lane {}", lane),
             "an entry of weight 1 to 255 in the high or the low table for each data lane");
    }
  }

  // Of a full packet and its acknowledgement on the idle network, from the first host to one
  // farthest from it, breadth first.
  void MeasureRoundTrip() {
    const auto sends = [&](std::size_t device) {
      return fabric_.device(DeviceId(device)).kind != DeviceKind::kSwitch &&
             std::ranges::any_of(fabric_.out(DeviceId(device)),
                                 [&](LinkId l) { return IsNetwork(fabric_.link(l)); });
    };
    std::size_t first = 0;
    while (first < fabric_.device_count() && !sends(first)) ++first;
    if (first == fabric_.device_count()) return;
    std::vector<Time> flight(fabric_.device_count(), Time::Max());
    std::deque<DeviceId> next = {DeviceId(first)};
    flight[first] = Time();
    Time farthest;
    while (!next.empty()) {
      const DeviceId at = next.front();
      next.pop_front();
      for (const LinkId id : fabric_.out(at)) {
        const Link& link = fabric_.link(id);
        if (!IsNetwork(link)) continue;
        const Time there = flight[Index(at)] + link.latency + fabric_.device(link.to).latency +
                           TransferTime(frame_, link.rate);
        if (fabric_.device(at).kind != DeviceKind::kSwitch) {
          host_rate_ = std::max(host_rate_, link.rate);
        }
        if (flight[Index(link.to)] != Time::Max()) continue;
        flight[Index(link.to)] = there;
        farthest = std::max(farthest, there);
        if (fabric_.device(link.to).kind == DeviceKind::kSwitch) next.push_back(link.to);
      }
    }
    round_trip_ = farthest * 2;
    bandwidth_delay_ =
        Bytes(static_cast<std::int64_t>(host_rate_.bytes_per_second() * round_trip_.seconds()));
  }

  // What a policy weighs against the queues of ports.
  void CheckRouting() {
    if (routing_ == RoutingPolicy::kFlowlet && parameters_.flowlet_gap <= Time()) {
      Refuse("TL1840",
             fmt::format("a flowlet_gap of {}: every packet would be a flowlet of its own",
                         ToString(parameters_.flowlet_gap)),
             "a time above 0, or routing: spray");
    }
    if (parameters_.threshold > kLargestBuffer) {
      Refuse("TL1840",
             fmt::format("a threshold of {}, which no queue reaches: all would go minimally",
                         ToString(parameters_.threshold)),
             fmt::format("at most {}, or routing: minimal", ToString(kLargestBuffer)));
    }
  }

  void CheckEnds() {
    const bool many_paths = PathChoiceOf(routing_) == PathChoice::kPacket;
    const bool detours = routing_ == RoutingPolicy::kValiant || JudgesByQueues(routing_);
    if (transport_.policy.needs_telemetry && detours) {
      Refuse("TL1815",
             fmt::format("congestion control {} under {} routing, by which a packet may pass more "
                         "switches than it has room for the telemetry of",
                         transport_.policy.name, ToString(routing_)),
             "another congestion control, or routing: minimal");
    }
    if (many_paths && transport_.recovery == LossRecovery::kGoBackN) {
      Refuse("TL1807",
             fmt::format("{} routing lets packets overtake each other, and go-back-N takes every "
                         "one that comes early for lost",
                         ToString(routing_)),
             "loss_recovery: selective_repeat, or routing: ecmp or static");
    }
    // Lanes of requests and of answers to them are kept apart where either may wait for the other.
    if (transport_.acks_with_data &&
        (switches_.loss_control == LossControl::kCredits || channels_.data > 1)) {
      Refuse("TL1835", "acknowledgements in the lanes of data, by credits or virtual channels",
             "acks_with_data: false, or an Ethernet of one channel a class");
    }
    if (transport_.base_rtt && *transport_.base_rtt <= Time()) {
      Refuse("TL1836", "congestion controls that take a round trip for no time at all",
             fmt::format("a base_rtt above 0, or none: here {} at most", Humanize(round_trip_)));
    }
    const bool loses =
        switches_.loss_control == LossControl::kLossy || switches_.frame_loss > 0 || cables_fail_;
    if (loses && transport_.retry_limit == 0) {
      Refuse("TL1806", "packets may be lost and nothing sends them again",
             "retry_limit: 7, or switches that lose nothing (pfc: true) and no faults");
    }
    for (const Time timeout : {transport_.retransmit_timeout,
                               transport_.low_timeout.value_or(transport_.retransmit_timeout)}) {
      if (timeout > round_trip_ || !loses) continue;
      Refuse("TL1812",
             fmt::format("a retransmission timeout of {} where an acknowledgement takes {}",
                         ToString(timeout), Humanize(round_trip_)),
             fmt::format("at least {}, twice as long", Humanize(round_trip_ * 2)));
      break;
    }
  }

  void CheckMarking() {
    if (!switches_.marking) {
      if (transport_.policy.needs_marks) {
        Refuse("TL1809",
               fmt::format("{} waits for ECN marks that no switch makes", transport_.policy.name),
               "ecn: true, or congestion_control: none");
      }
      return;
    }
    const MarkingCurve& curve = *switches_.marking;
    if (curve.low > curve.high || !(curve.most > 0 && curve.most <= 1)) {
      Refuse("TL1808",
             fmt::format("marking from kmin {} to kmax {} with probability {}", ToString(curve.low),
                         ToString(curve.high), curve.most),
             "kmin at most kmax, and 0 < pmax <= 1");
    }
  }

  template <typename Each>
  void ForEachSwitch(Each each) const {
    for (std::size_t i = 0; i < fabric_.device_count(); ++i) {
      const auto id = DeviceId(i);
      // One that is down has no ports.
      if (fabric_.device(id).kind == DeviceKind::kSwitch && !fabric_.out(id).empty()) each(id);
    }
  }

  void CheckPause() {
    if (!(switches_.pause.alpha > 0 && switches_.pause.alpha <= 64)) {
      Refuse("TL1813", fmt::format("a PFC threshold of alpha {}", switches_.pause.alpha),
             "0 < alpha <= 64; 0.125 is what switches are shipped with");
      return;
    }
    CheckHeadroom();
    CheckQuanta();
    // The narrowest pool of all switches.
    std::int64_t least = INT64_MAX;
    DeviceId tightest{};
    ForEachSwitch([&](DeviceId at) {
      const std::int64_t pool = SharedPool(fabric_, at, switches_, frame_);
      if (pool < least) std::tie(least, tightest) = std::pair(pool, at);
    });
    if (least == INT64_MAX) return;
    if (least < frame_.count()) {
      const Bytes buffer = SwitchBuffer(fabric_, tightest, switches_);
      Refuse("TL1803",
             fmt::format("a buffer of {} in {}, whose {} ports reserve {} in {} classes",
                         ToString(buffer), fabric_.name(tightest), fabric_.out(tightest).size(),
                         Humanize(buffer - Bytes(least)), int{switches_.classes}),
             fmt::format("at least {}", Humanize(buffer - Bytes(least) + bandwidth_delay_)));
      return;
    }
    // One congested input may take alpha / (1 + alpha) of the pool before it is paused.
    const double alpha = switches_.pause.alpha;
    const double pause_at = static_cast<double>(least) * alpha / (1 + alpha) +
                            static_cast<double>(switches_.pause.reserved.count());
    if (pause_at < static_cast<double>(bandwidth_delay_.count())) {
      Warn("TL1805",
           fmt::format("{} pauses an input that holds {}, less than the {} that a host at {} has "
                       "on its way in {}: links will stand idle after a PAUSE",
                       fabric_.name(tightest), Humanize(Bytes(std::llround(pause_at))),
                       Humanize(bandwidth_delay_), ToString(host_rate_), Humanize(round_trip_)),
           "a larger switch.buffer or pfc.alpha");
    }
    const double shared_at = pause_at - static_cast<double>(switches_.pause.reserved.count());
    if (static_cast<double>(switches_.pause.resume.count()) >= shared_at) {
      Warn("TL1841",
           fmt::format("RESUME is sent {} below the level of PAUSE, which is {} at most: an input "
                       "holds nothing of the pool by then",
                       ToString(switches_.pause.resume), Humanize(Bytes(std::llround(shared_at)))),
           fmt::format("pfc.resume below {}", Humanize(Bytes(std::llround(shared_at)))));
    }
    if (switches_.marking && static_cast<double>(switches_.marking->low.count()) >= pause_at) {
      Warn("TL1810",
           fmt::format("switches pause an input at {}, before they mark at kmin {}: PAUSE comes "
                       "first and congestion control hears little",
                       Humanize(Bytes(std::llround(pause_at))), ToString(switches_.marking->low)),
           fmt::format("kmin below {}, or a larger switch.buffer",
                       Humanize(Bytes(std::llround(pause_at)))));
    }
  }

  // A PAUSE is repeated at half of its time, and may have to wait for a frame that is being sent.
  void CheckQuanta() {
    constexpr std::int64_t kHalfQuantum = 512 / 8 / 2;  // bytes
    constexpr std::int64_t kPauseFrame = 84;
    const std::int64_t wait = frame_.count() + kPauseFrame;
    if (switches_.pause.quanta * kHalfQuantum >= wait) return;
    Warn("TL1825",
         fmt::format("a PAUSE of {} quanta is repeated after {} B of sending, and a packet of {} "
                     "in the way lets it run out",
                     switches_.pause.quanta, switches_.pause.quanta * kHalfQuantum,
                     ToString(frame_)),
         fmt::format("at least {} quanta; 65535 are the most and the default",
                     (wait + kHalfQuantum - 1) / kHalfQuantum));
  }

  // What is given is held against what may arrive after a PAUSE on the worst link.
  void CheckHeadroom() {
    if (!switches_.pause.headroom) return;
    SwitchModel computed = switches_;
    computed.pause.headroom.reset();
    Bytes needed;
    LinkId worst{};
    for (std::size_t i = 0; i < fabric_.link_count(); ++i) {
      const Link& link = fabric_.link(LinkId(i));
      if (!IsNetwork(link) || fabric_.device(link.to).kind != DeviceKind::kSwitch) continue;
      const Bytes room = PauseHeadroom(fabric_, LinkId(i), computed, frame_);
      if (room > needed) std::tie(needed, worst) = std::pair(room, LinkId(i));
    }
    if (*switches_.pause.headroom >= needed) return;
    const Link& link = fabric_.link(worst);
    Refuse(
        "TL1802",
        fmt::format("PFC with {} of headroom, and {} may come by the link from {} to {} after a "
                    "PAUSE: rate x 2 x delay, three packets and the PAUSE itself",
                    ToString(*switches_.pause.headroom), Humanize(needed), fabric_.name(link.from),
                    fabric_.name(link.to)),
        fmt::format("at least {} B, or none: it is then computed for each link", needed.count()));
  }

  void CheckCredits() {
    if (switches_.lane_buffer == Bytes()) return;  // computed for each link
    const Bytes packet(Credits(static_cast<std::uint32_t>(frame_.count())));
    if (switches_.lane_buffer < packet) {
      Refuse("TL1804",
             fmt::format("{} of credits for a packet of {}", ToString(switches_.lane_buffer),
                         ToString(frame_)),
             fmt::format("at least {} B; {} keep the longest cable busy", packet.count(),
                         Humanize(LongestLoop())));
      return;
    }
    const Bytes loop = LongestLoop();
    if (switches_.lane_buffer < loop) {
      const double share =
          static_cast<double>(switches_.lane_buffer.count()) / static_cast<double>(loop.count());
      Warn("TL1805",
           fmt::format("{} of credits are out before the first comes back: a lone flow gets at "
                       "most about {:.0f} % of its link",
                       ToString(switches_.lane_buffer), 100 * share),
           fmt::format("vl.buffer of at least {} B", loop.count()));
    }
  }

  [[nodiscard]] Bytes LongestLoop() const {
    Bytes most;
    for (std::size_t i = 0; i < fabric_.link_count(); ++i) {
      if (IsNetwork(fabric_.link(LinkId(i)))) {
        most = std::max(most, CreditLoop(fabric_, LinkId(i), frame_));
      }
    }
    return most;
  }

  void CheckFrameLoss() {
    if (switches_.frame_loss >= 0 && switches_.frame_loss < 1) return;
    Refuse("TL1814", fmt::format("a frame loss of {}", switches_.frame_loss),
           "the chance that a cable spoils a frame: 0 <= frame_loss < 1");
  }

  void CheckLossy() {
    if (!(switches_.egress_alpha > 0 && switches_.egress_alpha <= 64)) {
      Refuse("TL1813", fmt::format("a queue limit of alpha {}", switches_.egress_alpha),
             "0 < egress_alpha <= 64");
      return;
    }
    ForEachSwitch([&](DeviceId at) {
      if (!problems_.empty() && problems_.back().code == "TL1805") return;
      const double alpha = switches_.egress_alpha;
      const Bytes buffer = SwitchBuffer(fabric_, at, switches_);
      const auto queue = static_cast<double>(buffer.count()) * alpha / (1 + alpha);
      if (buffer < frame_) {
        Refuse("TL1803",
               fmt::format("a buffer of {} in {} for packets of {}", ToString(buffer),
                           fabric_.name(at), ToString(frame_)),
               fmt::format("at least {}, a round trip's worth", Humanize(bandwidth_delay_)));
      } else if (queue < static_cast<double>(bandwidth_delay_.count())) {
        Warn("TL1805",
             fmt::format("a queue of {} takes at most {} of its {} of buffer, less than the {} "
                         "that a host at {} has on its way in {}",
                         fabric_.name(at), Humanize(Bytes(std::llround(queue))), Humanize(buffer),
                         Humanize(bandwidth_delay_), ToString(host_rate_), Humanize(round_trip_)),
             fmt::format("switch.buffer of at least {}",
                         Humanize(Bytes(std::llround(static_cast<double>(bandwidth_delay_.count()) *
                                                     (1 + alpha) / alpha)))));
      }
    });
  }

  const Fabric& fabric_;
  RoutingPolicy routing_;
  const RoutingParameters& parameters_;
  const SwitchModel& given_;
  ChannelCounts channels_;
  SwitchModel switches_;  // with the virtual channels of each class
  const PacketTransport& transport_;
  bool cables_fail_;
  Bytes frame_;
  Rate host_rate_;
  Time round_trip_;
  Bytes bandwidth_delay_;
  Diagnostics problems_;
};

}  // namespace

Diagnostics CheckPacketSettings(const Fabric& fabric, RoutingPolicy routing,
                                const SwitchModel& switches, const PacketTransport& transport,
                                bool cables_fail, const RoutingParameters& parameters) {
  return Checker(fabric, routing, switches, transport, cables_fail, parameters).Run();
}

}  // namespace trunkline
