#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trunkline {

struct Program;

// Who waits for whom among the unordered tasks of a program; empty where all are ordered.
class Waiters {
 public:
  Waiters() = default;
  // `role_predecessor`: by task, as in ProgramShape.
  Waiters(const Program& program, std::span<const std::uint32_t> role_predecessor);

  // By task: how many ends and starts of others it waits for.
  [[nodiscard]] const std::vector<std::uint32_t>& missing() const { return missing_; }
  // A task appears as often as it waits for the same one.
  [[nodiscard]] std::span<const std::uint32_t> for_end_of(std::uint32_t task) const {
    return ends_.of(task);
  }
  [[nodiscard]] std::span<const std::uint32_t> for_start_of(std::uint32_t task) const {
    return starts_.of(task);
  }

 private:
  struct Lists {
    std::vector<std::uint32_t> first;  // by task, into waiters; one more at the end
    std::vector<std::uint32_t> waiters;

    [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t task) const {
      if (first.empty()) return {};
      return std::span(waiters).subspan(first[task], first[task + 1] - first[task]);
    }
  };

  std::vector<std::uint32_t> missing_;
  Lists ends_;
  Lists starts_;
};

}  // namespace trunkline
