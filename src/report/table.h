#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/plural.h"
#include "base/printable.h"

namespace trunkline {

enum class Align { kLeft, kRight };

// Columns of text, as wide as their widest cell, two spaces apart. Widths count code points.
class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::kRight;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // REQUIRES: one cell a column. Cells are made Printable, and long ones cut in their middle.
  void Add(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  // The title line and the rows, each after `indent` and without trailing spaces. A column that
  // says nothing in any row ("" or "-") is left out.
  [[nodiscard]] std::string Text(std::string_view indent) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// The number of code points of valid UTF-8 text.
[[nodiscard]] std::size_t Width(std::string_view text);
// `text` broken at spaces into lines of at most `width`, each after `indent`, with a final newline;
// a number stays with its unit.
[[nodiscard]] std::string Wrap(std::string_view text, std::string_view indent, std::size_t width);
// 0.1234 -> "12.3 %".
[[nodiscard]] std::string Percent(double fraction);
// How many times: 1.5 -> "1.50", 12345.6 -> "12,346".
[[nodiscard]] std::string Multiple(double ratio);
// A mean of counts: 15.4032 -> "15.4", 16 -> "16", 1234.5 -> "1,234".
[[nodiscard]] std::string Decimal(double mean);

}  // namespace trunkline
