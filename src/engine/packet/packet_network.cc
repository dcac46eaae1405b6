#include "engine/packet/packet_network.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/packet/fault_plan.h"
#include "fabric/routing/virtual_channels.h"
#include "trunkline/base/check.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

void AddSwitches(const Fabric& fabric, const std::vector<std::uint32_t>& index, Bytes frame,
                 Plant& plant) {
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (index[i] == kNoIndex) continue;
    Switch at;
    at.first_port = static_cast<std::uint32_t>(plant.switch_ports.size());
    for (const LinkId link : fabric.out(DeviceId(i))) {
      plant.switch_ports.push_back(static_cast<std::uint32_t>(Index(link)));
      ++at.port_count;
    }
    const std::uint64_t salt = plant.routing.seed_per_switch ? plant.switches.size() : 0;
    at.multiplier = static_cast<std::uint32_t>(Mix64(plant.seed ^ salt)) | 1U;
    at.pool = SharedPool(fabric, DeviceId(i), plant.switches_model, frame);
    plant.switches.push_back(at);
  }
}

// Along a cable and, if one is there, through the switch at its end.
Time HopDelay(const Fabric& fabric, LinkId id) {
  const Link& link = fabric.link(id);
  const Device& to = fabric.device(link.to);
  return to.kind == DeviceKind::kSwitch ? link.latency + to.latency : link.latency;
}

}  // namespace

std::vector<std::uint32_t> IndexSwitches(const Fabric& fabric) {
  std::vector<std::uint32_t> index(fabric.device_count(), kNoIndex);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (fabric.device(DeviceId(i)).kind == DeviceKind::kSwitch) index[i] = next++;
  }
  return index;
}

Bytes PauseHeadroom(const Fabric& fabric, LinkId id, const SwitchModel& switches, Bytes frame) {
  if (switches.pause.headroom) return *switches.pause.headroom;
  // The frame that found no room, one in transmission at either end, both ways over the cable and
  // through the switch, and the PAUSE itself.
  const double flight =
      2 * HopDelay(fabric, id).seconds() * fabric.link(id).rate.bytes_per_second();
  return Bytes(static_cast<std::int64_t>(flight)) + frame * 3 + Bytes(84);
}

Bytes SwitchBuffer(const Fabric& fabric, DeviceId at, const SwitchModel& switches) {
  if (switches.buffer > Bytes()) return switches.buffer;
  // Buffers scale with what is switched: 32 MB for 32 ports of 100 Gb/s in HPCC's set-up, which
  // has 16 MB x rate / 50 Gb/s.
  constexpr double kSeconds = 32e6 / (32 * 100e9 / 8);
  double rate = 0;
  for (const LinkId link : fabric.out(at)) rate += fabric.link(link).rate.bytes_per_second();
  return Bytes(static_cast<std::int64_t>(rate * kSeconds));
}

std::int64_t SharedPool(const Fabric& fabric, DeviceId at, const SwitchModel& switches,
                        Bytes frame) {
  std::int64_t pool = SwitchBuffer(fabric, at, switches).count();
  if (switches.loss_control != LossControl::kPause) return pool;
  for (const LinkId link : fabric.out(at)) {
    const Bytes headroom = PauseHeadroom(fabric, fabric.reverse(link), switches, frame);
    pool -= (headroom + switches.pause.reserved).count() * switches.classes;
  }
  return pool;
}

Bytes CreditLoop(const Fabric& fabric, LinkId id, Bytes frame) {
  // A packet is sent and comes in, is sent on, and its credits fly back.
  const Link& link = fabric.link(id);
  const Time sending = TransferTime(frame, link.rate);
  const Time loop = sending * 2 + HopDelay(fabric, id) + link.latency;
  const std::int64_t packets = (loop.ps() + sending.ps() - 1) / sending.ps();
  return Bytes(Credits(static_cast<std::uint32_t>(frame.count()))) * packets;
}

