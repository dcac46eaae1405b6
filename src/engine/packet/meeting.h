#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace trunkline {

// A barrier for threads that meet every few dozen microseconds: they spin, because to sleep and be
// woken would cost as much. Who has waited longer than others can have been late lets them have the
// core, and who waits long, or where threads are more than cores, sleeps.
class Meeting {
 public:
  explicit Meeting(std::uint32_t count)
      : count_(count), alone_(count <= std::thread::hardware_concurrency()) {}

  // Returns when all `count` threads have come.
  void Wait() {
    const std::uint32_t round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == count_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.fetch_add(1, std::memory_order_release);
      round_.notify_all();
      return;
    }
    // 1,000 pauses of some 60 cycles are 20 us at 3 GHz, about what threads do between two
    // meetings: who has spun for so long waits for one that lost its core. How often to yield then
    // is ours, and not measured by itself.
    constexpr int kPauses = 1'000;
    constexpr int kYields = 500;
    for (int i = 0; alone_ && i < kPauses + kYields; ++i) {
      if (round_.load(std::memory_order_acquire) != round) return;
      if (i < kPauses) {
        Pause();
      } else {
        std::this_thread::yield();
      }
    }
    round_.wait(round, std::memory_order_acquire);
  }

 private:
  static void Pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  std::uint32_t count_;
  bool alone_;  // each may have a core
  alignas(64) std::atomic<std::uint32_t> arrived_ = 0;
  alignas(64) std::atomic<std::uint32_t> round_ = 0;
};

}  // namespace trunkline
