#include "engine/flow/fold.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/none.h"
#include "engine/flow/partition.h"
#include "engine/flow/roles.h"
#include "trunkline/base/random.h"

namespace trunkline {
namespace {

// Beyond these, looking for congruent ranks would cost more than it could save.
constexpr std::uint64_t kMaxOpsToRead = std::uint64_t{1} << 26;
constexpr std::size_t kMaxConnections = std::size_t{1} << 22;

// What a connection is to a rank at one of its ends.
enum class Name : std::uint8_t { kPut, kWait, kSend, kReceive, kProgram };

std::uint64_t Label(Name name, std::uint64_t slot, std::uint64_t channel = 0,
                    std::uint64_t role = 0) {
  const std::uint64_t head = (slot << 8) | static_cast<std::uint64_t>(name);
  return HashCombine(HashCombine(head, channel), role);
}

// The problem as a graph: vertices are ranks, then connections, then resources, then the bundles of
// ports that have several.
class GraphBuilder {
 public:
  explicit GraphBuilder(const FlowProblem& problem)
      : problem_(problem),
        first_connection_(static_cast<std::uint32_t>(problem.ranks.size())),
        first_resource_(first_connection_ +
                        static_cast<std::uint32_t>(problem.connections.size())) {}

  std::optional<LabelledGraph> Build();
  // By seat: the vertex of its first bundle, which those of the others follow; kNone: there is just
  // one, which is part of its rank.
  [[nodiscard]] std::span<const std::uint32_t> first_programs() const { return first_programs_; }
  [[nodiscard]] const PatternRoles& roles(std::uint32_t pattern) const { return roles_[pattern]; }

 private:
  enum class Kind : std::uint8_t { kRank, kConnection, kResource, kProgram };
  static std::uint64_t Attribute(Kind kind, std::uint64_t value) {
    return HashCombine(static_cast<std::uint64_t>(kind), value);
  }
  void AddRank(std::uint32_t rank);
  void AddPort(std::uint32_t rank, std::uint32_t port);
  std::uint32_t AddPrograms(std::uint32_t rank, std::uint32_t port);
  void Join(std::uint32_t vertex, std::uint32_t connection, std::uint64_t label);

