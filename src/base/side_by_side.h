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

// own() on the calling thread and work(0), …, work(count - 1), in any order, on as many threads as
// the machine has cores, or as it lends, that one included; returns when all are done. `work` may
// run on several threads at once. What they throw first ends the rest and is thrown on.
template <typename Own, typename Work>
void Beside(const Own& own, std::size_t count, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::once_flag failed;
  std::exception_ptr failure;
  const auto run = [&](const auto& what) {
    try {
      what();
    } catch (...) {
      std::call_once(failed, [&] { failure = std::current_exception(); });
      next = count;
    }
  };
  const auto take = [&] {
    run([&] {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    });
  };
  {
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::jthread> others;
    try {
      while (others.size() < std::min(cores - 1, count)) others.emplace_back(take);
    } catch (const std::system_error&) {  // the system has no more: those that run do it all
    }
    run(own);
    take();
  }
  if (failure) std::rethrow_exception(failure);
}

// work(0), …, work(count - 1) in the same way, the first on the calling thread.
template <typename Work>
void SideBySide(std::size_t count, const Work& work) {
  if (count == 0) return;
  Beside([&] { work(0); }, count - 1, [&](std::size_t i) { work(i + 1); });
}

}  // namespace trunkline
