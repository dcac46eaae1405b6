#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trunkline/fabric/build.h"

// One kind of fabric is one file here and one line in registry.cc.
namespace trunkline {

// The NICs (or hosts) of all nodes: nic i of node n is [n x nics + i].
using NetworkEnds = std::span<const DeviceId>;

// What a builder decides, before anything large is allocated.
struct NetworkPlan {
  std::string summary;
  std::uint32_t nodes = 0;
  double switches = 0;  // doubles: absurd requests must not overflow before they are refused
  double cables = 0;
  double rate = 0;          // at most: of all cables, both ways, in bits per second
  double destinations = 0;  // sets of switches that ends are cabled to
  std::vector<std::uint32_t> unit_of_node;
  std::optional<Bisection> bisection;
  std::function<void(FabricBuilder&, NetworkEnds)> build;
};

// What the user asked for, with defaults where a key is absent.
class FabricParameters {
 public:
  FabricParameters(const FabricSpec& spec, const NodeTemplate& node) : spec_(spec), node_(node) {}

  // 0: as many as the kind's keys imply.
  [[nodiscard]] std::uint32_t nodes() const { return spec_.nodes; }
  // NICs of a node; 1 for a plain host.
  [[nodiscard]] std::uint32_t nics() const { return node_.nics == 0 ? 1 : node_.nics; }
  [[nodiscard]] double ends(std::uint32_t nodes) const {
    return static_cast<double>(nodes) * nics();
  }
  // Of one cable of a NIC, whose ports share its rate.
  [[nodiscard]] Rate link() const { return link(Count("ports", 1)); }
  [[nodiscard]] Rate link(std::uint32_t ports) const;
  [[nodiscard]] Rate uplink() const { return RateOf("uplink", link()); }
  [[nodiscard]] Time switch_latency() const;
  [[nodiscard]] Time cable_latency() const;

  [[nodiscard]] bool Has(std::string_view key) const;
  [[nodiscard]] std::uint32_t Count(std::string_view key, std::uint32_t fallback) const;
  // How many planes the NICs of a node divide into. TL1405 when they do not.
  [[nodiscard]] Result<std::uint32_t> Planes() const;
  // Lists; empty when absent.
  [[nodiscard]] std::vector<std::uint32_t> Counts(std::string_view key) const;
  [[nodiscard]] std::vector<double> Ratios(std::string_view key) const;

  // A failure at the place of `key`'s value.
  [[nodiscard]] std::unexpected<Diagnostics> Fail(std::string_view key, std::string code,
                                                  std::string message, std::string hint) const;

 private:
  [[nodiscard]] const FabricValue* Find(std::string_view key) const;
  [[nodiscard]] Rate RateOf(std::string_view key, Rate fallback) const;

  const FabricSpec& spec_;
  const NodeTemplate& node_;
};

struct Builder {
  FabricKind kind;
  Result<NetworkPlan> (*plan)(const FabricParameters& parameters);
};

[[nodiscard]] const Builder& SingleSwitchBuilder();
[[nodiscard]] const Builder& TreeBuilder();
[[nodiscard]] const Builder& ClosBuilder();
[[nodiscard]] const Builder& FatTreeBuilder();
[[nodiscard]] const Builder& RailOptimizedBuilder();
[[nodiscard]] const Builder& RailOnlyBuilder();
[[nodiscard]] const Builder& HpnBuilder();
[[nodiscard]] const Builder& MetaRoceBuilder();
[[nodiscard]] const Builder& DragonflyBuilder();
[[nodiscard]] const Builder& DragonflyPlusBuilder();
[[nodiscard]] const Builder& SlimFlyBuilder();
[[nodiscard]] const Builder& TorusBuilder();
[[nodiscard]] const Builder& FullMeshBuilder();

// Every builder, in the order in which they are listed to people.
[[nodiscard]] std::span<const Builder* const> Builders();
// Null when unknown.
[[nodiscard]] const Builder* FindBuilder(std::string_view kind);
// TL1401, with a did-you-mean.
[[nodiscard]] std::unexpected<Diagnostics> UnknownKind(const std::string& kind);

// Bounds of what can be asked for: 2^18 ends is beyond the largest cluster described in public.
inline constexpr std::uint32_t kMaxNodes = 262'144;
inline constexpr double kMaxEnds = 262'144;
// Of a cable or switch: added up over many messages, longer ones leave no room for a time.
inline constexpr Time kMaxLatency = Time::Microseconds(1'000'000);
inline constexpr double kMaxSwitches = 65'536;
inline constexpr double kMaxCables = 4e6;
inline constexpr double kMaxDevices = 4e6;  // in nodes
// Routing keeps one record per destination and switch.
inline constexpr double kMaxRoutingRecords = 3e8;
inline constexpr std::int64_t kMaxRadix = 4096;
// In bits per second: of one cable, and of all directions of all cables together.
inline constexpr double kMaxRate = 1e13;
inline constexpr double kMaxTotalRate = 4e18;

// TL1404.
[[nodiscard]] std::unexpected<Diagnostics> TooManyEnds(double ends);
[[nodiscard]] std::unexpected<Diagnostics> TooManySwitches(double switches);

// A key that is one number, from 1.
[[nodiscard]] FabricKey CountKey(const char* name, const char* fallback, const char* summary,
                                 double most = kMaxRadix);
// Keys that several kinds share.
[[nodiscard]] FabricKey LinkKey();
// Of every kind: NICs of a node.
[[nodiscard]] FabricKey NicsKey();
[[nodiscard]] FabricKey UplinkKey();
[[nodiscard]] FabricKey RadixKey();
[[nodiscard]] FabricKey OversubscriptionKey();
[[nodiscard]] FabricKey PlanesKey();
[[nodiscard]] FabricKey PortsKey();
[[nodiscard]] FabricKey BreakoutKey();
[[nodiscard]] FabricKey TiersKey();

}  // namespace trunkline
