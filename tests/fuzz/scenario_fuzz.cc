// A scenario file with one `--set`: the first line of the input is the assignment, the rest the
// file. What is accepted is a cluster and a workload that fit each other.
#include "fuzz/fuzz.h"
#include "trunkline/fabric/build.h"
#include "trunkline/scenario/scenario.h"
#include "trunkline/workload/task_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trunkline;
  const std::string_view input = TextOf(data, size);
  const std::size_t end = input.find('\n');
  const std::string_view text = end == std::string_view::npos ? "" : input.substr(end + 1);
  std::vector<Assignment> assignments;
  if (end != 0) assignments.push_back({std::string(input.substr(0, end)), "--set 1"});

  const auto scenario = ParseScenario(text, "scenario.yaml", assignments);
  if (!scenario) {
    RequireExplained(scenario.error());
    return 0;
  }
  Require(scenario->cluster.fabric != nullptr, "an accepted scenario has a fabric");
  const Fabric& fabric = scenario->cluster.fabric->fabric;
  Require(!fabric.endpoints().empty(), "an accepted scenario has endpoints");
  if (scenario->background) {
    const double load = scenario->background->traffic.load;
    Require(load >= 0 && load <= 1, "an accepted background has a load that a link can carry");
    Require(!scenario->jobs.empty(), "an accepted background disturbs something");
  }
  if (!scenario->jobs.empty()) {
    for (const Job& job : scenario->jobs) {
      Require(job.nodes <= fabric.node_count(), "an accepted job fits the cluster");
      Require(job.repetitions >= 1, "an accepted job runs");
    }
  } else if (const auto* training = std::get_if<TrainingJob>(&scenario->workload)) {
    Require(training->plan.micro_batches() >= 1, "an accepted plan has a micro-batch");
    Require(static_cast<std::size_t>(training->plan.ranks()) <= fabric.endpoints().size(),
            "an accepted plan fits the cluster");
  } else if (const auto* collective = std::get_if<CollectiveJob>(&scenario->workload)) {
    Require(collective->ranks >= 1 && collective->ranks <= fabric.endpoints().size(),
            "an accepted collective fits the cluster");
    Require(!collective->sizes.empty(), "an accepted collective has a size");
  } else {
    Require(std::get<TraceJob>(scenario->workload).graph->ranks() <= fabric.endpoints().size(),
            "an accepted trace fits the cluster");
  }
  return 0;
}
