#include "base/word_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace trunkline {
namespace {

constexpr std::size_t kMostShown = 12;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }

template <typename T>
std::optional<T> Number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::int64_t> Word::AsInteger() const { return Number<std::int64_t>(text); }

std::optional<double> Word::AsReal() const {
  const auto value = Number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

bool WordReader::Next() {
  while (line_ < std::numeric_limits<int>::max()) {
    buffer_.resize(longest_ + 1);  // once
    stream_.getline(buffer_.data(), static_cast<std::streamsize>(longest_ + 1));
    const auto read = static_cast<std::size_t>(stream_.gcount());
    if (stream_.bad() || (read == 0 && stream_.eof())) {
      text_.clear();
      words_.clear();
      return false;
    }
    ++line_;
    if (stream_.fail() && !stream_.eof()) {
      LineError(line_, "TL1102", fmt::format("a line longer than {} characters", longest_),
                "is this the right file?");
      return false;
    }
    text_.assign(buffer_, 0, stream_.eof() ? read : read - 1);
    if (text_.find('\0') != std::string::npos) {
      LineError(line_, "TL1102", "a byte 0 in the line, so this is not a text file",
                line_ == 1 ? "UTF-16 must become UTF-8: iconv -f UTF-16 -t UTF-8 OLD > NEW"
                           : "is this the right file?");
      return false;
    }
    Split();
    if (!words_.empty()) return true;
  }
  return false;
}

void WordReader::Split() {
  words_.clear();
  const std::string_view text = text_;
  const std::size_t length =
      comment_ == '\0' ? text.size() : std::min(text.find(comment_), text.size());
  for (std::size_t i = 0; i < length;) {
    if (IsSpace(text[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < length && !IsSpace(text[i])) ++i;
    words_.push_back({text.substr(begin, i - begin), static_cast<int>(begin) + 1});
  }
}

void WordReader::Note(SourcePosition where, std::string code, std::string message, std::string hint,
                      std::string excerpt) {
  if (++problems_ > kMostShown) return;
  diagnostics_.push_back({.severity = Severity::kError,
                          .code = std::move(code),
                          .where = std::move(where),
                          .message = std::move(message),
                          .hint = std::move(hint),
                          .excerpt = std::move(excerpt)});
}

void WordReader::Error(const Word& word, std::string code, std::string message, std::string hint) {
  Note({file_, line_, word.column}, std::move(code), std::move(message), std::move(hint), text_);
}

void WordReader::Error(std::size_t index, std::string code, std::string message, std::string hint) {
  if (index < words_.size()) {
    Error(words_[index], std::move(code), std::move(message), std::move(hint));
    return;
  }
  const int end =
      words_.empty() ? 1 : words_.back().column + static_cast<int>(words_.back().text.size());
  Note({file_, line_, end}, std::move(code), std::move(message), std::move(hint), text_);
}

void WordReader::FileError(std::string code, std::string message, std::string hint) {
  Note({file_, 0, 0}, std::move(code), std::move(message), std::move(hint), "");
}

void WordReader::LineError(int line, int column, std::string code, std::string message,
                           std::string hint) {
  Note({file_, line, column}, std::move(code), std::move(message), std::move(hint),
       column > 0 && line == line_ ? text_ : "");
}

Diagnostics WordReader::TakeDiagnostics() {
  if (problems_ > kMostShown) {
    Diagnostic more;
    more.code = "TL1112";
    more.where.file = file_;
    more.message = fmt::format("{} more problems are not shown", problems_ - kMostShown);
    more.hint = "mend those shown first";
    diagnostics_.push_back(std::move(more));
  }
  return std::move(diagnostics_);
}

}  // namespace trunkline
