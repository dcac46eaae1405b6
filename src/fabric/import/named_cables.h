#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "fabric/import/cable_list.h"

namespace trunkline {

// A list of cables between devices that a file calls by name.
class NamedCables {
 public:
  // The device of that name: known, or new with this kind and host.
  std::uint32_t Device(DeviceKind kind, std::string_view name, std::string_view host = "",
                       int line = 0) {
    const auto next = static_cast<std::uint32_t>(list.devices.size());
    const auto [at, added] = index_.try_emplace(std::string(name), next);
    if (added) {
      list.devices.push_back(
          {.kind = kind,
           .name = std::string(name),
           .host = std::string(host.empty() && kind != DeviceKind::kSwitch ? name : host),
           .line = line});
    }
    return at->second;
  }
  [[nodiscard]] bool Has(std::string_view name) const { return index_.contains(name); }

  CableList list;

 private:
  std::map<std::string, std::uint32_t, std::less<>> index_;
};

}  // namespace trunkline
