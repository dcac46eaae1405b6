#include "trunkline/report/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "report/empty_run.h"
#include "report/json_writer.h"
#include "report/names.h"
#include "report/table.h"

namespace trunkline {
namespace {

std::string Oversubscription(double ratio, std::uint32_t up) {
  return ratio > 0 ? fmt::format("{:.4g}:1", ratio) : up > 0 ? "nothing below" : "cut off";
}

// What is said of a list in text: all of it where it fits a screen, else the first few. JSON has
// all.
constexpr std::size_t kScreen = 24;
constexpr std::size_t kShownDevices = 4;   // of each kind of finding, those with most of them
constexpr std::size_t kShownFindings = 3;  // of each device
constexpr std::size_t kShownSwitches = 10;

std::string MoreText(std::size_t more) {
  return fmt::format("  … and {} more: --json has all\n", Grouped(static_cast<double>(more)));
}

std::string SwitchTable(const FabricCheck& check) {
  Table table({{"switch", Align::kLeft},
               {"down"},
               {"up"},
               {"expected"},
               {"oversubscription"},
               {"expected"}});
  const std::size_t shown =
      check.switches.size() <= kScreen ? check.switches.size() : kShownSwitches;
  for (const ShortSwitch& one : std::span(check.switches).first(shown)) {
    table.Add({one.name, Grouped(one.cables_down), Grouped(one.cables_up),
               Grouped(one.cables_up_expected),
               Oversubscription(one.oversubscription, one.cables_up),
               Oversubscription(one.oversubscription_expected, one.cables_up_expected)});
  }
  const std::size_t more = check.switches.size() - shown;
  return table.Text("  ") + (more > 0 ? MoreText(more) : "");
}

// "fewer", "slower", "fewer or slower": what uplinks are, as many of them and as fast as they are.
std::string UplinksText(const std::vector<ShortSwitch>& switches) {
  const auto any = [&](auto&& is) { return std::ranges::any_of(switches, is); };
  const auto as_many = [](const ShortSwitch& s) { return s.cables_up == s.cables_up_expected; };
  std::string text;
  const auto add = [&](bool holds, const char* word) {
    if (holds) text += (text.empty() ? "" : " or ") + std::string(word);
  };
  add(any([](const ShortSwitch& s) { return s.cables_up < s.cables_up_expected; }), "fewer");
  add(any([](const ShortSwitch& s) { return s.cables_up > s.cables_up_expected; }), "more");
  add(any([&](const ShortSwitch& s) { return as_many(s) && s.uplink_rate_share < 1; }), "slower");
  add(any([&](const ShortSwitch& s) { return as_many(s) && s.uplink_rate_share > 1; }), "faster");
  return text.empty() ? "other" : text;
}

std::string RailText(const RailCheck& rail) {
  if (!rail.rails)
    return "rails: leaves are not of one rail each, so NICs cannot be on a wrong one\n";
  std::string text = fmt::format("rails: {} of {} NICs are on a leaf of another rail",
                                 Grouped(static_cast<double>(rail.wrong)),
                                 Grouped(static_cast<double>(rail.nics)));
  if (rail.wrong > 0) {
    text += fmt::format(
        ";\n  of the traffic between NICs of one rail that a leaf should carry alone, {} ({} of {} "
        "pairs)\n  crosses spines",
        Percent(static_cast<double>(rail.pairs_over_spines) / static_cast<double>(rail.pairs)),
        Grouped(static_cast<double>(rail.pairs_over_spines)),
        Grouped(static_cast<double>(rail.pairs)));
  }
  return text + "\n";
}

std::string CostText(const CheckCost& cost) {
  Table table({{"collective", Align::kLeft}, {"found"}, {"as expected"}, {"longer by"}});
  const auto add = [&](std::string name, Time found, Time mended) {
    table.Add(
        {std::move(name), Humanize(found), Humanize(mended), Percent(Ratio(found, mended) - 1)});
  };
  add(fmt::format("all_to_all of {}", ToString(kAllToAllBytes)), cost.found.all_to_all,
      cost.mended.all_to_all);
  add(fmt::format("all_reduce of {}, ring", ToString(kRingBytes)), cost.found.ring,
      cost.mended.ring);
  return "cost over all ranks, server by server, by the flow engine:\n" + table.Text("  ");
}

// What so many findings of a kind are called.
std::string CountText(FabricFinding::Kind kind, std::size_t count) {
  using Kind = FabricFinding::Kind;
  switch (kind) {
    case Kind::kMissingDevice:
      return Plural(count, "missing device");
    case Kind::kExtraDevice:
      return Plural(count, "device too many", "devices too many");
    case Kind::kMissingCables:
      return Plural(count, "place", "places") + " with missing cables";
    case Kind::kExtraCables:
      return Plural(count, "place", "places") + " with cables too many";
    case Kind::kMiscabled:
      return Plural(count, "mis-cabled cable");
    case Kind::kSlowCable:
      return Plural(count, "slow cable");
    case Kind::kMissingUplinks:
      return Plural(count, "switch without uplinks", "switches without uplinks");
    case Kind::kWrongRail:
      return Plural(count, "NIC on the wrong rail", "NICs on the wrong rail");
  }
  return "";
}

std::string CountsText(const FabricCheck& check) {
  std::map<FabricFinding::Kind, std::size_t> counts;
  std::uint64_t missing = 0;
  for (const FabricFinding& finding : check.findings) {
    ++counts[finding.kind];
    if (finding.kind == FabricFinding::Kind::kMissingCables) {
      missing += finding.expected - finding.found;
    }
  }
  std::string text;
  for (const auto& [kind, count] : counts) {
    text += (text.empty() ? "" : ", ") + CountText(kind, count);
    if (kind == FabricFinding::Kind::kMissingCables) {
      text += fmt::format(" ({})", Plural(missing, "cable"));
    }
  }
  return text;
}

std::string ShapeText(const FabricCheck& check) {
  if (check.shape.empty()) return "";
  Table table({{"", Align::kLeft}, {"found"}, {"expected"}});
  for (const ShapeCount& row : check.shape) {
    table.Add({row.what, Grouped(static_cast<double>(row.found)),
               Grouped(static_cast<double>(row.expected))});
  }
  return "the shapes differ:\n" + table.Text("  ") + "\n";
}

using Findings = std::vector<const FabricFinding*>;

// What tells cables to one place apart: "spine-1", "spine-1 port 3", "spine-1 (2 cables)".
std::string PlaceText(const Findings& cables) {
  std::vector<std::uint32_t> ports;
  for (const FabricFinding* cable : cables) {
    ports.insert(ports.end(), cable->ports.begin(), cable->ports.end());
  }
  const std::string& to = cables.front()->to;
  if (ports.empty()) {
    return cables.size() == 1 ? to : fmt::format("{} ({} cables)", to, cables.size());
  }
  const std::size_t shown = std::min(ports.size(), kShownFindings);
  std::string text = fmt::format("{} port{} {}", to, ports.size() == 1 ? "" : "s", ports.front());
  for (std::size_t i = 1; i < shown; ++i) text += fmt::format("+{}", ports[i]);
  return text + (ports.size() > shown ? "+…" : "");
}

// "; likewise spine-1, spine-2 (2 cables) and 12 more": the same as of the first, place by place.
std::string LikewiseText(const Findings& alike) {
  std::vector<Findings> places;
  for (const FabricFinding* finding : std::span(alike).subspan(1)) {
    const auto same = std::ranges::find_if(
        places, [&](const Findings& place) { return place.front()->to == finding->to; });
    if (same == places.end()) {
      places.push_back({finding});
    } else {
      same->push_back(finding);
    }
  }
  std::string text;
  std::size_t left = alike.size() - 1;
  for (const Findings& place :
       std::span(places).first(std::min(places.size(), kShownFindings - 1))) {
    text += (text.empty() ? "; likewise " : ", ") + PlaceText(place);
    left -= place.size();
  }
  return text + (left > 0 ? fmt::format(" and {} more", left) : "");
}

// All but where a cable leads and by which port: what may be said of several at once.
auto Saying(const FabricFinding& f) {
  return std::tuple(f.found, f.expected, f.found_rate, f.expected_rate, f.instead);
}

// What sets apart the findings of a device that are not like those told.
std::string_view DifferenceText(FabricFinding::Kind kind) {
  using Kind = FabricFinding::Kind;
  switch (kind) {
    case Kind::kMissingCables:
    case Kind::kExtraCables:
      return "of other numbers of cables";
    case Kind::kSlowCable:
      return "of other rates";
    default:
      return "otherwise";
  }
}

// "leaf-3 misses 1 of 2 cables to spine-0; likewise spine-1 and 12 more; 2 of other numbers of
// cables": of one device, what most of its findings say.
std::string DeviceText(const Findings& findings) {
  std::vector<Findings> groups;
  for (const FabricFinding* finding : findings) {
    const auto same = std::ranges::find_if(
        groups, [&](const Findings& group) { return Saying(*group.front()) == Saying(*finding); });
    if (same == groups.end()) {
      groups.push_back({finding});
    } else {
      same->push_back(finding);
    }
  }
  std::ranges::stable_sort(groups, std::ranges::greater(), &Findings::size);
  const Findings& most = groups.front();
  std::string text = Describe(*most.front()) + LikewiseText(most);
  if (const std::size_t others = findings.size() - most.size(); others > 0) {
    text += fmt::format("; {} {}", others, DifferenceText(most.front()->kind));
  }
  return text;
}

// Of one kind of finding, by device: those first that most is found of.
std::string KindText(const Findings& findings, std::size_t& left_out) {
  std::map<std::string, std::size_t> place;
  std::vector<Findings> devices;
  for (const FabricFinding* finding : findings) {
    const auto [at, added] = place.try_emplace(finding->from, devices.size());
    if (added) devices.emplace_back();
    devices[at->second].push_back(finding);
  }
  std::ranges::stable_sort(devices, std::ranges::greater(), &Findings::size);
  std::string text;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (i < kShownDevices) {
      text += fmt::format("  {}\n", Printable(DeviceText(devices[i])));
    } else {
      left_out += devices[i].size();
    }
  }
  return text;
}

std::string FindingsText(const FabricCheck& check) {
  std::string text;
  if (check.findings.size() <= kScreen) {
    for (const FabricFinding& finding : check.findings) {
      text += fmt::format("  {}\n", Printable(Describe(finding)));
    }
    return text;
  }
  std::map<FabricFinding::Kind, Findings> kinds;
  for (const FabricFinding& finding : check.findings) kinds[finding.kind].push_back(&finding);
  std::size_t left_out = 0;
  for (const auto& [kind, findings] : kinds) text += KindText(findings, left_out);
  return text + (left_out > 0 ? MoreText(left_out) : "");
}

void WriteTimes(JsonWriter& json, const CollectiveTimes& times) {
  json.Object([&] {
    json.Field("all_to_all_s", times.all_to_all);
    json.Field("ring_s", times.ring);
  });
}

void WriteText(JsonWriter& json, const char* key, const std::string& value) {
  if (value.empty()) {
    json.NullField(key);
  } else {
    json.Field(key, value);
  }
}

void WriteFinding(JsonWriter& json, const FabricFinding& finding) {
  json.Field("kind", ToString(finding.kind));
  json.Field("from", finding.from);
  WriteText(json, "to", finding.to);
  WriteText(json, "instead", finding.instead);
  json.Field("found", finding.found);
  json.Field("expected", finding.expected);
  json.Key("ports");
  json.Values(finding.ports);
  if (finding.kind == FabricFinding::Kind::kSlowCable) {
    json.Field("found_Bps", finding.found_rate.bytes_per_second());
    json.Field("expected_Bps", finding.expected_rate.bytes_per_second());
  }
  json.Field("text", Describe(finding));
}

void WriteSwitch(JsonWriter& json, const ShortSwitch& one) {
  const auto ratio = [&](const char* key, double value) {
    if (value > 0) {
      json.Field(key, value);
    } else {
      json.NullField(key);
    }
  };
  json.Field("name", one.name);
  json.Field("cables_down", one.cables_down);
  json.Field("cables_up", one.cables_up);
  json.Field("cables_up_expected", one.cables_up_expected);
  ratio("oversubscription", one.oversubscription);
  ratio("oversubscription_expected", one.oversubscription_expected);
}

}  // namespace

