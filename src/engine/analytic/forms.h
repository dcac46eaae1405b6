#pragma once

#include <cstdint>

#include "engine/analytic/group_model.h"
#include "trunkline/collective/algorithm.h"
#include "trunkline/collective/schedule.h"

// The closed form of each algorithm: seconds from the first step to the last arrival, without the
// latency of the launch. All are exact for equal nodes and links where puts meet only the puts that
// their step starts together; docs/engines.md says how far they are off elsewhere.
namespace trunkline {

struct FormInput {
  GroupModel& group;
  const CollectiveSpec& spec;
  const Schedule& schedule;
};
using Form = double (*)(const FormInput&);

// ring_forms.cc
[[nodiscard]] double RingForm(const FormInput& input);
[[nodiscard]] double HierarchicalForm(const FormInput& input);

// exchange_forms.cc
[[nodiscard]] double RecursiveDoublingForm(const FormInput& input);
[[nodiscard]] double RecursiveMultiplyingForm(const FormInput& input);
[[nodiscard]] double HalvingDoublingForm(const FormInput& input);
[[nodiscard]] double BruckForm(const FormInput& input);
[[nodiscard]] double PairwiseForm(const FormInput& input);
[[nodiscard]] double DirectForm(const FormInput& input);

// tree_forms.cc: the binomial tree, the double binary tree, and trees of switches
[[nodiscard]] double TreeForm(const FormInput& input);
[[nodiscard]] double SwitchTreeForm(const FormInput& input);

// The longest of `parts` pieces of `bytes` cut at element boundaries (collective/cut.h).
[[nodiscard]] inline std::int64_t LongestPiece(std::int64_t bytes, std::int64_t element,
                                               std::int64_t parts) {
  const std::int64_t elements = bytes / element;
  return (elements + parts - 1) / parts * element;
}

}  // namespace trunkline