  const FlowProblem& problem_;
  std::uint32_t first_connection_;
  std::uint32_t first_resource_;
  std::vector<PatternRoles> roles_;
  std::vector<std::uint32_t> first_programs_;
  std::vector<std::uint64_t> attributes_;
  std::vector<LabelledGraph::Edge> edges_;
};

void GraphBuilder::Join(std::uint32_t vertex, std::uint32_t connection, std::uint64_t label) {
  edges_.push_back({vertex, first_connection_ + connection, label, label});
}

// What a rank does on the channels of a port: by vertices of their own, or as its attribute.
std::uint32_t GraphBuilder::AddPrograms(std::uint32_t rank, std::uint32_t port) {
  const std::uint32_t index = problem_.ranks[rank].first_seat + port;
  const FlowProblem::Seat& seat = problem_.seats[index];
  const std::uint32_t pattern = problem_.communicators[seat.communicator].pattern;
  const PatternRoles& roles = roles_[pattern];
  const std::size_t channels = roles.places.size();
  const auto programs = std::span(roles.program).subspan(seat.position * channels, channels);
  if (roles.bundles == 1) {
    for (const std::uint64_t program : programs) {
      attributes_[rank] = HashCombine(attributes_[rank], program);
    }
    return kNone;
  }
  const auto first = static_cast<std::uint32_t>(attributes_.size());
  const std::uint64_t label = Label(Name::kProgram, port);
  for (std::uint32_t bundle = 0; bundle < roles.bundles; ++bundle) {
    edges_.push_back({rank, first + bundle, label, label});
    attributes_.push_back(Attribute(Kind::kProgram, 0));
  }
  std::vector<std::size_t> begins(roles.bundles);
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const PatternRoles::Place& place = roles.places[channel];
    if (place.index == 0) begins[place.bundle] = channel;
    std::uint64_t& attribute = attributes_[first + place.bundle];
    attribute =
        HashCombine(HashCombine(attribute, channel - begins[place.bundle]), programs[channel]);
  }
  return first_programs_[index] = first;
}

void GraphBuilder::AddPort(std::uint32_t rank, std::uint32_t port) {
  const FlowProblem::Seat& seat = problem_.seats[problem_.ranks[rank].first_seat + port];
  const FlowProblem::Communicator& communicator = problem_.communicators[seat.communicator];
  const Pattern& pattern = problem_.patterns[communicator.pattern];
  const PatternRoles& roles = roles_[communicator.pattern];
  const std::uint32_t programs = AddPrograms(rank, port);
  const auto join = [&](Name name, std::uint32_t pair, std::uint64_t role) {
    const std::uint32_t channel = pattern.pairs[pair].channel;
    const PatternRoles::Place& place = roles.places[channel];
    const bool apart = programs != kNone;
    Join(apart ? programs + place.bundle : rank, communicator.first_connection + pair,
         Label(name, port, apart ? place.index : channel, role));
  };
  for (std::uint32_t pair = pattern.first_outbound[seat.position];
       pair < pattern.first_outbound[seat.position + 1]; ++pair) {
    join(Name::kPut, pair, roles.source_role[pair]);
  }
  for (std::uint32_t i = pattern.first_inbound[seat.position];
       i < pattern.first_inbound[seat.position + 1]; ++i) {
    join(Name::kWait, pattern.inbound[i], roles.destination_role[pattern.inbound[i]]);
  }
}

void GraphBuilder::AddRank(std::uint32_t index) {
  const FlowProblem::Rank& rank = problem_.ranks[index];
  const ProgramShape& shape = problem_.shapes[rank.program];
  attributes_[index] = Attribute(Kind::kRank, rank.program);
  for (std::uint32_t port = 0; port < shape.ports.size(); ++port) AddPort(index, port);
  for (std::uint32_t slot = 0; slot < shape.sends.size(); ++slot) {
    Join(index, problem_.peer_connections[rank.first_send + slot], Label(Name::kSend, slot));
  }
  for (std::uint32_t slot = 0; slot < shape.receives.size(); ++slot) {
    Join(index, problem_.peer_connections[rank.first_receive + slot], Label(Name::kReceive, slot));
  }
}

std::optional<LabelledGraph> GraphBuilder::Build() {
  for (const Pattern& pattern : problem_.patterns) {
    auto roles = FindRoles(pattern, kMaxOpsToRead);
    if (!roles) return std::nullopt;
    roles_.push_back(*std::move(roles));
  }
  attributes_.resize(first_resource_ + problem_.capacities.size());
  first_programs_.resize(problem_.seats.size(), kNone);
  edges_.reserve(2 * problem_.connections.size() + problem_.hops.size());
  for (std::uint32_t rank = 0; rank < problem_.ranks.size(); ++rank) AddRank(rank);
  for (std::uint32_t i = 0; i < problem_.connections.size(); ++i) {
    const Connection& connection = problem_.connections[i];
    attributes_[first_connection_ + i] = Attribute(
        Kind::kConnection,
        HashCombine(connection.limit.units, static_cast<std::uint64_t>(connection.latency.ps())));
    for (const FlowHop& hop : problem_.binding_hops_of(connection)) {
      edges_.push_back(
          {first_connection_ + i, first_resource_ + hop.resource, hop.weight, hop.weight});
    }
  }
  for (std::uint32_t i = 0; i < problem_.capacities.size(); ++i) {
    attributes_[first_resource_ + i] = Attribute(
        Kind::kResource, static_cast<std::uint64_t>(problem_.capacities[i].bits_per_second()));
  }
  return LabelledGraph(std::move(attributes_), edges_);
}

// Classes of [first, first + count) as dense ids in order of first appearance, with the first
// member of each.
struct Classes {
  std::vector<std::uint32_t> of;
  std::vector<std::uint32_t> representative;
  std::vector<std::uint32_t> size;

  Classes(const std::vector<std::uint32_t>& partition, std::size_t first, std::size_t count) {
    std::vector<std::uint32_t> dense(partition.size(), kNone);
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t& id = dense[partition[first + i]];
      if (id == kNone) {
        id = static_cast<std::uint32_t>(representative.size());
        representative.push_back(i);
        size.push_back(0);
      }
      ++size[id];
      of.push_back(id);
    }
  }
};

// Of each port of the simulated ranks the channels of the first bundle of each class; false where
// these are all.
bool FindChannels(const FlowProblem& problem, const std::vector<std::uint32_t>& partition,
                  const GraphBuilder& graph, Folding& folding) {
  bool fewer = false;
  std::vector<std::uint32_t> classes;  // by bundle
  for (const RankId id : folding.ranks) {
    const FlowProblem::Rank& rank = problem.ranks[Index(id)];
    for (std::uint32_t port = 0; port < problem.shapes[rank.program].ports.size(); ++port) {
      const std::uint32_t seat = rank.first_seat + port;
      const std::uint32_t first = graph.first_programs()[seat];
      std::vector<std::uint32_t>& channels = folding.channels.emplace_back();
      if (first == kNone) continue;
      const auto& places =
          graph.roles(problem.communicators[problem.seats[seat].communicator].pattern).places;
      classes.clear();
      for (std::uint32_t channel = 0; channel < places.size(); ++channel) {
        const PatternRoles::Place& place = places[channel];
        if (place.index == 0) classes.push_back(partition[first + place.bundle]);
        const auto own = classes.begin() + place.bundle;
        if (std::find(classes.begin(), own, *own) == own) channels.push_back(channel);
      }
      fewer |= channels.size() < places.size();
    }
  }
  return fewer;
}

