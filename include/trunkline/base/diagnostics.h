#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

// What is wrong with an input, where, and what would be right.
namespace trunkline {

struct SourcePosition {
  std::string file;  // as the user named it; empty: no file (a command-line argument, say)
  int line = 0;      // 1-based; 0: the whole file
  int column = 0;    // 1-based; 0: the whole line
};

enum class Severity { kError, kWarning };

// `code` is one of docs/errors.md ("TL1103"); `excerpt` is the source line, shown with a caret
// under `column`.
struct Diagnostic {
  Severity severity = Severity::kError;
  std::string code;
  SourcePosition where;
  std::string message;
  std::string hint;
  std::string excerpt;
};

using Diagnostics = std::vector<Diagnostic>;

// A value, or every problem found while making it (readers report all, not the first).
template <typename T>
using Result = std::expected<T, Diagnostics>;

// An error without a position, as the failure of a Result.
[[nodiscard]] std::unexpected<Diagnostics> Error(std::string code, std::string message,
                                                 std::string hint = "");

// A warning without a position.
[[nodiscard]] Diagnostic Warning(std::string code, std::string message, std::string hint = "");

// `cluster.yaml:12:9: error: link rate '40OG' is not a rate [TL1103]`, the source line, a caret, a
// hint; ends with a newline. A long excerpt is cut around the caret.
[[nodiscard]] std::string Format(const Diagnostic& diagnostic, bool color = false);

// The known word closest to `word` by edit distance, empty when none is close enough to suggest.
[[nodiscard]] std::string ClosestMatch(std::string_view word,
                                       const std::vector<std::string>& known);

}  // namespace trunkline
