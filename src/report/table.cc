#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "trunkline/base/check.h"

namespace trunkline {

std::size_t Width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

namespace {

// The beginning and the end of what is too long for a column: names come from input files.
std::string Elided(const std::string& text) {
  // Ours: the longest name leaves room for three columns of figures on a line of 100; of a longer
  // one more is kept of the front, where sites, rows and racks stand, than of the end.
  constexpr std::size_t kLongest = 72;
  if (Width(text) <= kLongest) return text;
  const auto from = [&](std::size_t code_points) {  // the byte where that many are over
    std::size_t byte = 0;
    for (std::size_t over = 0; over < code_points; ++over) {
      ++byte;
      while (byte < text.size() && (static_cast<unsigned char>(text[byte]) & 0xc0U) == 0x80U)
        ++byte;
    }
    return byte;
  };
  constexpr std::size_t kHead = 40;
  return text.substr(0, from(kHead)) + "…" +
         text.substr(from(Width(text) - (kLongest - kHead - 1)));
}

bool IsNumber(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789.,") == std::string_view::npos;
}

// The first word of `text`; a number takes its unit with it.
std::string_view FirstWord(std::string_view text) {
  std::size_t end = text.find(' ');
  if (end != std::string_view::npos && IsNumber(text.substr(0, end))) end = text.find(' ', end + 1);
  return text.substr(0, end);
}

}  // namespace

std::string Wrap(std::string_view text, std::string_view indent, std::size_t width) {
  std::string out;
  std::string line;
  const auto flush = [&] {
    out.append(indent).append(line) += '\n';
    line.clear();
  };
  while (!text.empty()) {
    const std::string_view word = FirstWord(text);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (!line.empty() && Width(indent) + Width(line) + 1 + Width(word) > width) flush();
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty()) flush();
  return out;
}

std::string Percent(double fraction) {
  const double tenths = std::round(1000 * fraction);
  return fmt::format("{:.1f} %", (tenths == 0 ? 0 : 100 * fraction));  // no -0.0
}

std::string Multiple(double ratio) {
  return ratio < 100 ? fmt::format("{:.2f}", ratio) : Grouped(ratio);
}

std::string Decimal(double mean) {
  return mean >= 1000 || mean == std::floor(mean) ? Grouped(mean) : fmt::format("{:.1f}", mean);
}

void Table::Add(std::vector<std::string> cells) {
  TL_CHECK(cells.size() == columns_.size(), "table row", cells.size(), columns_.size());
  for (std::string& cell : cells) cell = Elided(Printable(cell));
  rows_.push_back(std::move(cells));
}

std::string Table::Text(std::string_view indent) const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(Width(column.title));
  std::vector<char> told(columns_.size(), rows_.empty() ? 1 : 0);
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], Width(row[c]));
      if (!row[c].empty() && row[c] != "-") told[c] = 1;
    }
  }
  std::string out;
  const auto line = [&](auto cell_of) {
    std::string text(indent);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (told[c] == 0) continue;
      const std::string& cell = cell_of(c);
      const std::string pad(widths[c] - Width(cell), ' ');
      if (text.size() > indent.size()) text += "  ";
      text += columns_[c].align == Align::kRight ? pad + cell : cell + pad;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  };
  line([&](std::size_t c) -> const std::string& { return columns_[c].title; });
  for (const auto& row : rows_) line([&](std::size_t c) -> const std::string& { return row[c]; });
  return out;
}

}  // namespace trunkline
