#include "trace/goal_binary.h"

#include <fmt/format.h>

#include <concepts>
#include <utility>

#include "trace/goal_limits.h"

namespace trunkline {
namespace {

constexpr std::uint64_t kCookie = 4223;
constexpr std::size_t kOrigin = 8;          // of offsets
constexpr std::size_t kHeader = 4 + 1 + 1;  // from the origin to the table of blocks
constexpr std::size_t kNode = 39;
constexpr const char* kRemedy = "make the file again with txt2bin, or give the text itself";

class BinaryReader final : public GoalReader {
 public:
  BinaryReader(std::string_view bytes, GoalProblems& problems)
      : bytes_(bytes), problems_(&problems) {
    ReadHeader();
  }

  [[nodiscard]] std::uint32_t ranks() const override { return ranks_; }

  bool Next(GoalBlock& block) override {
    if (next_ == ranks_) return false;
    block.rank = next_++;
    block.begin = TableEntry(block.rank);
    return ReadBlock(block);
  }

  // The block of a rank is found by its entry in the table.
  void Reread(std::size_t begin, GoalBlock& block) override {
    block.begin = begin;
    block.rank = static_cast<std::uint32_t>((begin - kOrigin - kHeader) / 16);
    ReadBlock(block);
  }

 private:
  // Where the parts of a block are in the file.
  struct Layout {
    std::size_t nodes = 0;
    std::size_t successors = 0;
    std::uint32_t node_count = 0;
    std::uint32_t successor_count = 0;
  };

  bool Fail(std::size_t place, std::string message) {
    problems_->Add("TL1730", place, std::move(message), kRemedy);
    return false;
  }

  // REQUIRES: place + sizeof(Int) <= bytes_.size().
  template <std::unsigned_integral Int>
  [[nodiscard]] Int Get(std::size_t place) const {
    std::uint64_t value = 0;
    for (std::size_t i = sizeof(Int); i-- > 0;) {
      value = (value << 8) | static_cast<unsigned char>(bytes_[place + i]);
    }
    return static_cast<Int>(value);
  }

  [[nodiscard]] static std::size_t TableEntry(std::uint32_t rank) {
    return kOrigin + kHeader + std::size_t{16} * rank;
  }

  bool ReadHeader();
  bool FindParts(const GoalBlock& block, Layout& layout);
  bool ReadBlock(GoalBlock& block);
  bool ReadNode(const Layout& layout, std::uint32_t node, GoalBlock& block);
  bool ReadSuccessors(const Layout& layout, std::uint32_t node, bool start, GoalBlock& block);

