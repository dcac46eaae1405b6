#include "base/plural.h"

#include <fmt/format.h>

namespace trunkline {

std::string Grouped(double count) {
  std::string digits = fmt::format("{:.0f}", count);
  const std::size_t sign = digits.starts_with('-') ? 1 : 0;
  for (std::size_t i = digits.size(); i > sign + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string Plural(std::uint64_t count, std::string_view one, std::string_view many) {
  const std::string number = Grouped(static_cast<double>(count));
  if (count == 1 || !many.empty()) return fmt::format("{} {}", number, count == 1 ? one : many);
  const bool hisses =
      one.ends_with("ch") || one.ends_with("sh") || one.ends_with('s') || one.ends_with('x');
  return fmt::format("{} {}{}", number, one, hisses ? "es" : "s");
}

}  // namespace trunkline
