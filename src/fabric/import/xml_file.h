#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "trunkline/base/diagnostics.h"

namespace trunkline {

// A parsed XML text, whose problems are noted with their places.
class XmlFile {
 public:
  // TL1451 when it is no XML, with the place.
  [[nodiscard]] static Result<XmlFile> Parse(std::string_view text, const std::string& file);

  [[nodiscard]] pugi::xml_node root() const { return document_.document_element(); }
  void Error(pugi::xml_node node, std::string code, std::string message, std::string hint) {
    Error(node, "", std::move(code), std::move(message), std::move(hint));
  }
  // At the value of an attribute; at the element where it has none of that name.
  void Error(pugi::xml_node node, std::string_view attribute, std::string code, std::string message,
             std::string hint);
  [[nodiscard]] bool failed() const { return !problems_.empty(); }
  [[nodiscard]] Diagnostics TakeDiagnostics() { return std::move(problems_); }

 private:
  XmlFile(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}
  [[nodiscard]] Diagnostic At(std::ptrdiff_t offset) const;
  [[nodiscard]] std::ptrdiff_t OffsetOf(pugi::xml_node node, std::string_view attribute) const;

  std::string_view text_;
  std::string file_;
  pugi::xml_document document_;
  Diagnostics problems_;
};

}  // namespace trunkline
