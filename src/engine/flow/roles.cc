#include "engine/flow/roles.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/disjoint_sets.h"
#include "trunkline/base/check.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

enum class Direction : std::uint8_t { kOut, kIn };

class RoleFinder {
 public:
  explicit RoleFinder(const Pattern& pattern) : pattern_(pattern), bundled_(pattern.channels) {
    roles_.program.assign(std::size_t{pattern.members()} * pattern.channels, 0);
    roles_.source_role.assign(pattern.pairs.size(), 0);
    roles_.destination_role.assign(pattern.pairs.size(), 0);
    first_index_[0].resize(pattern.pairs.size());
    first_index_[1].resize(pattern.pairs.size());
  }

  void AddUse(const Pattern::Use& use);
  PatternRoles Take();

 private:
  static constexpr std::uint64_t kUnseen = UINT64_MAX;

  // Finds the roles of a member's pairs. With `whole` it reads the programs to their ends and
  // returns their hashes by channel, else it stops when all pairs have a role.
  std::vector<std::uint64_t> Read(Participant member, bool whole);
  std::uint64_t ReadChannel(Participant member, std::uint32_t channel, bool whole);
  std::uint64_t FirstIndex(Direction direction, std::uint32_t pair, std::uint64_t index,
                           std::uint32_t& unseen);

  const Pattern& pattern_;
  DisjointSets bundled_;  // channels
  PatternRoles roles_;
  const Pattern::Use* use_ = nullptr;
  std::array<std::vector<std::uint64_t>, 2> first_index_;  // by direction and pair, of this use
  std::vector<std::uint32_t> pair_count_;  // by member and channel, of this use, both directions
};

// Whether members share programs by the schedule's word.
bool HasClasses(const Schedule& schedule) { return schedule.program_class(0).has_value(); }

void RoleFinder::AddUse(const Pattern::Use& use) {
  use_ = &use;
  const Schedule& schedule = *use.schedule;
  for (auto& indices : first_index_) std::ranges::fill(indices, kUnseen);
  const std::uint32_t channels = schedule.channels();
  pair_count_.assign(std::size_t{schedule.ranks()} * channels, 0);
  for (const Schedule::Pair& pair : schedule.pairs()) {
    ++pair_count_[std::size_t{pair.source} * channels + pair.channel];
    ++pair_count_[std::size_t{pair.destination} * channels + pair.channel];
  }
  struct Known {
    std::vector<std::uint64_t> programs;
    std::uint32_t members = 0;
  };
  std::map<std::uint32_t, Known> classes;
  for (Participant member = 0; member < schedule.ranks(); ++member) {
    std::vector<std::uint64_t> programs;
    if (HasClasses(schedule)) {
      Known& known = classes[*schedule.program_class(member)];
      ++known.members;
      // The first member tells the class; the second shows whether the schedule keeps its word.
      const std::vector<std::uint64_t> own = Read(member, known.members <= 2);
      if (known.members == 1) known.programs = own;
      TL_CHECK(known.members != 2 || known.programs == own, "members of one class differ",
               schedule.algorithm(), member);
      programs = known.programs;
    } else {
      programs = Read(member, true);
    }
    for (std::size_t channel = 0; channel < programs.size(); ++channel) {
      std::uint64_t& program = roles_.program[std::size_t{member} * pattern_.channels + channel];
      program = HashCombine(HashCombine(program, use.collective), programs[channel]);
    }
  }
}

std::vector<std::uint64_t> RoleFinder::Read(Participant member, bool whole) {
  std::vector<std::uint64_t> hashes(use_->schedule->channels());
  for (std::uint32_t channel = 0; channel < hashes.size(); ++channel) {
    hashes[channel] = ReadChannel(member, channel, whole);
  }
  return hashes;
}

