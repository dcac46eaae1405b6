#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace trunkline {

// work(0), …, work(count - 1), in any order, on as many threads as the machine has cores, or as it
// lends; returns when all are done. `work` may run on several threads at once. What it throws first
// ends the rest and is thrown on.
template <typename Work>
void SideBySide(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::once_flag failed;
  std::exception_ptr failure;
  const auto take = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      std::call_once(failed, [&] { failure = std::current_exception(); });
      next = count;
    }
  };
  {
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::jthread> others;
    try {
      while (others.size() + 1 < std::min(cores, count)) others.emplace_back(take);
    } catch (const std::system_error&) {  // the system has no more: those that run do it all
    }
    take();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace trunkline
