#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "fabric/builders/builder.h"

// How the groups of a dragonfly are joined.
namespace trunkline {

// Every group has `routers` switches of `ports` global cables each. These are numbered router by
// router and lead to the groups 1, 2 … g - 1 further on (modulo g), round after round: with
// g = routers x ports + 1 this is the palm tree arrangement (Camarero, Vallejo, Beivide:
// Topological Characterization of Hamming and Dragonfly Networks, TACO 2014). Rounds that fill are
// one cable more between every two groups. The ports left over by the last lead to the nearest
// groups, equally many on either side, and where their number is odd also to the group opposite if
// g is even (a port of each group stays free if it is odd).
struct GlobalWiring {
  std::uint32_t groups = 1;
  std::uint32_t routers = 1;
  std::uint32_t ports = 1;

  [[nodiscard]] std::uint64_t cables() const;
  // Between two groups, at least.
  [[nodiscard]] std::uint32_t trunk() const { return routers * ports / (groups - 1); }
  // "one cable between every two groups", and the like.
  [[nodiscard]] std::string Description() const;
};

struct GroupRouter {
  std::uint32_t group = 0;
  std::uint32_t router = 0;  // of the group
};
// Every cable, group by group.
void JoinGroups(const GlobalWiring& wiring,
                const std::function<void(GroupRouter from, GroupRouter to)>& join);

// Reads the number of groups from `key`, as many as can be joined where it is absent. TL1405 when
// they cannot, which names `routers_key` and `ports_key` (FindRemedies their numbers); TL1404.
[[nodiscard]] Result<std::uint32_t> ReadGroups(const FabricParameters& parameters,
                                               const GlobalWiring& wiring, const char* key,
                                               const char* routers_key, const char* ports_key);

}  // namespace trunkline
