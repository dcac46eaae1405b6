#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

// The minimal paths through the network, from anywhere to every NIC and host. They are searched for
// 64 destinations at a time, when the first of these is asked for, or where wished for the first
// few one by one: traffic between a few ends of a large fabric costs little. Safe for concurrent
// readers.
class NetworkPaths {
 public:
  // Links out of one device, all on minimal paths to one destination.
  struct Ports {
    std::span<const LinkId> links;
    std::uint32_t trunk = Link::kNoTrunk;  // the trunk that all of them belong to
  };
  static constexpr std::uint16_t kUnreachable = UINT16_MAX;

  // Paths of fewest links or, with `heights` (by device), the shortest of those that never lead to
  // a higher switch after they have led to a lower one. REQUIRES: switches differ in height.
  explicit NetworkPaths(const Fabric& fabric, std::span<const std::uint64_t> heights = {});
  ~NetworkPaths();
  NetworkPaths(NetworkPaths&&) noexcept;
  NetworkPaths& operator=(NetworkPaths&&) noexcept;

  // Searches for the first few of 64 destinations one by one, for users who ask for few; what Next
  // says of these lies in its scratch. Without effect where there are heights.
  void SearchFewSingly();

  // Whether `device` is a NIC or host with a network cable.
  [[nodiscard]] bool attached(DeviceId device) const {
    return end_of_device_[Index(device)] != kNone;
  }
  // Position of an attached device when all are counted leaf by leaf and port by port: the label
  // that destination-modulo routing divides.
  [[nodiscard]] std::uint32_t label(DeviceId device) const {
    return ends_[end_of_device_[Index(device)]].label;
  }

  // Attached devices cabled to the same switches share this number.
  [[nodiscard]] std::uint32_t destination(DeviceId device) const {
    return ends_[end_of_device_[Index(device)]].destination;
  }

  [[nodiscard]] std::uint32_t destination_count() const {
    return static_cast<std::uint32_t>(destinations_.size());
  }
  // The switches of one, as indices below switch_count(), ascending.
  [[nodiscard]] std::span<const std::uint32_t> switches_of(std::uint32_t destination) const {
    return destinations_[destination];
  }
  [[nodiscard]] std::size_t switch_count() const { return switches_.size(); }
  // The switches that the cables of a switch lead to, one for each cable.
  [[nodiscard]] std::span<const std::uint32_t> neighbours(std::uint32_t switch_index) const {
    return std::span(neighbour_)
        .subspan(adjacency_begin_[switch_index],
                 adjacency_begin_[switch_index + 1] - adjacency_begin_[switch_index]);
  }

  // The cable into `device` if it is attached by one alone, to a switch.
  [[nodiscard]] std::optional<LinkId> OnlyCableInto(DeviceId device) const {
    const std::uint32_t index = end_of_device_[Index(device)];
    return index == kNone ? std::nullopt : ends_[index].only_cable;
  }

  // Links crossed from one attached device to another; kUnreachable when no path exists.
  [[nodiscard]] std::uint16_t Distance(DeviceId src, DeviceId dst) const;

  // Whether `at`, a switch, forwards to `dst` by another switch.
  [[nodiscard]] bool Forwards(DeviceId at, DeviceId dst) const;

  // Whether `dst` is attached to the switch `at`.
  [[nodiscard]] bool IsAt(DeviceId at, DeviceId dst) const;

  // The choices that `at` (a switch, or the attached source) has towards the attached `dst`.
  // They may lie in `scratch`. REQUIRES: a path exists.
  [[nodiscard]] Ports Next(DeviceId at, DeviceId dst, std::vector<LinkId>& scratch) const;

