#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/progress.h"
#include "trunkline/base/units.h"

// Typed, positioned reading of YAML and of JSON (which YAML contains).
//
// Getters never fail loudly: they leave the output as it was, note a diagnostic with
// file:line:column, and return false, so that one pass reports everything that is wrong:
//
//   auto document = YamlDocument::ReadFile(path, YamlStyle::kOurs);
//   if (!document) return std::unexpected(document.error());
//   YamlMap root = document->root();
//   root.Require("nodes", spec.nodes, {.min = 1, .max = 65'536});
//   root.Read("link", spec.link);                       // keeps its default when absent
//   if (auto fabric = root.Map("fabric")) { ... }
//   Diagnostics problems = document->TakeDiagnostics(); // unknown keys included
namespace trunkline {

namespace internal {
struct YamlTree;
}

enum class YamlStyle {
  kOurs,    // a key that nobody asks for is an error; a key without a value is an error
  kForeign  // a file that others define: unknown keys are ordinary, null means absent
};

// Bounds of a number, both inclusive.
struct IntRange {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};
struct RealRange {
  double min = std::numeric_limits<double>::lowest();
  double max = std::numeric_limits<double>::max();
};

// The words that a key accepts.
template <typename Enum>
using Words = std::vector<std::pair<std::string, Enum>>;

class YamlMap;

// One value of a document: a handle, valid while the document lives.
class YamlValue {
 public:
  [[nodiscard]] bool is_map() const;
  [[nodiscard]] bool is_list() const;
  [[nodiscard]] bool is_scalar() const;
  [[nodiscard]] bool is_null() const;
  [[nodiscard]] SourcePosition where() const;
  [[nodiscard]] std::string excerpt() const;      // the source line
  [[nodiscard]] std::size_t error_count() const;  // of the whole document, as YamlDocument's
  // The characters of a scalar as written, without quotes; empty for anything else.
  [[nodiscard]] const std::string& text() const;

  // Each notes a diagnostic and returns false when the value is of another type or out of range.
  bool Read(std::string& out) const;  // not empty
  bool Read(bool& out) const;         // true or false
  bool Read(std::int64_t& out, IntRange range = {}) const;
  bool Read(double& out, RealRange range = {}) const;
  bool Read(Time& out) const;
  bool Read(Bytes& out, Bytes min = Bytes(1)) const;
  bool Read(Rate& out) const;
  bool Read(FlopRate& out) const;
  template <std::integral Int>
    requires(!std::same_as<Int, bool> && !std::same_as<Int, std::int64_t>)
  bool Read(Int& out, IntRange range = {}) const;
  template <typename Enum>
  bool Read(Enum& out, const Words<Enum>& words) const;
  // A list of integers, not empty.
  bool Read(std::vector<std::int64_t>& out, IntRange range = {}) const;

  // Nothing, and a diagnostic, when the value is of another type.
  [[nodiscard]] std::optional<YamlMap> AsMap() const;
  [[nodiscard]] std::optional<std::vector<YamlValue>> AsList() const;

  // Notes a problem of this value, with its place and source line.
  void Error(std::string code, std::string message, std::string hint = "") const;
  void Warn(std::string code, std::string message, std::string hint = "") const;
  // Notes what another reader found: those without a place get that of this value.
  void Adopt(const Diagnostics& diagnostics) const;

 private:
  friend class YamlMap;
  friend class YamlDocument;
  YamlValue(internal::YamlTree* tree, std::uint32_t node) : tree_(tree), node_(node) {}

  // Position in `words`, or nothing with a diagnostic that lists them.
  [[nodiscard]] std::optional<std::size_t> FindWord(const std::vector<std::string>& words) const;
  bool Mistyped(std::string_view wanted) const;

  internal::YamlTree* tree_;
  std::uint32_t node_;
};

// A mapping. Every key that is asked for is known; in our own files every other one is an error.
class YamlMap {
 public:
  [[nodiscard]] SourcePosition where() const { return value_.where(); }
  // The value of `key`; nothing when absent.
  [[nodiscard]] std::optional<YamlValue> Find(std::string_view key) const;
  [[nodiscard]] bool Has(std::string_view key) const { return Find(key).has_value(); }
  // Every key with its value, in the order written; all become known.
  [[nodiscard]] std::vector<std::pair<std::string, YamlValue>> Entries() const;

  // Reads `key` as YamlValue::Read does with the same arguments: Read leaves `out` when the key is
  // absent, Require reports it. False unless `out` was set.
  template <typename T, typename... Constraints>
  bool Read(std::string_view key, T& out, const Constraints&... constraints) const {
    const std::optional<YamlValue> value = Find(key);
    return value && value->Read(out, constraints...);
  }
  template <typename T>
  bool Read(std::string_view key, T& out, IntRange range) const {
    const std::optional<YamlValue> value = Find(key);
    return value && value->Read(out, range);
  }
  template <typename T, typename... Constraints>
  bool Require(std::string_view key, T& out, const Constraints&... constraints) const {
    const std::optional<YamlValue> value = Required(key);
    return value && value->Read(out, constraints...);
  }
  template <typename T>
  bool Require(std::string_view key, T& out, IntRange range) const {
    const std::optional<YamlValue> value = Required(key);
    return value && value->Read(out, range);
  }

