#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "trunkline/base/check.h"

namespace trunkline {

std::string Printable(std::string_view text) {
  std::string out(text);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto byte = static_cast<unsigned char>(out[i]);
    if (byte < 0x20 || byte == 0x7f) out[i] = '?';
    // U+0080..U+009F, the controls of ISO 6429, are C2 80..C2 9F in UTF-8.
    const bool control =
        byte == 0xc2 && i + 1 < out.size() && static_cast<unsigned char>(out[i + 1]) < 0xa0;
    if (control) out.replace(i, 2, "?");
  }
  return out;
}

std::size_t Width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

namespace {

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

std::string Percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

std::string Multiple(double ratio) {
  return ratio < 100 ? fmt::format("{:.2f}", ratio) : Grouped(ratio);
}

std::string Grouped(double count) {
  std::string digits = fmt::format("{:.0f}", count);
  const std::size_t sign = digits.starts_with('-') ? 1 : 0;
  for (std::size_t i = digits.size(); i > sign + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string Decimal(double mean) {
  return mean >= 1000 || mean == std::floor(mean) ? Grouped(mean) : fmt::format("{:.1f}", mean);
}

std::string Plural(std::uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", Grouped(static_cast<double>(count)), count == 1 ? one : many);
}

void Table::Add(std::vector<std::string> cells) {
  TL_CHECK(cells.size() == columns_.size(), "table row", cells.size(), columns_.size());
  for (std::string& cell : cells) cell = Printable(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::Text(std::string_view indent) const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(Width(column.title));
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], Width(row[c]));
  }
  std::string out;
  const auto line = [&](auto cell_of) {
    std::string text(indent);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string& cell = cell_of(c);
      const std::string pad(widths[c] - Width(cell), ' ');
      if (c > 0) text += "  ";
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
