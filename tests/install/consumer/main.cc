#include <cstdio>

#include "trunkline/base/units.h"

// Prints the time to serialise argv[1] (bytes) at argv[2] (a rate).
int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto size = trunkline::ParseBytes(argv[1]);
  const auto rate = trunkline::ParseRate(argv[2]);
  if (!size || !rate) return 2;
  std::printf("%lld ps\n", static_cast<long long>(trunkline::TransferTime(*size, *rate).ps()));
  return 0;
}
