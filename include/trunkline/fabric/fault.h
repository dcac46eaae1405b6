#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/ids.h"
#include "trunkline/base/units.h"

namespace trunkline {

class Fabric;

// A cable that is slow or broken from the start.
struct StaticFault {
  enum class Kind : std::uint8_t { kDegrade, kFail };

  // `leaf-0/spine-1`: every cable between the two; `nic:3/5`, `spine-2`: every network cable of the
  // device.
  std::string target;
  Kind kind = Kind::kFail;
  // kDegrade: what is left of each direction, as a rate or as a part of the cable's rate.
  std::optional<Rate> rate = {};
  std::optional<double> fraction = {};  // in (0, 1)
  SourcePosition where = {};
  std::string excerpt = {};
};

// What befalls cables during a run of the packet engine.
//   kDown        nothing passes; what is on the way is lost
//   kRate        frames that begin from then on are slower
//   kFrameLoss   each frame is spoilt with a chance of its own
//   kBitErrors   each bit is, and so is its frame
struct TimedFault {
  enum class Kind : std::uint8_t { kDown, kRate, kFrameLoss, kBitErrors };

  std::string target;  // as in StaticFault
  Kind kind = Kind::kDown;
  Time at;
  std::optional<Time> until = {};  // none: it stays
  // kRate: what is left of each direction, as a rate or as a part of the cable's rate.
  std::optional<Rate> rate = {};
  std::optional<double> fraction = {};  // in (0, 1)
  double chance = 0;                    // kFrameLoss, kBitErrors: in (0, 1)
  SourcePosition where = {};
  std::string excerpt = {};
};

// What a cable is like from a moment on.
struct CableChange {
  Time at;
  LinkId cable{};  // the first of its two directions
  bool down = false;
  Rate rate;          // of that direction …
  Rate reverse_rate;  // … and of the other
  double frame_loss = 0;
  double bit_errors = 0;
};

// What timed faults make of cables, by time and cable. Faults of one cable add up: it is down while
// any says so, as slow as the worst and as lossy. TL1406.
[[nodiscard]] Result<std::vector<CableChange>> ResolveFaults(const Fabric& fabric,
                                                             std::span<const TimedFault> faults);

}  // namespace trunkline
