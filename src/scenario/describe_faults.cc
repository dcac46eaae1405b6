#include "scenario/describe_faults.h"

#include <fmt/format.h>

namespace trunkline {
namespace {

std::string What(const StaticFault& fault) {
  if (fault.kind == StaticFault::Kind::kFail) return "down";
  if (fault.rate) return "at " + Humanize(*fault.rate);
  return fmt::format("at {:.4g} % of its rate", 100 * fault.fraction.value_or(1));
}

std::string What(const TimedFault& fault) {
  switch (fault.kind) {
    case TimedFault::Kind::kDown:
      return "down";
    case TimedFault::Kind::kRate:
      if (fault.rate) return "at " + Humanize(*fault.rate);
      return fmt::format("at {:.4g} % of its rate", 100 * fault.fraction.value_or(1));
    case TimedFault::Kind::kFrameLoss:
      return fmt::format("spoils a frame with a chance of {:.4g}", fault.chance);
    case TimedFault::Kind::kBitErrors:
      return fmt::format("spoils a bit with a chance of {:.4g}", fault.chance);
  }
  return "";
}

}  // namespace

std::vector<std::string> DescribeFaults(const Scenario& scenario) {
  std::vector<std::string> texts;
  for (const StaticFault& fault : scenario.cluster.faults) {
    texts.push_back(fmt::format("{} {} from the start", fault.target, What(fault)));
  }
  if (scenario.engine != EngineKind::kPacket) return texts;
  for (const TimedFault& fault : scenario.cluster.timed_faults) {
    texts.push_back(
        fmt::format("{} {} from {}{}", fault.target, What(fault),
                    fault.at == Time() ? "the start" : Humanize(fault.at),
                    fault.until ? fmt::format(" to {}", Humanize(*fault.until)) : std::string()));
  }
  return texts;
}

}  // namespace trunkline
