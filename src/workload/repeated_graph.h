#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workload/derived_graph.h"

namespace trunkline {

// A graph that begins at `start` and runs `repetitions` times: each rank begins anew when its own
// program has ended, waiting for no other. What holds a rank back is a computation of its own,
// with a label of its own: idle().
class RepeatedGraph final : public DerivedGraph {
 public:
  // REQUIRES: start >= 0, repetitions > 0, and their tasks fit a program.
  RepeatedGraph(const TaskGraph& base, Time start, std::uint32_t repetitions);

  [[nodiscard]] const Program& program(std::uint32_t index) const override {
    return programs_[index];
  }
  [[nodiscard]] std::span<const TaskLabel> labels() const override { return labels_; }

 private:
  std::vector<Program> programs_;
  std::vector<TaskLabel> labels_;
};

// The label of what holds a rank back.
inline constexpr const char* kIdleLabel = "not begun";

}  // namespace trunkline
