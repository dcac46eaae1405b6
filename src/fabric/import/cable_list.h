#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/units.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {

// What a cluster's cabling is, in the words of no format: readers make it, writers take it.
struct CableList {
  // A switch, or an end: a NIC (an HCA) of a server. kGpu and kNvSwitch are for files that draw the
  // inside of servers too; a GPU's network cables then stand for its NICs.
  struct Device {
    DeviceKind kind = DeviceKind::kSwitch;  // kSwitch, kNic, kGpu, kNvSwitch
    std::string name;                       // unique; what people call it
    std::string host = {};                  // of an end: its server, the same for all of its NICs
    std::optional<Time> latency = {};       // of a switch, if the file says
    std::uint32_t group = trunkline::Device::kNoGroup;  // of a dragonfly's switch
    int line = 0;                                       // of the file; 0: none
  };
  struct End {
    std::uint32_t device = 0;  // in `devices`
    std::uint32_t port = 0;    // 1, 2, … as the device counts; 0: unknown
    friend bool operator==(const End&, const End&) = default;
  };
  struct Cable {
    End a;
    End b;
    std::optional<Rate> rate = {};     // if the file says
    std::optional<Time> latency = {};  // if the file says
    int line = 0;
  };

  std::vector<Device> devices;
  std::vector<Cable> cables;
  std::vector<std::string> notes;  // what of the file was set aside or assumed, for people
};

}  // namespace trunkline