  // Calls visit(before, after) for every two links between switches that a path of those which Next
  // allows crosses one after the other, perhaps several times: of paths from every switch, which is
  // quick, or of those from the ends alone.
  enum class From : std::uint8_t { kSwitches, kEnds };
  // Asks `enough` now and then whether to leave the rest out.
  template <typename Visit, typename Enough>
  void ForEachTurn(From from, Visit visit, Enough enough) const;
  template <typename Visit>
  void ForEachTurn(From from, Visit visit) const {
    ForEachTurn(from, visit, [] { return false; });
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::uint32_t kTable = 64;  // destinations of a table
  static constexpr std::uint32_t kFew = 8;     // of them, searched one by one

  // A NIC or host. Ends cabled to the same switches share one destination class.
  struct End {
    DeviceId device{};
    std::uint32_t links_begin = 0;  // in end_links_
    std::uint32_t links_count = 0;
    std::uint32_t destination = 0;
    std::uint32_t label = 0;
    std::uint32_t trunk_out = Link::kNoTrunk;
    std::uint32_t trunk_in = Link::kNoTrunk;
    std::optional<LinkId> only_cable;  // into it, where it has but one and that from a switch
  };
  struct PortSet {
    std::uint32_t begin = 0;  // in set_links_
    std::uint32_t count = 0;
    std::uint32_t trunk = Link::kNoTrunk;
  };

  // What a switch does for a destination and those that follow it, up to the next run's.
  struct Run {
    std::uint32_t set = kNone;              // kNone where distance is 0 or kUnreachable
    std::uint16_t distance = kUnreachable;  // links to the nearest switch of the destination
    std::uint8_t first = 0;                 // the destination, counted from the table's first
  };
  // A set is one link, an index into adjacency_, or with this bit one of several in a table.
  static constexpr std::uint32_t kSeveral = 1U << 31;
  // The way of every switch to 64 destinations.
  struct Table {
    std::vector<std::uint32_t> runs_begin;  // by switch
    std::vector<Run> runs;
    std::vector<PortSet> sets;
    std::vector<LinkId> set_links;
  };
  // By switch, links to the nearest switch of one destination.
  using Distances = std::vector<std::uint16_t>;
  // The tables made so far, and what making them needs.
  struct Tables;
  // Breadth-first searches from 64 destinations at once, one bit each.
  struct Batch;

  void FindEnds();
  void FindDestinations();
  [[nodiscard]] const Table& TableOf(std::uint32_t destination) const;
  // Null: what there is to know is in a table.
  [[nodiscard]] const Distances* SingleOf(std::uint32_t destination) const;
  [[nodiscard]] Distances DistancesTo(std::uint32_t destination) const;
  // The links out of a switch that lead nearer.
  [[nodiscard]] Ports NearerBy(const Distances& distances, std::uint32_t switch_index,
                               std::vector<LinkId>& links) const;
  [[nodiscard]] std::uint16_t DistanceFrom(std::uint32_t switch_index,
                                           std::uint32_t destination) const;
  [[nodiscard]] std::unique_ptr<const Table> MakeTable(std::uint32_t first_destination,
                                                       Batch& batch) const;
  void SearchBatch(std::uint32_t first_destination, Batch& batch) const;
  void ExpandBatch(std::uint16_t distance, Batch& batch) const;
  void Reach(std::uint32_t from, std::uint64_t destinations, std::uint32_t to, Batch& batch) const;
  [[nodiscard]] std::uint64_t Passing(std::uint32_t from, std::uint32_t to,
                                      const Batch& batch) const;
  void SplitByPorts(std::uint32_t switch_index, std::uint16_t distance, Batch& batch) const;
  [[nodiscard]] std::uint32_t Intern(std::uint32_t switch_index, std::span<const LinkId> links,
                                     Batch& batch) const;
  [[nodiscard]] std::uint32_t CommonTrunk(std::span<const LinkId> links) const;
  [[nodiscard]] std::span<const Run> RunsOf(const Table& table, std::uint32_t switch_index) const {
    const std::uint32_t begin = table.runs_begin[switch_index];
    return std::span(table.runs).subspan(begin, table.runs_begin[switch_index + 1] - begin);
  }
  // REQUIRES: set != kNone.
  [[nodiscard]] std::span<const LinkId> LinksOf(const Table& table, std::uint32_t set) const {
    if ((set & kSeveral) == 0) return std::span(adjacency_).subspan(set, 1);
    const PortSet& several = table.sets[set & ~kSeveral];
    return std::span(table.set_links).subspan(several.begin, several.count);
  }
  [[nodiscard]] const Run& RunOf(const Table& table, std::uint32_t switch_index,
                                 std::uint32_t destination) const;
  // The destinations of a table, a bit each, from run r of a switch up to the next.
  [[nodiscard]] static std::uint64_t BitsOf(std::span<const Run> runs, std::size_t r) {
    const std::uint64_t from = ~std::uint64_t{0} << runs[r].first;
    return r + 1 < runs.size() ? from & ~(~std::uint64_t{0} << runs[r + 1].first) : from;
  }
  // By switch, the destinations of a table that some end's packets cross it for.
  [[nodiscard]] std::vector<std::uint64_t> CrossedFor(const Table& table) const;
  // Links from the far side of `link`, a link out of an attached device, to `destination`.
  [[nodiscard]] std::uint16_t DistanceAfter(LinkId link, const End& dst) const;

  const Fabric* fabric_;
  std::vector<DeviceId> switches_;
  std::vector<std::uint32_t> switch_of_device_;
  std::vector<std::uint32_t> adjacency_begin_;  // links between switches, by from
  std::vector<LinkId> adjacency_;
  std::vector<std::uint32_t> neighbour_;  // the switch that each of them leads to
  std::vector<std::uint64_t> heights_;    // by switch; empty: paths may turn as they like

  std::vector<End> ends_;
  std::vector<std::uint32_t> end_of_device_;
  std::vector<LinkId> end_links_;                         // out of the ends
  std::vector<LinkId> end_reverse_links_;                 // into the ends, same order
  std::vector<std::vector<std::uint32_t>> destinations_;  // switches, ascending

  std::unique_ptr<Tables> tables_;
};

template <typename Visit, typename Enough>
void NetworkPaths::ForEachTurn(From from, Visit visit, Enough enough) const {
  std::vector<std::uint32_t> seen;  // by set: the last link that came before
  for (std::uint32_t first = 0; first < destination_count(); first += kTable) {
    const Table& table = TableOf(first);
    const std::vector<std::uint64_t> crossed =
        from == From::kEnds ? CrossedFor(table)
                            : std::vector<std::uint64_t>(switches_.size(), ~std::uint64_t{0});
    seen.assign(adjacency_.size() + table.sets.size(), kNone);
    for (std::uint32_t s = 0; s < switches_.size(); ++s) {
      const std::span<const Run> runs = RunsOf(table, s);
      for (std::size_t r = 0; r < runs.size(); ++r) {
        const std::uint64_t held_for = BitsOf(runs, r) & crossed[s];
        if (runs[r].set == kNone || held_for == 0) continue;
        for (const LinkId link : LinksOf(table, runs[r].set)) {
          const auto others = RunsOf(table, switch_of_device_[Index(fabric_->link(link).to)]);
          auto at = std::ranges::upper_bound(others, runs[r].first, {}, &Run::first);
          for (auto o = static_cast<std::size_t>(at - others.begin()) - 1;
               o < others.size() && (held_for >> others[o].first) != 0; ++o) {
            const std::uint32_t set = others[o].set;
            if (set == kNone || (held_for & BitsOf(others, o)) == 0) continue;
            std::uint32_t& last =
                seen[(set & kSeveral) == 0 ? set : adjacency_.size() + (set & ~kSeveral)];
            if (std::exchange(last, static_cast<std::uint32_t>(Index(link))) == Index(link)) {
              continue;
            }
            for (const LinkId next : LinksOf(table, set)) visit(link, next);
          }
        }
      }
    }
    if (enough()) return;
  }
}

}  // namespace trunkline
