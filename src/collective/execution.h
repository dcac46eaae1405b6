#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "collective/race_detector.h"
#include "trunkline/base/diagnostics.h"
#include "trunkline/collective/schedule.h"

namespace trunkline {

// The two extremes of what an asynchronous machine may do.
enum class Order : std::uint8_t {
  kEarly,  // programs run as far as they can, first to last; data moves when a put is issued
  kLate,   // one op at a time, last to first; data moves when the put's signal is waited for
};

// One run of a schedule on real integers, each standing for an element of `element_bytes`.
class Execution {
 public:
  using Element = std::uint64_t;
  // Called for each put or signal between participants.
  using PutVisitor =
      std::function<void(Participant source, Participant destination, std::int64_t bytes)>;

  // `input(rank, position)` is the initial content of a rank's input.
  Execution(const Schedule& schedule, std::int64_t element_bytes, Order order,
            const std::function<Element(std::uint32_t, std::int64_t)>& input);

  // Runs to the end or to the first problem. `on_put` may be empty.
  [[nodiscard]] Diagnostics Run(const PutVisitor& on_put);

  [[nodiscard]] std::span<const Element> output(std::uint32_t rank) const {
    return memory(rank, Buffer::kOutput).values;
  }
  // Whether rank `rank` ended only after every rank began, as a barrier must.
  [[nodiscard]] bool KnowsOfEveryRank(std::uint32_t rank) const;
  // The longest chain of messages.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  struct Memory {
    std::vector<Element> values;
    std::vector<RaceDetector::Element> shadow;
    std::vector<bool> written;
  };
  struct Thread {
    Participant participant = 0;
    std::uint32_t channel = 0;
    std::uint64_t next = 0;
    std::uint64_t count = 0;
    std::uint64_t steps = 0;  // messages behind what it now knows
    VectorClock clock;
  };
  struct Message {
    Op op;
    OpPlace place;
    RaceDetector::AccessId access = 0;
    std::uint64_t steps = 0;
    VectorClock clock;
  };
  // The signals from one participant to another on one channel.
  struct Fifo {
    std::deque<Message> arrived;
    std::deque<VectorClock> consumed;  // when each of the last `slots` signals was waited for
    std::uint64_t consumed_count = 0;
    std::uint64_t issued_count = 0;
  };
  enum class Progress : std::uint8_t { kBlocked, kDone, kFailed };

  [[nodiscard]] Memory& memory(Participant participant, Buffer buffer) {
    return memory_[participant * 3 + static_cast<std::size_t>(buffer)];
  }
  [[nodiscard]] const Memory& memory(Participant participant, Buffer buffer) const {
    return memory_[participant * 3 + static_cast<std::size_t>(buffer)];
  }
  [[nodiscard]] Fifo& fifo(Participant source, Participant destination, std::uint32_t channel);

  bool RunThread(Thread& thread);
  Progress Execute(Thread& thread, const Op& op);
  Progress ExecuteWait(Thread& thread, const Op& op);
  Progress ExecutePut(Thread& thread, const Op& op);
  Progress ExecuteLocal(Thread& thread, const Op& op);

  bool CheckSpan(const OpPlace& place, Participant owner, const BufferSpan& span);
  enum class Access : std::uint8_t { kRead, kWrite };
  bool Note(Access access_kind, const Thread& thread, RaceDetector::AccessId access,
            Participant owner, const BufferSpan& span);
  [[nodiscard]] std::span<Element> Values(Participant owner, const BufferSpan& span);
  bool MoveData(const OpPlace& place, Participant destination, const Op& op);
  bool CheckWritten(const OpPlace& place, Participant owner, const BufferSpan& span);

  [[nodiscard]] OpPlace Place(const Thread& thread) const {
    return {thread.participant, thread.channel, thread.next};
  }
  [[nodiscard]] std::uint32_t ThreadId(const Thread& thread) const {
    return static_cast<std::uint32_t>(&thread - threads_.data());
  }
  void Fail(std::string code, std::string message);
  void ReportDeadlock();
  void ReportUnmatched();

  const Schedule& schedule_;
  std::int64_t element_bytes_;
  Order order_;
  PutVisitor on_put_;
  std::vector<Memory> memory_;
  std::vector<Thread> threads_;
  std::unordered_map<std::uint64_t, Fifo> fifos_;
  RaceDetector races_;
  Diagnostics problems_;
  std::uint64_t steps_ = 0;
};

}  // namespace trunkline
