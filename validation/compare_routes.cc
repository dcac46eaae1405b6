// Whether our paths cross as many links as another simulator's: reads `source destination links` of
// hosts, line by line, and follows the same pairs on a fabric file. Fails where one differs.
//
//   compare_routes FILE POLICY < ROUTES
#include <cstdio>
#include <string>

#include "trunkline/fabric/import.h"
#include "trunkline/fabric/route.h"

namespace trunkline {
namespace {

int Refuse(const Diagnostics& problems) {
  for (const Diagnostic& problem : problems) std::fputs(Format(problem).c_str(), stderr);
  return 2;
}

int Compare(const std::string& file, const std::string& policy) {
  const auto imported = ImportFabricFile(file);
  if (!imported) return Refuse(imported.error());
  const auto routing = ParseRoutingPolicy(policy);
  if (!routing) return Refuse(routing.error());
  const Fabric& fabric = imported->built.fabric;
  if (const Diagnostics problems = CheckRouting(fabric, *routing); !problems.empty()) {
    return Refuse(problems);
  }
  const Router router(fabric, {.policy = *routing});
  const auto hosts = fabric.endpoints();
  std::size_t pairs = 0;
  std::size_t unequal = 0;
  std::size_t links = 0;
  std::size_t from = 0;
  std::size_t to = 0;
  std::size_t theirs = 0;
  while (std::scanf("%zu %zu %zu", &from, &to, &theirs) == 3) {
    if (from >= hosts.size() || to >= hosts.size()) {
      std::fprintf(stderr, "compare_routes: no pair %zu %zu among %zu hosts\n", from, to,
                   hosts.size());
      return 2;
    }
    const auto path = router.FindPath(hosts[from], hosts[to], 0);
    if (!path) return Refuse(path.error());
    if (path->size() != theirs && unequal++ < 5) {
      std::printf("%zu to %zu: theirs %zu links, ours %zu\n", from, to, theirs, path->size());
    }
    links += path->size();
    ++pairs;
  }
  std::printf("%zu pairs, %zu differ; %.6f links on average\n", pairs, unequal,
              static_cast<double>(links) / static_cast<double>(pairs));
  return pairs == 0 || unequal > 0 ? 1 : 0;
}

}  // namespace
}  // namespace trunkline

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: compare_routes FILE POLICY < ROUTES\n", stderr);
    return 2;
  }
  return trunkline::Compare(argv[1], argv[2]);
}
