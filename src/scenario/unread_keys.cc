#include "scenario/unread_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "trunkline/fabric/build.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/transport/congestion_control.h"

namespace trunkline {
namespace {

// What only the packet engine reads.
constexpr std::string_view kOfPackets[] = {"fabric.switch.buffer",
                                           "fabric.switch.cut_through",
                                           "fabric.switch.classes",
                                           "fabric.switch.weights",
                                           "fabric.switch.pfc",
                                           "fabric.switch.ecn",
                                           "fabric.switch.vl",
                                           "fabric.switch.trimming",
                                           "fabric.switch.egress_alpha",
                                           "fabric.switch.queue",
                                           "fabric.switch.frame_loss",
                                           "fabric.switch.rerouting",
                                           "fabric.routing.flowlet_gap",
                                           "fabric.routing.style",
                                           "fabric.routing.threshold",
                                           "fabric.routing.virtual_channels",
                                           "transport.congestion_control",
                                           "transport.loss_recovery",
                                           "transport.ack_every",
                                           "transport.retransmit_timeout",
                                           "transport.retry_limit",
                                           "transport.low_timeout",
                                           "transport.loss_distance",
                                           "transport.path_selection",
                                           "transport.queue_pairs",
                                           "transport.window_rule",
                                           "transport.acks_with_data",
                                           "transport.base_rtt",
                                           "transport.sockets.cores",
                                           "transport.sockets.window"};

bool LosesNothing(const Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  return cluster.switches.loss_control != LossControl::kLossy && cluster.switches.frame_loss == 0 &&
         cluster.timed_faults.empty();
}

bool LosesNothingOnOnePath(const Scenario& scenario) {
  return LosesNothing(scenario) && PathChoiceOf(scenario.cluster.routing) == PathChoice::kFlow;
}

bool GoesBack(const Scenario& scenario) {
  return scenario.cluster.packet_transport.recovery == LossRecovery::kGoBackN;
}

bool ChoosesNoPaths(const Scenario& scenario) {
  return PathChoiceOf(scenario.cluster.routing) == PathChoice::kFlow;
}

bool NoCableFails(const Scenario& scenario) {
  return std::ranges::none_of(scenario.cluster.timed_faults, [](const TimedFault& fault) {
    return fault.kind == TimedFault::Kind::kDown;
  });
}

bool HasNoGpu(const Scenario& scenario) {
  if (!scenario.cluster.fabric) return false;
  const Fabric& fabric = scenario.cluster.fabric->fabric;
  return std::ranges::none_of(fabric.endpoints(), [&](DeviceId endpoint) {
    return fabric.device(endpoint).kind == DeviceKind::kGpu;
  });
}

bool HasOneDataClass(const Scenario& scenario) { return scenario.cluster.switches.classes == 2; }

bool HasArbitration(const Scenario& scenario) {
  return scenario.cluster.switches.arbitration.has_value();
}

bool HasOneTable(const Scenario& scenario) {
  const auto& tables = scenario.cluster.switches.arbitration;
  return tables && (tables->high.empty() || tables->low.empty());
}

// What a congestion control makes of a few acknowledgements, each by `later` later than the one
// before, if it believes that the idle path takes `base_rtt`.
FlowControl Answer(const PacketTransport& transport, Time base_rtt,
                   Time later = Time::Microseconds(20)) {
  const CongestionPolicy& policy = transport.policy;
  FlowControl flow{.rate = 0, .window = INT64_MAX};
  if (policy.start == nullptr) return flow;
  const PathView path{.line_rate = Rate::GigabitsPerSecond(100),
                      .base_rtt = base_rtt,
                      .mtu = transport.mtu,
                      .frame = transport.mtu + transport.packet_overhead,
                      .hops = 2};
  const void* parameters = transport.policy_parameters.get();
  policy.start(parameters, path, Time(), flow);
  for (int i = 1; i <= 4 && policy.on_ack != nullptr && !policy.needs_telemetry; ++i) {
    const auto psn = static_cast<std::uint64_t>(16 * i);  // past all that was under way before
    policy.on_ack(parameters, path,
                  {.now = Time::Microseconds(100 * i),
                   .rtt = Time::Microseconds(50) + later * i,
                   .acked_bytes = path.frame.count(),
                   .acked_packets = 1,
                   .marked_packets = 0,
                   .acked_psn = psn,
                   .next_psn = psn + 8,
                   .in_flight_bytes = 8 * path.frame.count(),
                   .hops = {},
                   .previous_hops = {}},
                  flow);
  }
  return flow;
}

bool HasNoWindow(const Scenario& scenario) {
  const PacketTransport& transport = scenario.cluster.packet_transport;
  return Answer(transport, Time::Microseconds(10)).window == INT64_MAX;
}

bool KnowsNoRoundTrip(const Scenario& scenario) {
  if (scenario.fast_forward) return false;  // looks for what repeats by it
  const PacketTransport& transport = scenario.cluster.packet_transport;
  // Where round trips grow fast, some go as low as they may whatever the idle path takes.
  for (const Time later : {Time::Microseconds(20), Time::Nanoseconds(200)}) {
    const FlowControl one = Answer(transport, Time::Microseconds(10), later);
    const FlowControl other = Answer(transport, Time::Microseconds(40), later);
    if (one.window != other.window || one.rate != other.rate) return false;
  }
  return true;
}

// Keys that nothing comes to read as the rest of the cluster is.
struct Unread {
  std::string_view path;
  bool (*unread)(const Scenario&);
  const char* why;
  const char* hint;
};
constexpr const char* kNothingLost =
    "nothing is lost here, so that nobody waits for it or sends it again";
constexpr const char* kRemove = "remove the key; nothing would read it";
constexpr std::array kUnread = {
    Unread{"gpudirect", HasNoGpu, "hosts have no memory but their own", kRemove},
    Unread{"fabric.switch.weights", HasOneDataClass, "there is one class of data",
           "fabric.switch.classes of 3 or more, one weight for each of data"},
    Unread{"fabric.switch.weights", HasArbitration,
           "lanes share links by the tables of fabric.switch.vl", "keep one of them"},
    Unread{"fabric.switch.vl.high_limit", HasOneTable, "one of the tables high and low is empty",
           "entries in both, or no limit"},
    Unread{"fabric.switch.rerouting", NoCableFails,
           "no cable goes down or comes back during the run",
           "a fault of kind fail with 'at', or no rerouting"},
    Unread{"transport.loss_recovery", LosesNothingOnOnePath,
           "nothing is lost here, and packets of a queue pair take one path", kRemove},
    Unread{"transport.retransmit_timeout", LosesNothing, kNothingLost, kRemove},
    Unread{"transport.retry_limit", LosesNothing, kNothingLost, kRemove},
    Unread{"transport.low_timeout", LosesNothing, kNothingLost, kRemove},
    Unread{"transport.loss_distance", LosesNothing, kNothingLost, kRemove},
    Unread{"transport.loss_distance", GoesBack, "go-back-N takes packets in order only",
           "loss_recovery: selective_repeat, or no loss_distance"},
    Unread{"transport.path_selection", ChoosesNoPaths, "packets of a queue pair take one path",
           "routing: spray, or no path_selection"},
    Unread{"transport.window_rule", HasNoWindow, "the congestion control sets no window",
           "a congestion control with a window, or no window_rule"},
    Unread{"transport.base_rtt", KnowsNoRoundTrip,
           "the congestion control asks for no round trip of the idle path", kRemove},
};

}  // namespace

std::optional<YamlValue> FindPath(const YamlValue& root, std::string_view path) {
  YamlValue at = root;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    if (!at.is_map()) return std::nullopt;
    const auto next = at.AsMap()->Find(path.substr(begin, end - begin));
    if (!next) return std::nullopt;
    at = *next;
    begin = end + 1;
  }
  return at;
}

void WarnOfUnread(const YamlValue& cluster, const Scenario& scenario) {
  const auto name = [](std::string_view path) { return path.substr(path.rfind('.') + 1); };
  for (const std::string_view path : kOfPackets) {
    const auto value = scenario.has_packets() ? std::nullopt : FindPath(cluster, path);
    if (!value) continue;
    value->Warn(
        "TL1210",
        fmt::format("the {} engine does not read '{}'", ToString(scenario.engine), name(path)),
        "run it with engine: packet");
  }
  for (const Unread& key : kUnread) {
    const bool of_packets = std::ranges::find(kOfPackets, key.path) != std::end(kOfPackets);
    if (of_packets && !scenario.has_packets()) continue;
    const auto value = FindPath(cluster, key.path);
    if (!value || !key.unread(scenario)) continue;
    value->Warn("TL1224", fmt::format("'{}' changes nothing: {}", name(key.path), key.why),
                key.hint);
  }
}

}  // namespace trunkline
