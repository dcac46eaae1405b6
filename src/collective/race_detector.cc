#include "collective/race_detector.h"

#include <algorithm>

namespace trunkline {

void Join(VectorClock& clock, const VectorClock& other) {
  for (std::size_t i = 0; i < clock.size(); ++i) {
    clock[i] = std::max(clock[i], other[i]);
  }
}

RaceDetector::AccessId RaceDetector::Begin(OpPlace place) {
  accesses_.push_back({.place = place});
  return static_cast<AccessId>(accesses_.size() - 1);
}

void RaceDetector::End(AccessId access, std::uint32_t thread, std::uint32_t event) {
  accesses_[access].end_thread = thread;
  accesses_[access].end_event = event;
}

bool RaceDetector::Precedes(AccessId earlier, const VectorClock& now) const {
  const Access& access = accesses_[earlier];
  return access.end_event != 0 && now[access.end_thread] >= access.end_event;
}

std::optional<OpPlace> RaceDetector::Read(std::span<Element> elements, AccessId access,
                                          const VectorClock& now) {
  for (Element& element : elements) {
    if (element.write && *element.write != access && !Precedes(*element.write, now)) {
      return accesses_[*element.write].place;
    }
    element.reads.push_back(access);
  }
  return std::nullopt;
}

std::optional<OpPlace> RaceDetector::Write(std::span<Element> elements, AccessId access,
                                           const VectorClock& now) {
  for (Element& element : elements) {
    if (element.write && !Precedes(*element.write, now)) {
      return accesses_[*element.write].place;
    }
    for (const AccessId read : element.reads) {
      if (read != access && !Precedes(read, now)) {
        return accesses_[read].place;
      }
    }
    element.write = access;
    element.reads.clear();
  }
  return std::nullopt;
}

}  // namespace trunkline
