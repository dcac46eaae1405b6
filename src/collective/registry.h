#pragma once

#include "trunkline/collective/algorithm.h"

namespace trunkline {

// What is wrong with a specification whatever the algorithm.
[[nodiscard]] Diagnostics CheckSpec(const CollectiveSpec& spec, const GroupLayout& layout);

// One maker an algorithm, each in algorithms/NAME.cc; registry.cc lists them.

Algorithm RingAlgorithm();
Algorithm TreeAlgorithm();
Algorithm DoubleBinaryTreeAlgorithm();
Algorithm RecursiveDoublingAlgorithm();
Algorithm RecursiveMultiplyingAlgorithm();
Algorithm HalvingDoublingAlgorithm();
Algorithm HierarchicalAlgorithm();
Algorithm PairwiseAlgorithm();
Algorithm DirectAlgorithm();
Algorithm BruckAlgorithm();
Algorithm SharpAlgorithm();

}  // namespace trunkline
