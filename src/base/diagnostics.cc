#include "trunkline/base/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

#include "base/printable.h"

namespace trunkline {
namespace {

constexpr std::size_t kExcerptWidth = 100;

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80; }

// Words that are longer than any of ours are inputs: what follows them is worth more than they are.
std::string WithoutLongWords(std::string_view text) {
  constexpr std::size_t kLongestWord = 200;
  constexpr std::size_t kHead = 100;
  constexpr std::size_t kTail = 20;
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (word.size() > kLongestWord) {
      std::size_t head = kHead;
      std::size_t tail = word.size() - kTail;
      while (head > 0 && IsContinuation(word[head])) --head;
      while (tail < word.size() && IsContinuation(word[tail])) ++tail;
      out.append(word.substr(0, head)).append("...").append(word.substr(tail));
    } else {
      out += word;
    }
    text.remove_prefix(end);
    const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
    out += text.substr(0, blanks);
    text.remove_prefix(blanks);
  }
  return out;
}

// A message quotes inputs, which may be of any length.
std::string Shortened(std::string_view text) {
  constexpr std::size_t kLongestText = 600;
  if (text.size() <= kLongestText) return Printable(text);
  std::size_t end = kLongestText;
  while (end > 0 && IsContinuation(text[end])) --end;
  return Printable(text.substr(0, end)) + "...";
}

// The excerpt cut to a window around the caret, and the caret's 0-based byte offset in it.
struct Window {
  std::string text;
  std::size_t caret = 0;
};

Window CutAround(const std::string& line, std::size_t caret) {
  if (line.size() <= kExcerptWidth) return {line, std::min(caret, line.size())};
  std::size_t begin = caret > kExcerptWidth / 2 ? caret - kExcerptWidth / 2 : 0;
  begin = std::min(begin, line.size() - kExcerptWidth);
  while (begin > 0 && IsContinuation(line[begin])) --begin;
  std::size_t end = std::min(line.size(), begin + kExcerptWidth);
  while (end < line.size() && IsContinuation(line[end])) ++end;
  const std::string head = begin > 0 ? "..." : "";
  const std::string tail = end < line.size() ? "..." : "";
  const std::size_t inside = std::min(caret, end) - std::min(begin, caret);
  return {head + line.substr(begin, end - begin) + tail, head.size() + inside};
}

// Lower case with '-' for '_', so that a slip of case or separator costs nothing.
std::string Folded(std::string_view word) {
  std::string out(word);
  for (char& c : out) {
    c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

// Edit distance in which a swap of neighbours counts one (optimal string alignment).
std::size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, row);
  }
  return previous[b.size()];
}

}  // namespace

std::unexpected<Diagnostics> Error(std::string code, std::string message, std::string hint) {
  Diagnostic diagnostic;
  diagnostic.code = std::move(code);
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  return std::unexpected(Diagnostics{std::move(diagnostic)});
}

Diagnostic Warning(std::string code, std::string message, std::string hint) {
  Diagnostic warning;
  warning.severity = Severity::kWarning;
  warning.code = std::move(code);
  warning.message = std::move(message);
  warning.hint = std::move(hint);
  return warning;
}

std::string Format(const Diagnostic& diagnostic, bool color) {
  const bool is_error = diagnostic.severity == Severity::kError;
  const char* bold = color ? "\033[1m" : "";
  const char* tint = color ? (is_error ? "\033[1;31m" : "\033[1;35m") : "";
  const char* reset = color ? "\033[0m" : "";

  std::string place = Shortened(diagnostic.where.file);
  if (diagnostic.where.line > 0) place += fmt::format(":{}", diagnostic.where.line);
  if (diagnostic.where.column > 0) place += fmt::format(":{}", diagnostic.where.column);
  if (!place.empty()) place = fmt::format("{}{}:{} ", bold, place, reset);

  std::string out = fmt::format("{}{}{}:{} {}", place, tint, is_error ? "error" : "warning", reset,
                                Shortened(WithoutLongWords(diagnostic.message)));
  if (!diagnostic.code.empty()) out += fmt::format(" [{}]", diagnostic.code);
  out += '\n';
  if (!diagnostic.excerpt.empty()) {
    const auto column = static_cast<std::size_t>(std::max(diagnostic.where.column, 1));
    const Window window = CutAround(Printable(diagnostic.excerpt), column - 1);
    out += fmt::format("    {}\n", window.text);
    if (diagnostic.where.column > 0) {
      const auto before = window.text.substr(0, window.caret);
      const auto width =
          std::count_if(before.begin(), before.end(), [](char c) { return !IsContinuation(c); });
      out += fmt::format("    {}{}^{}\n", std::string(static_cast<std::size_t>(width), ' '), tint,
                         reset);
    }
  }
  if (!diagnostic.hint.empty()) {
    out += fmt::format("  hint: {}\n", Shortened(WithoutLongWords(diagnostic.hint)));
  }
  return out;
}

std::string ClosestMatch(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kLongestWord = 64;  // nothing we name is longer; bounds the work
  if (word.empty() || word.size() > kLongestWord) return "";
  const std::string wanted = Folded(word);
  const std::size_t tolerated = std::max<std::size_t>(1, word.size() / 3);
  std::size_t best = std::numeric_limits<std::size_t>::max();
  std::string match;
  for (const std::string& candidate : known) {
    if (candidate.size() > kLongestWord) continue;
    const std::size_t distance = EditDistance(wanted, Folded(candidate));
    // Of equally near ones the longest: letters are left out more often than added.
    if (distance < best || (distance == best && candidate.size() > match.size())) {
      best = distance;
      match = candidate;
    }
  }
  return best <= tolerated ? match : "";
}

}  // namespace trunkline
