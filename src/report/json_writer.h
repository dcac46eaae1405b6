#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "trunkline/base/units.h"

namespace trunkline {

// Writes one JSON document front to back. Unlike a document tree it prints times exactly, as
// decimals of integer picoseconds, and holds nothing but the text: traces are large.
//
// Containers down to `open_depth` put each element on a line of its own; deeper ones are closed up,
// so that a row of a table is a line.
class JsonWriter {
 public:
  explicit JsonWriter(int open_depth = 0) : open_depth_(open_depth) {}

  void BeginObject() { Begin('{'); }
  void EndObject() { End('}'); }
  void BeginArray() { Begin('['); }
  void EndArray() { End(']'); }
  // Names the value that follows.
  void Key(std::string_view key);

  void Null() { Raw("null"); }
  void Value(bool value) { Raw(value ? "true" : "false"); }
  void Value(int value) { Value(std::int64_t{value}); }
  void Value(std::int64_t value);
  void Value(std::uint32_t value) { Value(std::uint64_t{value}); }
  void Value(std::uint64_t value);
  // The shortest text that reads back as `value`; null when it is not finite.
  void Value(double value);
  // Invalid UTF-8 is replaced by U+FFFD.
  void Value(std::string_view value);
  void Value(const std::string& value) { Value(std::string_view(value)); }
  void Value(const char* value) { Value(std::string_view(value)); }
  void Value(Bytes value) { Value(value.count()); }
  // Seconds, exactly.
  void Value(Time value);
  // Null where there is none.
  template <typename T>
  void Value(const std::optional<T>& value) {
    if (value) {
      Value(*value);
    } else {
      Null();
    }
  }
  // A number that is already written in JSON's syntax.
  void Raw(std::string_view text);

  template <typename T>
  void Field(std::string_view key, const T& value) {
    Key(key);
    Value(value);
  }
  void NullField(std::string_view key) {
    Key(key);
    Null();
  }
  // An object whose fields `write()` writes.
  template <typename Write>
  void Object(Write write) {
    BeginObject();
    write();
    EndObject();
  }
  // An array of objects, of whose fields `write(item)` writes those of one.
  template <typename Items, typename Write>
  void Objects(Items&& items, Write write) {
    BeginArray();
    for (const auto& item : items) Object([&] { write(item); });
    EndArray();
  }
  // An array of plain values.
  template <typename Items>
  void Values(const Items& items) {
    BeginArray();
    for (const auto& item : items) Value(item);
    EndArray();
  }

  [[nodiscard]] std::string Take() && { return std::move(text_); }

 private:
  void Begin(char open);
  void End(char close);
  void Separate();
  void BreakLine();

  int open_depth_;
  int depth_ = 0;
  bool first_ = true;  // nothing written yet in the innermost container
  bool after_key_ = false;
  std::string text_;
};

// `time` as an exact decimal number, without trailing zeros.
[[nodiscard]] std::string ExactSeconds(Time time);
[[nodiscard]] std::string ExactMicroseconds(Time time);

}  // namespace trunkline
