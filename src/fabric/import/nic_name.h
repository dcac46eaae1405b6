#pragma once

#include <fmt/format.h>

#include <cctype>
#include <string>

namespace trunkline {

// "node12/eth0": a host is known by the names of its NICs, which may leave it out. "nic:12/0", as
// we number NICs, does not.
inline std::string NameOfNic(const std::string& host, const std::string& nic) {
  if (nic.empty() || host.empty() || nic.starts_with("nic:")) return nic;
  const bool says_host =
      nic.starts_with(host) && (nic.size() == host.size() ||
                                std::isalnum(static_cast<unsigned char>(nic[host.size()])) == 0);
  return says_host ? nic : fmt::format("{}/{}", host, nic);
}

}  // namespace trunkline
