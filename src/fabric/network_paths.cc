#include "fabric/network_paths.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "trunkline/base/check.h"

namespace trunkline {

struct NetworkPaths::Batch {
  // Destinations of the batch that leave a switch by the same ports.
  struct Group {
    std::uint64_t members = 0;
    std::vector<LinkId> links;
  };
  struct Cell {
    std::uint32_t set = kNone;
    std::uint16_t distance = kUnreachable;
    friend bool operator==(const Cell&, const Cell&) = default;
  };

  explicit Batch(std::size_t switches)
      : reached(switches),
        fresh(switches),
        next(switches),
        shared(switches),
        below(switches),
        next_below(switches),
        groups(1),
        cells(switches * kTable),
        sets_of_switch(switches) {}

  void Clear() {
    std::ranges::fill(reached, 0);
    std::ranges::fill(fresh, 0);
    std::ranges::fill(below, 0);
    std::ranges::fill(cells, Cell());
    for (std::vector<std::uint32_t>& sets : sets_of_switch) sets.clear();
    active.clear();
  }
  // Adds a port to the groups that leave by it, apart from those of their members that do not.
  void AddPort(LinkId link, std::uint64_t through);
  void Assign(std::uint32_t s, std::uint64_t members, Cell cell) {
    for (std::uint64_t left = members; left != 0; left &= left - 1) {
      cells[s * kTable + static_cast<std::size_t>(std::countr_zero(left))] = cell;
    }
  }

  std::vector<std::uint64_t> reached;  // by switch: destinations seen
  std::vector<std::uint64_t> fresh;    // first seen one step ago
  std::vector<std::uint64_t> next;     // first seen in this step
  std::vector<std::uint64_t> shared;   // those of them that are seen over several ports
  // With heights: destinations that shortest paths reach by leading down alone, and those of them
  // first seen in this step.
  std::vector<std::uint64_t> below;
  std::vector<std::uint64_t> next_below;
  std::vector<std::uint32_t> active;  // switches with fresh destinations
  std::vector<std::uint32_t> touched;
  std::vector<Group> groups;                               // at least one, whose room is kept
  std::vector<Cell> cells;                                 // [switch x kTable + bit]
  std::vector<std::vector<std::uint32_t>> sets_of_switch;  // of several links
  Table* table = nullptr;                                  // that is made
};

struct NetworkPaths::Tables {
  explicit Tables(std::size_t destinations)
      : made((destinations + kTable - 1) / kTable),
        single(destinations),
        owned(made.size()),
        singles(made.size()) {}

  std::vector<std::atomic<const Table*>> made;        // null until it is
  std::vector<std::atomic<const Distances*>> single;  // by destination; null where in none
  std::mutex making;                                  // guards what follows
  std::vector<std::unique_ptr<const Table>> owned;
  std::vector<std::vector<std::unique_ptr<const Distances>>> singles;  // by table
  bool singly = false;                                                 // whether there may be any
  std::unique_ptr<Batch> batch;
};

NetworkPaths::~NetworkPaths() = default;
NetworkPaths::NetworkPaths(NetworkPaths&&) noexcept = default;
NetworkPaths& NetworkPaths::operator=(NetworkPaths&&) noexcept = default;

NetworkPaths::NetworkPaths(const Fabric& fabric, std::span<const std::uint64_t> heights)
    : fabric_(&fabric),
      switch_of_device_(fabric.device_count(), kNone),
      end_of_device_(fabric.device_count(), kNone) {
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    if (fabric.device(DeviceId(i)).kind != DeviceKind::kSwitch) continue;
    switch_of_device_[i] = static_cast<std::uint32_t>(switches_.size());
    switches_.push_back(DeviceId(i));
    if (!heights.empty()) heights_.push_back(heights[i]);
  }
  for (DeviceId id : switches_) {
    adjacency_begin_.push_back(static_cast<std::uint32_t>(adjacency_.size()));
    for (LinkId link : fabric.out(id)) {
      const std::uint32_t to = switch_of_device_[Index(fabric.link(link).to)];
      if (to == kNone) continue;
      adjacency_.push_back(link);
      neighbour_.push_back(to);
    }
  }
  adjacency_begin_.push_back(static_cast<std::uint32_t>(adjacency_.size()));
  TL_CHECK(adjacency_.size() < kSeveral, adjacency_.size());
  FindEnds();
  FindDestinations();

