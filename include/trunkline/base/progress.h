#pragma once

#include <atomic>
#include <string>
#include <string_view>

// The library never prints: it reports progress and asks whether to stop through these.
namespace trunkline {

// Receives progress of long work. Implementations must be cheap: engines call Update often.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  // `fraction` in [0, 1], or negative when unknown; `what` is a short present-tense phrase.
  virtual void Update(double fraction, std::string_view what) = 0;
  // Something to know before long work begins.
  virtual void Note(std::string_view /*text*/) {}
};

// Set by a signal handler; long loops poll it and end with status "interrupted".
class StopToken {
 public:
  void RequestStop() { stop_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool stop_requested() const { return stop_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> stop_{false};
};

}  // namespace trunkline
