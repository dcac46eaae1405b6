#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <vector>

#include "trunkline/fabric/catalog.h"

namespace trunkline {

// The NIC of each GPU, or the index of the first GPU that reaches none.
[[nodiscard]] std::expected<std::vector<std::uint32_t>, std::size_t> NicsOf(
    const NodeTemplate& node);

// The same server with so many NICs cabled: of a server of GPUs so many of its own, spread evenly
// over them, the other NICs left out; of a plain host so many, each a rank of its own, as in files
// that draw no GPUs. TL1405: it has fewer, or a GPU reaches none of those left.
[[nodiscard]] Result<NodeTemplate> WithSoManyNics(NodeTemplate node, std::uint32_t nics);

}  // namespace trunkline
