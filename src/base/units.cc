#include "trunkline/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "trunkline/base/int128.h"

namespace trunkline {
namespace {

constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();
constexpr double kMaxFlopRate = 1e24;  // a million exaFLOP/s: beyond any machine

// A unit by name, worth `size` base units. The first name of a size is the one writers use.
struct Unit {
  const char* name;
  std::int64_t size;
};

constexpr std::int64_t kK = 1'000;
constexpr std::int64_t kM = kK * kK;
constexpr std::int64_t kG = kK * kM;
constexpr std::int64_t kT = kK * kG;
constexpr std::int64_t kP = kK * kT;
constexpr std::int64_t kE = kK * kP;
constexpr std::int64_t kKi = 1'024;
constexpr std::int64_t kMi = kKi * kKi;
constexpr std::int64_t kGi = kKi * kMi;
constexpr std::int64_t kTi = kKi * kGi;
constexpr std::int64_t kPi = kKi * kTi;
constexpr std::int64_t kEi = kKi * kPi;

constexpr Unit kTimeUnits[] = {
    // in picoseconds
    {"ps", 1},  {"ns", kK}, {"us", kM},       {"µs", kM},        {"μs", kM},
    {"ms", kG}, {"s", kT},  {"min", 60 * kT}, {"h", 3'600 * kT}, {"d", 86'400 * kT},
};
constexpr Unit kByteUnits[] = {
    {"B", 1},   {"KB", kK},   {"kB", kK},   {"MB", kM},   {"GB", kG},   {"TB", kT},   {"PB", kP},
    {"EB", kE}, {"KiB", kKi}, {"MiB", kMi}, {"GiB", kGi}, {"TiB", kTi}, {"PiB", kPi}, {"EiB", kEi},
};
constexpr Unit kRateUnits[] = {
    // in bits per second
    {"b/s", 1},         {"Kb/s", kK},       {"kb/s", kK},       {"Mb/s", kM},
    {"Gb/s", kG},       {"Tb/s", kT},       {"Pb/s", kP},       {"Eb/s", kE},
    {"bps", 1},         {"kbps", kK},       {"Kbps", kK},       {"Mbps", kM},
    {"Gbps", kG},       {"Tbps", kT},       {"bit/s", 1},       {"kbit/s", kK},
    {"Mbit/s", kM},     {"Gbit/s", kG},     {"Tbit/s", kT},     {"B/s", 8},
    {"KB/s", 8 * kK},   {"kB/s", 8 * kK},   {"MB/s", 8 * kM},   {"GB/s", 8 * kG},
    {"TB/s", 8 * kT},   {"PB/s", 8 * kP},   {"KiB/s", 8 * kKi}, {"MiB/s", 8 * kMi},
    {"GiB/s", 8 * kGi}, {"TiB/s", 8 * kTi},
};
constexpr Unit kFlopRateUnits[] = {
    {"FLOP/s", 1},   {"MFLOP/s", kM}, {"GFLOP/s", kG}, {"TFLOP/s", kT}, {"PFLOP/s", kP},
    {"EFLOP/s", kE}, {"MFLOPS", kM},  {"GFLOPS", kG},  {"TFLOPS", kT},  {"PFLOPS", kP},
};

// What a kind of quantity is called in messages.
struct Kind {
  const char* noun;     // "a rate"
  const char* example;  // "400 Gb/s"
  std::span<const Unit> units;
  std::int64_t limit;      // largest value, in base units
  const char* limit_text;  // the same for people
  const char* base;        // name of the base unit
};
constexpr Kind kTime{"a time",   "1.5 us",     kTimeUnits, Time::Horizon().ps(),
                     "100 days", "picoseconds"};
constexpr Kind kBytes{"a size", "64 KiB", kByteUnits, kInt64Max, "8 EiB", "bytes"};
constexpr Kind kRate{"a rate", "400 Gb/s", kRateUnits, kInt64Max, "9.2 Eb/s", "bits per second"};
constexpr Kind kFlops{"a FLOP rate", "989 TFLOP/s", kFlopRateUnits, 0, "", ""};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) {
    text.remove_suffix(1);
  }
  return text;
}

