// A cumulative distribution of message sizes: what is accepted has a mean and rising quantiles.
#include "fuzz/fuzz.h"
#include "trunkline/workload/flow_sizes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trunkline;
  const auto sizes = ParseFlowSizes(TextOf(data, size), "sizes.txt");
  if (!sizes) {
    RequireExplained(sizes.error());
    return 0;
  }
  Require(sizes->mean() > 0 && sizes->mean() <= 0x1p50, "an accepted distribution has a mean");
  Bytes last(1);
  for (const double u : {0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 0.999999}) {
    const Bytes bytes = sizes->Quantile(u);
    Require(bytes >= last && bytes <= Bytes(std::int64_t{1} << 50), "quantiles rise");
    last = bytes;
  }
  return 0;
}
