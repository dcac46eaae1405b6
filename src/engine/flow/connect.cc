#include "engine/flow/connect.h"

#include <algorithm>

#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

constexpr Rate kUnlimited = Rate::BitsPerSecond(INT64_MAX);

}  // namespace

Connector::Connector(const EngineInput& input, const std::optional<Rotation>& rotation,
                     FlowProblem& problem)
    : input_(input),
      fabric_(input.router.fabric()),
      rotation_(rotation),
      problem_(problem),
      routes_(input.router) {
  problem_.resource_index.assign(fabric_.resource_count(), FlowProblem::kUnused);
}

std::uint32_t Connector::Number(ResourceId resource) {
  if (Index(resource) >= problem_.resource_index.size()) {  // a part of a trunk
    problem_.resource_index.resize(Index(resource) + 1, FlowProblem::kUnused);
  }
  const auto index = static_cast<std::uint32_t>(problem_.capacities.size());
  problem_.resource_index[Index(resource)] = index;
  problem_.capacities.push_back(input_.router.capacity(resource));
  if (rotation_) {
    const auto orbit = rotation_->Orbit(LinkId(Index(resource)));
    for (const LinkId link : orbit) problem_.resource_index[Index(link)] = index;
    crossings_.push_back(rotation_->turns / orbit.size());
  }
  return index;
}

FlowHop Connector::HopOn(const Hop& hop, std::int64_t payload) {
  const double weight = hop.weight * 128 / static_cast<double>(payload);
  return {IndexOf(hop.resource),
          static_cast<std::uint64_t>(weight * static_cast<double>(FlowHop::kOne))};
}

const Connector::LoneHop& Connector::LoneHopOn(const Hop& hop, std::int64_t payload) {
  const std::uint32_t number = IndexOf(hop.resource);
  if (number >= lone_hops_.size()) lone_hops_.resize(problem_.capacities.size());
  LoneHop& known = lone_hops_[number];
  if (known.payload != payload || known.weight != hop.weight) {
    const FlowHop made = HopOn(hop, payload);
    known = {hop.weight, payload, made, LoneRate(made, problem_.capacities[number])};
  }
  return known;
}

Result<void> Connector::Connect(RankId source, RankId destination, const Manner& manner,
                                std::uint64_t flow) {
  const auto found = routes_.Find(Endpoint(source), Endpoint(destination), flow);
  if (!found) return std::unexpected(found.error());
  const Route& route = **found;
  const auto hops = std::span(route.hops);
  FlowPath path;
  path.hop_count = static_cast<std::uint32_t>(hops.size());
  // All hops but the last are often those of the connection before.
  const bool extends = routes_.extends() && manner == row_.manner && !row_.ended && !rotation_;
  if (!extends) BeginRow(route, manner, path.shared_hops());
  path.first_hop = row_.first_hop;
  const RouteCost cost = CostOf(route, row_.hop_class, input_.transport);
  if (cost.limit != row_.route_limit) {
    row_.route_limit = cost.limit;
    const auto limit = static_cast<Int128>(cost.limit.bits_per_second()) * row_.payload / 128;
    row_.limit = std::min(row_.lone_but_for_last,
                          LoneRate(Rate::BitsPerSecond(static_cast<std::int64_t>(limit))));
  }
  Connection& connection = problem_.connections.emplace_back();
  connection.source = source;
  connection.destination = destination;
  connection.limit = row_.limit;
  connection.latency = cost.latency + row_.step_latency;
  if (!hops.empty()) {
    const LoneHop& last = LoneHopOn(hops.back(), row_.payload);
    path.last_hop = last.hop;
    connection.limit = std::min(connection.limit, last.rate);
  }
  if (rotation_) TurnHops(path);
  problem_.paths.push_back(path);
  ++problem_.rows.back();
  return {};
}

// Of connections of this manner whose routes differ in the last hop.
void Connector::BeginRow(const Route& route, const Manner& manner, std::uint32_t shared_hops) {
  problem_.rows.push_back(problem_.rows.back());
  problem_.models.push_back(FlowProblem::kUnused);
  row_.manner = manner;
  row_.payload = PayloadPer128(manner.protocol);
  row_.hop_class = HopClassOf(fabric_, route);
  row_.step_latency = StepLatencyOf(input_.transport, manner, row_.hop_class);
  row_.first_hop = static_cast<std::uint32_t>(problem_.hops.size());
  for (const Hop& hop : std::span(route.hops).first(shared_hops)) {
    problem_.hops.push_back(HopOn(hop, row_.payload));
  }
  row_.lone_but_for_last =
      LoneRate(std::span(problem_.hops).subspan(row_.first_hop), problem_.capacities, kUnlimited);
  row_.route_limit = kNoLimitYet;
  row_.ended = false;
}

// Hops as those of all images of a connection. Links that the rotation takes to one another are one
// resource, which a path crosses once, with all of its weight.
void Connector::TurnHops(FlowPath& path) {
  place_.resize(problem_.capacities.size(), 0);
  std::vector<FlowHop>& hops = problem_.hops;
  std::uint32_t end = path.first_hop;
  for (std::uint32_t i = end; i < hops.size(); ++i) {
    const FlowHop hop = {hops[i].resource, hops[i].weight * crossings_[hops[i].resource]};
    std::uint32_t& place = place_[hop.resource];
    if (place >= path.first_hop && place < end && hops[place].resource == hop.resource) {
      hops[place].weight += hop.weight;
    } else {
      place = end;
      hops[end++] = hop;
    }
  }
  hops.resize(end);
  if (path.hop_count == 0) return;
  path.hop_count = end - path.first_hop + 1;
  path.last_hop.weight *= crossings_[path.last_hop.resource];
}

