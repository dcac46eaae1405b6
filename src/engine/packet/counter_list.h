#pragma once

#include "trunkline/engine/packet.h"

namespace trunkline {

// Calls `function` with each counter of `all`, those of one name together.
template <typename Function, typename... Counters>
void ForEachCounter(Function function, Counters&... all) {
  function(all.packets.data...);
  function(all.packets.ack...);
  function(all.packets.control...);
  function(all.hops.data...);
  function(all.hops.ack...);
  function(all.hops.control...);
  function(all.drops...);
  function(all.data_drops...);
  function(all.fault_drops...);
  function(all.trims...);
  function(all.marks...);
  function(all.pauses...);
  function(all.pause_repeats...);
  function(all.pause_expiries...);
  function(all.resumes...);
  function(all.retransmissions...);
  function(all.refused...);
  function(all.timeouts...);
  function(all.failures...);
  function(all.credit_stalls...);
  function(all.delivered_bytes...);
}

}  // namespace trunkline
