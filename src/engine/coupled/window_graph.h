#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/coupled/matched_tasks.h"
#include "engine/flow/flow_run.h"
#include "engine/flow/last_arrivals.h"
#include "trunkline/engine/packet_window.h"
#include "trunkline/workload/task_graph.h"
#include "workload/derived_graph.h"

namespace trunkline {

struct Interval {
  Time begin;
  Time end;
};

// What of a run lies in a window, as a graph of its own whose time zero is the window's start.
// Ranks that the run folded share a program.
class WindowGraph : public DerivedGraph {
 public:
  // Where a task comes from.
  struct Origin {
    static constexpr std::uint32_t kRelease = UINT32_MAX;
    std::uint32_t task = kRelease;  // of the rank's program in the whole graph, or a wait for what
                                    // lies outside
    bool cut = false;               // only a part of it lies in the window
  };

  [[nodiscard]] std::span<const Origin> origins(RankId rank) const {
    return origins_[program_of(rank)];
  }

  [[nodiscard]] std::uint32_t program_count() const override {
    return static_cast<std::uint32_t>(programs_.size());
  }
  [[nodiscard]] std::uint32_t program_of(RankId rank) const override {
    return program_of_[Index(rank)];
  }
  [[nodiscard]] std::string layout() const override { return {}; }  // programs are of its own
  [[nodiscard]] const Program& program(std::uint32_t index) const override {
    return programs_[index];
  }
  [[nodiscard]] std::span<const CollectiveChoice> collectives() const override { return choices_; }
  [[nodiscard]] std::span<const std::string> streams() const override { return streams_; }

 private:
  friend class WindowCutter;
  WindowGraph(const TaskGraph& whole, const Folding& folding);

  std::vector<std::uint32_t> program_of_;  // by rank: whom the run simulated for it
  std::vector<Program> programs_;
  std::vector<std::vector<Origin>> origins_;  // by program, then task
  std::vector<CollectiveChoice> choices_;     // those of the whole graph, then parts of them
  std::vector<std::string> streams_;          // and one for releases
};

// Cuts windows out of a finished run.
class WindowCutter {
 public:
  WindowCutter(const TaskGraph& graph, const FlowRun& run, const MatchedTasks& matched);

  // From the start of the first of the tasks on any rank to the end of the last.
  [[nodiscard]] Interval SpanOf(std::span<const PacketWindow::TaskRange> tasks);
  // TL1624: no message lies in the window.
  [[nodiscard]] Result<WindowGraph> Cut(Interval window);

 private:
  // When the bytes of each task of a simulated rank were on their way: all of a collective's from
  // when they could be, those of a receive's message while its sender sent. Of computation: when it
  // ran.
  [[nodiscard]] std::vector<Interval> Movements(std::uint32_t rank);
  [[nodiscard]] Interval MovementOf(const Task& task, std::uint32_t communicator,
                                    std::size_t execution);
  void CutProgram(std::uint32_t rank, Interval window, WindowGraph& cut);

  const TaskGraph& graph_;
  const FlowRun& run_;
  LastArrivals arrivals_;
  const MatchedTasks& matched_;
  bool messages_ = false;  // anything that moves is in the cut
};

}  // namespace trunkline
