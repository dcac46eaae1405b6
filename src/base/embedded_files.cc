#include "base/embedded_files.h"

#include <algorithm>

namespace trunkline {

const EmbeddedFile* EmbeddedTable::Find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(files, [name](const EmbeddedFile& file) { return file.name == name; });
  return found == files.end() ? nullptr : &*found;
}

}  // namespace trunkline
