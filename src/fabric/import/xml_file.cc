#include "fabric/import/xml_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trunkline {

Diagnostic XmlFile::At(std::ptrdiff_t offset) const {
  const std::size_t at =
      std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)), text_.size());
  const std::string_view before = text_.substr(0, at);
  const std::size_t line_begin = before.rfind('\n') + 1;  // 0 when npos
  Diagnostic diagnostic;
  diagnostic.where = {file_, static_cast<int>(std::ranges::count(before, '\n')) + 1,
                      static_cast<int>(at - line_begin) + 1};
  const std::string_view line = text_.substr(line_begin);
  diagnostic.excerpt = line.substr(0, std::min(line.find('\n'), std::size_t{4096}));
  return diagnostic;
}

// The parser keeps no places of attributes: they are looked for behind the element's name.
std::ptrdiff_t XmlFile::OffsetOf(pugi::xml_node node, std::string_view attribute) const {
  const std::ptrdiff_t element = node.offset_debug();
  if (element < 0 || attribute.empty()) return element;
  constexpr std::string_view kBlank = " \t\r\n";
  std::size_t at = text_.find_first_of(" \t\r\n/>", static_cast<std::size_t>(element));
  while (true) {
    const std::size_t name = text_.find_first_not_of(kBlank, at);
    if (name == std::string_view::npos || text_[name] == '>' || text_[name] == '/') return element;
    const std::size_t end = text_.find_first_of(" \t\r\n=", name);
    const std::size_t open = text_.find_first_of("\"'", end);
    if (open == std::string_view::npos) return element;
    if (text_.substr(name, end - name) == attribute) return static_cast<std::ptrdiff_t>(open) + 1;
    at = text_.find(text_[open], open + 1);
    if (at == std::string_view::npos) return element;
    ++at;
  }
}

void XmlFile::Error(pugi::xml_node node, std::string_view attribute, std::string code,
                    std::string message, std::string hint) {
  Diagnostic problem = At(OffsetOf(node, attribute));
  problem.code = std::move(code);
  problem.message = std::move(message);
  problem.hint = std::move(hint);
  problems_.push_back(std::move(problem));
}

Result<XmlFile> XmlFile::Parse(std::string_view text, const std::string& file) {
  XmlFile xml(text, file);
  // The parser passes over text in front of the first element.
  const std::size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first == std::string_view::npos || text[first] != '<') {
    Diagnostic problem =
        xml.At(first == std::string_view::npos ? 0 : static_cast<std::ptrdiff_t>(first));
    problem.code = "TL1451";
    problem.message = "no XML: it does not begin with '<'";
    problem.hint = "is this the right file?";
    return std::unexpected(Diagnostics{std::move(problem)});
  }
  const pugi::xml_parse_result parsed = xml.document_.load_buffer(
      text.data(), text.size(), pugi::parse_default | pugi::parse_fragment);
  if (!parsed || !xml.root()) {
    Diagnostic problem = xml.At(parsed.offset);
    problem.code = "TL1451";
    problem.message = fmt::format("no XML: {}", parsed ? "no element" : parsed.description());
    problem.hint = "is the file complete?";
    return std::unexpected(Diagnostics{std::move(problem)});
  }
  for (const pugi::xml_node node : xml.document_.children()) {
    const bool said = node.type() == pugi::node_element || node.type() == pugi::node_pcdata;
    if (!said || node == xml.root()) continue;
    const std::size_t at =
        text.find_first_not_of(" \t\r\n", static_cast<std::size_t>(node.offset_debug()));
    Diagnostic problem = xml.At(static_cast<std::ptrdiff_t>(at));
    problem.code = "TL1451";
    problem.message = fmt::format("text outside of <{}>", xml.root().name());
    problem.hint = "a file is one element: leave out what is in front of it and behind it";
    return std::unexpected(Diagnostics{std::move(problem)});
  }
  return xml;
}

}  // namespace trunkline
