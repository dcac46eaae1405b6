#pragma once

#include <cstddef>
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
  // Expected cables whose ends both have namesakes, and those of them that join others in the
  // fabric found.
  [[nodiscard]] std::size_t cables() const { return cables_; }
  [[nodiscard]] std::size_t elsewhere() const { return elsewhere_; }
  // The device found that has the name of the expected one; nothing where names are not trusted.
  [[nodiscard]] std::optional<DeviceId> Of(DeviceId expected) const;

 private:
  std::vector<std::optional<DeviceId>> found_;  // by expected device
  std::size_t cables_ = 0;
  std::size_t elsewhere_ = 0;
  bool trusted_ = false;
};

}  // namespace trunkline
