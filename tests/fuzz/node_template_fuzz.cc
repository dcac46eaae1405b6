// A server's YAML file, as a user writes one.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "fuzz/fuzz.h"
#include "trunkline/fabric/catalog.h"

namespace trunkline {
namespace {

void RequireSound(const NodeTemplate& node) {
  Require(node.gpus + node.nics <= node.devices.size(), "GPUs and NICs are among the devices");
  Require(node.nic_of_gpu.size() == node.gpus || node.nics == 0, "each GPU has its NIC");
  for (const std::uint32_t nic : node.nic_of_gpu) Require(nic < node.nics, "a GPU's NIC exists");
  for (const NodeTemplate::Bus& bus : node.buses) {
    Require(bus.from < node.devices.size() && bus.to < node.devices.size(), "a bus has two ends");
    Require(bus.rate > Rate() && bus.latency >= Time(), "a bus has a rate and a latency");
  }
}

}  // namespace
}  // namespace trunkline

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trunkline;
  const int file = memfd_create("node.yaml", 0);
  Require(file >= 0 && write(file, data, size) == static_cast<ssize_t>(size), "a file in memory");
  const auto node = FindNodeTemplate("/proc/self/fd/" + std::to_string(file));
  close(file);
  if (node) {
    RequireSound(*node);
  } else {
    RequireExplained(node.error());
  }
  return 0;
}