std::string RenderCheckText(const BuiltFabric& built, const FabricCheck& check,
                            const std::optional<CheckCost>& cost, const std::string& no_cost) {
  std::string text = fmt::format("{}: {}\n", built.kind, Printable(built.summary));
  for (const std::string& note : built.notes) text += fmt::format("note: {}\n", Printable(note));
  text += Wrap("expected: " + check.expectation, "", 100) + "\n";
  if (check.findings.empty()) {
    text += "nothing is missing, too many, mis-cabled, slow or on a wrong rail\n";
  } else {
    text +=
        fmt::format("{}found: {}\n{}", ShapeText(check), CountsText(check), FindingsText(check));
  }
  if (!check.switches.empty()) {
    text += fmt::format("\n{} of {} {} uplinks than expected:\n{}", check.switches.size(),
                        Plural(check.switches_with_uplinks, "switch has", "switches have"),
                        UplinksText(check.switches), SwitchTable(check));
  }
  text += "\n" + RailText(check.rail);
  if (cost) text += "\n" + CostText(*cost);
  if (!no_cost.empty()) {
    text += "\n" + Wrap(Printable("the cost cannot be told: " + no_cost), "", 100) + "\n";
  }
  return text;
}

std::string RenderCheckJson(const BuiltFabric& built, const FabricCheck& check,
                            const std::optional<CheckCost>& cost, const std::string& no_cost) {
  JsonWriter json(1);
  json.BeginObject();
  WriteEmptyRun(json, built.notes);
  json.Field("kind", built.kind);
  json.Field("summary", built.summary);
  json.Field("expectation", check.expectation);
  json.Key("shape");
  json.Objects(check.shape, [&](const ShapeCount& row) {
    json.Field("what", row.what);
    json.Field("found", row.found);
    json.Field("expected", row.expected);
  });
  json.Key("findings");
  json.Objects(check.findings, [&](const FabricFinding& f) { WriteFinding(json, f); });
  json.Key("switches");
  json.Objects(check.switches, [&](const ShortSwitch& one) { WriteSwitch(json, one); });
  json.Field("switches_with_uplinks", check.switches_with_uplinks);
  json.Key("rails");
  json.Object([&] {
    json.Field("found", check.rail.rails);
    json.Field("nics", check.rail.nics);
    json.Field("wrong", check.rail.wrong);
    json.Field("pairs", check.rail.pairs);
    json.Field("pairs_over_spines", check.rail.pairs_over_spines);
  });
  json.Key("cost");
  if (cost) {
    json.Object([&] {
      json.Field("all_to_all_bytes", kAllToAllBytes);
      json.Field("ring_bytes", kRingBytes);
      json.Key("found");
      WriteTimes(json, cost->found);
      json.Key("mended");
      WriteTimes(json, cost->mended);
    });
  } else {
    json.Null();
  }
  WriteText(json, "no_cost", no_cost);
  json.EndObject();
  return std::move(json).Take() + "\n";
}

}  // namespace trunkline