Bytes LaneBuffer(const Fabric& fabric, LinkId link, const SwitchModel& switches, Bytes frame) {
  constexpr Bytes kLeast{32'768};
  if (switches.lane_buffer > Bytes()) return switches.lane_buffer;
  return std::max(kLeast, CreditLoop(fabric, link, frame));
}

SwitchModel WithChannels(const SwitchModel& switches, const ChannelCounts& channels) {
  SwitchModel lanes = switches;
  const int data = switches.classes - 1;
  lanes.classes = static_cast<std::uint8_t>(data * channels.data + channels.control);
  if (channels.data == 1) return lanes;
  const auto times = [&](auto&& values, auto of_channel) {
    std::decay_t<decltype(values)> all;
    for (const auto& value : values) {
      for (std::uint8_t c = 0; c < channels.data; ++c) all.push_back(of_channel(value, c));
    }
    return all;
  };
  lanes.weights = times(switches.weights, [](std::uint8_t weight, std::uint8_t) { return weight; });
  if (lanes.lane_of_class.empty()) {
    for (int c = 0; c < data; ++c) lanes.lane_of_class.push_back(static_cast<std::uint8_t>(c));
  }
  for (std::uint8_t& lane : lanes.lane_of_class) {
    lane = static_cast<std::uint8_t>(lane * channels.data);
  }
  if (!lanes.arbitration) return lanes;
  for (auto* table : {&lanes.arbitration->high, &lanes.arbitration->low}) {
    *table = times(*table, [&](const VlWeight& entry, std::uint8_t c) {
      return VlWeight{static_cast<std::uint8_t>(entry.lane * channels.data + c), entry.weight};
    });
  }
  return lanes;
}

ChannelCounts ChannelsOf(const Fabric& fabric, RoutingPolicy policy,
                         const RoutingParameters& parameters, const SwitchModel& switches,
                         bool cables_fail) {
  const bool credits = switches.loss_control == LossControl::kCredits;
  if (!parameters.virtual_channels.value_or(credits)) return {};
  const std::uint32_t data = VirtualChannels(fabric, policy, parameters, cables_fail);
  if (policy == RoutingPolicy::kAdaptive) {
    // Acknowledgements keep to escape channels.
    const bool escapes = credits && data > 1;
    return escapes
               ? ChannelCounts{static_cast<std::uint8_t>(data), static_cast<std::uint8_t>(data - 1)}
               : ChannelCounts();
  }
  // Acknowledgements take minimal paths, whatever data does.
  const std::uint32_t minimal =
      HasGroups(fabric) ? VirtualChannels(fabric, RoutingPolicy::kMinimal, parameters, cables_fail)
                        : 2;
  return {static_cast<std::uint8_t>(data), static_cast<std::uint8_t>(std::min(data, minimal))};
}

namespace {

// Cables between groups, and how often news of their queues goes round: as fast as the shortest
// cable between switches.
QueueNews MakeNews(const Fabric& fabric) {
  QueueNews news;
  Time shortest = Time::Max();
  news.place.resize(fabric.link_count(), kNoIndex);
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const Link& link = fabric.link(LinkId(i));
    const Device& from = fabric.device(link.from);
    const Device& to = fabric.device(link.to);
    if (from.kind != DeviceKind::kSwitch || to.kind != DeviceKind::kSwitch) continue;
    shortest = std::min(shortest, link.latency);
    if (from.group == to.group) continue;
    news.place[i] = static_cast<std::uint32_t>(news.watched.size());
    news.watched.push_back(static_cast<std::uint32_t>(i));
  }
  for (auto& queued : news.queued) queued.resize(news.watched.size(), 0);
  news.period = news.watched.empty() ? 0 : std::max<std::int64_t>(1, shortest.ps());
  return news;
}

void SetForwarding(const Router& router, Plant& plant) {
  const RouterOptions& options = router.options();
  plant.policy = options.policy;
  plant.routing = options.parameters;
  switch (options.policy) {
    case RoutingPolicy::kFlowlet:
      plant.forwarding = Forwarding::kSpray;
      plant.flowlet_gap = options.parameters.flowlet_gap.ps();
      break;
    case RoutingPolicy::kSpray:
      plant.forwarding = Forwarding::kSpray;
      break;
    case RoutingPolicy::kAdaptive:
      plant.forwarding = Forwarding::kAdaptive;
      break;
    case RoutingPolicy::kValiant:
    case RoutingPolicy::kUgalL:
    case RoutingPolicy::kUgalG:
    case RoutingPolicy::kPar:
    case RoutingPolicy::kDragonflyPlus:
      plant.forwarding = Forwarding::kGroups;
      break;
    default:  // flows keep to one path, which their senders know
      plant.forwarding = Forwarding::kSource;
      break;
  }
}

}  // namespace