std::uint64_t RoleFinder::FirstIndex(Direction direction, std::uint32_t pair, std::uint64_t index,
                                     std::uint32_t& unseen) {
  std::uint64_t& first = first_index_[static_cast<std::size_t>(direction)][pair];
  if (first == kUnseen) {
    first = index;
    --unseen;
    std::uint64_t& role =
        direction == Direction::kOut ? roles_.source_role[pair] : roles_.destination_role[pair];
    role = HashCombine(HashCombine(role, use_->collective), index);
  }
  return first;
}

std::uint64_t RoleFinder::ReadChannel(Participant member, std::uint32_t channel, bool whole) {
  const Schedule& schedule = *use_->schedule;
  const std::uint64_t count = schedule.op_count(member, channel);
  std::uint32_t unseen = pair_count_[std::size_t{member} * schedule.channels() + channel];
  std::uint64_t hash = HashCombine(count, schedule.channel_shape(channel).slots);
  std::array<Op, 8> block;  // most pairs are among the first ops
  for (std::uint64_t first = 0; first < count && (whole || unseen > 0); first += block.size()) {
    const auto ops = std::span(block).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), count - first)));
    schedule.ops(member, channel, first, ops);
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const Op& op = ops[i];
      if (op.kind == OpKind::kReduce || op.kind == OpKind::kCopy) continue;
      const bool waits = op.kind == OpKind::kWait;
      // Whom, of one kind and the other: the op that first named the peer, channels from this one.
      enum : std::uint64_t { kOther, kOwn };
      std::uint64_t peer = kOwn;
      if (op.peer != member) {
        const std::uint32_t pair = waits ? pattern_.IndexOf(op.peer, member, channel)
                                         : pattern_.IndexOf(member, op.peer, channel);
        const std::uint64_t named =
            FirstIndex(waits ? Direction::kIn : Direction::kOut, pair, first + i, unseen);
        peer = HashCombine(kOther, named);
      } else if (!waits) {
        bundled_.Unite(channel, op.channel);
        peer = HashCombine(kOwn, std::uint64_t{op.channel} - channel);
      }
      const auto size = op.kind == OpKind::kPut
                            ? static_cast<std::uint64_t>(schedule.sent_bytes(op.source.size))
                            : 0;
      hash =
          HashCombine(hash, HashCombine(peer, (size << 4) | static_cast<std::uint64_t>(op.kind)));
    }
  }
  return hash;
}

PatternRoles RoleFinder::Take() {
  std::vector<std::uint32_t> sizes;  // by bundle, so far
  for (std::uint32_t channel = 0; channel < bundled_.count(); ++channel) {
    const std::uint32_t first = bundled_.Find(channel);
    const auto next = static_cast<std::uint32_t>(sizes.size());
    const std::uint32_t bundle = first == channel ? next : roles_.places[first].bundle;
    if (bundle == next) sizes.push_back(0);
    roles_.places.push_back({.bundle = bundle, .index = sizes[bundle]++});
  }
  roles_.bundles = static_cast<std::uint32_t>(sizes.size());
  return std::move(roles_);
}

// Ops of the schedules whose programs have to be read to the end.
std::uint64_t OpsToRead(const Pattern& pattern) {
  std::uint64_t ops = 0;
  for (const Pattern::Use& use : pattern.uses) {
    if (HasClasses(*use.schedule)) continue;
    for (Participant member = 0; member < use.schedule->ranks(); ++member) {
      for (std::uint32_t channel = 0; channel < use.schedule->channels(); ++channel) {
        ops += use.schedule->op_count(member, channel);
      }
    }
  }
  return ops;
}

}  // namespace

std::optional<PatternRoles> FindRoles(const Pattern& pattern, std::uint64_t max_ops) {
  if (OpsToRead(pattern) > max_ops) return std::nullopt;
  RoleFinder finder(pattern);
  for (const Pattern::Use& use : pattern.uses) finder.AddUse(use);
  return finder.Take();
}

}  // namespace trunkline
