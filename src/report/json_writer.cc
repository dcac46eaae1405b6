#include "report/json_writer.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace trunkline {
namespace {

// Characters that JSON takes as they are, by code.
constexpr auto kIsPlain = [] {
  std::array<bool, 256> plain{};
  for (unsigned char c = ' '; c <= '~'; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

std::string ExactDecimal(Time time, int digits) {
  std::int64_t unit = 1;
  for (int i = 0; i < digits; ++i) unit *= 10;
  const std::int64_t whole = time.ps() / unit;
  const std::int64_t rest = time.ps() % unit;
  if (rest == 0) return fmt::format("{}", whole);
  std::string text =
      fmt::format("{}{}.{:0{}}", time.ps() < 0 ? "-" : "", std::abs(whole), std::abs(rest), digits);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

}  // namespace

std::string ExactSeconds(Time time) { return ExactDecimal(time, 12); }
std::string ExactMicroseconds(Time time) { return ExactDecimal(time, 6); }

void JsonWriter::BreakLine() {
  if (depth_ > open_depth_) return;
  text_ += '\n';
  text_.append(2 * static_cast<std::size_t>(depth_), ' ');
}

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (depth_ == 0) return;
  if (!first_) text_ += depth_ > open_depth_ ? ", " : ",";
  first_ = false;
  BreakLine();
}

void JsonWriter::Begin(char open) {
  Separate();
  text_ += open;
  ++depth_;
  first_ = true;
}

void JsonWriter::End(char close) {
  const bool empty = first_;
  const bool open = depth_ <= open_depth_;
  --depth_;
  if (!empty && open) BreakLine();
  text_ += close;
  first_ = false;
}

void JsonWriter::Key(std::string_view key) {
  Value(key);
  text_ += ": ";
  after_key_ = true;
}

void JsonWriter::Value(std::int64_t value) {
  const fmt::format_int text(value);
  Raw({text.data(), text.size()});
}

void JsonWriter::Value(std::uint64_t value) {
  const fmt::format_int text(value);
  Raw({text.data(), text.size()});
}

void JsonWriter::Value(Time value) { Raw(ExactSeconds(value)); }

void JsonWriter::Value(double value) {
  if (!std::isfinite(value)) {
    Null();
    return;
  }
  Separate();
  fmt::format_to(std::back_inserter(text_), FMT_COMPILE("{}"), value);
}

void JsonWriter::Value(std::string_view value) {
  if (std::ranges::all_of(value, [](char c) { return kIsPlain[static_cast<unsigned char>(c)]; })) {
    Separate();
    const std::size_t begin = text_.size();
    text_.resize(begin + value.size() + 2, '"');
    value.copy(text_.data() + begin + 1, value.size());
  } else {
    Raw(nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
}

void JsonWriter::Raw(std::string_view text) {
  Separate();
  text_ += text;
}

}  // namespace trunkline
