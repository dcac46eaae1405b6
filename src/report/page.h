#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "trunkline/base/diagnostics.h"

namespace trunkline {

// The report's page (web/) with documents of JSON in it, each by its id. TL1901 in a build without
// the page.
[[nodiscard]] Result<std::string> FillPage(
    std::initializer_list<std::pair<std::string_view, std::string>> documents);

}  // namespace trunkline