  std::string_view bytes_;
  GoalProblems* problems_;
  std::uint32_t ranks_ = 0;
  std::uint32_t next_ = 0;
};

bool BinaryReader::ReadHeader() {
  if (bytes_.size() < kOrigin + kHeader) return Fail(bytes_.size(), "the file ends in its header");
  const auto count = Get<std::uint32_t>(kOrigin);
  const std::size_t room = (bytes_.size() - kOrigin - kHeader) / 16;
  if (count == 0 || count > room) {
    return Fail(kOrigin,
                fmt::format("{} ranks, and the file has room for {} table entries", count, room));
  }
  // Blocks do not overlap, so that all of them together are no larger than the file.
  std::size_t total = 0;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const auto begin = Get<std::uint64_t>(TableEntry(rank));
    const auto end = Get<std::uint64_t>(TableEntry(rank) + 8);
    if (begin > end || end > bytes_.size() - kOrigin) {
      return Fail(TableEntry(rank), fmt::format("the block of rank {} is outside the file", rank));
    }
    total += end - begin;
    if (total > bytes_.size()) return Fail(TableEntry(rank), "blocks that overlap");
  }
  ranks_ = count;
  return true;
}

bool BinaryReader::FindParts(const GoalBlock& block, Layout& layout) {
  const std::size_t begin = kOrigin + Get<std::uint64_t>(block.begin);
  const std::size_t end = kOrigin + Get<std::uint64_t>(block.begin + 8);
  const std::string name = fmt::format("the block of rank {}", block.rank);
  if (end - begin < 8) return Fail(begin, name + " is shorter than its header");
  layout.node_count = Get<std::uint32_t>(begin);
  const std::size_t roots = Get<std::uint32_t>(begin + 4);
  const std::size_t room = end - begin - 8;
  if (roots > room / 4 || layout.node_count > (room - 4 * roots) / kNode) {
    return Fail(begin, fmt::format("{} is too short for its {} nodes and {} roots", name,
                                   layout.node_count, roots));
  }
  layout.nodes = begin + 8 + 4 * roots;
  layout.successors = layout.nodes + kNode * layout.node_count;
  layout.successor_count = static_cast<std::uint32_t>((end - layout.successors) / 4);
  return true;
}

bool BinaryReader::ReadBlock(GoalBlock& block) {
  block.Clear();
  Layout layout;
  if (!FindParts(block, layout)) return false;
  for (std::uint32_t node = 0; node < layout.node_count; ++node) {
    if (!ReadNode(layout, node, block)) return false;
  }
  for (std::uint32_t node = 0; node < layout.node_count; ++node) {
    if (!ReadSuccessors(layout, node, false, block)) return false;
    if (!ReadSuccessors(layout, node, true, block)) return false;
  }
  std::vector<std::uint32_t> needs(layout.node_count, 0);
  for (const GoalDependency& dependency : block.dependencies) ++needs[dependency.task];
  for (std::uint32_t node = 0; node < layout.node_count; ++node) {
    const std::size_t place = block.places[node];
    const auto noted = Get<std::uint32_t>(place);
    if (noted == needs[node]) continue;
    return Fail(place, fmt::format("operation {} of rank {} waits for {} others, and {} name it",
                                   node, block.rank, noted, needs[node]));
  }
  return true;
}

bool BinaryReader::ReadNode(const Layout& layout, std::uint32_t node, GoalBlock& block) {
  const std::size_t place = layout.nodes + kNode * node;
  const auto kind = Get<std::uint8_t>(place + 4);
  const auto amount = Get<std::uint64_t>(place + 9);
  if (kind < 1 || kind > 3) {
    return Fail(place, fmt::format("operation {} of rank {} is of kind {}, not send (1), receive "
                                   "(2) or compute (3)",
                                   node, block.rank, kind));
  }
  GoalOperation operation;
  operation.kind = kind == 1   ? TaskKind::kSend
                   : kind == 2 ? TaskKind::kReceive
                               : TaskKind::kCompute;
  const bool computes = operation.kind == TaskKind::kCompute;
  const std::int64_t most = computes ? kGoalMostNanoseconds : kGoalMostBytes;
  if (amount > static_cast<std::uint64_t>(most)) {
    problems_->Add("TL1721", place,
                   fmt::format("operation {} of rank {}: {} {}", node, block.rank, amount,
                               computes ? "nanoseconds" : "bytes"),
                   fmt::format("use at most {}", most));
    return false;
  }
  operation.amount = static_cast<std::int64_t>(amount);
  operation.cpu = Get<std::uint8_t>(place + 21);
  operation.nic = Get<std::uint8_t>(place + 22);
  if (!computes) {
    operation.peer = Get<std::uint32_t>(place + 5);
    operation.tag = Get<std::uint32_t>(place + 17);
  }
  block.operations.push_back(operation);
  block.places.push_back(place);
  return true;
}

bool BinaryReader::ReadSuccessors(const Layout& layout, std::uint32_t node, bool start,
                                  GoalBlock& block) {
  const std::size_t place = layout.nodes + kNode * node + (start ? 31 : 23);
  const auto count = Get<std::uint32_t>(place);
  const auto first = Get<std::uint32_t>(place + 4);
  // Lists do not overlap, so that all of them together are no larger than the file.
  if (first > layout.successor_count || count > layout.successor_count - first ||
      block.dependencies.size() + count > layout.successor_count) {
    return Fail(place,
                fmt::format("the successors of operation {} of rank {} are outside its block", node,
                            block.rank));
  }
  for (std::uint32_t i = first; i < first + count; ++i) {
    const auto successor = Get<std::uint32_t>(layout.successors + std::size_t{4} * i);
    if (successor >= layout.node_count) {
      return Fail(layout.successors + std::size_t{4} * i,
                  fmt::format("operation {} of rank {} has the successor {}, and the rank has {} "
                              "operations",
                              node, block.rank, successor, layout.node_count));
    }
    block.dependencies.push_back({successor, node, start});
  }
  return true;
}

}  // namespace

bool LooksLikeGoalBinary(std::string_view bytes) {
  // The number's bytes: no text begins with 0x7f.
  static_assert(kCookie == 0x107f);
  return bytes.starts_with(std::string_view("\x7f\x10\0\0\0\0\0\0", 8));
}

std::unique_ptr<GoalReader> MakeGoalBinaryReader(std::string_view bytes, GoalProblems& problems) {
  return std::make_unique<BinaryReader>(bytes, problems);
}

}  // namespace trunkline
