#pragma once

#include "trunkline/collective/algorithm.h"

// One maker an algorithm, each in algorithms/NAME.cc; registry.cc lists them.
namespace trunkline {

Algorithm RingAlgorithm();

}  // namespace trunkline
