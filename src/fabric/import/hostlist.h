#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trunkline {

// The names of a Slurm host list: `srv[1101-1108,1110],login` is ten. Nothing where a bracket is
// left open, a range runs backwards, or there are more than 2^18 names.
[[nodiscard]] std::optional<std::vector<std::string>> ExpandHostlist(std::string_view text);

}  // namespace trunkline
