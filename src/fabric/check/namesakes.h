#pragma once

#include <optional>
#include <vector>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

// Devices of two fabrics that are called the same, where names can be trusted: where more than half
// of the cables between any two tiers join the same names in both. Names that agree by chance, as
// those of two fabrics whose switches are numbered differently, are none.
class Namesakes {
 public:
  Namesakes(const Fabric& found, const Fabric& expected);

  [[nodiscard]] bool trusted() const { return trusted_; }
  // The device found that has the name of the expected one; nothing where names are not trusted.
  [[nodiscard]] std::optional<DeviceId> Of(DeviceId expected) const;

 private:
  std::vector<std::optional<DeviceId>> found_;  // by expected device
  bool trusted_ = false;
};

}  // namespace trunkline