  // The mapping or list at `key`; nothing when absent or, with a diagnostic, of another type.
  [[nodiscard]] std::optional<YamlMap> Map(std::string_view key) const;
  [[nodiscard]] std::optional<std::vector<YamlValue>> List(std::string_view key) const;

  // The value of `key`, whose absence is an error.
  [[nodiscard]] std::optional<YamlValue> Required(std::string_view key) const;
  // Knows `key` but refuses it: its presence is an error with this code and text.
  void Refuse(std::string_view key, const std::string& code, const std::string& message,
              const std::string& hint = "") const;
  // Notes a problem of the mapping as a whole.
  void Error(std::string code, std::string message, std::string hint = "") const {
    value_.Error(std::move(code), std::move(message), std::move(hint));
  }

 private:
  friend class YamlValue;
  friend class YamlDocument;
  explicit YamlMap(YamlValue value) : value_(value) {}

  // A key that nobody has asked for and that is nearly `key`, which is absent; of other people's
  // files, as those in ours are errors themselves. Empty: none.
  [[nodiscard]] std::string Misspelt(std::string_view key) const;

  YamlValue value_;
};

// A parsed document whose root is a mapping; a list that others write has the key "". At most 16
// MiB, 64 levels and a million values; no anchors, aliases and tags, so that no input expands.
class YamlDocument {
 public:
  // Fails with TL1101 (cannot be read), TL1102 (syntax), TL1110 (aliases and tags), TL1111 (too
  // large or too deep).
  [[nodiscard]] static Result<YamlDocument> Parse(std::string_view text, std::string file,
                                                  YamlStyle style);
  [[nodiscard]] static Result<YamlDocument> ReadFile(const std::string& path, YamlStyle style);

  YamlDocument(YamlDocument&&) noexcept;
  YamlDocument& operator=(YamlDocument&&) noexcept;
  ~YamlDocument();

  [[nodiscard]] YamlMap root() const;

  // Sets `key.path=value` before anything is read; `value` is YAML. Elements of lists are named by
  // their index. Diagnostics about the new value name `label` ("--set 1") as their file.
  void Override(std::string_view assignment, const std::string& label) {
    Override(assignment, label, {assignment, 0});
  }
  // What the user wrote where that is not the assignment alone: as much more as stands before it,
  // or, with a `start` below 0, less by what we put before the value.
  struct Written {
    std::string_view line;
    int start = 0;  // of the assignment in `line`
  };
  void Override(std::string_view assignment, const std::string& label, const Written& written);

  // Errors noted so far, keys that nobody has asked for not among them.
  [[nodiscard]] std::size_t error_count() const;
  // Everything noted so far, with the keys that nobody asked for; warnings included. Call it once,
  // when all has been read.
  [[nodiscard]] Diagnostics TakeDiagnostics();

 private:
  explicit YamlDocument(std::unique_ptr<internal::YamlTree> tree);
  std::unique_ptr<internal::YamlTree> tree_;
};

inline constexpr std::size_t kMostTextBytes = std::size_t{16} << 20;

// The bytes of a file of at most `most`, or of a pipe until its writers have closed it; waiting for
// them is told to `progress` and ends when `stop` asks for it. TL1101, TL1111.
[[nodiscard]] Result<std::string> ReadTextFile(const std::string& path,
                                               std::size_t most = kMostTextBytes,
                                               ProgressSink* progress = nullptr,
                                               const StopToken* stop = nullptr);

[[nodiscard]] bool HasErrors(const Diagnostics& diagnostics);

template <std::integral Int>
  requires(!std::same_as<Int, bool> && !std::same_as<Int, std::int64_t>)
bool YamlValue::Read(Int& out, IntRange range) const {
  if (std::in_range<Int>(range.min) == false) {
    range.min = static_cast<std::int64_t>(std::numeric_limits<Int>::min());
  }
  if (std::in_range<Int>(range.max) == false) {
    range.max = static_cast<std::int64_t>(std::numeric_limits<Int>::max());
  }
  std::int64_t wide = 0;
  if (!Read(wide, range)) return false;
  out = static_cast<Int>(wide);
  return true;
}

template <typename Enum>
bool YamlValue::Read(Enum& out, const Words<Enum>& words) const {
  std::vector<std::string> names;
  for (const auto& [name, value] : words) names.push_back(name);
  const std::optional<std::size_t> index = FindWord(names);
  if (!index) return false;
  out = words[*index].second;
  return true;
}

}  // namespace trunkline
