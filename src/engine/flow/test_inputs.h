#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trunkline/engine/engine.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/fabric/placement.h"
#include "trunkline/fabric/route.h"
#include "trunkline/workload/task_graph.h"

// Small fabrics and workloads for the tests of the flow engine.
namespace trunkline {

struct CableSpec {
  Rate rate = Rate::GigabytesPerSecond(50);
  Time latency = Time::Nanoseconds(500);
};

// Hosts on one switch; host i has cables[i % cables.size()].
inline Fabric Star(std::uint32_t hosts, const std::vector<CableSpec>& cables) {
  FabricBuilder builder;
  const DeviceId hub = builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1});
  for (std::uint32_t i = 0; i < hosts; ++i) {
    const DeviceId host = builder.AddDevice({.kind = DeviceKind::kHost, .node = i});
    const CableSpec& cable = cables[i % cables.size()];
    builder.AddCable(host, hub, cable.rate, cable.latency, LinkKind::kNetwork);
  }
  return std::move(builder).Build();
}

// `leaves` x `hosts` hosts under `spines` spines, one cable from each leaf to each spine.
inline Fabric LeafSpine(std::uint32_t leaves, std::uint32_t hosts, std::uint32_t spines,
                        const CableSpec& cable = {}, bool degrade_one = false) {
  FabricBuilder builder;
  std::vector<DeviceId> spine;
  for (std::uint32_t i = 0; i < spines; ++i) {
    spine.push_back(builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 2, .local = i}));
  }
  for (std::uint32_t l = 0; l < leaves; ++l) {
    const DeviceId leaf = builder.AddDevice({.kind = DeviceKind::kSwitch, .tier = 1, .local = l});
    std::vector<LinkId> up;
    std::vector<LinkId> down;
    for (const DeviceId top : spine) {
      up.push_back(builder.AddCable(leaf, top, cable.rate, cable.latency, LinkKind::kNetwork));
      down.push_back(LinkId(Index(up.back()) ^ 1U));
    }
    builder.AddTrunk(up);
    builder.AddTrunk(down);
    if (degrade_one && l == 0) {
      builder.SetRate(up[0], Rate::BitsPerSecond(cable.rate.bits_per_second() / 4));
    }
    for (std::uint32_t h = 0; h < hosts; ++h) {
      const DeviceId host = builder.AddDevice({.kind = DeviceKind::kHost, .node = l * hosts + h});
      builder.AddCable(host, leaf, cable.rate, cable.latency, LinkKind::kNetwork);
    }
  }
  return std::move(builder).Build();
}

// Ranks with programs of their own, and any communicators and peers.
class HandGraph : public TaskGraph {
 public:
  std::vector<Program> programs;
  std::vector<std::uint32_t> program_index;  // by rank
  std::vector<CollectiveChoice> choices;
  std::vector<std::vector<RankId>> groups;                                 // by communicator
  std::vector<std::vector<std::uint32_t>> communicator_of;                 // by rank, then role
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> peers;  // (rank, role)
  std::map<std::uint32_t, std::uint32_t> reverse_roles;
  std::vector<TaskLabel> names{{.name = "task", .phase = Phase::kForward}};
  std::vector<std::string> stream_names{"compute", "communication"};

  [[nodiscard]] std::uint32_t ranks() const override {
    return static_cast<std::uint32_t>(program_index.size());
  }
  [[nodiscard]] std::uint32_t program_count() const override {
    return static_cast<std::uint32_t>(programs.size());
  }
  [[nodiscard]] std::uint32_t program_of(RankId rank) const override {
    return program_index[Index(rank)];
  }
  [[nodiscard]] const Program& program(std::uint32_t index) const override {
    return programs[index];
  }
  [[nodiscard]] std::span<const CollectiveChoice> collectives() const override { return choices; }
  [[nodiscard]] std::span<const TaskLabel> labels() const override { return names; }
  [[nodiscard]] std::span<const std::string> streams() const override { return stream_names; }
  [[nodiscard]] std::uint32_t communicator_count() const override {
    return static_cast<std::uint32_t>(groups.size());
  }
  [[nodiscard]] CommunicatorId communicator(RankId rank, std::uint32_t role) const override {
    return CommunicatorId(communicator_of[Index(rank)][role]);
  }
  [[nodiscard]] std::vector<RankId> members(CommunicatorId id) const override {
    return groups[Index(id)];
  }
  [[nodiscard]] RankId peer(RankId rank, std::uint32_t role) const override {
    return RankId(peers.at({static_cast<std::uint32_t>(Index(rank)), role}));
  }
  [[nodiscard]] std::uint32_t reverse_role(std::uint32_t role) const override {
    return reverse_roles.at(role);
  }
};

// What a test runs, with its parts kept alive.
struct FlowCase {
  Fabric fabric;
  RouterOptions routing{};
  TransportModel transport = IdealTransport();
  EngineOptions options{};

  [[nodiscard]] Timeline Run(const TaskGraph& graph) const {
    return Run(graph, PackedPlacement(fabric, graph.ranks()).value());
  }
  [[nodiscard]] Timeline Run(const TaskGraph& graph, const Placement& placement) const {
    const Router router(fabric, routing);
    auto timeline = RunFlow({router, transport, graph, placement}, options);
    if (!timeline) {
      ADD_FAILURE() << Format(timeline.error().front());
      return {};
    }
    return *std::move(timeline);
  }
};

inline CollectiveChoice Choose(Primitive primitive, std::int64_t bytes,
                               const std::string& algorithm = "ring", std::uint32_t channels = 1) {
  CollectiveChoice choice;
  choice.spec.primitive = primitive;
  choice.spec.bytes = Bytes(bytes);
  choice.spec.channels = channels;
  choice.algorithm = algorithm;
  return choice;
}

}  // namespace trunkline
