#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/packet/plant.h"
#include "fabric/network_paths.h"
#include "trunkline/base/units.h"
#include "trunkline/engine/packet.h"
#include "trunkline/fabric/fault.h"
#include "trunkline/fabric/route.h"

namespace trunkline {

// Routing over what is left of a fabric while some of its cables are down.
class Detour {
 public:
  // `down` is by link.
  Detour(const Router& whole, std::vector<bool> down, const Plant& plant);

  [[nodiscard]] bool down(std::uint32_t link) const { return down_[link]; }
  // The network links from one attached device to another; empty when none lead there.
  [[nodiscard]] std::vector<std::uint32_t> FindPath(DeviceId source, DeviceId destination,
                                                    std::uint64_t flow) const;
  [[nodiscard]] const NetworkPaths& paths() const { return paths_; }
  [[nodiscard]] const PortTable* ports() const { return ports_.get(); }
  [[nodiscard]] const GroupRoutes* groups() const { return groups_.get(); }
  [[nodiscard]] const EscapeTable* escape() const { return escape_.get(); }

  std::vector<Destination> destinations;  // by queue pair; not for kSource

 private:
  Fabric Rebuild(const Fabric& whole);

  std::vector<bool> down_;
  std::vector<LinkId> original_;  // of the links of fabric_
  Fabric fabric_;
  Router router_;
  NetworkPaths paths_;
  std::unique_ptr<PortTable> ports_;
  std::unique_ptr<GroupRoutes> groups_;
  std::unique_ptr<EscapeTable> escape_;
};

// What happens to cables during a run, and to routing thereafter.
struct FaultPlan {
  // Routing moves at `at`, to the whole fabric where `detour` is kNoIndex.
  struct Epoch {
    Time at;
    std::uint32_t detour = kNoIndex;
  };
  // The path of a queue pair from the beginning of an epoch on.
  struct Move {
    std::uint32_t epoch = 0;  // 0: the beginning
    std::uint32_t path = 0;   // as Sender's
    std::uint32_t link = 0;
    std::uint32_t hops = 0;
    Time base_rtt;
  };

  const Fabric* fabric = nullptr;    // whole
  std::vector<CableChange> changes;  // kFault's entities …
  std::vector<Epoch> epochs;         // … and these after them: epoch 1 is the first
  std::vector<std::unique_ptr<Detour>> detours;
  std::vector<std::vector<Move>> moves;  // by queue pair, by epoch; the first is of epoch 0

  // When all of it has happened.
  [[nodiscard]] Time last() const;
  // The newest move of a queue pair by `epoch`. REQUIRES: it is set up.
  [[nodiscard]] const Move& MoveBy(std::uint32_t queue_pair, std::uint32_t epoch) const;
};

// Has `changes` happen to a plant, and routing move `rerouting` after a cable goes down or comes
// back; none: never. REQUIRES: no queue pair is reserved yet.
void PlanFaults(Plant& plant, const Router& router, std::vector<CableChange> changes,
                std::optional<Time> rerouting);

// The plant of a run, with what happens to its cables.
[[nodiscard]] Plant BuildFaultyPlant(const PacketInput& input, const NetworkPaths& paths,
                                     std::vector<CableChange> changes);

// Finds the paths of a queue pair in all epochs; `links` is its path in the whole fabric. One that
// is whole is kept, and so is one that nothing can replace.
void PlanMoves(Plant& plant, std::uint32_t index, std::span<const std::uint32_t> links,
               DeviceId source, DeviceId destination);

}  // namespace trunkline
