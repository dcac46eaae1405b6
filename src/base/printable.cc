#include "base/printable.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace trunkline {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

// The first of `text`, as RFC 3629 has it: neither longer than need be nor half of a UTF-16 pair.
Character Decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (byte(0) < 0xc0 || byte(0) > 0xf4 || text.size() < bytes) return {};
  char32_t code = byte(0) & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const bool valid = code >= kLeast[bytes] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return valid ? Character{code, bytes} : Character{};
}

bool IsHarmful(char32_t code) {
  // C0 and C1, then what Unicode 15 has of marks of direction, joiners and the like (general
  // category Cf), separators of lines, fillers and selectors of variants.
  constexpr std::array<std::pair<char32_t, char32_t>, 22> kRanges = {
      {{0x00, 0x1f},       {0x7f, 0x9f},      {0xad, 0xad},     {0x34f, 0x34f},   {0x600, 0x605},
       {0x61c, 0x61c},     {0x6dd, 0x6dd},    {0x70f, 0x70f},   {0x890, 0x891},   {0x8e2, 0x8e2},
       {0x115f, 0x1160},   {0x180b, 0x180f},  {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
       {0x3164, 0x3164},   {0xfe00, 0xfe0f},  {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfffb},
       {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}}};
  return std::ranges::any_of(
      kRanges, [&](const auto& range) { return range.first <= code && code <= range.second; });
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character next = Decode(text);
    const std::size_t bytes = std::max<std::size_t>(next.bytes, 1);
    if (next.code == '\t') {
      out += ' ';
    } else if (next.bytes == 0 || IsHarmful(next.code)) {
      out.append(bytes, '?');
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

std::size_t ValidUtf8(std::string_view text) {
  std::size_t valid = 0;
  while (valid < text.size()) {
    const std::size_t bytes = Decode(text.substr(valid)).bytes;
    if (bytes == 0) break;
    valid += bytes;
  }
  return valid;
}

}  // namespace trunkline
