#include "trunkline/fabric/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "fabric/check/rails.h"
#include "fabric/check/shape.h"
#include "fabric/check/wanted.h"
#include "trunkline/base/check.h"

namespace trunkline {
namespace {

using Kind = FabricFinding::Kind;

// What the names of devices begin with that only the expected fabric has.
constexpr std::string_view kExpected = "expected ";

class Checker {
 public:
  Checker(const Fabric& found, std::span<const std::uint32_t> ports, WantedFabric wanted)
      : found_(found),
        ports_(ports),
        wanted_(std::move(wanted)),
        extra_devices_(wanted_.extra.begin(), wanted_.extra.end()),
        cables_(CablesByPair(found)) {}

  FabricCheck Check() {
    check_.expectation = wanted_.expectation;
    CompareDevices();
    ComparePairs();
    JoinMiscabled();
    check_.findings.insert(check_.findings.end(), missing_.begin(), missing_.end());
    check_.findings.insert(check_.findings.end(), extra_.begin(), extra_.end());
    CompareRates();
    check_.rail = CheckRails(found_, check_.findings);
    if (wanted_.of_another) DropExpectedRails();
    DropRepeated();
    FindShortSwitches();
    check_.mended = Mend();
    return std::move(check_);
  }

 private:
  [[nodiscard]] std::string NameOf(DeviceId id) const {
    const std::size_t index = Index(id);
    return index < found_.device_count() ? found_.name(id)
                                         : wanted_.missing[index - found_.device_count()].second;
  }
  [[nodiscard]] bool Exists(DeviceId id) const { return Index(id) < found_.device_count(); }
  [[nodiscard]] const Device& DeviceOf(DeviceId id) const {
    return Exists(id) ? found_.device(id)
                      : wanted_.missing[Index(id) - found_.device_count()].first;
  }

  void CompareDevices() {
    for (const auto& [device, name] : wanted_.missing) {
      check_.findings.push_back({.kind = Kind::kMissingDevice, .from = name});
    }
    check_.findings.insert(check_.findings.end(), wanted_.of_servers.begin(),
                           wanted_.of_servers.end());
    for (DeviceId id : wanted_.extra) {
      check_.findings.push_back({.kind = Kind::kExtraDevice, .from = found_.name(id)});
    }
  }

  // Cables of devices that are missing or extra themselves are no findings of their own.
  void ComparePairs() {
    std::set<DevicePair> pairs;
    for (const auto& [pair, links] : cables_) pairs.insert(pair);
    for (const auto& [pair, want] : wanted_.cables) pairs.insert(pair);
    for (const DevicePair& pair : pairs) {
      if (!Exists(pair.first) || !Exists(pair.second)) continue;
      if (IsExtra(pair.first) || IsExtra(pair.second)) continue;
      const auto links = cables_.find(pair);
      const auto want = wanted_.cables.find(pair);
      const std::size_t found = links == cables_.end() ? 0 : links->second.size();
      const std::uint32_t expected = want == wanted_.cables.end() ? 0 : want->second.count;
      if (found == expected) continue;
      FabricFinding finding{.kind = found < expected ? Kind::kMissingCables : Kind::kExtraCables,
                            .from = found_.name(pair.first),
                            .to = found_.name(pair.second),
                            .found = static_cast<std::uint32_t>(found),
                            .expected = expected};
      if (!ports_.empty()) {
        finding.ports = found < expected ? UsualPorts(pair, expected)
                                         : PortsOf(std::span(links->second).subspan(expected));
      }
      (found < expected ? missing_ : extra_).push_back(std::move(finding));
    }
  }

  // The ports that links leave by; empty where one of them is not numbered.
  [[nodiscard]] std::vector<std::uint32_t> PortsOf(std::span<const LinkId> links) const {
    std::vector<std::uint32_t> ports;
    for (LinkId link : links) {
      if (ports_[Index(link)] == 0) return {};
      ports.push_back(ports_[Index(link)]);
    }
    return ports;
  }

