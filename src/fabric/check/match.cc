#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "fabric/check/namesakes.h"
#include "fabric/check/servers.h"
#include "fabric/check/side.h"
#include "fabric/check/wanted.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

// Sharing servers says more about which leaves belong together than the cables to spines do, which
// all leaves have alike; and so does sharing cores about spines. Ours, published nowhere: more than
// the agreements, of at most 1 each, of all but the largest trunks.
constexpr double kSharedWeight = 8;

// Matches the switches of two fabrics: those of the same name, where names can be trusted; then,
// from one pair on, those that most of what is matched already ties to.
class Matcher {
 public:
  Matcher(const Side& found, const Side& expected, const Namesakes& namesakes)
      : found_(found),
        expected_(expected),
        to_expected_(found.switches.size(), kNoSwitch),
        to_found_(expected.switches.size(), kNoSwitch) {
    IndexExpected();
    for (std::uint32_t e = 0; e < expected.switches.size(); ++e) {
      const auto same = namesakes.Of(expected.switches[e]);
      if (same && Free(found.index[Index(*same)], e)) Pair(found.index[Index(*same)], e);
    }
    // Once all namesakes are known, so that only the others are weighed.
    for (std::uint32_t e = 0; e < to_found_.size(); ++e) {
      if (to_found_[e] != kNoSwitch) WeighNeighbours(to_found_[e], e);
    }
  }

  std::vector<std::uint32_t> Match() {
    do {
      while (!queue_.empty()) {
        const Candidate best = queue_.top();
        queue_.pop();
        if (Free(best.found, best.expected)) Join(best.found, best.expected);
      }
    } while (Seed());
    return to_found_;
  }

 private:
  // The lowest tier goes first: a pod's leaves are settled by its first spine before cores, which
  // all pods share, can draw its other spines apart.
  struct Candidate {
    int tier = 0;
    double score = 0;
    int likeness = 0;
    std::uint32_t found = 0;
    std::uint32_t expected = 0;
    bool operator<(const Candidate& other) const {
      return std::tuple(other.tier, score, likeness, other.found, other.expected) <
             std::tuple(tier, other.score, other.likeness, found, expected);
    }
  };

  [[nodiscard]] bool Free(std::uint32_t f, std::uint32_t e) const {
    return to_expected_[f] == kNoSwitch && to_found_[e] == kNoSwitch;
  }
  [[nodiscard]] int TierOf(std::uint32_t f) const { return found_.RankOf(f); }
  [[nodiscard]] bool SameTier(std::uint32_t f, std::uint32_t e) const {
    return TierOf(f) == expected_.RankOf(e);
  }
  // Equal surroundings, which say as many servers and ties, too.
  static constexpr int kEqual = 8 + 2 + 1;
  // Equal surroundings, then equal names, then as many servers and ties.
  [[nodiscard]] int Likeness(std::uint32_t f, std::uint32_t e) const {
    return (found_.colours[f] == expected_.colours[e] ? 8 : 0) +
           (found_.fabric.name(found_.switches[f]) == expected_.fabric.name(expected_.switches[e])
                ? 4
                : 0) +
           (found_.ends[f] == expected_.ends[e] ? 2 : 0) +
           (found_.ties[f].size() == expected_.ties[e].size() ? 1 : 0);
  }

  // The free pair that is most alike, of the lowest tier.
  bool Seed() {
    std::optional<Candidate> best;
    for (std::uint32_t f = 0; f < to_expected_.size(); ++f) {
      if (to_expected_[f] != kNoSwitch) continue;
      const std::uint32_t e = MostAlike(f);
      if (e == kNoSwitch) continue;
      const Candidate candidate{TierOf(f), 0, Likeness(f, e), f, e};
      if (!best || *best < candidate) best = candidate;
      if (best->likeness >= kEqual) break;
    }
    if (!best) return false;
    Join(best->found, best->expected);
    return true;
  }

