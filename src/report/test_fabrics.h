#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "trunkline/fabric/build.h"

// Fabrics that tests of reports share.
namespace trunkline {

inline BuiltFabric Build(const std::string& text) {
  const auto spec = ParseFabricSpec(text);
  EXPECT_TRUE(spec.has_value()) << text;
  auto built = BuildFabric(spec.value_or(FabricSpec()));
  EXPECT_TRUE(built.has_value()) << text;
  return built ? *std::move(built) : BuiltFabric();
}

}  // namespace trunkline