// Texts in messages are shown whole only when short.
std::string Quoted(std::string_view text) {
  constexpr std::size_t kShown = 40;
  if (text.size() <= kShown) return fmt::format("'{}'", text);
  return fmt::format("'{}...'", text.substr(0, kShown));
}

// A decimal number split from its unit: digits x 10^exponent, and less than 10^exponent more where
// `has_more`.
struct Decimal {
  Uint128 digits = 0;
  int exponent = 0;
  bool has_more = false;
  std::string_view number;
  std::string_view unit;
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Length of `[eE][+-]?digits` at the start of `text`, or 0.
std::size_t ExponentLength(std::string_view text) {
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return 0;
  std::size_t i = 1;
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
  const std::size_t first = i;
  while (i < text.size() && IsDigit(text[i])) ++i;
  return i > first ? i : 0;
}

// Reads `12.5e3 unit`. Nothing: no number in front. Digits beyond what 128 bits hold are only
// noted, so that the value is refused as too large or too fine rather than read wrongly.
std::optional<Decimal> SplitDecimal(std::string_view text) {
  constexpr Uint128 kSaturated = ~static_cast<Uint128>(0) / 16;
  constexpr int kLargestExponent = 1'000;
  Decimal result;
  std::size_t i = 0;
  bool point = false;
  bool any = false;
  for (; i < text.size() && (IsDigit(text[i]) || (text[i] == '.' && !point)); ++i) {
    if (text[i] == '.') {
      point = true;
      continue;
    }
    any = true;
    if (result.digits >= kSaturated) {
      if (!point) ++result.exponent;
      if (text[i] != '0') result.has_more = true;
      continue;
    }
    result.digits = result.digits * 10 + static_cast<unsigned>(text[i] - '0');
    if (point) --result.exponent;
  }
  if (!any) return std::nullopt;
  if (const std::size_t length = ExponentLength(text.substr(i)); length > 0) {
    std::string_view digits = text.substr(i + 1, length - 1);
    if (digits.front() == '+') digits.remove_prefix(1);
    int value = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (parsed.ec != std::errc())
      value = digits.front() == '-' ? -kLargestExponent : kLargestExponent;
    result.exponent += std::clamp(value, -kLargestExponent, kLargestExponent);
    i += length;
  }
  result.number = text.substr(0, i);
  result.unit = Trim(text.substr(i));
  return result;
}

enum class Scaling { kExact, kTooLarge, kNotWhole };
struct Scaled {
  Scaling outcome = Scaling::kExact;
  std::int64_t value = 0;
};

// digits x 10^exponent x unit in base units, exactly.
Scaled Scale(const Decimal& decimal, std::int64_t unit, std::int64_t limit) {
  if (decimal.digits == 0) return {};
  Uint128 digits = decimal.digits;
  int exponent = decimal.exponent;
  for (; exponent < 0 && digits % 10 == 0; ++exponent) digits /= 10;
  if (digits > static_cast<Uint128>(limit) && exponent >= 0) return {Scaling::kTooLarge};
  for (; exponent > 0; --exponent) {
    digits *= 10;
    if (digits > static_cast<Uint128>(limit)) return {Scaling::kTooLarge};
  }
  auto size = static_cast<Uint128>(unit);
  for (; exponent < 0 && size % 10 == 0; ++exponent) size /= 10;
  // A remaining factor of 1/5 or 1/2 may cancel against powers of two of KiB and the like.
  for (; exponent < 0 && digits % 5 == 0 && size % 2 == 0; ++exponent) {
    digits /= 5;
    size /= 2;
  }
  if (exponent < 0 || decimal.has_more) return {Scaling::kNotWhole};
  if (size != 0 && digits > static_cast<Uint128>(limit) / size) return {Scaling::kTooLarge};
  return {Scaling::kExact, static_cast<std::int64_t>(digits * size)};
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool Names(std::span<const Unit> units, std::string_view name) {
  return std::ranges::any_of(units, [name](const Unit& unit) { return unit.name == name; });
}

// What someone who wrote this unit for this kind of quantity probably meant.
std::string UnitHint(const Kind& kind, const Decimal& decimal) {
  const std::string_view unit = decimal.unit;
  if (kind.units.data() == kByteUnits && unit.ends_with('b')) {
    const std::string bytes = std::string(unit.substr(0, unit.size() - 1)) + "B";
    if (Names(kByteUnits, bytes)) {
      return fmt::format("{0} is bits; a size is in bytes: {1} {2} is 8 times {1} {0}", unit,
                         decimal.number, bytes);
    }
  }
  if (kind.units.data() == kByteUnits && Names(kRateUnits, unit)) {
    return fmt::format("{} is a rate; write a size such as {}", unit, kind.example);
  }
  if (kind.units.data() == kRateUnits && Names(kByteUnits, unit)) {
    return fmt::format("{0} is a size; write {1} {0}/s, or {1} {2}b/s for bits", unit,
                       decimal.number, unit.substr(0, unit.size() - 1));
  }
  std::vector<std::string> alike;
  for (const Unit& candidate : kind.units) {
    const std::string name = Lower(candidate.name);
    if (name == Lower(unit) || name == Lower(unit) + "/s") {
      alike.push_back(fmt::format("{} {}", decimal.number, candidate.name));
    }
  }
  if (!alike.empty() && alike.size() <= 4) {
    return fmt::format("did you mean {}?", fmt::join(alike, " or "));
  }
  return fmt::format("write {} such as {}", kind.noun, kind.example);
}

UnitError NotAQuantity(const Kind& kind, std::string_view text) {
  return {fmt::format("{} is not {}", Quoted(text), kind.noun),
          fmt::format("write a number and a unit, such as {}", kind.example)};
}

// The unit of a well-formed text, or why the text is not of this kind.
UnitResult<std::pair<Decimal, std::int64_t>> ReadQuantity(const Kind& kind, std::string_view text) {
  const std::string_view trimmed = Trim(text);
  if (trimmed.empty()) return std::unexpected(NotAQuantity(kind, text));
  if (trimmed.front() == '-') {
    return std::unexpected(UnitError{
        fmt::format("{} is negative", Quoted(trimmed)),
        fmt::format("{} is never negative; write one such as {}", kind.noun, kind.example)});
  }
  const std::optional<Decimal> decimal = SplitDecimal(trimmed);
  if (!decimal) return std::unexpected(NotAQuantity(kind, trimmed));
  if (decimal->unit.empty()) {
    return std::unexpected(
        UnitError{fmt::format("{} has no unit", Quoted(trimmed)),
                  fmt::format("write {} with its unit, such as {}", kind.noun, kind.example)});
  }
  const auto unit = std::ranges::find_if(
      kind.units, [&](const Unit& candidate) { return decimal->unit == candidate.name; });
  if (unit == kind.units.end()) {
    return std::unexpected(UnitError{fmt::format("{} is not {}", Quoted(trimmed), kind.noun),
                                     UnitHint(kind, *decimal)});
  }
  return std::pair(*decimal, unit->size);
}

UnitResult<std::int64_t> Whole(const Kind& kind, std::string_view text, const Scaled& scaled) {
  if (scaled.outcome == Scaling::kTooLarge) {
    return std::unexpected(UnitError{fmt::format("{} is too large", Quoted(text)),
                                     fmt::format("the limit is {}", kind.limit_text)});
  }
  if (scaled.outcome == Scaling::kNotWhole) {
    return std::unexpected(
        UnitError{fmt::format("{} is not a whole number of {}", Quoted(text), kind.base),
                  "write fewer digits after the point"});
  }
  return scaled.value;
}

UnitResult<std::int64_t> ParseWhole(const Kind& kind, std::string_view text) {
  const auto quantity = ReadQuantity(kind, text);
  if (!quantity) return std::unexpected(quantity.error());
  const auto& [decimal, unit] = *quantity;
  return Whole(kind, Trim(text), Scale(decimal, unit, kind.limit));
}

UnitError ZeroRate(const Kind& kind, std::string_view text) {
  return {fmt::format("{} is a rate of zero", Quoted(Trim(text))),
          fmt::format("write a rate above zero, such as {}", kind.example)};
}

// value / unit as a decimal without loss; `unit` is a power of ten.
std::string ExactDecimal(std::int64_t value, std::int64_t unit, const char* name) {
  const std::int64_t whole = value / unit;
  std::int64_t rest = value % unit;
  if (rest == 0) return fmt::format("{} {}", whole, name);
  std::string digits;
  for (std::int64_t place = unit / 10; rest != 0; place /= 10) {
    digits += static_cast<char>('0' + rest / place);
    rest %= place;
  }
  return fmt::format("{}.{} {}", whole, digits, name);
}

// Largest of `units` (ascending powers of ten) that is not above the value.
template <std::size_t N>
std::string WriteExact(std::int64_t value, const std::array<Unit, N>& units) {
  if (value < 0) return "-" + WriteExact(-value, units);
  std::size_t i = N - 1;
  while (i > 0 && value < units[i].size) --i;
  if (value == 0) i = N - 1;
  return ExactDecimal(value, units[i].size, units[i].name);
}

constexpr std::array<Unit, 5> kTimeWriters{
    {{"ps", 1}, {"ns", kK}, {"us", kM}, {"ms", kG}, {"s", kT}}};
constexpr std::array<Unit, 5> kRateWriters{
    {{"b/s", 1}, {"Kb/s", kK}, {"Mb/s", kM}, {"Gb/s", kG}, {"Tb/s", kT}}};
constexpr std::array<Unit, 6> kDecimalByteWriters{
    {{"B", 1}, {"KB", kK}, {"MB", kM}, {"GB", kG}, {"TB", kT}, {"PB", kP}}};
constexpr std::array<Unit, 6> kBinaryByteWriters{
    {{"B", 1}, {"KiB", kKi}, {"MiB", kMi}, {"GiB", kGi}, {"TiB", kTi}, {"PiB", kPi}}};

// The value as a whole number of the largest unit that divides it.
template <std::size_t N>
std::string WriteWhole(std::int64_t value, const std::array<Unit, N>& units) {
  std::size_t i = N - 1;
  while (i > 0 && value % units[i].size != 0) --i;
  return fmt::format("{} {}", value / units[i].size, units[i].name);
}

std::string Rounded(double value, int significant) {
  const int before = value < 1 ? 1 : static_cast<int>(std::floor(std::log10(value))) + 1;
  std::string text = fmt::format("{:.{}f}", value, std::max(0, significant - before));
  if (text.find('.') != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

// Rounds for people: the unit in which the rounded number lies in [1, step).
std::string WriteRounded(double value, double step, std::span<const char* const> names,
                         int significant) {
  if (value < 0) return "-" + WriteRounded(-value, step, names, significant);
  std::size_t i = 0;
  std::string text = Rounded(value, significant);
  for (; i + 1 < names.size() && std::strtod(text.c_str(), nullptr) >= step; ++i) {
    value /= step;
    text = Rounded(value, significant);
  }
  return fmt::format("{} {}", text, names[i]);
}

}  // namespace

Time Time::FromSeconds(double seconds) {
  TL_CHECK(seconds >= 0 && seconds <= Time::Horizon().seconds(), "seconds beyond the horizon",
           seconds);
  return Time(static_cast<std::int64_t>(std::ceil(seconds * 1e12)));
}

Time TransferTime(Bytes size, Rate rate) {
  TL_CHECK(rate > Rate() && size >= Bytes(), "no transfer takes place", size.count(),
           rate.bits_per_second());
  const auto work = static_cast<Uint128>(size.count()) * 8 * kT;
  const auto per_second = static_cast<Uint128>(rate.bits_per_second());
  const Uint128 ps = (work + per_second - 1) / per_second;
  TL_CHECK(ps <= static_cast<Uint128>(Time::Horizon().ps()), "a transfer outlasts the horizon",
           size.count(), rate.bits_per_second());
  return Time::Picoseconds(static_cast<std::int64_t>(ps));
}

UnitResult<Time> ParseTime(std::string_view text) {
  const auto ps = ParseWhole(kTime, text);
  if (!ps) return std::unexpected(ps.error());
  return Time::Picoseconds(*ps);
}

UnitResult<Bytes> ParseBytes(std::string_view text) {
  const auto count = ParseWhole(kBytes, text);
  if (!count) return std::unexpected(count.error());
  return Bytes(*count);
}

UnitResult<Rate> ParseRate(std::string_view text) {
  const auto bits = ParseWhole(kRate, text);
  if (!bits) return std::unexpected(bits.error());
  if (*bits == 0) return std::unexpected(ZeroRate(kRate, text));
  return Rate::BitsPerSecond(*bits);
}

UnitResult<FlopRate> ParseFlopRate(std::string_view text) {
  const auto quantity = ReadQuantity(kFlops, text);
  if (!quantity) return std::unexpected(quantity.error());
  const auto& [decimal, unit] = *quantity;
  const double value = static_cast<double>(decimal.digits) * std::pow(10.0, decimal.exponent) *
                       static_cast<double>(unit);
  if (value == 0) return std::unexpected(ZeroRate(kFlops, text));
  if (!(value <= kMaxFlopRate)) {
    return std::unexpected(
        UnitError{fmt::format("{} is too large", Quoted(Trim(text))), "the limit is 1e24 FLOP/s"});
  }
  return FlopRate(value);
}

UnitResult<Bytes> ParseNcclTestsSize(std::string_view text) {
  constexpr Unit kSuffixes[] = {{"", 1},    {"K", kKi}, {"M", kMi}, {"G", kGi}, {"T", kTi},
                                {"k", kKi}, {"m", kMi}, {"g", kGi}, {"t", kTi}};
  const std::string_view trimmed = Trim(text);
  const std::optional<Decimal> decimal = SplitDecimal(trimmed);
  const auto suffix = std::ranges::find_if(
      kSuffixes, [&](const Unit& unit) { return decimal && decimal->unit == unit.name; });
  if (suffix == std::end(kSuffixes)) {
    return std::unexpected(
        UnitError{fmt::format("{} is not a size", Quoted(trimmed)),
                  "write bytes as nccl-tests does: 8, 64K, 1M or 8G (powers of 1024)"});
  }
  const auto count = Whole(kBytes, trimmed, Scale(*decimal, suffix->size, kBytes.limit));
  if (!count) return std::unexpected(count.error());
  return Bytes(*count);
}

std::string ToString(Time time) { return WriteExact(time.ps(), kTimeWriters); }

std::string ToString(Bytes bytes) {
  const std::string binary = WriteWhole(bytes.count(), kBinaryByteWriters);
  const std::string decimal = WriteWhole(bytes.count(), kDecimalByteWriters);
  if (bytes.count() == 0) return "0 B";
  return binary.size() <= decimal.size() ? binary : decimal;
}

std::string ToString(Rate rate) { return WriteExact(rate.bits_per_second(), kRateWriters); }

std::string Humanize(Time time, int significant) {
  static constexpr const char* kNames[] = {"ps", "ns", "us", "ms", "s"};
  if (time == Time()) return "0 s";
  return WriteRounded(static_cast<double>(time.ps()), 1e3, kNames, significant);
}

std::string Humanize(Bytes bytes, int significant) {
  static constexpr const char* kNames[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  return WriteRounded(static_cast<double>(bytes.count()), 1024, kNames, significant);
}

std::string Humanize(Rate rate, int significant) {
  static constexpr const char* kNames[] = {"B/s", "KB/s", "MB/s", "GB/s", "TB/s", "PB/s"};
  return WriteRounded(rate.bytes_per_second(), 1e3, kNames, significant);
}

std::string Humanize(Flops flops, int significant) {
  static constexpr const char* kNames[] = {"FLOP",  "KFLOP", "MFLOP", "GFLOP",
                                           "TFLOP", "PFLOP", "EFLOP", "ZFLOP"};
  return WriteRounded(flops.count(), 1e3, kNames, significant);
}

std::string Humanize(FlopRate rate, int significant) {
  return Humanize(Flops(rate.per_second()), significant) + "/s";
}

}  // namespace trunkline
