#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trunkline/fabric/fabric.h"

namespace trunkline {

// Devices of two fabrics that are called the same, whatever their tiers, where names can be
// trusted: where more than half of the cables between any two tiers join the same names in both.
// Names that agree by chance, as those of two fabrics whose switches are numbered differently, are
// none.
class Namesakes {
 public:
  Namesakes(const Fabric& found, const Fabric& expected);

  [[nodiscard]] bool trusted() const { return trusted_; }
  // Why names are not trusted, as a clause; empty where they are and where no cable of the expected
  // fabric has ends whose names both have.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  // The device found that has the name of the expected one; nothing where names are not trusted.
  [[nodiscard]] std::optional<DeviceId> Of(DeviceId expected) const;

 private:
  std::vector<std::optional<DeviceId>> found_;  // by expected device
  std::string reason_;
  bool trusted_ = false;
};

}  // namespace trunkline
