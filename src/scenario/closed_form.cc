#include "scenario/closed_form.h"

#include <fmt/format.h>

#include <bit>
#include <string>

#include "engine/analytic/group_model.h"

namespace trunkline {

const char* MissedByClosedForm(const CollectiveChoice& choice, std::uint32_t ranks,
                               std::size_t nodes, bool packed, const FabricCuts& cuts) {
  // Up to these within 1 % of the flow engine; chains, trees and pairwise exchanges within 15 %.
  constexpr Bytes kAgrees{std::int64_t{4} << 20};
  constexpr Bytes kPipelined{std::int64_t{256} << 10};
  const bool alike = cuts.alike();
  const std::string& algorithm = choice.algorithm;
  const Primitive primitive = choice.spec.primitive;
  if (choice.spec.bytes <= kPipelined) return nullptr;
  const bool chain = algorithm == "ring" &&
                     (primitive == Primitive::kBroadcast || primitive == Primitive::kReduce);
  if (chain && choice.spec.channels > 1 && nodes > 1) {
    return "a third of the time of a Broadcast or Reduce by ring over several nodes, or take it "
           "for more than twice as long: its channels start in step and drift apart";
  }
  if ((algorithm == "double_binary_tree" || algorithm == "tree") && !alike) {
    return "up to 40 % of the time of a tree on a fabric that is not the same for all, where "
           "slices of several trees and children meet on the way";
  }
  if ((algorithm == "double_binary_tree" || algorithm == "tree") && !packed && nodes > 1) {
    return "a third of the time of a tree whose ranks are not packed, or take it for a sixth too "
           "long: puts to children of several parents meet on the NICs";
  }
  if (algorithm == "pairwise" && nodes > 1) {
    return "more than half of the time of a pairwise exchange over several nodes, whose steps meet "
           "on the NICs";
  }
  if (alike && nodes > 1 && cuts.leaves_out_rails()) {
    return "two thirds of the time where the leaves of a rail carry less than its NICs: it takes "
           "the leaves of all rails together, since servers join them";
  }
  if (choice.spec.bytes <= kAgrees) return nullptr;
  const bool exchange = algorithm == "pairwise" || algorithm == "direct";
  if (exchange && !alike && ranks > GroupModel::kMostInAllPairs) {
    return "more than half of the time of a large exchange on a fabric that is not the same for "
           "all, whose cables it then does not follow one by one";
  }
  const bool doubling = algorithm == "recursive_doubling" || algorithm == "halving_doubling";
  if (doubling && !std::has_single_bit(ranks)) {
    return "up to half of the time among ranks that are no power of two, where those that hand "
           "nothing over start at once";
  }
  return nullptr;
}

std::string MissedByGroupsTogether(const GroupsTogether& together, Time step) {
  // Of steps in which it is less, most are within 3 % of the flow engine.
  constexpr double kMatters = 0.01;
  const double share = step == Time() ? 0 : together.time.seconds() / step.seconds();
  if (share < kMatters) return "";
  return fmt::format(
      "groups of {} and of {} cross the same NICs at once for {} ({:.0f} % of the step), and the "
      "analytic engine takes each alone: the step may take about that much longer",
      together.first, together.second, Humanize(together.time), 100 * share);
}

}  // namespace trunkline
