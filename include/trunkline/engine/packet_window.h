#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "trunkline/engine/engine.h"
#include "trunkline/engine/packet.h"

// A part of a run as packets, the rest as flows.
namespace trunkline {

// Which part: from one time of the flow run to another, or while certain tasks run.
struct PacketWindow {
  struct TaskRange {  // of a program: [first, last]
    std::uint32_t program = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };
  Time from{};
  Time until{};
  // Not empty: from the start of the first of these on any rank to the end of the last.
  std::vector<TaskRange> tasks{};
  // Told what the window takes of links as flows, before it runs as packets.
  std::function<void(std::span<const LinkUse>)> announce{};
};

// How the communication of one label went in the window, as flows and as packets.
struct WindowKind {
  std::uint16_t label = 0;  // index into TaskGraph::labels()
  std::uint64_t tasks = 0;  // over all ranks
  std::uint64_t cut = 0;    // of them, those of which only a part lies in the window
  // Mean time from when its bytes could move to its end.
  double flow_s = 0;
  double packet_s = 0;
  // The one that ended latest against the flows.
  RankId rank{};
  std::uint32_t task = 0;  // of the rank's program in the whole graph
  Time start;              // in the whole run
  Time delay;              // below zero: it ended earlier
};

struct WindowReport {
  Time from;  // of the whole run
  Time until;
  RunStatus status = RunStatus::kFinished;  // of the packets
  Time flow_time;                           // from `from` to the end of all that was in the window
  Time packet_time;
  std::uint64_t tasks = 0;        // in the window, over all ranks; computation included
  std::vector<WindowKind> kinds;  // by label
  // How far the window as flows is from the same tasks in the whole run, at most: what cutting it
  // out costs in accuracy.
  Time cut_error;
  // By how much the whole run ends later: what comes after the window starts when what it waits for
  // is there, and takes as long as it did. What ends earlier as packets shortens nothing.
  Time step_delay;
  PacketReport packets;  // times are from `from` on; without flows
  std::vector<BlockedTask> blocked;
  Diagnostics warnings;
};

struct WindowTimeline {
  Timeline timeline;                   // of the whole run as flows
  std::optional<WindowReport> window;  // none where the flows did not finish
};

// Runs a task graph as flows, and then what of it lies in a window as packets: collectives and
// messages under way in it, whole or, where they cross its ends, the part of their bytes that their
// time in it is of their whole time, and the computation between them. A task starts when what it
// follows in the window has ended, and not before what it follows outside had in the flow run.
//
// Fails as RunFlow and RunPacket do. TL1624: nothing of the run, or no message, lies in the window.
[[nodiscard]] Result<WindowTimeline> RunPacketWindow(const EngineInput& input,
                                                     const PacketInput& packets,
                                                     const PacketWindow& window,
                                                     const EngineOptions& options);

}  // namespace trunkline
