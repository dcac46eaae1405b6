#pragma once

#include "transport/congestion_control/policy.h"

namespace trunkline::congestion {

// Senders go at line rate; what the network does not take waits for credits or PAUSE, or is lost.
struct None {
  static constexpr const char* kName = "none";
  static constexpr const char* kSummary = "line rate, whatever happens; optionally a fixed window";
  static constexpr const char* kDefaultPreset = "";

  struct Parameters {
    double window = 0;
  };
  static constexpr std::array kParameters = {
      ParameterSpec<Parameters>{"window", "BDP", 0, 1e6, &Parameters::window,
                                "what may be in flight, in bandwidth-delay products; 0: anything"}};

  static void Declare(const Parameters&, CongestionPolicy&) {}
  static void Start(const Parameters& p, const PathView& path, Time, FlowControl& flow) {
    flow.rate = LineRate(path);
    flow.window = RateWindow(path, flow, p.window, false);
  }
};

}  // namespace trunkline::congestion