  tables_ = std::make_unique<Tables>(destinations_.size());
}

void NetworkPaths::SearchFewSingly() { tables_->singly = heights_.empty(); }

const NetworkPaths::Distances* NetworkPaths::SingleOf(std::uint32_t destination) const {
  if (!tables_->singly) return nullptr;
  const std::size_t table = destination / kTable;
  if (tables_->made[table].load(std::memory_order_acquire) != nullptr) return nullptr;
  std::atomic<const Distances*>& single = tables_->single[destination];
  if (const Distances* known = single.load(std::memory_order_acquire)) return known;
  const std::scoped_lock lock(tables_->making);
  if (const Distances* known = single.load(std::memory_order_relaxed)) return known;
  std::vector<std::unique_ptr<const Distances>>& singles = tables_->singles[table];
  if (singles.size() == kFew) return nullptr;
  singles.push_back(std::make_unique<const Distances>(DistancesTo(destination)));
  single.store(singles.back().get(), std::memory_order_release);
  return singles.back().get();
}

std::uint16_t NetworkPaths::DistanceFrom(std::uint32_t switch_index,
                                         std::uint32_t destination) const {
  if (const Distances* distances = SingleOf(destination)) return (*distances)[switch_index];
  return RunOf(TableOf(destination), switch_index, destination).distance;
}

const NetworkPaths::Table& NetworkPaths::TableOf(std::uint32_t destination) const {
  std::atomic<const Table*>& made = tables_->made[destination / kTable];
  if (const Table* table = made.load(std::memory_order_acquire)) return *table;
  const std::scoped_lock lock(tables_->making);
  std::unique_ptr<const Table>& owned = tables_->owned[destination / kTable];
  if (owned == nullptr) {
    if (tables_->batch == nullptr) tables_->batch = std::make_unique<Batch>(switches_.size());
    owned = MakeTable(destination / kTable * kTable, *tables_->batch);
    made.store(owned.get(), std::memory_order_release);
  }
  return *owned;
}

// A leaf sends nearly all destinations the same way, so runs are few.
std::unique_ptr<const NetworkPaths::Table> NetworkPaths::MakeTable(std::uint32_t first_destination,
                                                                   Batch& batch) const {
  auto table = std::make_unique<Table>();
  batch.table = table.get();
  SearchBatch(first_destination, batch);
  const std::uint32_t count = std::min(kTable, destination_count() - first_destination);
  table->runs_begin.reserve(switches_.size() + 1);
  for (std::size_t s = 0; s < switches_.size(); ++s) {
    table->runs_begin.push_back(static_cast<std::uint32_t>(table->runs.size()));
    const auto cells = std::span(batch.cells).subspan(s * kTable, count);
    for (std::uint32_t bit = 0; bit < count; ++bit) {
      if (bit > 0 && cells[bit] == cells[bit - 1]) continue;
      table->runs.push_back({cells[bit].set, cells[bit].distance, static_cast<std::uint8_t>(bit)});
    }
  }
  table->runs_begin.push_back(static_cast<std::uint32_t>(table->runs.size()));
  table->runs.shrink_to_fit();
  table->set_links.shrink_to_fit();
  return table;
}

void NetworkPaths::FindEnds() {
  for (std::size_t i = 0; i < fabric_->device_count(); ++i) {
    const DeviceKind kind = fabric_->device(DeviceId(i)).kind;
    if (!IsNetworkEnd(kind)) continue;
    End end;
    end.device = DeviceId(i);
    end.links_begin = static_cast<std::uint32_t>(end_links_.size());
    for (LinkId link : fabric_->out(DeviceId(i))) {
      if (fabric_->link(link).kind != LinkKind::kNetwork) continue;
      end_links_.push_back(link);
      end_reverse_links_.push_back(fabric_->reverse(link));
    }
    end.links_count = static_cast<std::uint32_t>(end_links_.size()) - end.links_begin;
    if (end.links_count == 0) continue;
    end.trunk_out = CommonTrunk(std::span(end_links_).subspan(end.links_begin));
    end.trunk_in = CommonTrunk(std::span(end_reverse_links_).subspan(end.links_begin));
    end_of_device_[i] = static_cast<std::uint32_t>(ends_.size());
    ends_.push_back(end);
  }
}

