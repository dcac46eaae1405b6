// Quantities: what parses prints back to itself, whatever else the text holds is an error that says
// something.
#include "fuzz/fuzz.h"
#include "trunkline/base/units.h"

namespace trunkline {
namespace {

template <typename T>
void RequireRoundTrip(UnitResult<T> (*parse)(std::string_view), std::string_view text) {
  const UnitResult<T> value = parse(text);
  if (!value) {
    Require(!value.error().message.empty(), "an error has a message");
    return;
  }
  const UnitResult<T> again = parse(ToString(*value));
  Require(again.has_value() && *again == *value, "Parse(ToString(x)) == x");
  Require(!Humanize(*value).empty(), "every quantity is readable");
}

void ReadQuantities(std::string_view text) {
  RequireRoundTrip<Time>(ParseTime, text);
  RequireRoundTrip<Bytes>(ParseBytes, text);
  RequireRoundTrip<Rate>(ParseRate, text);
  if (const auto rate = ParseFlopRate(text)) {
    Require(rate->per_second() >= 0 && rate->per_second() <= 1e300, "a FLOP rate is finite");
  }
  if (const auto size = ParseNcclTestsSize(text)) {
    Require(size->count() >= 0, "a size is not negative");
  }
}

}  // namespace
}  // namespace trunkline

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  trunkline::ReadQuantities(trunkline::TextOf(data, size));
  return 0;
}
