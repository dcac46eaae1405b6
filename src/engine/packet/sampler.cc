#include "engine/packet/sampler.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "engine/packet/packet_network.h"

namespace trunkline {
namespace {

// Cells kept (16 bytes each), and rows of them: more than a page has pixels for are of no use, and
// fewer than some tell nothing, however many links there are.
constexpr std::size_t kMostCells = std::size_t{1} << 22;
constexpr std::size_t kMostRows = 512;
constexpr std::size_t kLeastRows = 32;

// Faults slow cables down; one that is slower still only has its bytes counted an interval late.
constexpr std::int64_t kSlowest = 1'000;

std::vector<std::uint32_t> LargestFlows(const TrafficWorkload& traffic, std::size_t count) {
  std::vector<std::uint32_t> flows(traffic.flows.size());
  std::iota(flows.begin(), flows.end(), 0U);
  std::ranges::stable_sort(flows, std::ranges::greater(),
                           [&](std::uint32_t flow) { return traffic.flows[flow].bytes; });
  flows.resize(std::min(flows.size(), count));
  std::ranges::sort(flows);
  return flows;
}

}  // namespace

Sampler::Sampler(Plant& plant, const TrafficWorkload& traffic, const PacketSampling& sampling,
                 PacketSampleSink* sink)
    : plant_(plant),
      traffic_(traffic),
      sampling_(sampling),
      sink_(sink),
      quiet_(ShapeOf(plant).horizon * (plant.faults == nullptr ? 1 : kSlowest)),
      width_(sampling.every),
      most_rows_(std::clamp(kMostCells / std::max<std::size_t>(1, plant.ports.size()), kLeastRows,
                            kMostRows)),
      flows_(LargestFlows(traffic, sampling.flows)),
      total_(plant.ports.size()),
      change_(plant.ports.size()),
      delivered_(flows_.size()),
      flow_change_(flows_.size()) {}

Time Sampler::Next(Time next_event) const {
  if (next_event == Time::Max()) return next_event;
  if (next_event < last_ + quiet_) return last_ + sampling_.every;
  return sampling_.every * (next_event.ps() / sampling_.every.ps() + 1);
}

std::uint32_t Sampler::Pauses(std::size_t link) const {
  std::uint32_t sum = 0;
  for (std::uint8_t c = 0; c < plant_.switches_model.classes && !plant_.ingress.empty(); ++c) {
    sum += plant_.ingress[plant_.QueueOf(static_cast<std::uint32_t>(link), c)].pauses;
  }
  return sum;
}

std::int64_t Sampler::Delivered(std::size_t place) const {
  const std::uint32_t flow = flows_[place];
  return std::min(plant_.receivers[flow].received * plant_.transport.mtu.count(),
                  traffic_.flows[flow].bytes.count());
}

bool Sampler::ReadLinks() {
  bool moved = false;
  for (std::size_t i = 0; i < plant_.ports.size(); ++i) {
    const Port& port = plant_.ports[i];
    std::uint32_t& most = plant_.max_queue_bytes[i];
    Cell& total = total_[i];
    const std::uint32_t pauses = Pauses(i);
    change_[i] = {.wire_bytes = port.wire_bytes - total.wire_bytes,
                  .peak_queue_bytes = most,
                  .pauses = pauses - total.pauses};
    total = {.wire_bytes = port.wire_bytes,
             .peak_queue_bytes = std::max(total.peak_queue_bytes, most),
             .pauses = pauses};
    most = port.queued_bytes;
    moved = moved || change_[i].wire_bytes > 0 || change_[i].peak_queue_bytes > 0 ||
            change_[i].pauses > 0;
  }
  return moved;
}

bool Sampler::ReadFlows() {
  bool moved = false;
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    const std::int64_t delivered = Delivered(i);
    flow_change_[i] = delivered - std::exchange(delivered_[i], delivered);
    moved = moved || flow_change_[i] > 0;
  }
  return moved;
}

void Sampler::Take(Time at) {
  const bool links = ReadLinks();
  const bool flows = ReadFlows();
  if (links || flows) {
    ++taken_;
    if (sink_ != nullptr) Tell(at);
    Keep(at);
  }
  last_ = at;
}

// Leaves the fullest of `links`, in order.
void Sampler::KeepFullest(std::vector<std::uint32_t>& links, const std::vector<Cell>& cells) const {
  const std::size_t kept = std::min<std::size_t>(links.size(), sampling_.links);
  std::ranges::partial_sort(links, links.begin() + static_cast<std::ptrdiff_t>(kept),
                            [&](auto a, auto b) {
                              return std::tuple(cells[b].peak_queue_bytes, cells[b].wire_bytes, a) <
                                     std::tuple(cells[a].peak_queue_bytes, cells[a].wire_bytes, b);
                            });
  links.resize(kept);
}

