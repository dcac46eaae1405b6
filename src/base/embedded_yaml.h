#pragma once

#include <string_view>

#include "base/embedded_files.h"
#include "base/yaml_reader.h"

// Our own data files, read with the readers of users' files. A mistake in one is a broken
// invariant.
namespace trunkline {

// REQUIRES: `table` holds a YAML mapping of that path below data/.
[[nodiscard]] YamlDocument OpenEmbedded(const EmbeddedTable& table, std::string_view name);

// REQUIRES: nothing in the document was wrong, and every key has been asked for.
void CloseEmbedded(YamlDocument& document);

}  // namespace trunkline
