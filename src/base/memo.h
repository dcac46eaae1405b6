#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace trunkline {

// Values that take long to find, kept for whoever asks next, on any thread. Two that miss at once
// both find the value; the first that keeps it is believed.
template <typename Key, typename Value>
class Memo {
 public:
  [[nodiscard]] std::optional<Value> Find(const Key& key) const {
    const std::scoped_lock lock(mutex_);
    const auto known = values_.find(key);
    if (known == values_.end()) return std::nullopt;
    return known->second;
  }

  void Keep(const Key& key, Value value) {
    const std::scoped_lock lock(mutex_);
    values_.try_emplace(key, std::move(value));
  }

 private:
  mutable std::mutex mutex_;
  std::map<Key, Value> values_;
};

}  // namespace trunkline