  // The free one of the expected switches of a tier that is most like `f`: what Likeness() weighs,
  // looked up one after the other.
  std::uint32_t MostAlike(std::uint32_t f) {
    const auto tier = static_cast<std::uint64_t>(TierOf(f));
    const std::string name = found_.fabric.name(found_.switches[f]);
    const auto namesake = by_name_.find(name);
    const std::uint32_t e = namesake == by_name_.end() ? kNoSwitch : namesake->second;
    const bool named = e != kNoSwitch && to_found_[e] == kNoSwitch && SameTier(f, e);
    const std::uint64_t ends = found_.ends[f];
    const std::uint64_t ties = found_.ties[f].size();
    if (named && found_.colours[f] == expected_.colours[e]) return e;
    if (const auto like = FirstFree(KeyOf(kOfColour, tier, found_.colours[f])); like != kNoSwitch) {
      return like;
    }
    if (named) return e;
    for (const std::uint64_t key :
         {KeyOf(kOfEndsAndTies, tier, HashCombine(ends, ties)), KeyOf(kOfEnds, tier, ends),
          KeyOf(kOfTies, tier, ties), KeyOf(kOfTier, tier, 0)}) {
      if (const std::uint32_t like = FirstFree(key); like != kNoSwitch) return like;
    }
    return kNoSwitch;
  }

  static std::uint64_t KeyOf(std::uint64_t kind, std::uint64_t tier, std::uint64_t value) {
    return HashCombine(HashCombine(kind, tier), value);
  }

  void IndexExpected() {
    // From the last: each list has its first at the end.
    for (auto e = static_cast<std::uint32_t>(to_found_.size()); e-- > 0;) {
      const auto tier = static_cast<std::uint64_t>(expected_.RankOf(e));
      const std::uint64_t ends = expected_.ends[e];
      const std::uint64_t ties = expected_.ties[e].size();
      by_name_[expected_.fabric.name(expected_.switches[e])] = e;
      for (const std::uint64_t key :
           {KeyOf(kOfColour, tier, expected_.colours[e]),
            KeyOf(kOfEndsAndTies, tier, HashCombine(ends, ties)), KeyOf(kOfEnds, tier, ends),
            KeyOf(kOfTies, tier, ties), KeyOf(kOfTier, tier, 0)}) {
        free_[key].push_back(e);
      }
    }
  }

  // What was matched once is never free again.
  std::uint32_t FirstFree(std::uint64_t key) {
    const auto list = free_.find(key);
    if (list == free_.end()) return kNoSwitch;
    while (!list->second.empty() && to_found_[list->second.back()] != kNoSwitch) {
      list->second.pop_back();
    }
    return list->second.empty() ? kNoSwitch : list->second.back();
  }

  void Join(std::uint32_t f, std::uint32_t e) {
    Pair(f, e);
    WeighNeighbours(f, e);
  }

  void Pair(std::uint32_t f, std::uint32_t e) {
    to_expected_[f] = e;
    to_found_[e] = f;
  }

  void WeighNeighbours(std::uint32_t f, std::uint32_t e) {
    const auto agreement = [](double a, double b) {
      return std::max(a, b) > 0 ? std::min(a, b) / std::max(a, b) : 0;
    };
    for (const Side::Tie& x : found_.ties[f]) {
      if (to_expected_[x.to] != kNoSwitch) continue;
      for (const Side::Tie& y : expected_.ties[e]) {
        if (to_found_[y.to] != kNoSwitch || !SameTier(x.to, y.to)) continue;
        double& score = scores_[(std::uint64_t{x.to} << 32) | y.to];
        score += agreement(x.cables, y.cables) + kSharedWeight * agreement(x.shared, y.shared);
        queue_.push({TierOf(x.to), score, Likeness(x.to, y.to), x.to, y.to});
      }
    }
  }

  enum : std::uint64_t { kOfColour, kOfEndsAndTies, kOfEnds, kOfTies, kOfTier };

  const Side& found_;
  const Side& expected_;
  std::unordered_map<std::string, std::uint32_t> by_name_;              // of expected switches
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> free_;  // of them, by KeyOf()
  std::vector<std::uint32_t> to_expected_;
  std::vector<std::uint32_t> to_found_;
  std::unordered_map<std::uint64_t, double> scores_;
  std::priority_queue<Candidate> queue_;
};

// Cables of the expected fabric between the ids of the one found.
class Translation {
 public:
  Translation(const Side& found, const Side& expected, const Namesakes& namesakes,
              const std::vector<std::uint32_t>& to_found)
      : found_(found),
        expected_(expected),
        namesakes_(namesakes),
        device_(expected.fabric.device_count()) {
    for (std::size_t e = 0; e < to_found.size(); ++e) {
      const DeviceId id = expected.switches[e];
      if (to_found[e] != kNoSwitch) {
        device_[Index(id)] = found.switches[to_found[e]];
        matched_.insert(found.switches[to_found[e]]);
      } else if (expected.fabric.device(id).kind == DeviceKind::kSwitch) {
        AddMissing(id);
      } else {
        MissEnd(id);
      }
    }
    for (DeviceId id : found.switches) {
      if (!matched_.contains(id)) wanted_.extra.push_back(id);
    }
  }

