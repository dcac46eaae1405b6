// YAML and JSON texts, read in full by every getter, after an override such as `--set` makes.
// The first line of the input is the override, the rest the document.
#include <string>

#include "base/yaml_reader.h"
#include "fuzz/fuzz.h"

namespace trunkline {
namespace {

void ReadMap(const YamlMap& map);

void ReadValue(const YamlValue& value) {
  if (value.is_map()) {
    ReadMap(*value.AsMap());
  } else if (value.is_list()) {
    const auto elements = value.AsList();
    for (const YamlValue& element : *elements) ReadValue(element);
  } else {
    std::string text;
    bool flag = false;
    std::int64_t integer = 1;
    double real = 1;
    Time time;
    Bytes bytes;
    Rate rate;
    FlopRate flop_rate;
    (void)value.Read(text);
    (void)value.Read(flag);
    (void)value.Read(time);
    (void)value.Read(bytes);
    (void)value.Read(rate);
    (void)value.Read(flop_rate);
    (void)value.Read(real, RealRange{.min = 0, .max = 1});
    Require(real >= 0 && real <= 1, "a number is read within its range or not at all");
    (void)value.Read(integer, IntRange{.min = 1, .max = 8});
    Require(integer >= 1 && integer <= 8, "an integer is read within its range or not at all");
  }
}

void ReadMap(const YamlMap& map) {
  int layers = 0;
  (void)map.Require("layers", layers);
  for (const auto& [key, value] : map.Entries()) ReadValue(value);
}

void ReadDocument(std::string_view assignment, std::string_view text, YamlStyle style) {
  auto document = YamlDocument::Parse(text, "input.yaml", style);
  if (!document) {
    RequireExplained(document.error());
    return;
  }
  document->Override(assignment, "--set 1");
  ReadMap(document->root());
  for (const Diagnostic& diagnostic : document->TakeDiagnostics()) RequireExplained({diagnostic});
}

}  // namespace
}  // namespace trunkline

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = trunkline::TextOf(data, size);
  const std::size_t end = text.find('\n');
  const std::string_view assignment = text.substr(0, end);
  const std::string_view document = end == std::string_view::npos ? "" : text.substr(end + 1);
  trunkline::ReadDocument(assignment, document, trunkline::YamlStyle::kOurs);
  trunkline::ReadDocument(assignment, document, trunkline::YamlStyle::kForeign);
  return 0;
}