  // The ports by which other switches lead to the higher device of the pair, those that the lower
  // one has free; empty unless most agree.
  [[nodiscard]] std::vector<std::uint32_t> UsualPorts(const DevicePair& pair,
                                                      std::uint32_t count) const {
    std::map<std::uint32_t, std::size_t> uses;
    std::size_t peers = 0;
    for (LinkId link : found_.out(pair.second)) {
      const LinkId up = found_.reverse(link);
      if (found_.device(found_.link(up).from).tier != found_.device(pair.first).tier) continue;
      ++uses[ports_[Index(up)]];
      ++peers;
    }
    for (LinkId link : found_.out(pair.first)) uses.erase(ports_[Index(link)]);
    std::vector<std::uint32_t> ports;
    for (const auto& [port, used] : uses) {
      if (port > 0 && 2 * used * count > peers) ports.push_back(port);
    }
    return ports;
  }

  // A device that misses a cable to one place and has one too many to another is mis-cabled, as is
  // one that leads to the right place from the wrong one.
  void JoinMiscabled() {
    std::unordered_map<std::string, std::vector<std::size_t>> missing_at;  // by either end
    for (std::size_t i = 0; i < missing_.size(); ++i) {
      missing_at[missing_[i].from].push_back(i);
      missing_at[missing_[i].to].push_back(i);
    }
    for (FabricFinding& extra : extra_) {
      std::vector<std::size_t> near = missing_at[extra.from];
      const std::vector<std::size_t>& others = missing_at[extra.to];
      near.insert(near.end(), others.begin(), others.end());
      std::ranges::sort(near);
      for (const std::size_t i : near) Redirect(extra, missing_[i]);
    }
    const auto settled = [](const FabricFinding& f) { return f.found == f.expected; };
    std::erase_if(extra_, settled);
    std::erase_if(missing_, settled);
  }

  // Takes cables of `extra` for those of `missing`, where they share an end of the same height.
  void Redirect(FabricFinding& extra, FabricFinding& missing) {
    const bool same_low = extra.from == missing.from;
    if (!same_low && extra.to != missing.to) return;
    for (; extra.found > extra.expected && missing.found < missing.expected;
         --extra.found, ++missing.found) {
      FabricFinding wrong{.kind = Kind::kMiscabled,
                          .from = same_low ? extra.from : extra.to,
                          .to = same_low ? extra.to : extra.from,
                          .instead = same_low ? missing.to : missing.from,
                          .found = 1,
                          .expected = 1};
      if (!extra.ports.empty()) {
        if (same_low) wrong.ports = {extra.ports.back()};
        extra.ports.pop_back();
      }
      check_.findings.push_back(std::move(wrong));
    }
  }

  void DropExpectedRails() {
    std::set<std::pair<std::string, std::string>> expected;
    for (const auto& [pair, want] : wanted_.cables) {
      if (want.count == 0 || !Exists(pair.first) || !Exists(pair.second)) continue;
      if (found_.device(pair.first).kind == DeviceKind::kSwitch) continue;
      expected.emplace(found_.name(pair.first), found_.name(pair.second));
    }
    std::erase_if(check_.findings, [&](const FabricFinding& finding) {
      return finding.kind == Kind::kWrongRail && expected.contains({finding.from, finding.to});
    });
  }

  // A cable that is on the wrong rail is mis-cabled too, and named once.
  void DropRepeated() {
    std::set<std::pair<std::string, std::string>> rails;
    for (const FabricFinding& finding : check_.findings) {
      if (finding.kind == Kind::kWrongRail) rails.emplace(finding.to, finding.instead);
    }
    std::erase_if(check_.findings, [&](const FabricFinding& finding) {
      return finding.kind == Kind::kMiscabled && rails.contains({finding.to, finding.instead});
    });
  }

