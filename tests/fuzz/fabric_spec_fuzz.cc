// A fabric as the command line writes it, `kind:key=value,…`: what is read can be built, or the
// builder says why not.
#include "fuzz/fuzz.h"
#include "trunkline/fabric/build.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trunkline;
  const std::string_view text = TextOf(data, size);
  (void)LooksLikeFabricSpec(text);
  const auto spec = ParseFabricSpec(text);
  if (!spec) {
    RequireExplained(spec.error());
    return 0;
  }
  const auto built = BuildFabric(*spec);
  if (!built) {
    RequireExplained(built.error());
    return 0;
  }
  Require(!built->fabric.endpoints().empty(), "a fabric has endpoints");
  for (std::size_t link = 0; link < built->fabric.link_count(); ++link) {
    Require(built->fabric.link(LinkId(link)).rate > Rate(), "every link has a rate");
  }
  return 0;
}
