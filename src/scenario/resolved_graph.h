#pragma once

#include <span>
#include <utility>
#include <vector>

#include "workload/derived_graph.h"

namespace trunkline {

// A task graph whose collectives have been given their algorithms: `base` with other choices at the
// same indices.
class ResolvedGraph final : public DerivedGraph {
 public:
  ResolvedGraph(const TaskGraph& base, std::vector<CollectiveChoice> choices)
      : DerivedGraph(base), choices_(std::move(choices)) {}

  [[nodiscard]] std::span<const CollectiveChoice> collectives() const override { return choices_; }

 private:
  std::vector<CollectiveChoice> choices_;
};

}  // namespace trunkline