void NetworkPaths::FindDestinations() {
  std::vector<std::uint32_t> of_switch(switches_.size(), kNone);
  std::map<std::vector<std::uint32_t>, std::uint32_t> known;
  std::vector<std::uint32_t> at;
  for (End& end : ends_) {
    at.clear();
    for (std::uint32_t i = 0; i < end.links_count; ++i) {
      const DeviceId to = fabric_->link(end_links_[end.links_begin + i]).to;
      if (switch_of_device_[Index(to)] != kNone) at.push_back(switch_of_device_[Index(to)]);
    }
    std::ranges::sort(at);
    at.erase(std::ranges::unique(at).begin(), at.end());
    if (end.links_count == 1 && at.size() == 1) {
      end.only_cable = end_reverse_links_[end.links_begin];
    }
    // Nearly all have one switch, which a table finds faster than the map.
    std::uint32_t& destination =
        at.size() == 1 ? of_switch[at.front()] : known.try_emplace(at, kNone).first->second;
    if (destination == kNone) {
      destination = static_cast<std::uint32_t>(destinations_.size());
      destinations_.push_back(at);
    }
    end.destination = destination;
  }

  // Labels: switch by switch, port by port; an end with several cables counts at its first.
  std::uint32_t next = 0;
  std::vector<bool> labelled(ends_.size(), false);
  const auto give = [&](std::uint32_t end) {
    if (!labelled[end]) ends_[end].label = next++;
    labelled[end] = true;
  };
  for (DeviceId id : switches_) {
    for (LinkId link : fabric_->out(id)) {
      const std::uint32_t end = end_of_device_[Index(fabric_->link(link).to)];
      if (end != kNone) give(end);
    }
  }
  for (std::uint32_t end = 0; end < ends_.size(); ++end) give(end);  // cabled back to back
}

void NetworkPaths::SearchBatch(std::uint32_t first_destination, Batch& batch) const {
  batch.Clear();
  const std::size_t end = std::min<std::size_t>(destinations_.size(), first_destination + kTable);
  for (std::size_t d = first_destination; d < end; ++d) {
    const std::size_t bit = d - first_destination;
    for (std::uint32_t s : destinations_[d]) {
      if (batch.fresh[s] == 0) batch.active.push_back(s);
      batch.fresh[s] |= std::uint64_t{1} << bit;
      batch.cells[s * kTable + bit].distance = 0;
    }
  }
  for (std::uint32_t s : batch.active) batch.reached[s] = batch.below[s] = batch.fresh[s];
  for (std::uint16_t distance = 1; !batch.active.empty(); ++distance) {
    TL_CHECK(distance < kUnreachable, "a network of more than 65,534 hops");
    ExpandBatch(distance, batch);
  }
}

// Those of the fresh destinations of `to` for which a packet may come there from `from`.
std::uint64_t NetworkPaths::Passing(std::uint32_t from, std::uint32_t to,
                                    const Batch& batch) const {
  const std::uint64_t fresh = batch.fresh[to];
  if (heights_.empty()) return fresh;
  return heights_[from] > heights_[to] ? fresh & batch.below[to] : fresh & ~batch.next_below[from];
}

void NetworkPaths::Reach(std::uint32_t from, std::uint64_t destinations, std::uint32_t to,
                         Batch& batch) const {
  const std::uint64_t seen = destinations & ~batch.reached[from];
  if (seen == 0) return;
  if (batch.next[from] == 0) batch.touched.push_back(from);
  batch.shared[from] |= batch.next[from] & seen;
  batch.next[from] |= seen;
  if (!heights_.empty() && heights_[from] > heights_[to]) batch.next_below[from] |= seen;
}

void NetworkPaths::ExpandBatch(std::uint16_t distance, Batch& batch) const {
  batch.touched.clear();
  // Cables carry both directions, so the way out is the way back. With heights, a way down is
  // preferred to one of the same length up: who comes from above must be led down.
  const auto reach = [&](auto leads) {
    for (std::uint32_t to : batch.active) {
      for (std::uint32_t i = adjacency_begin_[to]; i < adjacency_begin_[to + 1]; ++i) {
        const std::uint32_t from = neighbour_[i];
        if (leads(from, to)) Reach(from, Passing(from, to, batch), to, batch);
      }
    }
  };
  if (heights_.empty()) {
    reach([](std::uint32_t, std::uint32_t) { return true; });
  } else {
    reach([&](std::uint32_t from, std::uint32_t to) { return heights_[from] > heights_[to]; });
    reach([&](std::uint32_t from, std::uint32_t to) { return heights_[from] < heights_[to]; });
  }
  for (std::uint32_t s : batch.touched) SplitByPorts(s, distance, batch);
  for (std::uint32_t s : batch.active) batch.fresh[s] = 0;
  for (std::uint32_t s : batch.touched) {
    batch.reached[s] |= batch.next[s];
    batch.below[s] |= std::exchange(batch.next_below[s], 0);
    batch.fresh[s] = std::exchange(batch.next[s], 0);
  }
  std::swap(batch.active, batch.touched);
}