Result<void> Connector::ConnectCommunicators() {
  std::size_t connections = 0;
  for (const FlowProblem::Communicator& communicator : problem_.communicators) {
    connections += problem_.patterns[communicator.pattern].pairs.size();
  }
  problem_.connections.reserve(connections);
  problem_.paths.reserve(connections);
  for (FlowProblem::Communicator& communicator : problem_.communicators) {
    communicator.first_connection = static_cast<std::uint32_t>(problem_.connections.size());
    model_ = {};
    const Pattern& pattern = problem_.patterns[communicator.pattern];
    for (Participant member = 0; member < pattern.members(); ++member) {
      const std::uint32_t first = pattern.first_outbound[member];
      const std::uint32_t end = pattern.first_outbound[member + 1];
      if (first == end) continue;
      auto connected =
          ConnectMember(communicator, Pairs(pattern.pairs).subspan(first, end - first));
      if (!connected) return connected;
    }
  }
  return {};
}

// The pairs from one member: rows of the model where they are the same but for the first hop.
Result<void> Connector::ConnectMember(const FlowProblem::Communicator& communicator, Pairs own) {
  const RankId source = communicator.members[own.front().source];
  row_.ended = true;
  const auto first_row = static_cast<std::uint32_t>(problem_.models.size());
  const auto replaced = model_.known && !rotation_
                            ? routes_.ReplacedFirstHop(Endpoint(model_.source), Endpoint(source))
                            : std::nullopt;
  const std::uint32_t resource = replaced ? IndexOf(replaced->resource) : 0;
  std::uint32_t row = replaced ? model_.first_row : model_.end_row;
  const CommunicatorId id = input_.graph.in_job(communicator.id);
  std::uint32_t channel = own.front().channel;
  std::uint64_t flow = FlowOf(id, channel);
  for (std::size_t i = 0; i < own.size();) {
    while (row < model_.end_row && IsBefore(communicator, row, own[i])) ++row;
    if (row < model_.end_row && Repeats(communicator, row, own.subspan(i))) {
      i += RepeatRow(row, source, resource);
      continue;
    }
    if (own[i].channel != channel) flow = FlowOf(id, channel = own[i].channel);
    auto connected =
        Connect(source, communicator.members[own[i].destination], communicator.manner, flow);
    if (!connected) return connected;
    ++i;
  }
  if (!replaced) {
    model_ = {.source = source,
              .first_row = first_row,
              .end_row = static_cast<std::uint32_t>(problem_.models.size()),
              .known = true};
  }
  return {};
}

// Whether the row of the model begins with a pair that comes before one of another member.
bool Connector::IsBefore(const FlowProblem::Communicator& communicator, std::uint32_t row,
                         const Schedule::Pair& pair) const {
  const Schedule::Pair& first = PairOf(communicator, problem_.rows[row]);
  return first.destination != pair.destination ? first.destination < pair.destination
                                               : first.channel < pair.channel;
}

// Whether the pairs of another member begin with those of the row of the model, and take the same
// way.
bool Connector::Repeats(const FlowProblem::Communicator& communicator, std::uint32_t row,
                        Pairs own) const {
  const std::uint32_t first = problem_.rows[row];
  const std::uint32_t count = problem_.rows[row + 1] - first;
  if (own.size() < count || problem_.paths[first].hop_count < 2) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Schedule::Pair& pair = PairOf(communicator, first + i);
    if (pair.destination != own[i].destination || pair.channel != own[i].channel) return false;
  }
  return routes_.KnowsStem(Endpoint(communicator.members[own.front().destination]));
}

// Returns how many connections it has.
std::uint32_t Connector::RepeatRow(std::uint32_t row, RankId source, std::uint32_t resource) {
  const std::uint32_t first = problem_.rows[row];
  const std::uint32_t end = problem_.rows[row + 1];
  const FlowPath model = problem_.paths[first];
  const auto first_hop = static_cast<std::uint32_t>(problem_.hops.size());
  problem_.hops.resize(first_hop + model.shared_hops());
  std::copy_n(problem_.hops.begin() + model.first_hop, model.shared_hops(),
              problem_.hops.begin() + first_hop);
  problem_.hops[first_hop].resource = resource;
  const std::uint32_t begin = problem_.rows.back();
  problem_.connections.resize(begin + (end - first));
  problem_.paths.resize(begin + (end - first));
  for (std::uint32_t i = 0; i < end - first; ++i) {
    Connection& connection = problem_.connections[begin + i];
    connection = problem_.connections[first + i];
    connection.source = source;
    FlowPath& path = problem_.paths[begin + i];
    path = problem_.paths[first + i];
    path.first_hop = first_hop;
  }
  problem_.rows.push_back(begin + (end - first));
  problem_.models.push_back(row);
  row_.ended = true;
  return end - first;
}

}  // namespace trunkline
