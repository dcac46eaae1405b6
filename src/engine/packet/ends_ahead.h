#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/packet/plant.h"
#include "trunkline/base/units.h"

namespace trunkline {

// What a shard knows of endpoints that run ahead of the rest: see shard_ahead.h. By link: the one
// out of the endpoint.
struct EndsAhead {
  // `may`: the shard is of a kind where they do.
  EndsAhead(const Plant& plant, bool may) : on(may && !plant.host_of_link.empty()) {
    if (!on) return;
    host_of_link = plant.host_of_link;
    woken.resize(host_of_link.size(), kNever);
    is_held.resize(host_of_link.size(), 0);
    for (std::uint32_t link = 0; link < host_of_link.size(); ++link) {
      if (host_of_link[link] == kNoIndex) continue;
      if (host_of_link[link] >= links_of_host.size()) links_of_host.resize(host_of_link[link] + 1);
      links_of_host[host_of_link[link]].push_back(link);
    }
    touched.resize(links_of_host.size());
    bounds.resize(links_of_host.size(), kNever);
  }

  // Something else will touch the endpoint of a link, or any, which may go on to what comes in
  // before `time` only; now it does.
  void Touch(std::uint32_t link, std::int64_t time) {
    const std::uint32_t host = host_of_link[link];
    touched[host].insert(std::ranges::upper_bound(touched[host], time), time);
    Rebound(host);
    bound = std::min(bound, time);
  }
  void TouchAll(std::int64_t time) {
    touched_all.insert(std::ranges::upper_bound(touched_all, time), time);
    for (std::uint32_t host = 0; host < bounds.size(); ++host) Rebound(host);
  }
  void Leave(std::uint32_t link, std::int64_t time) {
    const std::uint32_t host = host_of_link[link];
    touched[host].erase(std::ranges::lower_bound(touched[host], time));
    Rebound(host);
  }
  void LeaveAll(std::int64_t time) {
    touched_all.erase(std::ranges::lower_bound(touched_all, time));
    for (std::uint32_t host = 0; host < bounds.size(); ++host) Rebound(host);
  }
  void Rebound(std::uint32_t host) {
    bounds[host] = std::min(touched[host].empty() ? kNever : touched[host].front(),
                            touched_all.empty() ? kNever : touched_all.front());
  }

  bool on;
  std::vector<std::uint32_t> host_of_link;                // kNoIndex: of a switch
  std::vector<std::vector<std::uint32_t>> links_of_host;  // out of it
  std::vector<std::vector<std::int64_t>> touched;         // by host, ascending
  std::vector<std::int64_t> touched_all;                  // of what may touch any
  std::vector<std::int64_t> bounds;                       // by host, the first of both
  std::vector<std::uint32_t> ready;  // links of endpoints that have something to look at
  std::vector<std::uint32_t> held;   // of those to which packets come when this run is over
  std::vector<std::uint8_t> is_held;
  std::vector<std::int64_t> woken;  // when the port's kPortDone is due
  std::uint32_t running = kNoIndex;
  std::int64_t sweep = kNever;  // when some port to an endpoint has to have caught up
  std::int64_t limit = 0;       // of this run
  std::int64_t bound = kNever;  // of what comes in for the one that runs
};

// By link, the host that it leaves, where endpoints may run ahead: nothing touches them but what
// comes by their cables, posts and the ends of pauses. Empty: they may not.
[[nodiscard]] std::vector<std::uint32_t> FindHosts(const Plant& plant, const Fabric& fabric);

// How long before it happens a post has to be known, from when what it follows from has happened:
// an endpoint may have heard what was sent to it, and what it hears may be looked at a cable's
// delay late, and in other shards after a window of such length.
[[nodiscard]] Time LeastNotice(const Plant& plant);

}  // namespace trunkline
