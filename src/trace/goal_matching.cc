#include "trace/goal_matching.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "trace/goal_builder.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

// The messages of a role in one direction.
struct Messages {
  std::uint32_t count = 0;
  std::uint64_t sizes = 0;  // a hash of them in order
  bool operator==(const Messages&) const = default;
};

struct Use {
  Messages sent;
  Messages received;
};

std::vector<Use> UsesOf(const Program& program) {
  std::vector<Use> uses;
  for (const Task& task : program.tasks) {
    if (task.kind == TaskKind::kCompute) continue;
    if (task.role >= uses.size()) uses.resize(task.role + 1);
    Use& use = uses[task.role];
    Messages& messages = task.kind == TaskKind::kSend ? use.sent : use.received;
    ++messages.count;
    messages.sizes = HashCombine(messages.sizes, static_cast<std::uint64_t>(task.bytes.count()));
  }
  return uses;
}

class Matcher {
 public:
  Matcher(const GoalParts& parts, GoalReader& reader, GoalProblems& problems)
      : parts_(parts), reader_(reader), problems_(problems) {
    for (const Program& program : parts.programs) uses_.push_back(UsesOf(program));
    by_peer_.resize(parts.peers.size());
    for (std::size_t rank = 0; rank < parts.peers.size(); ++rank) {
      std::vector<std::uint32_t>& roles = by_peer_[rank];
      roles.resize(parts.peers[rank].size());
      for (std::uint32_t role = 0; role < roles.size(); ++role) roles[role] = role;
      std::ranges::sort(roles, {}, [&](std::uint32_t role) { return KeyOf(rank, role); });
    }
  }

  std::vector<std::vector<GoalGraph::Role>> Match();

 private:
  // A message's ends: rank and role.
  struct End {
    std::uint32_t rank = 0;
    std::uint32_t role = 0;
  };

  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> KeyOf(std::size_t rank,
                                                              std::uint32_t role) const {
    const GoalPeer& peer = parts_.peers[rank][role];
    return {peer.rank, peer.tag};
  }
  [[nodiscard]] std::optional<std::uint32_t> RoleTowards(std::uint32_t rank, std::uint32_t peer,
                                                         std::uint32_t tag) const;
  [[nodiscard]] const Use& UseOf(const End& end) const {
    return uses_[parts_.program_of[end.rank]][end.role];
  }
  void Report(std::uint32_t source, std::uint32_t destination, std::uint32_t tag);
  std::vector<std::pair<std::size_t, std::int64_t>> Find(std::uint32_t rank, TaskKind kind,
                                                         std::uint32_t peer, std::uint32_t tag);

  const GoalParts& parts_;
  GoalReader& reader_;
  GoalProblems& problems_;
  std::vector<std::vector<Use>> uses_;               // by program, then role
  std::vector<std::vector<std::uint32_t>> by_peer_;  // by rank: its roles by (peer, tag)
};

std::optional<std::uint32_t> Matcher::RoleTowards(std::uint32_t rank, std::uint32_t peer,
                                                  std::uint32_t tag) const {
  const auto key = [&](std::uint32_t role) { return KeyOf(rank, role); };
  const auto found = std::ranges::lower_bound(by_peer_[rank], std::pair(peer, tag), {}, key);
  if (found == by_peer_[rank].end() || key(*found) != std::pair(peer, tag)) return std::nullopt;
  return *found;
}

std::vector<std::vector<GoalGraph::Role>> Matcher::Match() {
  std::vector<std::vector<GoalGraph::Role>> roles(parts_.peers.size());
  for (std::uint32_t rank = 0; rank < parts_.peers.size(); ++rank) {
    for (std::uint32_t role = 0; role < parts_.peers[rank].size(); ++role) {
      if (problems_.full()) return roles;
      const GoalPeer& peer = parts_.peers[rank][role];
      const Use& own = UseOf({rank, role});
      const auto reverse = RoleTowards(peer.rank, rank, peer.tag);
      const Use other = reverse ? UseOf({peer.rank, *reverse}) : Use{};
      if (own.sent != other.received) Report(rank, peer.rank, peer.tag);
      // The peer looks at its own sends, if it has this role at all.
      if (!reverse && own.received.count > 0) Report(peer.rank, rank, peer.tag);
      roles[rank].push_back({RankId(peer.rank), reverse.value_or(0)});
    }
  }
  return roles;
}

// Place and size of a rank's operations of one kind with (peer, tag), in program order.
std::vector<std::pair<std::size_t, std::int64_t>> Matcher::Find(std::uint32_t rank, TaskKind kind,
                                                                std::uint32_t peer,
                                                                std::uint32_t tag) {
  GoalBlock block;
  reader_.Reread(parts_.place_of[rank], block);
  std::vector<std::pair<std::size_t, std::int64_t>> found;
  for (const std::uint32_t i : GoalOrder(block)) {
    const GoalOperation& operation = block.operations[i];
    if (operation.kind == kind && operation.peer == peer && operation.tag == tag) {
      found.emplace_back(block.places[i], operation.amount);
    }
  }
  return found;
}

void Matcher::Report(std::uint32_t source, std::uint32_t destination, std::uint32_t tag) {
  const auto sends = Find(source, TaskKind::kSend, destination, tag);
  const auto receives = Find(destination, TaskKind::kReceive, source, tag);
  if (sends.size() != receives.size()) {
    const bool lost = sends.size() > receives.size();
    const std::size_t first = std::min(sends.size(), receives.size());
    problems_.Add("TL1727", (lost ? sends : receives)[first].first,
                  fmt::format("rank {} sends {} message{} with tag {} to rank {}, which receives "
                              "{}: this one is never {}",
                              source, sends.size(), sends.size() == 1 ? "" : "s", tag, destination,
                              receives.size(), lost ? "received" : "sent"),
                  lost ? fmt::format("add a recv to rank {}, or take this send out", destination)
                       : fmt::format("add a send to rank {}, or take this recv out", source));
    return;
  }
  const auto differs = [](const auto& send, const auto& receive) {
    return send.second != receive.second;
  };
  for (std::size_t i = 0; i < sends.size(); ++i) {
    if (!differs(sends[i], receives[i])) continue;
    problems_.Add("TL1728", receives[i].first,
                  fmt::format("rank {} receives {} bytes from rank {} with tag {}, which sends {} "
                              "({})",
                              destination, receives[i].second, source, tag, sends[i].second,
                              problems_.Name(sends[i].first)),
                  "the two ends of a message have one size; messages of one tag match in order");
    return;
  }
}

}  // namespace

std::vector<std::vector<GoalGraph::Role>> MatchGoalMessages(const GoalParts& parts,
                                                            GoalReader& reader,
                                                            GoalProblems& problems) {
  return Matcher(parts, reader, problems).Match();
}

}  // namespace trunkline