Plant BuildPlant(const Router& router, const NetworkPaths& paths, const SwitchModel& given,
                 const PacketTransport& transport, bool cables_fail) {
  const Fabric& fabric = router.fabric();
  Plant plant;
  const ChannelCounts channels =
      ChannelsOf(fabric, router.options().policy, router.options().parameters, given, cables_fail);
  const SwitchModel switches = WithChannels(given, channels);
  plant.switches_model = switches;
  plant.channels = channels.data;
  plant.control_channels = channels.control;
  plant.transport = transport;
  plant.seed = router.options().seed;
  plant.can_lose = switches.loss_control == LossControl::kLossy || switches.frame_loss > 0;
  SetForwarding(router, plant);
  const std::vector<std::uint32_t> switch_of_device = IndexSwitches(fabric);
  const std::size_t links = fabric.link_count();
  plant.cables.resize(links);
  plant.ports.resize(links);
  plant.details.resize(links);
  plant.max_queue_bytes.resize(links);
  plant.marks.resize(links);
  const std::size_t queues = links * switches.classes;
  plant.queues.resize(queues);
  if (switches.loss_control == LossControl::kPause) {
    plant.ingress.resize(queues);
    plant.pauses.resize(queues);
    plant.pausers.resize(queues);
  }
  if (switches.loss_control == LossControl::kCredits) plant.lanes.resize(queues);
  if (switches.arbitration) plant.arbiters.resize(links);
  const Bytes frame = transport.mtu + transport.packet_overhead;
  for (std::size_t i = 0; i < links; ++i) {
    const Link& link = fabric.link(LinkId(i));
    Cable& cable = plant.cables[i];
    Port& port = plant.ports[i];
    cable.latency = link.latency.ps();
    cable.to_switch = switch_of_device[Index(link.to)];
    cable.delay = HopDelay(fabric, LinkId(i)).ps();
    if (cable.delay < kNoIndex) port.delay = static_cast<std::uint32_t>(cable.delay);
    plant.SetRate(static_cast<std::uint32_t>(i), link.rate);
    port.at_switch = switch_of_device[Index(link.from)];
    if (link.kind == LinkKind::kNetwork && port.at_switch == kNoIndex) {
      port.nic = static_cast<std::uint32_t>(plant.nics.size());
      plant.nics.emplace_back();
    }
    const auto headroom =
        static_cast<std::uint32_t>(PauseHeadroom(fabric, LinkId(i), switches, frame).count());
    const auto lane =
        static_cast<std::uint32_t>(LaneBuffer(fabric, LinkId(i), switches, frame).count());
    for (std::uint8_t c = 0; c < switches.classes; ++c) {
      const std::size_t queue = plant.QueueOf(static_cast<std::uint32_t>(i), c);
      if (!plant.ingress.empty()) plant.ingress[queue].headroom_limit = headroom;
      if (!plant.lanes.empty()) plant.lanes[queue].available = lane;
    }
  }
  AddSwitches(fabric, switch_of_device, frame, plant);
  if (plant.forwarding == Forwarding::kGroups) {
    plant.groups = std::make_unique<GroupRoutes>(fabric);
    if (plant.policy == RoutingPolicy::kUgalG) plant.news = MakeNews(fabric);
  } else if (plant.forwarding != Forwarding::kSource) {
    plant.port_table = std::make_unique<PortTable>(fabric, paths, switch_of_device);
    if (plant.forwarding == Forwarding::kAdaptive && plant.channels > 1) {
      plant.escape = std::make_unique<EscapeTable>(fabric, paths, switch_of_device);
    }
  }
  return plant;
}