// Most destinations leave a switch by one port alone (down), or all by the same ports (up).
void NetworkPaths::SplitByPorts(std::uint32_t s, std::uint16_t distance, Batch& batch) const {
  const std::uint64_t wanted = batch.next[s];
  const std::uint64_t shared = std::exchange(batch.shared[s], 0);
  batch.groups.resize(1);
  batch.groups.front().members = shared;
  batch.groups.front().links.clear();
  for (std::uint32_t i = adjacency_begin_[s]; i < adjacency_begin_[s + 1]; ++i) {
    const std::uint64_t through = Passing(s, neighbour_[i], batch) & wanted;
    if (const std::uint64_t alone = through & ~shared; alone != 0) {
      batch.Assign(s, alone, {i, distance});
    }
    if (const std::uint64_t others = through & shared; others != 0) {
      if (batch.groups.size() == 1 && others == shared) {
        batch.groups.front().links.push_back(adjacency_[i]);
      } else {
        batch.AddPort(adjacency_[i], others);
      }
    }
  }
  if (shared == 0) return;
  for (const Batch::Group& group : batch.groups) {
    batch.Assign(s, group.members, {Intern(s, group.links, batch), distance});
  }
}

void NetworkPaths::Batch::AddPort(LinkId link, std::uint64_t through) {
  const std::size_t count = groups.size();
  for (std::size_t g = 0; g < count; ++g) {
    const std::uint64_t common = groups[g].members & through;
    if (common == 0) continue;
    if (common == groups[g].members) {
      groups[g].links.push_back(link);
      continue;
    }
    Group part{.members = common, .links = groups[g].links};
    part.links.push_back(link);
    groups[g].members &= ~common;
    groups.push_back(std::move(part));
  }
}

const NetworkPaths::Run& NetworkPaths::RunOf(const Table& table, std::uint32_t switch_index,
                                             std::uint32_t destination) const {
  const std::span<const Run> runs = RunsOf(table, switch_index);
  const std::uint32_t offset = destination % kTable;
  if (runs.size() == kTable) return runs[offset];
  return *std::prev(std::ranges::upper_bound(runs, offset, {}, &Run::first));
}

std::uint32_t NetworkPaths::Intern(std::uint32_t switch_index, std::span<const LinkId> links,
                                   Batch& batch) const {
  Table& table = *batch.table;
  // A switch has few distinct sets of several ports, so a scan is short.
  for (std::uint32_t set : batch.sets_of_switch[switch_index]) {
    const PortSet& known = table.sets[set & ~kSeveral];
    if (std::ranges::equal(links, std::span(table.set_links).subspan(known.begin, known.count))) {
      return set;
    }
  }
  const std::uint32_t set = static_cast<std::uint32_t>(table.sets.size()) | kSeveral;
  table.sets.push_back({static_cast<std::uint32_t>(table.set_links.size()),
                        static_cast<std::uint32_t>(links.size()), CommonTrunk(links)});
  table.set_links.insert(table.set_links.end(), links.begin(), links.end());
  batch.sets_of_switch[switch_index].push_back(set);
  return set;
}

std::uint32_t NetworkPaths::CommonTrunk(std::span<const LinkId> links) const {
  if (links.empty()) return Link::kNoTrunk;
  const std::uint32_t trunk = fabric_->link(links[0]).trunk;
  const bool all =
      std::ranges::all_of(links, [&](LinkId link) { return fabric_->link(link).trunk == trunk; });
  return all ? trunk : Link::kNoTrunk;
}

