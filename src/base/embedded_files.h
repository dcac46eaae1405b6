#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Files of data/ compiled into the binary by cmake/EmbedFiles.cmake.
namespace trunkline {

inline constexpr std::string_view kYaml = ".yaml";

struct EmbeddedFile {
  const char* name;  // path below data/: "nodes/dgx-h100.yaml"
  const char* bytes;
  std::size_t size;

  [[nodiscard]] std::string_view text() const { return {bytes, size}; }
  // Without its folder and ending: "dgx-h100".
  [[nodiscard]] std::string stem() const;
};

struct EmbeddedTable {
  std::span<const EmbeddedFile> files;

  // The file of that path below data/, or null.
  [[nodiscard]] const EmbeddedFile* Find(std::string_view name) const;
  // Of all files, in their order.
  [[nodiscard]] std::vector<std::string> stems() const;
};

}  // namespace trunkline