void ReserveQueuePairs(Plant& plant, std::uint32_t count) {
  plant.senders.resize(count);
  plant.receivers.resize(count);
  plant.paths.resize(count);
  if (!plant.buses.empty()) plant.bus_paths.resize(count);
  if (plant.transport.sockets) {
    plant.send_sockets.resize(count);
    plant.receive_sockets.resize(count);
    plant.cores.resize(plant.nics.size() * plant.transport.sockets->cores);
  }
  if (plant.forwarding != Forwarding::kSource) plant.destinations.resize(count);
  if (plant.faults == nullptr) return;
  plant.faults->moves.resize(count);
  for (const auto& detour : plant.faults->detours) detour->destinations.resize(count);
}

void AddBus(Plant& plant, const Fabric& fabric, LinkId link) {
  plant.bus_of_link.resize(fabric.link_count(), kNoIndex);
  std::uint32_t& index = plant.bus_of_link[Index(link)];
  if (index != kNoIndex) return;
  index = static_cast<std::uint32_t>(plant.buses.size());
  plant.buses.push_back({WireClock(fabric.link(link).rate), 0});
}

void UseBuses(Plant& plant, std::uint32_t queue_pair, std::span<const LinkId> sending,
              std::span<const LinkId> receiving) {
  BusPath& path = plant.bus_paths[queue_pair];
  path.first = static_cast<std::uint32_t>(plant.bus_list.size());
  path.sending = static_cast<std::uint16_t>(sending.size());
  path.receiving = static_cast<std::uint16_t>(receiving.size());
  for (const auto& links : {sending, receiving}) {
    for (const LinkId link : links) plant.bus_list.push_back(plant.bus_of_link[Index(link)]);
  }
}

Time RoundTripOf(const Plant& plant, std::span<const std::uint32_t> links) {
  const auto frame =
      static_cast<std::uint32_t>((plant.transport.mtu + plant.transport.packet_overhead).count());
  const auto ack = static_cast<std::uint32_t>(plant.transport.ack_bytes.count());
  Time sum;
  for (const std::uint32_t link : links) {
    const WireClock& wire = plant.details[link].wire;
    sum += Time::Picoseconds(plant.cables[link].delay + plant.cables[link ^ 1U].delay +
                             wire.Duration(frame) + wire.Duration(ack));
  }
  return sum;
}

void AppendPath(Plant& plant, const Fabric& fabric, std::span<const std::uint32_t> links) {
  plant.path_links.insert(plant.path_links.end(), links.begin(), links.end());
  if (plant.channels == 1) return;
  std::vector<LinkId> there;
  for (const std::uint32_t link : links) there.push_back(LinkId(link));
  const std::vector<std::uint8_t> along = ChannelsOfPath(fabric, there);
  std::vector<LinkId> back;
  for (const LinkId link : there) back.insert(back.begin(), fabric.reverse(link));
  const std::vector<std::uint8_t> against = ChannelsOfPath(fabric, back);
  for (std::size_t i = 0; i < along.size(); ++i) {
    plant.path_channels.push_back(
        static_cast<std::uint8_t>(along[i] | against[along.size() - 1 - i] << 4));
  }
}

namespace {

// Where switches forward the packets of a queue pair; `links` is one of its paths.
Destination DestinationOf(Plant& plant, const Fabric& fabric, const NetworkPaths& paths,
                          DeviceId source, DeviceId destination,
                          std::span<const std::uint32_t> links) {
  const auto home_of = [&](DeviceId device, std::uint32_t last_link) {
    Home home{.group = paths.destination(device),
              .last_link = last_link,
              .first = static_cast<std::uint32_t>(plant.home_links.size())};
    for (const LinkId link : fabric.out(device)) {
      if (fabric.link(link).kind != LinkKind::kNetwork) continue;
      plant.home_links.push_back(static_cast<std::uint32_t>(Index(fabric.reverse(link))));
      ++home.count;
    }
    return home;
  };
  return {{home_of(destination, links.back()), home_of(source, links.front() ^ 1U)}};
}

// The core that a socket is given at the NIC that sends by `link`.
std::uint32_t NextCore(Plant& plant, std::uint32_t link) {
  const std::uint32_t nic = plant.ports[link].nic;
  const std::uint32_t cores = plant.transport.sockets->cores;
  return nic * cores + plant.nics[nic].connections++ % cores;
}

}  // namespace

