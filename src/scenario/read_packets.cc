#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/packet/packet_network.h"
#include "scenario/reader.h"
#include "scenario/unread_keys.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

// Keys of a problem's cause, the first that is given is blamed.
struct Blame {
  const char* code;
  std::vector<const char*> paths;
};
const std::vector<Blame>& Blames() {
  static const std::vector<Blame> kBlames = {
      {"TL1801", {"transport.mtu", "fabric.switch.weights", "fabric.switch"}},
      {"TL1802", {"fabric.switch.pfc.headroom"}},
      {"TL1803", {"fabric.switch.buffer", "fabric.switch.pfc", "fabric.switch"}},
      {"TL1804", {"fabric.switch.vl.buffer"}},
      {"TL1805", {"fabric.switch.vl.buffer", "fabric.switch.buffer", "fabric.switch"}},
      {"TL1806", {"transport.retry_limit", "fabric.switch.pfc"}},
      {"TL1807", {"transport.loss_recovery", "fabric.routing", "fabric"}},
      {"TL1808", {"fabric.switch.ecn"}},
      {"TL1809", {"fabric.switch.ecn", "transport.congestion_control"}},
      {"TL1810", {"fabric.switch.ecn", "fabric.switch.buffer", "fabric.switch"}},
      {"TL1812", {"transport.low_timeout", "transport.retransmit_timeout"}},
      {"TL1814", {"fabric.switch.frame_loss"}},
      {"TL1815", {"transport.congestion_control"}},
      {"TL1835", {"transport.acks_with_data"}},
      {"TL1836", {"transport.base_rtt"}},
      {"TL1828", {"fabric.switch.classes", "fabric.routing", "fabric"}},
      {"TL1829", {"fabric.routing", "fabric"}},
      {"TL1840", {"fabric.routing", "fabric"}},
      {"TL1841", {"fabric.switch.pfc.resume", "fabric.switch.pfc"}},
      {"TL1819", {"fabric.switch.vl", "fabric.switch"}},
      {"TL1825", {"fabric.switch.pfc.quanta"}},
      {"TL1813", {"fabric.switch.pfc.alpha", "fabric.switch.egress_alpha"}},
  };
  return kBlames;
}

// The number that a congestion control's parameter takes, from a quantity with its unit.
bool ReadParameter(const YamlValue& value, const CongestionParameter& parameter, double& out) {
  if (parameter.unit == "us") {
    Time time;
    if (!value.Read(time)) return false;
    out = time.seconds() * 1e6;
  } else if (parameter.unit == "Mb/s") {
    Rate rate;
    if (!value.Read(rate)) return false;
    out = static_cast<double>(rate.bits_per_second()) * 1e-6;
  } else if (parameter.unit == "MB") {
    Bytes bytes;
    if (!value.Read(bytes, Bytes(0))) return false;
    out = static_cast<double>(bytes.count()) * 1e-6;
  } else {
    return value.Read(out, RealRange{parameter.low, parameter.high});
  }
  return true;
}

class PacketReader {
 public:
  PacketReader(const YamlValue& cluster, Scenario& scenario)
      : cluster_(cluster),
        scenario_(scenario),
        spec_(scenario.cluster),
        switches_(scenario.cluster.switches),
        packets_(scenario.cluster.packet_transport) {
    if (const auto value = FindPath(cluster, "transport")) transport_ = value->AsMap();
    if (const auto value = FindPath(cluster, "fabric.switch")) switch_ = value->AsMap();
  }

  void Read() {
    const std::size_t before = cluster_.error_count();
    SetDefaults();
    if (switch_) ReadSwitch(*switch_);
    if (transport_) ReadRecovery(*transport_);
    ReadCongestionControl();
    if (cluster_.error_count() == before) WarnOfUnread(cluster_, scenario_);
    if (scenario_.has_packets() && cluster_.error_count() == before && spec_.fabric) {
      Check();
      if (cluster_.error_count() == before) Assume();
    }
  }

 private:
  [[nodiscard]] bool infiniband() const {
    return spec_.transport.kind == TransportKind::kInfiniband;
  }
  [[nodiscard]] bool sockets() const { return spec_.transport.sockets.has_value(); }

  void SetDefaults() {
    switches_.loss_control = infiniband() ? LossControl::kCredits
                             : sockets()  ? LossControl::kLossy
                                          : LossControl::kPause;
    packets_ = DefaultPacketTransport(spec_.transport);
    if (sockets()) return;
    const bool one_path = PathChoiceOf(spec_.routing) == PathChoice::kFlow;
    packets_.recovery = one_path ? LossRecovery::kGoBackN : LossRecovery::kSelectiveRepeat;
  }

