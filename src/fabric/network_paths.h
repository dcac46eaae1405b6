#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "trunkline/fabric/fabric.h"

// The minimal paths through the network, from anywhere to every NIC and host.
namespace trunkline {

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

  // The cable into `device` if it is attached by one alone, to a switch.
  [[nodiscard]] std::optional<LinkId> OnlyCableInto(DeviceId device) const;

  // Links crossed from one attached device to another; kUnreachable when no path exists.
  [[nodiscard]] std::uint16_t Distance(DeviceId src, DeviceId dst) const;

  // Whether `at`, a switch, forwards to `dst` by another switch.
  [[nodiscard]] bool Forwards(DeviceId at, DeviceId dst) const;

  // The choices that `at` (a switch, or the attached source) has towards the attached `dst`.
  // `scratch` is used for rare cases, and must outlive the answer. REQUIRES: a path exists.
  [[nodiscard]] Ports Next(DeviceId at, DeviceId dst, std::vector<LinkId>& scratch) const;

  // Calls visit(before, after) for every two links between switches that a path of those which Next
  // allows crosses one after the other, perhaps several times.
  template <typename Visit>
  void ForEachTurn(Visit visit) const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // A NIC or host. Ends cabled to the same switches share one destination class.
  struct End {
    DeviceId device{};
    std::uint32_t links_begin = 0;  // in end_links_
    std::uint32_t links_count = 0;
    std::uint32_t destination = 0;
    std::uint32_t label = 0;
    std::uint32_t trunk_out = Link::kNoTrunk;
    std::uint32_t trunk_in = Link::kNoTrunk;
  };
  struct PortSet {
    std::uint32_t begin = 0;  // in set_links_
    std::uint32_t count = 0;
    std::uint32_t trunk = Link::kNoTrunk;
  };

  // What a switch does for a destination and all that follow it, up to the next run's.
  struct Run {
    std::uint32_t destination = 0;
    std::uint32_t set = kNone;              // kNone where distance is 0 or kUnreachable
    std::uint16_t distance = kUnreachable;  // links to the nearest switch of the destination
  };
  // Breadth-first searches from 64 destinations at once, one bit each.
  struct Batch;

  void FindEnds();
  void FindDestinations();
  void SearchBatch(std::uint32_t first_destination, Batch& batch);
  void ExpandBatch(std::uint16_t distance, Batch& batch);
  void Reach(std::uint32_t from, std::uint64_t destinations, std::uint32_t to, Batch& batch);
  [[nodiscard]] std::uint64_t Passing(std::uint32_t from, std::uint32_t to,
                                      const Batch& batch) const;
  void SplitByPorts(std::uint32_t switch_index, std::uint16_t distance, Batch& batch);
  void AppendRuns(std::uint32_t first_destination, std::uint32_t count, const Batch& batch,
                  std::vector<std::vector<Run>>& runs) const;
  std::uint32_t Intern(std::uint32_t switch_index, std::span<const LinkId> links);
  [[nodiscard]] std::uint32_t CommonTrunk(std::span<const LinkId> links) const;
  [[nodiscard]] const Run& RunOf(std::uint32_t switch_index, std::uint32_t destination) const;
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

  // A leaf sends nearly all destinations the same way, so runs are few: tables stay in cache.
  std::vector<std::uint32_t> runs_begin_;
  std::vector<Run> runs_;
  std::vector<PortSet> sets_;
  std::vector<LinkId> set_links_;
  std::vector<std::uint32_t> set_of_single_link_;
  std::vector<std::vector<std::uint32_t>> wide_sets_of_switch_;  // of two links or more
};

template <typename Visit>
void NetworkPaths::ForEachTurn(Visit visit) const {
  const auto runs_of = [&](std::uint32_t s) {
    return std::span(runs_).subspan(runs_begin_[s], runs_begin_[s + 1] - runs_begin_[s]);
  };
  std::vector<std::uint32_t> seen(sets_.size(), kNone);  // by set: the last link that came before
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    const auto runs = runs_of(s);
    for (std::size_t r = 0; r < runs.size(); ++r) {
      if (runs[r].set == kNone) continue;
      const std::uint32_t end = r + 1 < runs.size()
                                    ? runs[r + 1].destination
                                    : static_cast<std::uint32_t>(destinations_.size());
      const PortSet& before = sets_[runs[r].set];
      for (const LinkId link : std::span(set_links_).subspan(before.begin, before.count)) {
        const auto others = runs_of(switch_of_device_[Index(fabric_->link(link).to)]);
        auto other =
            std::prev(std::ranges::upper_bound(others, runs[r].destination, {}, &Run::destination));
        for (; other != others.end() && other->destination < end; ++other) {
          if (other->set == kNone || seen[other->set] == Index(link)) continue;
          seen[other->set] = static_cast<std::uint32_t>(Index(link));
          const PortSet& after = sets_[other->set];
          for (const LinkId next : std::span(set_links_).subspan(after.begin, after.count)) {
            visit(link, next);
          }
        }
      }
    }
  }
}

}  // namespace trunkline
