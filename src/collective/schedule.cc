#include "trunkline/collective/schedule.h"

#include <algorithm>
#include <array>
#include <set>

namespace trunkline {

std::vector<Schedule::Pair> Schedule::pairs() const {
  std::set<Pair> found;
  std::array<Op, 64> block;
  for (Participant participant = 0; participant < participants(); ++participant) {
    for (std::uint32_t channel = 0; channel < channels(); ++channel) {
      const std::uint64_t count = op_count(participant, channel);
      for (std::uint64_t first = 0; first < count; first += block.size()) {
        const auto out =
            std::span(block).first(std::min<std::uint64_t>(block.size(), count - first));
        ops(participant, channel, first, out);
        for (const Op& op : out) {
          const bool sends = op.kind == OpKind::kPut || op.kind == OpKind::kSignal ||
                             op.kind == OpKind::kMulticastStore;
          if (sends && op.peer != participant) {
            found.insert({participant, op.peer, channel});
          } else if (op.kind == OpKind::kLoadReduce) {
            found.insert({op.peer, participant, channel});
          }
        }
      }
    }
  }
  return {found.begin(), found.end()};
}

std::uint32_t GroupLayout::node_count() const {
  return node.empty() ? 0 : *std::max_element(node.begin(), node.end()) + 1;
}

bool GroupLayout::uniform() const {
  std::vector<std::vector<std::uint32_t>> locals(node_count());
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    locals[node[rank]].push_back(local[rank]);
  }
  for (auto& of_node : locals) {
    std::sort(of_node.begin(), of_node.end());
  }
  return std::all_of(locals.begin(), locals.end(),
                     [&](const auto& of_node) { return of_node == locals.front(); });
}

GroupLayout GroupLayout::Flat(std::uint32_t n) { return Grid(n, 1); }

GroupLayout GroupLayout::Grid(std::uint32_t nodes, std::uint32_t per_node) {
  GroupLayout layout;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    for (std::uint32_t j = 0; j < per_node; ++j) {
      layout.node.push_back(i);
      layout.local.push_back(j);
    }
  }
  return layout;
}

}  // namespace trunkline