// Adds up, for each class of connections, what its members take of one resource of each class.
void AddHops(const FlowProblem& problem, const Classes& connections, const Classes& resources,
             Folding& folding) {
  std::vector<std::map<std::uint32_t, std::uint64_t>> weights(connections.size.size());
  for (std::uint32_t i = 0; i < problem.connections.size(); ++i) {
    for (const FlowHop& hop : problem.binding_hops_of(problem.connections[i])) {
      const std::uint32_t resource = resources.of[hop.resource];
      if (resources.representative[resource] != hop.resource) continue;
      weights[connections.of[i]][resource] += hop.weight;
    }
  }
  for (std::uint32_t i = 0; i < weights.size(); ++i) {
    Connection connection = problem.connections[connections.representative[i]];
    connection.first_hop = static_cast<std::uint32_t>(folding.hops.size());
    connection.binding_hops = static_cast<std::uint32_t>(weights[i].size());
    for (const auto& [resource, weight] : weights[i]) folding.hops.push_back({resource, weight});
    folding.connections.push_back(connection);
  }
}

bool CanPay(const FlowProblem& problem) {
  constexpr std::size_t kFew = 10'000;  // a few milliseconds at most
  if (problem.connections.size() < kFew) return true;
  const std::uint64_t enough = kUsesWorthFolding * problem.connections.size();
  std::uint64_t uses = 0;
  for (const FlowProblem::Rank& rank : problem.ranks) {
    const ProgramShape& shape = problem.shapes[rank.program];
    uses += shape.slot.size();
    for (std::uint32_t port = 0; port < shape.ports.size(); ++port) {
      const FlowProblem::Seat& seat = problem.seats[rank.first_seat + port];
      const Pattern& pattern = problem.patterns[problem.communicators[seat.communicator].pattern];
      for (const Pattern::Use& use : pattern.uses) {
        for (std::uint32_t channel = 0; channel < use.schedule->channels(); ++channel) {
          uses += use.schedule->op_count(seat.position, channel) * shape.collectives[port] /
                  pattern.uses.size();
        }
      }
    }
    if (uses >= enough) return true;
  }
  return false;
}

}  // namespace

Folding Unfolded(const FlowProblem& problem) {
  Folding folding;
  const auto ranks = static_cast<std::uint32_t>(problem.ranks.size());
  const std::uint32_t turns = ranks == 0 ? 1 : ranks / problem.period;
  folding.folded = problem.rotates();
  for (std::uint32_t i = 0; i < problem.period; ++i) folding.ranks.push_back(RankId(i));
  folding.ranks_represented.assign(problem.period, turns);
  for (std::uint32_t i = 0; i < ranks; ++i) folding.simulated_rank.push_back(i % problem.period);
  folding.connection_class.resize(problem.connections.size());
  std::iota(folding.connection_class.begin(), folding.connection_class.end(), 0U);
  folding.connections_represented.assign(problem.connections.size(), turns);
  folding.connections = problem.connections;
  folding.hops = problem.binding_hops;
  folding.capacities = problem.capacities;
  return folding;
}

std::optional<Folding> Fold(const FlowProblem& problem) {
  if (problem.connections.size() > kMaxConnections || !CanPay(problem)) return std::nullopt;
  GraphBuilder builder(problem);
  const auto graph = builder.Build();
  if (!graph) return std::nullopt;
  const std::vector<std::uint32_t> partition = CoarsestEquitablePartition(*graph);
  const std::size_t ranks = problem.ranks.size();
  Classes rank_classes(partition, 0, ranks);
  Folding folding;
  for (const std::uint32_t rank : rank_classes.representative) {
    folding.ranks.push_back(RankId(rank));
  }
  const bool fewer_channels = FindChannels(problem, partition, builder, folding);
  if (folding.ranks.size() == ranks && !fewer_channels) return std::nullopt;
  Classes connection_classes(partition, ranks, problem.connections.size());
  Classes resource_classes(partition, ranks + problem.connections.size(),
                           problem.capacities.size());

  folding.folded = true;
  for (const std::uint32_t resource : resource_classes.representative) {
    folding.capacities.push_back(problem.capacities[resource]);
  }
  AddHops(problem, connection_classes, resource_classes, folding);
  folding.ranks_represented = std::move(rank_classes.size);
  folding.simulated_rank = std::move(rank_classes.of);
  folding.connections_represented = std::move(connection_classes.size);
  folding.connection_class = std::move(connection_classes.of);
  return folding;
}

}  // namespace trunkline
