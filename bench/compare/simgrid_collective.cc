// One collective on SimGrid (S4U), on the fat trees and dragonflies that bench/compare/run also
// gives to Trunkline: prints the simulated time and what the simulation cost.
//
// The network model is CM02 without cross traffic and TCP window: plain max-min sharing, the model
// that Trunkline's rendezvous mode reproduces. SimGrid's own default, LV08, multiplies latency by
// 13.01 and is made for TCP. A --cfg=… argument overrides, as in every SimGrid program.
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg = simgrid::s4u;

namespace {

constexpr double kBandwidth = 50e9;  // bytes/s: 400 Gb/s
constexpr double kLatency = 500e-9;  // of each link

struct Arguments {
  std::string topology;
  unsigned hosts = 0;
  std::string pattern;
  std::uint64_t bytes = 0;
  unsigned step_limit = 0;  // 0: all
};

sg::ClusterCallbacks HostAtEachLeaf() {
  return sg::ClusterCallbacks(
      [](sg::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
        const sg::Host* host = zone->create_host(std::to_string(id), 1e9);
        return std::make_pair(host->get_netpoint(),
                              static_cast<simgrid::kernel::routing::NetPoint*>(nullptr));
      });
}

bool BuildFatTree(unsigned hosts) {
  static const std::map<unsigned, sg::FatTreeParams> kShapes = {
      {64, {2, {8, 8}, {1, 8}, {1, 1}}},
      {256, {2, {16, 16}, {1, 16}, {1, 1}}},
      {1024, {2, {32, 32}, {1, 32}, {1, 1}}},
      {4096, {3, {16, 16, 16}, {1, 16, 16}, {1, 1, 1}}},
  };
  const auto shape = kShapes.find(hosts);
  if (shape == kShapes.end()) return false;
  sg::create_fatTree_zone("fabric", nullptr, shape->second, HostAtEachLeaf(), kBandwidth, kLatency,
                          sg::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
  return true;
}

// SimGrid's dragonfly indexes the routers of a chassis by group, so groups <= routers a chassis.
bool BuildDragonfly(unsigned hosts) {
  static const std::map<unsigned, sg::DragonflyParams> kShapes = {
      {64, {{4, 4}, {1, 1}, {4, 1}, 4}},
      {256, {{8, 4}, {1, 1}, {8, 1}, 4}},
      {1024, {{8, 16}, {2, 1}, {8, 1}, 8}},
      {4096, {{16, 16}, {2, 1}, {16, 1}, 8}},
  };
  const auto shape = kShapes.find(hosts);
  if (shape == kShapes.end()) return false;
  sg::create_dragonfly_zone("fabric", nullptr, shape->second, HostAtEachLeaf(), kBandwidth,
                            kLatency, sg::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
  return true;
}

sg::Mailbox* Box(unsigned from, unsigned to) {
  return sg::Mailbox::by_name(std::to_string(from) + ">" + std::to_string(to));
}

// Step s of a rank: send to one peer while receiving from another; the next step follows when both
// are over.
struct Exchange {
  std::function<unsigned(unsigned rank, unsigned step)> to;
  std::function<unsigned(unsigned rank, unsigned step)> from;
  unsigned steps = 0;
};

int payload = 0;  // what the messages point at; nobody reads it

void RunExchange(unsigned rank, const Exchange& exchange, std::uint64_t chunk) {
  for (unsigned step = 0; step < exchange.steps; ++step) {
    const auto sent = Box(rank, exchange.to(rank, step))->put_async(&payload, chunk);
    Box(exchange.from(rank, step), rank)->get<int>();
    sent->wait();
  }
}

// Every message of a rank at once.
void RunFlood(unsigned rank, unsigned ranks, std::uint64_t chunk) {
  std::vector<sg::CommPtr> pending;
  std::vector<int*> received(ranks);
  for (unsigned shift = 1; shift < ranks; ++shift) {
    pending.push_back(Box(rank, (rank + shift) % ranks)->put_async(&payload, chunk));
  }
  for (unsigned shift = 1; shift < ranks; ++shift) {
    const unsigned peer = (rank + ranks - shift) % ranks;
    pending.push_back(Box(peer, rank)->get_async<int>(&received[peer]));
  }
  for (const auto& communication : pending) communication->wait();
}

// The program of each rank, or nothing for an unknown pattern.
std::function<void(unsigned rank)> PatternProgram(const Arguments& arguments) {
  const unsigned n = arguments.hosts;
  const std::uint64_t chunk = arguments.bytes / n;
  Exchange exchange;
  if (arguments.pattern == "ring") {
    exchange.steps = 2 * (n - 1);
    exchange.to = [n](unsigned rank, unsigned) { return (rank + 1) % n; };
    exchange.from = [n](unsigned rank, unsigned) { return (rank + n - 1) % n; };
  } else if (arguments.pattern == "pairwise") {
    exchange.steps = n - 1;
    exchange.to = [n](unsigned rank, unsigned step) { return (rank + step + 1) % n; };
    exchange.from = [n](unsigned rank, unsigned step) { return (rank + n - step - 1) % n; };
  } else if (arguments.pattern == "flood") {
    return [n, chunk](unsigned rank) { RunFlood(rank, n, chunk); };
  } else {
    return nullptr;
  }
  if (arguments.step_limit > 0 && arguments.step_limit < exchange.steps) {
    exchange.steps = arguments.step_limit;
  }
  return [exchange, chunk](unsigned rank) { RunExchange(rank, exchange, chunk); };
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

int Usage() {
  std::fprintf(stderr,
               "usage: simgrid_collective fat-tree|dragonfly 64|256|1024|4096 ring|pairwise|flood "
               "BYTES [STEPS]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  // Before the caller's own options, so that those win.
  std::vector<std::string> defaults = {"--cfg=network/model:CM02", "--cfg=network/crosstraffic:0",
                                       "--cfg=network/TCP-gamma:0", "--log=xbt_cfg.thres:warning"};
  std::vector<char*> options(argv, argv + argc);
  for (std::size_t i = 0; i < defaults.size(); ++i) {
    options.insert(options.begin() + 1 + static_cast<std::ptrdiff_t>(i), defaults[i].data());
  }
  options.push_back(nullptr);
  argc = static_cast<int>(options.size()) - 1;
  argv = options.data();
  sg::Engine engine(&argc, argv);
  if (argc != 5 && argc != 6) return Usage();
  Arguments arguments;
  arguments.topology = argv[1];
  arguments.hosts = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
  arguments.pattern = argv[3];
  arguments.bytes = std::strtoull(argv[4], nullptr, 10);
  if (argc == 6) arguments.step_limit = static_cast<unsigned>(std::strtoul(argv[5], nullptr, 10));

  const auto program = PatternProgram(arguments);
  if (!program) return Usage();
  const bool built = arguments.topology == "fat-tree"    ? BuildFatTree(arguments.hosts)
                     : arguments.topology == "dragonfly" ? BuildDragonfly(arguments.hosts)
                                                         : false;
  if (!built) return Usage();
  for (unsigned rank = 0; rank < arguments.hosts; ++rank) {
    sg::Actor::create(std::to_string(rank), sg::Host::by_name(std::to_string(rank)),
                      [&program, rank] { program(rank); });
  }
  engine.run();

  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  std::printf("%.3f us simulated, %.2f CPU s, %ld MiB\n", sg::Engine::get_clock() * 1e6,
              Seconds(use.ru_utime) + Seconds(use.ru_stime), use.ru_maxrss / 1024);
  return 0;
}
