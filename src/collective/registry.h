#pragma once

#include "trunkline/collective/algorithm.h"

// One maker an algorithm, each in algorithms/NAME.cc; registry.cc lists them.
namespace trunkline {

Algorithm RingAlgorithm();
Algorithm TreeAlgorithm();
Algorithm DoubleBinaryTreeAlgorithm();
Algorithm RecursiveDoublingAlgorithm();
Algorithm HalvingDoublingAlgorithm();
Algorithm HierarchicalAlgorithm();
Algorithm PairwiseAlgorithm();
Algorithm DirectAlgorithm();
Algorithm BruckAlgorithm();
Algorithm SharpAlgorithm();

}  // namespace trunkline