std::uint16_t NetworkPaths::DistanceAfter(LinkId link, const End& dst) const {
  const DeviceId to = fabric_->link(link).to;
  if (to == dst.device) return 0;
  const std::uint32_t s = switch_of_device_[Index(to)];
  if (s == kNone) return kUnreachable;  // NICs and hosts do not forward
  const std::uint16_t distance = DistanceFrom(s, dst.destination);
  return distance == kUnreachable ? kUnreachable : static_cast<std::uint16_t>(distance + 1);
}

std::uint16_t NetworkPaths::Distance(DeviceId src, DeviceId dst) const {
  const End& from = ends_[end_of_device_[Index(src)]];
  const End& to = ends_[end_of_device_[Index(dst)]];
  std::uint16_t best = kUnreachable;
  for (std::uint32_t i = 0; i < from.links_count; ++i) {
    best = std::min(best, DistanceAfter(end_links_[from.links_begin + i], to));
  }
  return best == kUnreachable ? best : static_cast<std::uint16_t>(best + 1);
}

bool NetworkPaths::IsAt(DeviceId at, DeviceId dst) const {
  return std::ranges::binary_search(destinations_[ends_[end_of_device_[Index(dst)]].destination],
                                    switch_of_device_[Index(at)]);
}

bool NetworkPaths::Forwards(DeviceId at, DeviceId dst) const {
  const std::uint32_t destination = ends_[end_of_device_[Index(dst)]].destination;
  const std::uint16_t distance = DistanceFrom(switch_of_device_[Index(at)], destination);
  return distance != 0 && distance != kUnreachable;
}

std::vector<std::uint64_t> NetworkPaths::CrossedFor(const Table& table) const {
  std::vector<std::uint64_t> crossed(switches_.size(), 0);
  for (const std::vector<std::uint32_t>& homes : destinations_) {
    for (const std::uint32_t home : homes) crossed[home] = ~std::uint64_t{0};
  }
  struct Step {
    std::uint32_t at;
    std::uint32_t set;
    std::uint64_t destinations;
  };
  // The farthest first: what crosses a switch is known before it is handed on to nearer ones.
  std::map<std::uint16_t, std::vector<Step>, std::greater<>> steps;
  for (std::uint32_t s = 0; s < switches_.size(); ++s) {
    const std::span<const Run> runs = RunsOf(table, s);
    for (std::size_t r = 0; r < runs.size(); ++r) {
      if (runs[r].set == kNone) continue;
      steps[runs[r].distance].push_back({s, runs[r].set, BitsOf(runs, r)});
    }
  }
  for (const auto& [distance, all] : steps) {
    for (const Step& step : all) {
      for (const LinkId link : LinksOf(table, step.set)) {
        crossed[switch_of_device_[Index(fabric_->link(link).to)]] |=
            crossed[step.at] & step.destinations;
      }
    }
  }
  return crossed;
}

NetworkPaths::Ports NetworkPaths::Next(DeviceId at, DeviceId dst,
                                       std::vector<LinkId>& scratch) const {
  const End& to = ends_[end_of_device_[Index(dst)]];
  const std::uint32_t s = switch_of_device_[Index(at)];
  if (s != kNone) {
    if (const Distances* distances = SingleOf(to.destination)) {
      if ((*distances)[s] > 0) return NearerBy(*distances, s, scratch);
    } else {
      const Table& table = TableOf(to.destination);
      const Run& run = RunOf(table, s, to.destination);
      if (run.distance > 0) {
        return {LinksOf(table, run.set), (run.set & kSeveral) == 0
                                             ? fabric_->link(adjacency_[run.set]).trunk
                                             : table.sets[run.set & ~kSeveral].trunk};
      }
    }
  }

  // The first or the last hop: the cables of one NIC or host, or those of them that qualify.
  const bool last = s != kNone;
  const End& end = last ? to : ends_[end_of_device_[Index(at)]];
  const auto all =
      std::span(last ? end_reverse_links_ : end_links_).subspan(end.links_begin, end.links_count);
  const std::uint32_t trunk = last ? end.trunk_in : end.trunk_out;
  if (all.size() == 1) return {all, trunk};
  const std::uint16_t best = last ? 0 : static_cast<std::uint16_t>(Distance(at, dst) - 1);
  scratch.clear();
  for (LinkId link : all) {
    if (last ? fabric_->link(link).from == at : DistanceAfter(link, to) == best) {
      scratch.push_back(link);
    }
  }
  return {scratch, trunk};
}

}  // namespace trunkline