  void CompareRates() {
    for (const auto& [pair, links] : cables_) {
      const auto want = wanted_.cables.find(pair);
      if (want == wanted_.cables.end() || want->second.count == 0) continue;
      for (LinkId link : links) {
        if (found_.link(link).rate >= want->second.rate) continue;
        check_.findings.push_back(
            {.kind = Kind::kSlowCable,
             .from = found_.name(pair.first),
             .to = found_.name(pair.second),
             .found = 1,
             .expected = 1,
             .ports = ports_.empty() ? std::vector<std::uint32_t>() : PortsOf(std::span(&link, 1)),
             .found_rate = found_.link(link).rate,
             .expected_rate = want->second.rate});
      }
    }
  }

  struct Sum {
    std::uint32_t down = 0;
    std::uint32_t up = 0;
    std::uint32_t wanted_up = 0;
    double rate_down = 0;
    double rate_up = 0;
    double rate_wanted_up = 0;
    double rate_wanted_down = 0;
  };

  void FindShortSwitches() {
    std::map<DeviceId, Sum> sums;
    const auto upward = [&](const DevicePair& pair) {
      return DeviceOf(pair.second).tier > DeviceOf(pair.first).tier;
    };
    for (const auto& [pair, links] : cables_) {
      if (!upward(pair)) continue;
      const auto count = static_cast<std::uint32_t>(links.size());
      double rate = 0;
      for (LinkId link : links) rate += found_.link(link).rate.bytes_per_second();
      sums[pair.first].up += count;
      sums[pair.first].rate_up += rate;
      sums[pair.second].down += count;
      sums[pair.second].rate_down += rate;
    }
    for (const auto& [pair, want] : wanted_.cables) {
      if (!upward(pair)) continue;
      const double rate = want.rate.bytes_per_second() * want.count;
      sums[pair.first].wanted_up += want.count;
      sums[pair.first].rate_wanted_up += rate;
      sums[pair.second].rate_wanted_down += rate;
    }
    for (const auto& [id, rate] : wanted_.rate_to_missing) sums[id].rate_wanted_down += rate;
    for (const auto& [id, sum] : sums) {
      if (!Exists(id) || found_.device(id).tier == 0 || sum.wanted_up == 0) continue;
      ++check_.switches_with_uplinks;
      if (sum.up == sum.wanted_up && sum.rate_up == sum.rate_wanted_up) continue;
      check_.switches.push_back(
          {.name = found_.name(id),
           .cables_down = sum.down,
           .cables_up = sum.up,
           .cables_up_expected = sum.wanted_up,
           .uplink_rate_share = sum.rate_up / sum.rate_wanted_up,
           .oversubscription = sum.rate_up > 0 ? sum.rate_down / sum.rate_up : 0,
           .oversubscription_expected = sum.rate_wanted_down / sum.rate_wanted_up});
    }
    std::ranges::stable_sort(check_.switches, std::ranges::greater(), [](const ShortSwitch& s) {
      return s.oversubscription == 0 ? 1e300 : s.oversubscription;
    });
  }

  // Cables between two switches or two ends become as expected, but for what ends too many have.
  [[nodiscard]] bool IsMended(const DevicePair& pair) const {
    const auto is_end = [&](DeviceId id) { return DeviceOf(id).kind != DeviceKind::kSwitch; };
    if (is_end(pair.first) != is_end(pair.second)) return false;
    return !is_end(pair.first) || !(IsExtra(pair.first) || IsExtra(pair.second));
  }
  [[nodiscard]] bool IsExtra(DeviceId id) const { return extra_devices_.contains(id); }

  // Trunks grow by what is added between the same switch and the same tier.
  [[nodiscard]] Fabric Mend() const;