Result<std::vector<std::uint32_t>> SetUpQueuePair(Plant& plant, const Router& router,
                                                  const NetworkPaths& paths, std::uint32_t index,
                                                  DeviceId source, DeviceId destination,
                                                  std::optional<std::uint64_t> flow) {
  const auto path = router.FindPath(source, destination, flow.value_or(index));
  if (!path) return std::unexpected(path.error());
  Sender sender;
  sender.number = index;
  if (const auto& lanes = plant.switches_model.lane_of_class; !lanes.empty()) {
    sender.traffic_class = lanes[0];
  }
  PathView view;
  view.mtu = plant.transport.mtu;
  view.frame = plant.transport.mtu + plant.transport.packet_overhead;
  std::vector<std::uint32_t> links;
  for (const LinkId link : *path) {
    if (router.fabric().link(link).kind != LinkKind::kNetwork) continue;
    links.push_back(static_cast<std::uint32_t>(Index(link)));
  }
  view.base_rtt = plant.transport.base_rtt ? *plant.transport.base_rtt : RoundTripOf(plant, links);
  TL_CHECK(links.size() >= 1, "a queue pair inside a node");
  if (plant.transport.policy.needs_telemetry && links.size() > kMaxTelemetryHops + 1) {
    return Error(
        "TL1815",
        fmt::format("congestion control {} over a path of {} switches", plant.transport.policy.name,
                    links.size() - 1),
        fmt::format("a packet has room for the telemetry of {}; another congestion control",
                    kMaxTelemetryHops));
  }
  sender.link = links.front();
  if (plant.forwarding == Forwarding::kSource) {
    sender.path = static_cast<std::uint32_t>(plant.path_links.size());
    AppendPath(plant, router.fabric(), links);
  } else {
    plant.destinations[index] =
        DestinationOf(plant, router.fabric(), paths, source, destination, links);
  }
  view.hops = static_cast<std::uint32_t>(links.size());
  view.line_rate = plant.details[sender.link].wire.rate();
  sender.line_rate = static_cast<double>(view.line_rate.bits_per_second());
  sender.control.rate = sender.line_rate;
  sender.control.window = INT64_MAX;
  if (const auto& sockets = plant.transport.sockets) {
    plant.send_sockets[index].core = NextCore(plant, links.front());
    plant.receive_sockets[index].core = NextCore(plant, links.back() ^ 1U);
    if (!plant.transport.base_rtt) view.base_rtt += sockets->receive.Of(UnitOf(*sockets, view.mtu));
  }
  plant.senders[index] = sender;
  plant.receivers[index] = {};
  plant.paths[index] = view;
  if (plant.faults != nullptr) PlanMoves(plant, index, links, source, destination);
  return links;
}

QueueShape ShapeOf(const Plant& plant) {
  // Events a bucket when every port is busy: few make sorting cheap, more leave time to fetch what
  // the next ones touch. What is fetched first is fetched 48 events ahead, in the same bucket: of
  // twice as many, half have that long.
  const double events_per_bucket = plant.large() ? 96 : 12;
  const auto frame =
      static_cast<std::uint32_t>((plant.transport.mtu + plant.transport.packet_overhead).count());
  double rate = 0;  // events a picosecond
  std::int64_t horizon = 1;
  for (std::size_t i = 0; i < plant.ports.size(); ++i) {
    const std::int64_t frame_time = plant.details[i].wire.Duration(frame);
    // What comes to endpoints that run ahead is no event.
    const bool silent = !plant.host_of_link.empty() && plant.cables[i].to_switch == kNoIndex;
    rate += silent ? 0 : 1.0 / static_cast<double>(frame_time);
    horizon = std::max(horizon, frame_time + plant.cables[i].delay);
  }
  const double width = rate > 0 ? events_per_bucket / rate : 1;
  const auto bucket = static_cast<std::int64_t>(std::clamp(width, 1.0, 1e9));
  return {plant.zones.count > 1 ? plant.zones.window : Time::Picoseconds(bucket),
          Time::Picoseconds(2 * horizon)};
}

}  // namespace trunkline
