#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trunkline {

// `text` of hostile inputs for a terminal: '?' for every byte of what a terminal would obey or
// cannot show, which are control characters, marks that turn the direction of writing or have no
// width, and what is not UTF-8. A tab is a space. The number of bytes stays.
[[nodiscard]] std::string Printable(std::string_view text);

// How many bytes of `text`, from its start, are UTF-8; all of them where it is.
[[nodiscard]] std::size_t ValidUtf8(std::string_view text);

}  // namespace trunkline
