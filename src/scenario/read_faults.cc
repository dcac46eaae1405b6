#include <fmt/format.h>

#include <charconv>

#include "scenario/reader.h"

namespace trunkline {
namespace {

enum class Kind : std::uint8_t { kDegrade, kFail, kFrameLoss, kBitErrors };

// `50%` is a part of the cable's rate, anything else a rate.
void ReadRest(const YamlValue& value, TimedFault& fault, Scenario& scenario) {
  const std::string& text = value.text();
  if (!text.ends_with('%')) {
    Rate rate;
    if (!value.Read(rate)) return;
    fault.rate = rate;
    NoteRate(OriginOf(value), rate, scenario);
    return;
  }
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size() - 1, percent);
  if (error != std::errc() || end != text.data() + text.size() - 1 ||
      !(percent > 0 && percent < 100)) {
    value.Error("TL1204", fmt::format("'{}' is not a part of a rate", text),
                "write what is left of the cable, between 0 and 100 %, such as 50%");
    return;
  }
  fault.fraction = percent / 100;
  constexpr double kFast = 1e12;  // bits a second: no cable has more, and less is left of others
  NoteRate(OriginOf(value), Rate::BitsPerSecond(static_cast<std::int64_t>(*fault.fraction * kFast)),
           scenario);
}

void ReadValue(const YamlMap& map, Kind kind, TimedFault& fault, Scenario& scenario) {
  const auto value = map.Find("value");
  switch (kind) {
    case Kind::kFail:
      fault.kind = TimedFault::Kind::kDown;
      if (value) {
        value->Error("TL1204", "a failed cable has no value", "remove it, or write kind: degrade");
      }
      return;
    case Kind::kDegrade:
      fault.kind = TimedFault::Kind::kRate;
      if (value) {
        ReadRest(*value, fault, scenario);
      } else {
        map.Error("TL1204", "a degraded cable needs a value", "add value: 50% or a rate");
      }
      return;
    case Kind::kFrameLoss:
    case Kind::kBitErrors:
      fault.kind =
          kind == Kind::kFrameLoss ? TimedFault::Kind::kFrameLoss : TimedFault::Kind::kBitErrors;
      if (value) {
        value->Read(fault.chance, RealRange{1e-18, 0.999});
      } else {
        map.Error("TL1204", "a cable that spoils frames needs a value",
                  "add the chance of a frame or a bit, such as value: 1e-6");
      }
      return;
  }
}

void ReadFault(const YamlValue& element, FabricSpec& spec, Scenario& scenario) {
  static const Words<Kind> kKinds = {{"degrade", Kind::kDegrade},
                                     {"fail", Kind::kFail},
                                     {"frame_loss", Kind::kFrameLoss},
                                     {"bit_errors", Kind::kBitErrors}};
  const auto map = element.AsMap();
  if (!map) return;
  TimedFault fault;
  fault.where = element.where();
  if (const auto target = map->Required("target")) {
    target->Read(fault.target);
    fault.where = target->where();
    fault.excerpt = target->excerpt();
  }
  Kind kind = Kind::kFail;
  map->Require("kind", kind, kKinds);
  ReadValue(*map, kind, fault, scenario);
  bool timed = map->Read("at", fault.at);
  if (Time until; map->Read("until", until)) {
    fault.until = until;
    timed = true;
  }
  if (!timed && (kind == Kind::kDegrade || kind == Kind::kFail)) {
    spec.faults.push_back(
        {.target = fault.target,
         .kind = kind == Kind::kFail ? StaticFault::Kind::kFail : StaticFault::Kind::kDegrade,
         .rate = fault.rate,
         .fraction = fault.fraction,
         .where = fault.where,
         .excerpt = fault.excerpt});
    return;
  }
  if (scenario.engine != EngineKind::kPacket) {
    element.Warn("TL1210",
                 fmt::format("the {} engine knows cables that are slow or broken from the start "
                             "only: this fault does not happen",
                             ToString(scenario.engine)),
                 "run it with engine: packet, or leave out 'at' and 'until'");
  }
  scenario.cluster.timed_faults.push_back(std::move(fault));
}

}  // namespace

void ReadFaults(const YamlMap& root, FabricSpec& spec, Scenario& scenario) {
  const auto list = root.List("faults");
  if (!list) return;
  for (const YamlValue& element : *list) ReadFault(element, spec, scenario);
  scenario.cluster.faults = spec.faults;
}

}  // namespace trunkline
