#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// Reading a line piece by piece.
namespace trunkline {

class Scanner {
 public:
  explicit Scanner(std::string_view line) : line_(line) {}

  // 1-based, of what comes next, blanks aside.
  [[nodiscard]] int column() const;
  [[nodiscard]] bool done();

  // Each skips blanks; where the piece is not what is asked for, nothing is taken.
  std::string_view Token();               // up to a blank
  std::optional<std::uint32_t> Number();  // a token of digits
  std::optional<std::string_view> Quoted(char quote = '"');
  std::optional<std::uint32_t> Bracketed();  // [7]
  bool Parenthesised();                      // (anything)
  bool Take(char c);
  bool SkipPast(char c);  // false, at the end of the line, when there is none

 private:
  void SkipBlanks();

  std::string_view line_;
  std::size_t at_ = 0;
};

// Equal but for the case of letters.
[[nodiscard]] bool SameText(std::string_view a, std::string_view b);
// Whether `a` comes before `b` when runs of digits count as numbers: node-9 before node-10.
[[nodiscard]] bool NaturalLess(std::string_view a, std::string_view b);

// Whether any of the first lines of a text satisfies the predicate; for telling formats apart.
template <typename Predicate>
bool AnyLine(std::string_view text, Predicate predicate) {
  constexpr int kMostLines = 200;
  for (int i = 0; i < kMostLines && !text.empty(); ++i) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (predicate(line)) return true;
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace trunkline
