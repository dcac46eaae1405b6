#include "fabric/import/hostlist.h"

#include <charconv>
#include <cstdint>
#include <utility>

namespace trunkline {
namespace {

constexpr std::size_t kMostNames = 262'144;

bool ParseNumber(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

// `1101-1108` or `07`, as texts as wide as the first.
bool ExpandRange(std::string_view range, std::vector<std::string>& out) {
  const std::size_t dash = range.find('-');
  const std::string_view first = range.substr(0, dash);
  const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  if (!ParseNumber(first, from) || !ParseNumber(last, to) || to < from) return false;
  if (to - from >= kMostNames || first.size() > 20) return false;
  for (std::uint64_t i = from; i <= to; ++i) {
    std::string number = std::to_string(i);
    if (number.size() < first.size()) number.insert(0, first.size() - number.size(), '0');
    out.push_back(std::move(number));
  }
  return true;
}

// `rack[1-2]n[01-04]`, each bracket in turn.
bool ExpandTerm(std::string_view term, std::vector<std::string>& out) {
  std::vector<std::string> names = {""};
  while (!term.empty()) {
    const std::size_t open = term.find('[');
    for (std::string& name : names) name += term.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = term.find(']', open);
    if (close == std::string_view::npos) return false;
    std::string_view inside = term.substr(open + 1, close - open - 1);
    std::vector<std::string> numbers;
    for (bool more = true; more;) {
      const std::size_t comma = inside.find(',');
      if (!ExpandRange(inside.substr(0, comma), numbers)) return false;
      more = comma != std::string_view::npos;
      if (more) inside.remove_prefix(comma + 1);
    }
    if (names.size() * numbers.size() > kMostNames) return false;
    std::vector<std::string> longer;
    for (const std::string& name : names) {
      for (const std::string& number : numbers) longer.push_back(name + number);
    }
    names = std::move(longer);
    term.remove_prefix(close + 1);
  }
  out.insert(out.end(), names.begin(), names.end());
  return out.size() <= kMostNames;
}

}  // namespace

std::optional<std::vector<std::string>> ExpandHostlist(std::string_view text) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') ++depth;
    if (i < text.size() && text[i] == ']') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    if (i == begin || !ExpandTerm(text.substr(begin, i - begin), names)) return std::nullopt;
    begin = i + 1;
  }
  return names;
}

}  // namespace trunkline
