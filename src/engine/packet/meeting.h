#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace trunkline {

// A barrier for threads that meet every few hundred microseconds: they spin, because to sleep and
// be woken would cost a good part of that, and give way only to others that need the core.
class Meeting {
 public:
  explicit Meeting(std::uint32_t count) : count_(count) {}

  // Returns when all `count` threads have come.
  void Wait() {
    const std::uint32_t round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == count_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.fetch_add(1, std::memory_order_release);
      return;
    }
    constexpr int kSpins = 20'000;
    for (int spin = 0; round_.load(std::memory_order_acquire) == round; ++spin) {
      if (spin >= kSpins) std::this_thread::yield();
    }
  }

 private:
  std::uint32_t count_;
  alignas(64) std::atomic<std::uint32_t> arrived_ = 0;
  alignas(64) std::atomic<std::uint32_t> round_ = 0;
};

}  // namespace trunkline
