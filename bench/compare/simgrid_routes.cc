// How many links SimGrid's routes cross: prints `source destination links` for pairs of different
// hosts of a platform file, hosts numbered in the order of their names' numbers.
//
//   simgrid_routes PLATFORM STRIDE
//
// From every STRIDE-th source to every destination.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg = simgrid::s4u;

namespace {

unsigned long NumberOf(const sg::Host* host) {
  const std::string& name = host->get_name();
  return std::strtoul(name.c_str() + name.find_first_of("0123456789"), nullptr, 10);
}

}  // namespace

int main(int argc, char** argv) {
  sg::Engine engine(&argc, argv);
  const std::size_t stride = argc == 3 ? std::strtoul(argv[2], nullptr, 10) : 0;
  if (stride == 0) {
    std::fprintf(stderr, "usage: simgrid_routes PLATFORM STRIDE\n");
    return 2;
  }
  engine.load_platform(argv[1]);
  std::vector<sg::Host*> hosts = engine.get_all_hosts();
  std::sort(hosts.begin(), hosts.end(),
            [](const sg::Host* a, const sg::Host* b) { return NumberOf(a) < NumberOf(b); });
  for (std::size_t src = 0; src < hosts.size(); src += stride) {
    for (std::size_t dst = 0; dst < hosts.size(); ++dst) {
      if (src == dst) continue;
      std::vector<sg::Link*> links;
      double latency = 0;
      hosts[src]->route_to(hosts[dst], links, &latency);
      std::printf("%zu %zu %zu\n", src, dst, links.size());
    }
  }
  return 0;
}
