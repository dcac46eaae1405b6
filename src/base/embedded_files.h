#pragma once

#include <cstddef>
#include <span>
#include <string_view>

// Files of data/ compiled into the binary by cmake/EmbedFiles.cmake.
namespace trunkline {

struct EmbeddedFile {
  const char* name;  // path below data/: "nodes/dgx-h100.yaml"
  const char* bytes;
  std::size_t size;

  [[nodiscard]] std::string_view text() const { return {bytes, size}; }
};

struct EmbeddedTable {
  std::span<const EmbeddedFile> files;

  // The file of that path below data/, or null.
  [[nodiscard]] const EmbeddedFile* Find(std::string_view name) const;
};

}  // namespace trunkline
