#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trunkline/base/diagnostics.h"

// Line by line reading of texts made of words, such as other tools' flow lists: positions for every
// problem, constant memory whatever the size.
namespace trunkline {

struct Word {
  std::string_view text;  // valid until the next line is read
  int column = 0;         // 1-based

  [[nodiscard]] std::optional<std::int64_t> AsInteger() const;
  // Finite.
  [[nodiscard]] std::optional<double> AsReal() const;
};

class WordReader {
 public:
  static constexpr std::size_t kLongestLine = 4095;

  // `comment` begins a comment that ends with the line; 0: none.
  // `longest` is that of a line.
  WordReader(std::istream& stream, std::string file, char comment = '#',
             std::size_t longest = kLongestLine)
      : stream_(stream), file_(std::move(file)), comment_(comment), longest_(longest) {}

  // Moves to the next line that has words. False at the end, and when a line is no text or too
  // long, which is noted.
  bool Next();
  [[nodiscard]] std::span<const Word> words() const { return words_; }
  [[nodiscard]] std::string_view text() const { return text_; }  // of the whole line
  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] const std::string& file() const { return file_; }

  // Notes a problem at a word of the line, at the line's `index`-th word or just behind its last,
  // or of the whole file.
  void Error(const Word& word, std::string code, std::string message, std::string hint);
  void Error(std::size_t index, std::string code, std::string message, std::string hint);
  void FileError(std::string code, std::string message, std::string hint);
  // A problem of an earlier line, or of a place in this one.
  void LineError(int line, std::string code, std::string message, std::string hint) {
    LineError(line, 0, std::move(code), std::move(message), std::move(hint));
  }
  void LineError(int line, int column, std::string code, std::string message, std::string hint);

  [[nodiscard]] bool failed() const { return problems_ > 0; }
  // What was noted, the first dozen and how many more (TL1112).
  [[nodiscard]] Diagnostics TakeDiagnostics();

 private:
  void Note(SourcePosition where, std::string code, std::string message, std::string hint,
            std::string excerpt);
  void Split();

  std::istream& stream_;
  std::string file_;
  char comment_;
  std::size_t longest_;
  std::string buffer_;  // of the longest line, and its end
  std::string text_;
  std::vector<Word> words_;
  int line_ = 0;
  std::size_t problems_ = 0;
  Diagnostics diagnostics_;
};

}  // namespace trunkline
