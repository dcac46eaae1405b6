#include "base/embedded_yaml.h"

#include <string>

#include "trunkline/base/check.h"

namespace trunkline {

YamlDocument OpenEmbedded(const EmbeddedTable& table, std::string_view name) {
  const EmbeddedFile* file = table.Find(name);
  TL_CHECK(file != nullptr, "no embedded file", name);
  auto document = YamlDocument::Parse(file->text(), std::string(name), YamlStyle::kOurs);
  TL_CHECK(document.has_value(), Format(document.error().front()));
  return std::move(*document);
}

void CloseEmbedded(YamlDocument& document) {
  const Diagnostics problems = document.TakeDiagnostics();
  TL_CHECK(problems.empty(), Format(problems.front()));
}

}  // namespace trunkline
