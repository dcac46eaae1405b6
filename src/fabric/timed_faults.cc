#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "fabric/faults.h"
#include "trunkline/fabric/fault.h"

namespace trunkline {
namespace {

Diagnostic Problem(const TimedFault& fault, std::string message, std::string hint) {
  return {.code = "TL1406",
          .where = fault.where,
          .message = std::move(message),
          .hint = std::move(hint),
          .excerpt = fault.excerpt};
}

Rate Left(const TimedFault& fault, Rate rate) {
  if (fault.rate) return std::min(*fault.rate, rate);
  const double left = static_cast<double>(rate.bits_per_second()) * *fault.fraction;
  return Rate::BitsPerSecond(std::max<std::int64_t>(1, std::llround(left)));
}

void CheckValue(const TimedFault& fault, Diagnostics& problems) {
  switch (fault.kind) {
    case TimedFault::Kind::kDown:
      return;
    case TimedFault::Kind::kRate: {
      const bool one = fault.rate.has_value() != fault.fraction.has_value();
      if (one && (!fault.rate || *fault.rate > Rate()) &&
          (!fault.fraction || (*fault.fraction > 0 && *fault.fraction < 1))) {
        return;
      }
      problems.push_back(Problem(fault, "a slower cable needs what is left of its rate",
                                 "a percentage between 0 and 100, or a rate up to that of the "
                                 "cable"));
      return;
    }
    case TimedFault::Kind::kFrameLoss:
    case TimedFault::Kind::kBitErrors:
      if (fault.chance > 0 && fault.chance < 1) return;
      problems.push_back(Problem(fault, fmt::format("a chance of loss of {}", fault.chance),
                                 "a number between 0 and 1: 1e-4 of frames, 1e-12 of bits"));
  }
}

// The network cables of a fault, each by its first direction.
std::vector<LinkId> NetworkCables(const Fabric& fabric, const TimedFault& fault,
                                  Diagnostics& problems) {
  std::vector<LinkId> cables;
  for (const LinkId link : CablesOf(fabric, fault.target)) {
    if (fabric.link(link).kind != LinkKind::kNetwork) continue;
    cables.push_back(std::min(link, fabric.reverse(link)));
  }
  if (cables.empty()) {
    problems.push_back(
        Problem(fault, fmt::format("'{}' names no network cable of this fabric", fault.target),
                "write two devices that a cable joins, leaf-0/spine-1, or one with network "
                "cables, nic:3/5"));
  }
  return cables;
}

CableChange StateAt(const Fabric& fabric, LinkId cable,
                    const std::vector<const TimedFault*>& faults, Time at) {
  CableChange state{.at = at,
                    .cable = cable,
                    .rate = fabric.link(cable).rate,
                    .reverse_rate = fabric.link(fabric.reverse(cable)).rate};
  for (const TimedFault* fault : faults) {
    if (fault->at > at || (fault->until && *fault->until <= at)) continue;
    switch (fault->kind) {
      case TimedFault::Kind::kDown:
        state.down = true;
        break;
      case TimedFault::Kind::kRate:
        state.rate = std::min(state.rate, Left(*fault, fabric.link(cable).rate));
        state.reverse_rate =
            std::min(state.reverse_rate, Left(*fault, fabric.link(fabric.reverse(cable)).rate));
        break;
      case TimedFault::Kind::kFrameLoss:
        state.frame_loss = std::max(state.frame_loss, fault->chance);
        break;
      case TimedFault::Kind::kBitErrors:
        state.bit_errors = std::max(state.bit_errors, fault->chance);
        break;
    }
  }
  return state;
}

}  // namespace

Result<std::vector<CableChange>> ResolveFaults(const Fabric& fabric,
                                               std::span<const TimedFault> faults) {
  Diagnostics problems;
  std::map<LinkId, std::vector<const TimedFault*>> of_cable;
  for (const TimedFault& fault : faults) {
    CheckValue(fault, problems);
    if (fault.at < Time() || (fault.until && *fault.until <= fault.at)) {
      problems.push_back(Problem(fault,
                                 fmt::format("a fault from {} until {}", ToString(fault.at),
                                             fault.until ? ToString(*fault.until) : "the end"),
                                 "at a time from 0 on, and until a later one"));
    }
    for (const LinkId cable : NetworkCables(fabric, fault, problems)) {
      of_cable[cable].push_back(&fault);
    }
  }
  if (!problems.empty()) return std::unexpected(std::move(problems));
  std::vector<CableChange> changes;
  for (const auto& [cable, its] : of_cable) {
    std::set<Time> times;
    for (const TimedFault* fault : its) {
      times.insert(fault->at);
      if (fault->until) times.insert(*fault->until);
    }
    for (const Time at : times) changes.push_back(StateAt(fabric, cable, its, at));
  }
  std::ranges::stable_sort(changes, {}, &CableChange::at);
  return changes;
}

}  // namespace trunkline
