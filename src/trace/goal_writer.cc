#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <tuple>
#include <utility>

#include "trunkline/trace/goal.h"

namespace trunkline {
namespace {

template <typename Visit>  // void(const Op&, std::uint64_t index)
void VisitOps(const Schedule& schedule, Participant rank, std::uint32_t channel, Visit visit) {
  std::array<Op, 64> block;
  const std::uint64_t count = schedule.op_count(rank, channel);
  for (std::uint64_t first = 0; first < count; first += block.size()) {
    const auto ops = std::span(block).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), count - first)));
    schedule.ops(rank, channel, first, ops);
    for (std::size_t i = 0; i < ops.size(); ++i) visit(ops[i], first + i);
  }
}

// As long as it is sent: readers know nothing of pieces.
std::int64_t SizeOf(const Schedule& schedule, const Op& op) {
  return op.kind == OpKind::kPut ? schedule.sent_bytes(op.source.size) : 0;
}

// Writes ranks one after another. Puts are asynchronous and waits block, so every op requires the
// wait before it in its channel. A signal to oneself is a `calc 0` that the other channel's ops
// require.
class Writer {
 public:
  Writer(const Schedule& schedule, std::ostream& out) : schedule_(schedule), out_(out) {}

  void Write() {
    CollectSizes();
    out_ << fmt::format("num_ranks {}\n", schedule_.ranks());
    for (Participant rank = 0; rank < schedule_.ranks(); ++rank) WriteRank(rank);
  }

 private:
  // Sizes of messages in order, and how many of them have been received.
  struct Sizes {
    std::vector<std::int64_t> sent;
    std::size_t received = 0;
  };
  // An op, by channel and index.
  using Label = std::pair<std::uint32_t, std::uint64_t>;

  [[nodiscard]] static std::string Text(const Label& label) {
    return fmt::format("c{}_{}", label.first, label.second);
  }

  // A receive does not say how large the message is: its sender does.
  void CollectSizes() {
    for (Participant rank = 0; rank < schedule_.ranks(); ++rank) {
      for (std::uint32_t channel = 0; channel < schedule_.channels(); ++channel) {
        VisitOps(schedule_, rank, channel, [&](const Op& op, std::uint64_t) {
          if ((op.kind == OpKind::kPut || op.kind == OpKind::kSignal) && op.peer != rank) {
            sizes_[{rank, op.peer, channel}].sent.push_back(SizeOf(schedule_, op));
          }
        });
      }
    }
  }

  void WriteRank(Participant rank) {
    own_signals_.clear();
    for (std::uint32_t channel = 0; channel < schedule_.channels(); ++channel) {
      VisitOps(schedule_, rank, channel, [&](const Op& op, std::uint64_t index) {
        if (op.kind == OpKind::kSignal && op.peer == rank) {
          own_signals_[op.channel].labels.emplace_back(channel, index);
        }
      });
    }
    requirements_.clear();
    out_ << fmt::format("\nrank {} {{\n", rank);
    for (std::uint32_t channel = 0; channel < schedule_.channels(); ++channel) {
      WriteChannel(rank, channel);
    }
    // Labels are known to every reader once all operations are.
    out_ << requirements_ << "}\n";
  }

  void WriteChannel(Participant rank, std::uint32_t channel) {
    std::vector<Label> required;
    VisitOps(schedule_, rank, channel, [&](const Op& op, std::uint64_t index) {
      if (op.kind == OpKind::kReduce || op.kind == OpKind::kCopy) return;
      if (op.kind == OpKind::kWait && op.peer == rank) {
        OwnSignals& own = own_signals_[channel];
        required.push_back(own.labels[own.taken++]);
        return;
      }
      const Label label{channel, index};
      out_ << Text(label) << ": " << Statement(op, rank, channel) << '\n';
      for (const Label& other : required) {
        requirements_ += fmt::format("{} requires {}\n", Text(label), Text(other));
      }
      if (op.kind == OpKind::kWait) required = {label};
    });
  }

  std::string Statement(const Op& op, Participant rank, std::uint32_t channel) {
    if (op.peer == rank) return "calc 0";
    if (op.kind == OpKind::kWait) {
      Sizes& sizes = sizes_[{op.peer, rank, channel}];
      return fmt::format("recv {}b from {} tag {}", sizes.sent[sizes.received++], op.peer, channel);
    }
    return fmt::format("send {}b to {} tag {}", SizeOf(schedule_, op), op.peer, channel);
  }

  struct OwnSignals {
    std::vector<Label> labels;
    std::size_t taken = 0;
  };

  const Schedule& schedule_;
  std::ostream& out_;
  // By source, destination and channel.
  std::map<std::tuple<Participant, Participant, std::uint32_t>, Sizes> sizes_;
  std::map<std::uint32_t, OwnSignals> own_signals_;  // of this rank, by the channel that waits
  std::string requirements_;                         // of this rank
};

}  // namespace

Result<void> WriteGoal(const Schedule& schedule, std::ostream& out) {
  if (schedule.participants() > schedule.ranks()) {
    return Error(
        "TL1735",
        fmt::format("GOAL has no word for what '{}' does inside switches", schedule.algorithm()),
        "choose an algorithm whose data moves between ranks only");
  }
  for (std::uint32_t channel = 0; channel < schedule.channels(); ++channel) {
    if (schedule.channel_shape(channel).slots == 0) continue;
    return Error("TL1735", "GOAL cannot limit how many messages of a channel are under way",
                 "write the schedule without slots");
  }
  Writer(schedule, out).Write();
  return {};
}

}  // namespace trunkline