  // A key that belongs to the other kind of network.
  void RefuseOf(const YamlMap& map, const char* key, const char* owner) {
    map.Refuse(key, "TL1207", fmt::format("'{}' is of {}", key, owner),
               "remove the key; nothing would read it");
  }

  void ReadSwitch(const YamlMap& map) {
    map.Read("cut_through", switches_.cut_through);
    map.Read("classes", switches_.classes, IntRange{.min = 2, .max = 8});
    std::vector<std::int64_t> weights;
    map.Read("weights", weights, IntRange{.min = 1, .max = 255});
    for (const std::int64_t weight : weights) {
      switches_.weights.push_back(static_cast<std::uint8_t>(weight));
    }
    map.Read("frame_loss", switches_.frame_loss, RealRange{0, 0.999});
    if (Time rerouting; map.Read("rerouting", rerouting)) spec_.rerouting = rerouting;
    if (const auto ecn = map.Find("ecn")) ReadEcn(*ecn);
    if (infiniband()) {
      if (const auto lanes = map.Map("vl")) ReadLanes(*lanes);
      for (const char* key : {"buffer", "pfc", "trimming", "egress_alpha", "queue"}) {
        RefuseOf(map, key, "Ethernet switches, and InfiniBand has credits");
      }
      return;
    }
    RefuseOf(map, "vl", "InfiniBand, and Ethernet has classes");
    ReadBuffer(map, switches_.buffer);
    if (const auto pfc = map.Find("pfc")) ReadPfc(*pfc);
    const bool lossy = switches_.loss_control == LossControl::kLossy;
    if (!lossy) {
      for (const char* key : {"trimming", "egress_alpha", "queue"}) {
        RefuseOf(map, key, "switches that may drop packets (pfc: false)");
      }
      return;
    }
    map.Read("trimming", switches_.trimming);
    map.Read("egress_alpha", switches_.egress_alpha, RealRange{1e-6, 64});
    map.Read("queue", switches_.queue);
  }

  // `vl`: buffers, the lane of each traffic class, and what ports share their links by.
  void ReadLanes(const YamlMap& map) {
    ReadBuffer(map, switches_.lane_buffer);
    std::vector<std::int64_t> lanes;
    map.Read("of_class", lanes, IntRange{.min = 0, .max = 6});
    switches_.lane_of_class.assign(lanes.begin(), lanes.end());
    VlArbitration tables;
    const bool high = ReadWeights(map, "high", tables.high);
    const bool low = ReadWeights(map, "low", tables.low);
    const bool limit = map.Read("high_limit", tables.high_limit, IntRange{.min = 0, .max = 255});
    if (high || low || limit) switches_.arbitration = std::move(tables);
  }

  // An arbitration table: `[{lane: 0, weight: 64}, …]`.
  static bool ReadWeights(const YamlMap& map, const char* key, std::vector<VlWeight>& table) {
    const auto list = map.List(key);
    if (!list) return false;
    for (const YamlValue& element : *list) {
      VlWeight entry;
      const auto fields = element.AsMap();
      if (!fields) continue;
      fields->Require("lane", entry.lane, IntRange{.min = 0, .max = 6});
      fields->Require("weight", entry.weight, IntRange{.min = 0, .max = 255});
      table.push_back(entry);
    }
    return true;
  }

  static void ReadBuffer(const YamlMap& map, Bytes& buffer) {
    constexpr Bytes kMost{std::int64_t{1} << 30};
    const auto value = map.Find("buffer");
    if (!value || !value->Read(buffer) || buffer <= kMost) return;
    value->Error("TL1108", fmt::format("a buffer of {}", value->text()), "write at most 1 GiB");
  }

