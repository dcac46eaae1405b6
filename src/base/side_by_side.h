#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace trunkline {

// work(0), …, work(count - 1), in any order, on as many threads as the machine has cores; returns
// when all are done. `work` may run on several threads at once and throws nothing.
template <typename Work>
void SideBySide(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> others;
  while (others.size() + 1 < std::min(cores, count)) others.emplace_back(take);
  take();
}

}  // namespace trunkline
