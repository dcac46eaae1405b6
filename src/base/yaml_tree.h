#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/yaml_reader.h"
#include "trunkline/base/diagnostics.h"

namespace trunkline::internal {

inline constexpr std::size_t kMaxDepth = 64;
inline constexpr std::size_t kMaxNodes = 1'000'000;
// What a file can be wrong in is shown up to here; the rest is counted.
inline constexpr std::size_t kMaxDiagnostics = 40;

struct YamlNode {
  enum class Kind : std::uint8_t { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  bool quoted = false;  // a scalar written in quotes or as a block: text, never a number
  bool asked = false;   // a key that a getter named
  bool read = false;    // a mapping that a getter opened
  std::uint32_t source = 0;
  std::int32_t line = 0;                // 1-based
  std::int32_t column = 0;              // 1-based
  std::string text;                     // scalars
  std::vector<std::uint32_t> children;  // lists: elements; maps: key, value, key, value, …
};

// A document as a pool of nodes; what YamlDocument hides.
struct YamlTree {
  struct Source {
    std::string name;
    std::vector<std::string> lines;
    int column_offset = 0;  // of the text in what the user wrote: after "key.path="
  };

  YamlStyle style = YamlStyle::kOurs;
  std::vector<Source> sources;
  std::vector<YamlNode> nodes;
  std::uint32_t root = 0;
  Diagnostics diagnostics;
  std::size_t suppressed = 0;
  bool incomplete = false;  // lacks what was to be set: keys that nobody asked for are no news
  // Keys that getters asked of a mapping, present or not.
  std::unordered_map<std::uint32_t, std::vector<std::string>> known;

  // Nothing more will be shown.
  [[nodiscard]] bool full() const { return diagnostics.size() >= kMaxDiagnostics; }

  [[nodiscard]] SourcePosition Where(std::uint32_t node) const;
  [[nodiscard]] std::string Excerpt(const SourcePosition& where, std::uint32_t source) const;
  void Note(Severity severity, std::uint32_t node, std::string code, std::string message,
            std::string hint);
  [[nodiscard]] std::size_t error_count() const;
  // Index of the value of `key` in map `node`'s children, or nothing.
  [[nodiscard]] std::optional<std::size_t> FindKey(std::uint32_t node, std::string_view key) const;
};

// Appends the nodes of `text` to the tree as a new source and returns the root of it, or the reason
// why it is no document.
Result<std::uint32_t> ParseInto(YamlTree& tree, std::string_view text, const std::string& name,
                                int column_offset);

}  // namespace trunkline::internal
