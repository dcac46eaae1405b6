#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace trunkline {

// A barrier for threads that meet every few hundred microseconds: they spin, because to sleep and
// be woken would cost a good part of that. Only who waits long, or where threads are more than
// cores, sleeps.
class Meeting {
 public:
  explicit Meeting(std::uint32_t count)
      : count_(count), spins_(count <= std::thread::hardware_concurrency() ? 20'000 : 0) {}

  // Returns when all `count` threads have come.
  void Wait() {
    const std::uint32_t round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == count_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.fetch_add(1, std::memory_order_release);
      round_.notify_all();
      return;
    }
    for (int spin = 0; spin < spins_; ++spin) {
      if (round_.load(std::memory_order_acquire) != round) return;
    }
    round_.wait(round, std::memory_order_acquire);
  }

 private:
  std::uint32_t count_;
  int spins_;
  alignas(64) std::atomic<std::uint32_t> arrived_ = 0;
  alignas(64) std::atomic<std::uint32_t> round_ = 0;
};

}  // namespace trunkline