void Sampler::Tell(Time until) {
  PacketSample sample;
  sample.from = Time::Picoseconds((until.ps() - 1) / sampling_.every.ps() * sampling_.every.ps());
  sample.until = until;
  std::vector<std::uint32_t> links;
  for (std::uint32_t i = 0; i < change_.size(); ++i) {
    const Cell& change = change_[i];
    if (change.wire_bytes > 0 || change.peak_queue_bytes > 0 || change.pauses > 0) {
      links.push_back(i);
    }
  }
  KeepFullest(links, change_);
  for (const std::uint32_t link : links) {
    const Cell& change = change_[link];
    sample.links.push_back(
        {LinkId(link), change.wire_bytes, change.peak_queue_bytes, change.pauses});
  }
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    if (flow_change_[i] > 0) sample.flows.push_back({flows_[i], flow_change_[i]});
  }
  sink_->Take(sample);
}

void Sampler::Keep(Time at) {
  const auto row_at = [&] { return static_cast<std::size_t>((at.ps() - 1) / width_.ps()); };
  while (row_at() >= most_rows_) Halve();
  const std::size_t row = row_at();
  rows_ = std::max(rows_, row + 1);
  cells_.resize(rows_ * change_.size());
  flow_cells_.resize(rows_ * flows_.size());
  for (std::size_t i = 0; i < change_.size(); ++i) {
    Cell& cell = cells_[row * change_.size() + i];
    cell.wire_bytes += change_[i].wire_bytes;
    cell.peak_queue_bytes = std::max(cell.peak_queue_bytes, change_[i].peak_queue_bytes);
    cell.pauses += change_[i].pauses;
  }
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    flow_cells_[row * flows_.size() + i] += flow_change_[i];
  }
}

// Draws every two rows together.
void Sampler::Halve() {
  const std::size_t links = change_.size();
  const std::size_t flows = flows_.size();
  for (std::size_t row = 0; row < rows_; ++row) {
    for (std::size_t i = 0; i < links; ++i) {
      const Cell from = cells_[row * links + i];
      Cell& to = cells_[row / 2 * links + i];
      if (row % 2 == 0) {
        to = from;
        continue;
      }
      to.wire_bytes += from.wire_bytes;
      to.peak_queue_bytes = std::max(to.peak_queue_bytes, from.peak_queue_bytes);
      to.pauses += from.pauses;
    }
    for (std::size_t i = 0; i < flows; ++i) {
      const std::int64_t from = flow_cells_[row * flows + i];
      std::int64_t& to = flow_cells_[row / 2 * flows + i];
      to = row % 2 == 0 ? from : to + from;
    }
  }
  width_ = width_ * 2;
  rows_ = (rows_ + 1) / 2;
  cells_.resize(rows_ * links);
  flow_cells_.resize(rows_ * flows);
}

PacketSamples Sampler::Finish(Time end) {
  const Time every = sampling_.every;
  Take(std::max(last_, every * ((end.ps() + every.ps()) / every.ps())));
  PacketSamples samples;
  samples.every = every;
  samples.taken = taken_;
  samples.width = width_;
  samples.intervals = rows_;
  std::vector<std::uint32_t> links;
  for (std::uint32_t i = 0; i < total_.size(); ++i) {
    plant_.max_queue_bytes[i] = total_[i].peak_queue_bytes;
    if (total_[i].wire_bytes > 0) links.push_back(i);
  }
  KeepFullest(links, total_);
  for (const std::uint32_t link : links) {
    PacketSamples::Link& series = samples.links.emplace_back();
    series.link = LinkId(link);
    for (std::size_t row = 0; row < rows_; ++row) {
      const Cell& cell = cells_[row * total_.size() + link];
      series.wire_bytes.push_back(cell.wire_bytes);
      series.peak_queue_bytes.push_back(cell.peak_queue_bytes);
      series.pauses.push_back(cell.pauses);
    }
  }
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    PacketSamples::Flow& series = samples.flows.emplace_back();
    series.flow = flows_[i];
    for (std::size_t row = 0; row < rows_; ++row) {
      series.delivered_bytes.push_back(flow_cells_[row * flows_.size() + i]);
    }
  }
  return samples;
}

}  // namespace trunkline
