#include "engine/analytic/closed_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/analytic/forms.h"
#include "engine/saturating_time.h"
#include "trunkline/collective/algorithm.h"
#include "trunkline/collective/tuner.h"

namespace trunkline {
namespace {

constexpr std::pair<std::string_view, Form> kForms[] = {
    {"ring", RingForm},
    {"tree", TreeForm},
    {"double_binary_tree", TreeForm},
    {"recursive_doubling", RecursiveDoublingForm},
    {"recursive_multiplying", RecursiveMultiplyingForm},
    {"halving_doubling", HalvingDoublingForm},
    {"hierarchical", HierarchicalForm},
    {"pairwise", PairwiseForm},
    {"direct", DirectForm},
    {"bruck", BruckForm},
    {"sharp", SwitchTreeForm},
};

}  // namespace

Result<Time> CollectiveTime(GroupModel& group, const CollectiveChoice& choice) {
  const auto schedule = MakeSchedule(choice.algorithm, choice.spec, group.layout());
  if (!schedule) return std::unexpected(schedule.error());
  const auto form =
      std::ranges::find(kForms, choice.algorithm, &std::pair<std::string_view, Form>::first);
  if (form == std::end(kForms)) {
    return Error("TL1620",
                 fmt::format("the analytic engine has no closed form for '{}'", choice.algorithm),
                 "use engine: flow, which runs the schedule itself");
  }
  if (group.ranks() == 1) return Time();  // nothing is launched
  group.set_protocol(choice.protocol, StepLatencyOf(choice.algorithm, group.transport()));
  const double seconds =
      form->second({.group = group, .spec = choice.spec, .schedule = **schedule});
  if (group.failure()) return std::unexpected(*group.failure());
  return std::min(Time::Horizon(),
                  BaseLatencyOf(choice.algorithm, choice.protocol, group.transport()) +
                      SaturatingTime(seconds));
}

}  // namespace trunkline