  WantedFabric Translate() {
    MatchServers();
    const Fabric& fabric = expected_.fabric;
    for (const auto& [pair, links] : CablesByPair(fabric)) {
      const auto low = device_[Index(pair.first)];
      const auto high = device_[Index(pair.second)];
      if (!low && high) {
        for (LinkId link : links) {
          wanted_.rate_to_missing[*high] += fabric.link(link).rate.bytes_per_second();
        }
      }
      if (!low || !high) continue;
      wanted_.cables[Ordered(*low, *high)] = {static_cast<std::uint32_t>(links.size()),
                                              fabric.link(links.front()).rate};
    }
    return std::move(wanted_);
  }

 private:
  using Place = std::vector<DeviceId>;  // the leaves of a server's ends, sorted

  void AddMissing(DeviceId id) {
    device_[Index(id)] = DeviceId(found_.fabric.device_count() + wanted_.missing.size());
    wanted_.missing.emplace_back(expected_.fabric.device(id),
                                 "expected " + expected_.fabric.name(id));
  }

  [[nodiscard]] DevicePair Ordered(DeviceId a, DeviceId b) const {
    const auto tier = [&](DeviceId id) {
      return Index(id) < found_.fabric.device_count()
                 ? found_.fabric.device(id).tier
                 : wanted_.missing[Index(id) - found_.fabric.device_count()].first.tier;
    };
    return std::pair(tier(a), a) < std::pair(tier(b), b) ? DevicePair{a, b} : DevicePair{b, a};
  }

  [[nodiscard]] Place PlaceOf(const Side& side, std::size_t server, bool translate) const {
    Place place;
    for (DeviceId end : side.servers[server]) {
      for (DeviceId leaf : side.leaves.at(end)) {
        place.push_back(translate ? *device_[Index(leaf)] : leaf);
      }
    }
    std::ranges::sort(place);
    return place;
  }

  // Servers of the same name are the same, where names can be trusted; then those on the same
  // leaves; of the others, those that share most.
  void MatchServers() {
    std::vector<bool> found_done(found_.servers.size());
    std::vector<bool> expected_done(expected_.servers.size());
    if (namesakes_.trusted()) MatchNamedServers(found_done, expected_done);
    std::map<Place, std::vector<std::size_t>> at;
    for (std::size_t s = 0; s < found_.servers.size(); ++s) {
      if (!found_.servers[s].empty() && !found_done[s]) {
        at[PlaceOf(found_, s, false)].push_back(s);
      }
    }
    std::vector<std::size_t> unmatched;
    for (std::size_t s = 0; s < expected_.servers.size(); ++s) {
      if (expected_.servers[s].empty() || expected_done[s]) continue;
      const auto same = at.find(PlaceOf(expected_, s, true));
      if (same == at.end() || same->second.empty()) {
        unmatched.push_back(s);
        continue;
      }
      MatchEnds(same->second.front(), s);
      same->second.erase(same->second.begin());
    }
    std::vector<std::pair<Place, std::size_t>> left;
    for (const auto& [place, servers] : at) {
      for (std::size_t s : servers) left.emplace_back(place, s);
    }
    for (std::size_t s : unmatched) MatchNearest(s, left);
    for (const auto& [place, s] : left) {
      for (DeviceId end : found_.servers[s]) wanted_.extra.push_back(end);
    }
  }

  void MatchNamedServers(std::vector<bool>& found_done, std::vector<bool>& expected_done) {
    std::unordered_map<std::string, std::size_t> known;
    for (std::size_t s = 0; s < found_.servers.size(); ++s) {
      if (found_.servers[s].empty()) continue;
      known.emplace(ServerName(found_.fabric, found_.servers[s].front()), s);
    }
    for (std::size_t s = 0; s < expected_.servers.size(); ++s) {
      if (expected_.servers[s].empty()) continue;
      const auto same = known.find(ServerName(expected_.fabric, expected_.servers[s].front()));
      if (same == known.end() || found_done[same->second]) continue;
      MatchEnds(same->second, s);
      found_done[same->second] = true;
      expected_done[s] = true;
    }
  }

