#include "trunkline/engine/timeline.h"

namespace trunkline {

const char* ToString(RunStatus status) {
  switch (status) {
    case RunStatus::kFinished:
      return "finished";
    case RunStatus::kSaturated:
      return "saturated";
    case RunStatus::kDeadlocked:
      return "deadlocked";
    case RunStatus::kInterrupted:
      return "interrupted";
    case RunStatus::kUnfinished:
      return "unfinished";
  }
  return "";
}

}  // namespace trunkline
