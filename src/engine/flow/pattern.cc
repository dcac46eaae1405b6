#include <algorithm>

#include "engine/flow/problem.h"
#include "trunkline/base/check.h"

namespace trunkline {

const Schedule& Pattern::schedule(std::uint32_t collective) const {
  const auto use = std::ranges::lower_bound(uses, collective, {}, &Use::collective);
  TL_CHECK(use != uses.end() && use->collective == collective, "unknown collective", collective);
  return *use->schedule;
}

void Pattern::IndexPairs(std::uint32_t members) {
  complete = pairs.size() == std::size_t{period} * (members - 1) * channels;
  first_outbound.assign(members + 1, 0);
  first_inbound.assign(members + 1, 0);
  for (const Schedule::Pair& pair : pairs) {
    ++first_outbound[pair.source + 1];
    ++first_inbound[pair.destination + 1];
  }
  for (std::uint32_t member = 0; member < members; ++member) {
    first_outbound[member + 1] += first_outbound[member];
    first_inbound[member + 1] += first_inbound[member];
  }
  // Pairs are sorted by source, so filling destinations in order sorts them by (source, channel).
  std::vector<std::uint32_t> fill = first_inbound;
  inbound.resize(pairs.size());
  for (std::uint32_t i = 0; i < pairs.size(); ++i) {
    inbound[fill[pairs[i].destination]++] = i;
  }
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
