#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/units.h"

namespace trunkline {

// How large messages are: all alike, or drawn from a cumulative distribution that is linear between
// its points.
class FlowSizes {
 public:
  struct Point {
    Bytes bytes;
    double share = 0;  // of messages that are at most as large
  };

  [[nodiscard]] static FlowSizes Fixed(Bytes bytes);
  // REQUIRES: sizes rise, shares do not fall, the last share is 1.
  [[nodiscard]] static FlowSizes Distribution(std::string name, std::vector<Point> points);

  // The size that a share `u` in [0, 1) of all messages is below: at least 1 byte.
  [[nodiscard]] Bytes Quantile(double u) const;
  [[nodiscard]] double mean() const { return mean_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::span<const Point> points() const { return points_; }

 private:
  std::string name_;
  std::vector<Point> points_;  // of a fixed size: one
  double mean_ = 0;
};

struct FlowSizesInfo {
  std::string name;     // "web-search"
  std::string summary;  // what was measured, by whom
};
// The distributions that are built in (data/flow_sizes).
[[nodiscard]] std::vector<FlowSizesInfo> FlowSizeCatalog();

// The built-in distribution of that name or, where `name` contains '/' or '.', that of a file.
// TL1101, TL1755, TL1756.
[[nodiscard]] Result<FlowSizes> FindFlowSizes(std::string_view name);

// Lines `SIZE PERCENT`: bytes, and the percentage of messages that are at most as large, up to 100;
// `#` starts a comment. `file` is its name in messages. TL1755: malformed.
[[nodiscard]] Result<FlowSizes> ParseFlowSizes(std::string_view text, std::string file);

}  // namespace trunkline
