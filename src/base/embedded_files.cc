#include "base/embedded_files.h"

#include <algorithm>
#include <filesystem>

namespace trunkline {

std::string EmbeddedFile::stem() const { return std::filesystem::path(name).stem().string(); }

const EmbeddedFile* EmbeddedTable::Find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(files, [name](const EmbeddedFile& file) { return file.name == name; });
  return found == files.end() ? nullptr : &*found;
}

std::vector<std::string> EmbeddedTable::stems() const {
  std::vector<std::string> stems;
  for (const EmbeddedFile& file : files) stems.push_back(file.stem());
  return stems;
}

}  // namespace trunkline
