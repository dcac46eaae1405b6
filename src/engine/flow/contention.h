#pragma once

#include "engine/flow/problem.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {

// Finds the resources that can bind and sorts each connection's hops accordingly (binding_hops);
// fills in takes_turns of each shape.
//
// A resource binds only when the connections that can be busy at one time ask for more than it has.
// Connections of one rank are never busy together when they belong to different collectives of one
// communicator, or to communicators and peers whose tasks the rank's program puts in a row: a task
// is over only when its own messages have left. And what comes through others that are narrower in
// sum cannot fill it: where every flow of a trunk passes the cable of its host first, the trunk
// never holds a flow below the level at which its cable does. A rendezvous has little under way at
// once (rounds.h). And of two resources in a row that the same connections cross with the same
// weights, the wider one never holds anything that the narrower one does not.
void FindBindingHops(const TaskGraph& graph, Handshake handshake, FlowProblem& problem);

}  // namespace trunkline