  const Fabric& found_;
  std::span<const std::uint32_t> ports_;
  WantedFabric wanted_;
  std::set<DeviceId> extra_devices_;
  std::map<DevicePair, std::vector<LinkId>> cables_;
  std::vector<FabricFinding> missing_;
  std::vector<FabricFinding> extra_;
  FabricCheck check_;
};

Fabric Checker::Mend() const {
  FabricBuilder builder;
  builder.CopyDevices(found_);
  for (const auto& [device, name] : wanted_.missing)
    builder.SetName(builder.AddDevice(device), name);
  std::vector<std::vector<LinkId>> trunks(found_.trunk_count());
  // The trunks between the lower end and a tier, up and down: what is added there joins them.
  std::map<std::tuple<DeviceId, std::uint8_t, bool>, std::uint32_t> trunk_of;
  const auto add = [&](DeviceId low, DeviceId high, Rate rate, Time latency, LinkKind kind,
                       LinkId old) {
    const LinkId link = builder.AddCable(low, high, rate, latency, kind);
    for (const bool back : {false, true}) {
      const auto one = LinkId(static_cast<std::uint32_t>(Index(link)) | (back ? 1U : 0U));
      const std::tuple key(low, DeviceOf(high).tier, back);
      if (Index(old) < found_.link_count()) {
        const std::uint32_t trunk = found_.link(back ? found_.reverse(old) : old).trunk;
        if (trunk == Link::kNoTrunk) continue;
        trunk_of.try_emplace(key, trunk);
        trunks[trunk].push_back(one);
      } else if (const auto known = trunk_of.find(key); known != trunk_of.end()) {
        trunks[known->second].push_back(one);
      }
    }
  };
  std::map<DevicePair, std::uint32_t> kept;
  Time latency;
  for (std::size_t i = 0; i < found_.link_count(); i += 2) {
    const Link& link = found_.link(LinkId(i));
    if (link.kind != LinkKind::kNetwork) {
      builder.AddCable(link.from, link.to, link.rate, link.latency, link.kind);
      continue;
    }
    latency = std::max(latency, link.latency);
    const DevicePair pair = PairOf(found_, link.from, link.to);
    const auto want = wanted_.cables.find(pair);
    const std::uint32_t count = want == wanted_.cables.end() ? 0 : want->second.count;
    if (kept[pair] >= count && IsMended(pair)) continue;
    ++kept[pair];
    const Rate rate = count > 0 ? std::max(link.rate, want->second.rate) : link.rate;
    const bool upward = pair.first == link.from;
    add(pair.first, pair.second, rate, link.latency, link.kind,
        upward ? LinkId(i) : found_.reverse(LinkId(i)));
  }
  for (const auto& [pair, want] : wanted_.cables) {
    if (!IsMended(pair)) continue;
    for (std::uint32_t i = kept[pair]; i < want.count; ++i) {
      add(pair.first, pair.second, want.rate, latency, LinkKind::kNetwork,
          LinkId(found_.link_count()));
    }
  }
  for (const auto& links : trunks) {
    if (!links.empty()) builder.AddTrunk(links);
  }
  return std::move(builder).Build();
}

std::string PortsText(const FabricFinding& finding) {
  if (finding.ports.empty()) return "";
  return fmt::format(" port{} {}", finding.ports.size() == 1 ? "" : "s",
                     fmt::join(finding.ports, ", "));
}

// Says of each NIC that is missing which leaf and ports it had in what was expected; of one with
// cables to several leaves, the first.
void NameLeaves(const Fabric& expected, std::span<const std::uint32_t> ports,
                std::vector<FabricFinding>& of_servers) {
  std::unordered_map<std::string, DeviceId> ends;
  for (std::size_t i = 0; i < expected.device_count(); ++i) {
    if (expected.device(DeviceId(i)).kind != DeviceKind::kSwitch) {
      ends.emplace(std::string(kExpected) + expected.name(DeviceId(i)), DeviceId(i));
    }
  }
  for (FabricFinding& finding : of_servers) {
    const auto end = ends.find(finding.from);
    if (finding.kind != Kind::kMissingDevice || end == ends.end()) continue;
    for (LinkId link : expected.out(end->second)) {
      if (expected.link(link).kind != LinkKind::kNetwork) continue;
      if (expected.device(expected.link(link).to).kind != DeviceKind::kSwitch) continue;
      const std::string leaf = expected.name(expected.link(link).to);
      if (finding.to.empty()) finding.to = leaf;
      const std::uint32_t port = ports.empty() ? 0 : ports[Index(expected.reverse(link))];
      if (finding.to == leaf && port > 0) finding.ports.push_back(port);
    }
  }
}

}  // namespace

DevicePair PairOf(const Fabric& fabric, DeviceId a, DeviceId b) {
  const auto rank = [&](DeviceId id) { return std::pair(fabric.device(id).tier, id); };
  return rank(a) < rank(b) ? DevicePair{a, b} : DevicePair{b, a};
}

std::map<DevicePair, std::vector<LinkId>> CablesByPair(const Fabric& fabric) {
  std::map<DevicePair, std::vector<LinkId>> cables;
  for (std::size_t i = 0; i < fabric.link_count(); i += 2) {
    const Link& link = fabric.link(LinkId(i));
    if (link.kind != LinkKind::kNetwork) continue;
    const DevicePair pair = PairOf(fabric, link.from, link.to);
    cables[pair].push_back(pair.first == link.from ? LinkId(i) : fabric.reverse(LinkId(i)));
  }
  return cables;
}

const char* ToString(FabricFinding::Kind kind) {
  switch (kind) {
    case Kind::kMissingDevice:
      return "missing-device";
    case Kind::kExtraDevice:
      return "extra-device";
    case Kind::kMissingCables:
      return "missing-cables";
    case Kind::kExtraCables:
      return "extra-cables";
    case Kind::kMiscabled:
      return "mis-cabled";
    case Kind::kSlowCable:
      return "slow-cable";
    case Kind::kMissingUplinks:
      return "missing-uplinks";
    case Kind::kWrongRail:
      return "wrong-rail";
  }
  return "?";
}

std::string Describe(const FabricFinding& f) {
  switch (f.kind) {
    case Kind::kMissingDevice:
      return fmt::format("{} is missing{}{}", f.from, f.to.empty() ? "" : " on " + f.to,
                         PortsText(f));
    case Kind::kExtraDevice:
      return fmt::format("{} is not expected", f.from);
    case Kind::kMissingCables:
      return fmt::format("{} misses {} of {} cables to {}{}", f.from, f.expected - f.found,
                         f.expected, f.to, f.ports.empty() ? "" : ", elsewhere on" + PortsText(f));
    case Kind::kExtraCables:
      return fmt::format("{} has {} cables to {}, not {}{}", f.from, f.found, f.to, f.expected,
                         f.ports.empty() ? "" : ": see" + PortsText(f));
    case Kind::kMiscabled:
      return fmt::format("the cable of {}{} leads to {}, not {}", f.from, PortsText(f), f.to,
                         f.instead);
    case Kind::kSlowCable:
      return fmt::format("the cable of {}{} to {} runs at {}, not {}", f.from, PortsText(f), f.to,
                         ToString(f.found_rate), ToString(f.expected_rate));
    case Kind::kMissingUplinks:
      return fmt::format("{} has no cable upwards, where its likes have {}", f.from, f.expected);
    case Kind::kWrongRail:
      return fmt::format("{}, of rail {}, is on {} of rail {}, not on {}", f.from, f.expected, f.to,
                         f.found, f.instead);
  }
  return "";
}

FabricCheck CheckFabric(const Fabric& found, std::span<const std::uint32_t> port_of_link,
                        const Fabric* expected, std::span<const std::uint32_t> expected_ports) {
  TL_CHECK(port_of_link.empty() || port_of_link.size() == found.link_count(), port_of_link.size());
  if (expected == nullptr) return Checker(found, port_of_link, WantRegularity(found)).Check();
  TL_CHECK(expected_ports.empty() || expected_ports.size() == expected->link_count(),
           expected_ports.size());
  WantedFabric wanted = WantAs(found, *expected);
  NameLeaves(*expected, expected_ports, wanted.of_servers);
  FabricCheck check = Checker(found, port_of_link, std::move(wanted)).Check();
  check.shape = CompareShapes(found, *expected);
  return check;
}

}  // namespace trunkline
