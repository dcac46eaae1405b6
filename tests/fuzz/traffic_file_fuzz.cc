// A list of messages in another tool's format: what is accepted, every run can finish.
#include "fuzz/fuzz.h"
#include "trunkline/trace/traffic_file.h"
#include "workload/traffic/reachability.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trunkline;
  const auto traffic = ParseTraffic(TextOf(data, size), "flows.txt");
  if (!traffic) {
    RequireExplained(traffic.error());
    return 0;
  }
  Require(!traffic->flows.empty(), "an accepted file has flows");
  for (const TrafficFlow& flow : traffic->flows) {
    Require(Index(flow.source) < traffic->ranks && Index(flow.destination) < traffic->ranks,
            "a flow joins ranks that exist");
    Require(flow.source != flow.destination, "nobody sends to himself");
    Require(flow.bytes > Bytes(0), "a flow has bytes");
    Require(flow.start >= Time() && flow.start <= Time::Horizon(), "a flow starts in time");
    for (const std::uint32_t trigger : {flow.trigger, flow.when_sent, flow.when_received}) {
      Require(trigger == TrafficFlow::kNoTrigger || trigger < traffic->triggers.size(),
              "a trigger that is named exists");
    }
  }
  Require(!FindNeverStarted(*traffic), "every flow starts");
  return 0;
}
