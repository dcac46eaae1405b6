#include "fabric/import/scanner.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace trunkline {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

std::optional<std::uint32_t> ParseNumber(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Takes the run of digits that `text` begins with, without leading zeros.
std::string_view TakeDigits(std::string_view& text) {
  const auto* end = std::ranges::find_if_not(text, IsDigit);
  std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

}  // namespace

int Scanner::column() const {
  Scanner ahead = *this;
  ahead.SkipBlanks();
  return static_cast<int>(ahead.at_) + 1;
}

void Scanner::SkipBlanks() {
  while (at_ < line_.size() && IsBlank(line_[at_])) ++at_;
}

bool Scanner::done() {
  SkipBlanks();
  return at_ == line_.size();
}

std::string_view Scanner::Token() {
  SkipBlanks();
  const std::size_t begin = at_;
  while (at_ < line_.size() && !IsBlank(line_[at_])) ++at_;
  return line_.substr(begin, at_ - begin);
}

std::optional<std::uint32_t> Scanner::Number() {
  SkipBlanks();
  const std::size_t begin = at_;
  const auto value = ParseNumber(Token());
  if (!value) at_ = begin;
  return value;
}

std::optional<std::string_view> Scanner::Quoted(char quote) {
  SkipBlanks();
  if (at_ == line_.size() || line_[at_] != quote) return std::nullopt;
  const std::size_t end = line_.find(quote, at_ + 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view inside = line_.substr(at_ + 1, end - at_ - 1);
  at_ = end + 1;
  return inside;
}

std::optional<std::uint32_t> Scanner::Bracketed() {
  SkipBlanks();
  if (at_ == line_.size() || line_[at_] != '[') return std::nullopt;
  const std::size_t end = line_.find(']', at_);
  if (end == std::string_view::npos) return std::nullopt;
  const auto value = ParseNumber(line_.substr(at_ + 1, end - at_ - 1));
  if (value) at_ = end + 1;
  return value;
}

bool Scanner::Parenthesised() {
  SkipBlanks();
  if (at_ == line_.size() || line_[at_] != '(') return false;
  const std::size_t end = line_.find(')', at_);
  if (end == std::string_view::npos) return false;
  at_ = end + 1;
  return true;
}

bool Scanner::Take(char c) {
  SkipBlanks();
  if (at_ == line_.size() || line_[at_] != c) return false;
  ++at_;
  return true;
}

bool Scanner::SkipPast(char c) {
  const std::size_t found = line_.find(c, at_);
  at_ = found == std::string_view::npos ? line_.size() : found + 1;
  return found != std::string_view::npos;
}

bool SameText(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return Lower(x) == Lower(y); });
}

bool NaturalLess(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (IsDigit(a.front()) && IsDigit(b.front())) {
      const std::string_view x = TakeDigits(a);
      const std::string_view y = TakeDigits(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else if (a.front() != b.front()) {
      return a.front() < b.front();
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  // Of texts that differ in leading zeros alone, some order that is one.
  return a.empty() == b.empty() ? whole_a < whole_b : a.empty();
}

}  // namespace trunkline