  void MatchNearest(std::size_t server, std::vector<std::pair<Place, std::size_t>>& left) {
    const Place place = PlaceOf(expected_, server, true);
    std::size_t most = 0;
    auto best = left.end();
    for (auto at = left.begin(); at != left.end(); ++at) {
      Place shared;
      std::ranges::set_intersection(place, at->first, std::back_inserter(shared));
      if (shared.size() > most) {
        most = shared.size();
        best = at;
      }
    }
    if (best == left.end()) {
      for (DeviceId end : expected_.servers[server]) {
        MissEnd(end);
      }
      return;
    }
    MatchEnds(best->second, server);
    left.erase(best);
  }

  // Ends of the same name, on the same leaves, then the others in their order.
  void MatchEnds(std::size_t found_server, std::size_t expected_server) {
    std::vector<DeviceId> free = found_.servers[found_server];
    const DeviceId first = free.front();
    std::vector<DeviceId> left = expected_.servers[expected_server];
    const auto match = [&](auto&& alike) {
      std::erase_if(left, [&](DeviceId end) {
        const auto same = std::ranges::find_if(free, [&](DeviceId id) { return alike(id, end); });
        if (same == free.end()) return false;
        device_[Index(end)] = *same;
        free.erase(same);
        return true;
      });
    };
    match([&](DeviceId id, DeviceId end) { return namesakes_.Of(end) == id; });
    match([&](DeviceId id, DeviceId end) {
      return std::ranges::equal(found_.leaves.at(id), LeavesWanted(end));
    });
    match([](DeviceId, DeviceId) { return true; });
    for (DeviceId end : left) MissEndOf(first, end);
    wanted_.extra.insert(wanted_.extra.end(), free.begin(), free.end());
  }

  [[nodiscard]] std::vector<DeviceId> LeavesWanted(DeviceId end) const {
    std::vector<DeviceId> leaves;
    for (DeviceId leaf : expected_.leaves.at(end)) leaves.push_back(*device_[Index(leaf)]);
    return leaves;
  }

  void MissEnd(DeviceId end) {
    wanted_.of_servers.push_back({.kind = FabricFinding::Kind::kMissingDevice,
                                  .from = "expected " + expected_.fabric.name(end)});
  }

  // Where the names of what was expected are not those of what was found, the server is told by the
  // name that it has, and the NIC by its leaves.
  void MissEndOf(DeviceId found_end, DeviceId end) {
    if (namesakes_.trusted()) return MissEnd(end);
    for (DeviceId leaf : LeavesWanted(end)) {
      if (Index(leaf) >= found_.fabric.device_count()) return MissEnd(end);
      wanted_.of_servers.push_back({.kind = FabricFinding::Kind::kMissingCables,
                                    .from = ServerName(found_.fabric, found_end),
                                    .to = found_.fabric.name(leaf),
                                    .found = 0,
                                    .expected = 1});
    }
  }

  const Side& found_;
  const Side& expected_;
  const Namesakes& namesakes_;
  std::vector<std::optional<DeviceId>> device_;  // of the expected fabric's, in ids of the found
  std::set<DeviceId> matched_;
  WantedFabric wanted_;
};

}  // namespace

WantedFabric WantAs(const Fabric& found, const Fabric& expected) {
  const Namesakes namesakes(found, expected);
  std::vector<bool> found_peers = FindPeers(found);
  std::vector<bool> expected_peers = FindPeers(expected);
  // A NIC that has lost its cables to others is matched as it was with them.
  for (std::size_t e = 0; e < expected_peers.size(); ++e) {
    const auto same = namesakes.Of(DeviceId(e));
    if (!same) continue;
    const bool peer = expected_peers[e] || found_peers[Index(*same)];
    expected_peers[e] = peer;
    found_peers[Index(*same)] = peer;
  }
  const Side found_side(found, found_peers);
  const Side expected_side(expected, expected_peers);
  const auto switches = Matcher(found_side, expected_side, namesakes).Match();
  WantedFabric wanted = Translation(found_side, expected_side, namesakes, switches).Translate();
  wanted.of_another = true;
  wanted.expectation = "the fabric given, its devices matched with those found by their ";
  if (namesakes.trusted()) {
    wanted.expectation += "names, those without a namesake by their cables";
  } else if (namesakes.reason().empty()) {
    wanted.expectation += "cables";
  } else {
    wanted.expectation += "cables and not their names, since " + namesakes.reason();
  }
  return wanted;
}

}  // namespace trunkline