  // `true`, `false`, or a mapping.
  void ReadPfc(const YamlValue& value) {
    if (value.is_scalar()) {
      bool on = true;
      if (value.Read(on)) switches_.loss_control = on ? LossControl::kPause : LossControl::kLossy;
      return;
    }
    const auto map = value.AsMap();
    if (!map) return;
    switches_.loss_control = LossControl::kPause;
    PauseModel& pause = switches_.pause;
    map->Read("alpha", pause.alpha, RealRange{1e-6, 64});
    map->Read("reserved", pause.reserved);
    map->Read("resume", pause.resume);
    map->Read("quanta", pause.quanta, IntRange{.min = 1, .max = 65'535});
    Bytes headroom;
    if (const auto given = map->Find("headroom"); given && given->Read(headroom, Bytes(0))) {
      pause.headroom = headroom;
    }
  }

  void ReadEcn(const YamlValue& value) {
    if (value.is_scalar()) {
      bool on = true;
      if (value.Read(on)) ecn_ = on;
      return;
    }
    const auto map = value.AsMap();
    if (!map) return;
    ecn_ = true;
    MarkingCurve curve;
    map->Require("kmin", curve.low);
    map->Require("kmax", curve.high);
    map->Read("pmax", curve.most, RealRange{1e-9, 1});
    map->Read("smallest", curve.smallest);
    switches_.marking = curve;
  }

  void ReadRecovery(const YamlMap& map) {
    static const Words<LossRecovery> kRecoveries = {
        {"go_back_n", LossRecovery::kGoBackN},
        {"selective_repeat", LossRecovery::kSelectiveRepeat}};
    map.Read("loss_recovery", packets_.recovery, kRecoveries);
    map.Read("retransmit_timeout", packets_.retransmit_timeout);
    map.Read("queue_pairs", packets_.queue_pairs,
             IntRange{.min = 1, .max = PacketTransport::kMostQueuePairs});
    map.Read("retry_limit", packets_.retry_limit, IntRange{.min = 0, .max = 255});
    Time low_timeout;
    if (map.Read("low_timeout", low_timeout)) packets_.low_timeout = low_timeout;
    std::uint32_t distance = 0;
    if (map.Read("loss_distance", distance, IntRange{.min = 1, .max = 1'000'000})) {
      packets_.loss_distance = distance;
    }
  }

  // A name, or a mapping of name, preset and the parameters that differ from it.
  void ReadCongestionControl() {
    std::string name = infiniband() ? "none" : sockets() ? "cubic" : "dcqcn";
    std::string preset;
    std::vector<CongestionOverride> overrides;
    const auto value = transport_ ? transport_->Find("congestion_control") : std::nullopt;
    if (value && value->is_map()) {
      const YamlMap map = *value->AsMap();
      map.Require("name", name);
      map.Read("preset", preset);
      ReadParameters(map, name, overrides);
    } else if (value) {
      value->Read(name);
    }
    Rate rate = spec_.fabric ? HostRate(spec_.fabric->fabric) : Rate::GigabitsPerSecond(100);
    const auto control = MakeCongestionControl(name, preset, overrides, rate);
    if (!control) {
      (value ? *value : cluster_).Adopt(control.error());
      return;
    }
    Adopt(*control, packets_);
    congestion_ = control->preset.empty() ? name : fmt::format("{} ({})", name, control->preset);
    if (transport_) {
      static const Words<PathSelection> kSelections = {{"oblivious", PathSelection::kOblivious},
                                                       {"mixed", PathSelection::kMixed}};
      transport_->Read("ack_every", packets_.ack_every, IntRange{.min = 1, .max = 1024});
      transport_->Read("path_selection", packets_.path_selection, kSelections);
      ReadEnds(*transport_);
    }
    if (ecn_ && !*ecn_) {
      switches_.marking.reset();
    } else if (!switches_.marking) {
      switches_.marking = control->marking;
    } else if (control->marking) {
      switches_.marking->roots_only = control->marking->roots_only;
    }
    if (ecn_.value_or(false) && !switches_.marking && switch_) {
      switch_->Find("ecn")->Error(
          "TL1106", fmt::format("congestion control {} says nothing of when to mark", name),
          "write ecn: {kmin: 400 KB, kmax: 1600 KB, pmax: 0.2}");
    }
  }

  // How windows count and acknowledgements travel, where a scenario differs from its preset.
  void ReadEnds(const YamlMap& map) {
    static const Words<WindowRule> kRules = {{"fits", WindowRule::kFits},
                                             {"not_full", WindowRule::kNotFull}};
    map.Read("window_rule", packets_.window_rule, kRules);
    map.Read("acks_with_data", packets_.acks_with_data);
    if (Time base_rtt; map.Read("base_rtt", base_rtt)) packets_.base_rtt = base_rtt;
  }

  static void ReadParameters(const YamlMap& map, const std::string& name,
                             std::vector<CongestionOverride>& overrides) {
    const auto& policies = CongestionPolicies();
    const auto policy = std::ranges::find(policies, name, &CongestionPolicyInfo::name);
    for (const auto& [key, value] : map.Entries()) {
      if (key == "name" || key == "preset") continue;
      double number = 0;
      if (policy == policies.end()) continue;  // the name is the error
      const auto parameter = std::ranges::find(policy->parameters, key, &CongestionParameter::name);
      if (parameter == policy->parameters.end() || ReadParameter(value, *parameter, number)) {
        overrides.push_back({key, number});
      }
    }
  }

  void Check() {
    for (Diagnostic& problem :
         CheckPacketSettings(spec_.fabric->fabric, spec_.routing, switches_, packets_,
                             !spec_.timed_faults.empty(), spec_.routing_parameters)) {
      YamlValue place = cluster_;
      const auto blame = std::ranges::find(Blames(), problem.code, &Blame::code);
      if (blame != Blames().end()) {
        for (const char* path : blame->paths) {
          const auto found = FindPath(cluster_, path);
          if (!found) continue;
          place = *found;
          break;
        }
      }
      place.Adopt({std::move(problem)});
    }
  }

  // What was chosen where the file is silent, and what it comes to.
  void Assume() {
    const auto say = [&](std::string text) { scenario_.assumptions.push_back(std::move(text)); };
    switch (switches_.loss_control) {
      case LossControl::kCredits:
        say(fmt::format("switches: credits in {}; a receive buffer of {} a lane and port",
                        Lanes("virtual lanes", "acknowledgements"),
                        switches_.lane_buffer > Bytes()
                            ? ToString(switches_.lane_buffer)
                            : "what keeps its cable busy, at least 32 KiB,"));
        break;
      case LossControl::kPause:
        say(fmt::format(
            "switches: PFC in {}; a shared buffer of {}, of whose free part an input may take {} "
            "before it is paused; headroom {}",
            Lanes("classes", "acknowledgements and notifications"), Buffer(), switches_.pause.alpha,
            switches_.pause.headroom ? ToString(*switches_.pause.headroom)
                                     : "from the rate and length of each cable"));
        break;
      case LossControl::kLossy:
        say(
            fmt::format("switches: what finds no room is {}; a shared buffer of {}, of whose free "
                        "part a queue may take {}",
                        switches_.trimming ? "trimmed to its headers" : "dropped", Buffer(),
                        switches_.egress_alpha));
        break;
    }
    if (switches_.marking) {
      const MarkingCurve& curve = *switches_.marking;
      say(fmt::format(
          "ECN: packets are marked from {} of queue on, with a probability of {} at {}"
          "{}",
          ToString(curve.low), curve.most, ToString(curve.high),
          curve.at_rate > Rate()
              ? fmt::format(" (ports of {}; others in proportion)", ToString(curve.at_rate))
              : ""));
    }
    if (!spec_.timed_faults.empty()) {
      say(spec_.rerouting ? fmt::format("routing moves {} after a cable goes down or comes back",
                                        ToString(*spec_.rerouting))
                          : "routing never moves: what takes a cable that is down is lost until it "
                            "is back (fabric.switch.rerouting)");
    }
    say(fmt::format(
        "ends: congestion control {}, {}, an acknowledgement for every {}", congestion_,
        packets_.recovery == LossRecovery::kGoBackN
            ? "go-back-N"
            : "packets taken in any order (selective repeat)",
        packets_.ack_every == 1 ? "packet" : fmt::format("{} packets", packets_.ack_every)));
  }

  // "5 virtual lanes, 3 for each class of data and 2 for acknowledgements".
  [[nodiscard]] std::string Lanes(const char* of, const char* control) const {
    const ChannelCounts channels =
        ChannelsOf(spec_.fabric->fabric, spec_.routing, spec_.routing_parameters, switches_,
                   !spec_.timed_faults.empty());
    const int all = WithChannels(switches_, channels).classes;
    if (channels.data == 1) return fmt::format("{} {}, the last for {}", all, of, control);
    return fmt::format("{} {}, {} for each class of data and {} for {}", all, of,
                       int{channels.data}, int{channels.control}, control);
  }

  [[nodiscard]] std::string Buffer() const {
    return switches_.buffer > Bytes() ? ToString(switches_.buffer)
                                      : "32 MB for every 32 ports of 100 Gb/s (HPCC's set-up)";
  }

  YamlValue cluster_;
  Scenario& scenario_;
  ClusterSpec& spec_;
  SwitchModel& switches_;
  PacketTransport& packets_;
  std::optional<YamlMap> transport_;
  std::optional<YamlMap> switch_;
  std::optional<bool> ecn_;
  std::string congestion_;
};

}  // namespace

Rate HostRate(const Fabric& fabric) {
  Rate rate = Rate::BitsPerSecond(1);
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const Link& link = fabric.link(LinkId(i));
    if (link.kind == LinkKind::kNetwork && fabric.device(link.from).kind != DeviceKind::kSwitch) {
      rate = std::max(rate, link.rate);
    }
  }
  return rate;
}

void ReadPackets(const YamlValue& cluster, Scenario& scenario) {
  PacketReader(cluster, scenario).Read();
}

}  // namespace trunkline
