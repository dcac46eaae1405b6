#include <algorithm>

#include "engine/flow/problem.h"
#include "trunkline/base/check.h"

namespace trunkline {

const Schedule& Pattern::schedule(std::uint32_t collective) const {
  const auto use = std::ranges::lower_bound(uses, collective, {}, &Use::collective);
  TL_CHECK(use != uses.end() && use->collective == collective, "unknown collective", collective);
  return *use->schedule;
}

std::uint32_t Pattern::Find(Participant source, Participant destination,
                            std::uint32_t channel) const {
  Schedule::Pair wanted{source, destination, channel};
  if (source >= period) {
    wanted.source = source % period;
    wanted.destination = (destination + members() - (source - wanted.source)) % members();
  }
  const std::uint32_t likely = IndexIfComplete(wanted.source, wanted.destination, channel);
  if ((complete && channel < channels) || (likely < pairs.size() && pairs[likely] == wanted)) {
    return likely;
  }
  const auto first = pairs.begin() + first_outbound[wanted.source];
  const auto last = pairs.begin() + first_outbound[wanted.source + 1];
  const auto found = std::lower_bound(first, last, wanted);
  TL_CHECK(found != last && *found == wanted, "an op names a pair that pairs() omits", source,
           destination, channel);
  return static_cast<std::uint32_t>(found - pairs.begin());
}

}  // namespace trunkline
