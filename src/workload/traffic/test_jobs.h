#pragma once

#include <string>
#include <utility>

#include "trunkline/workload/traffic.h"

// Small specifications, for tests.
namespace trunkline {

inline TrafficJob JobOf(std::string pattern, std::map<std::string, double> values = {}) {
  TrafficJob job;
  job.pattern = std::move(pattern);
  for (const auto& [key, value] : values) job.values[key].value = value;
  return job;
}

inline TrafficSpec SpecOf(TrafficJob job) {
  TrafficSpec spec;
  spec.jobs.push_back(std::move(job));
  return spec;
}

// `load` of a pattern during `window`, after a tenth of it.
inline TrafficSpec PoissonSpec(TrafficJob job, double load, Time window) {
  job.arrivals = Arrivals::kPoisson;
  job.load = load;
  TrafficSpec spec = SpecOf(std::move(job));
  spec.warm_up = Time::Picoseconds(window.ps() / 10);
  spec.window = window;
  return spec;
}

}  // namespace trunkline
