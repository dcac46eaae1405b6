#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trunkline/base/diagnostics.h"
#include "trunkline/workload/traffic.h"

// Lists of messages in other tools' formats. Rank i is their host i; flow i of the workload is the
// file's i-th.
namespace trunkline {

//   kConnectionMatrix  htsim's `.cm`: `SRC->DST` lines with sizes, starts in picoseconds and
//                      triggers. Sizes that htsim cannot hold (2^31 and more) are read as written.
//   kFlowList          the `flow.txt` of HPCC's ns-3 (source, destination, priority group, port,
//                      bytes, start in seconds) and of ConWeave's (the same without the port).
//                      Priority groups become data classes, in ascending order.
enum class TrafficFormat : std::uint8_t { kConnectionMatrix, kFlowList };
[[nodiscard]] const char* ToString(TrafficFormat format);
[[nodiscard]] std::optional<TrafficFormat> ParseTrafficFormat(std::string_view text);

// Reads line by line; every flow of what is accepted starts sooner or later. Without `format`, what
// the first line holds decides.
//
// TL1101; TL1760 malformed, TL1761 counts, TL1762 hosts, TL1763 triggers and ids, TL1764 what
// nothing reads, TL1765 unknown format.
[[nodiscard]] Result<TrafficWorkload> ReadTrafficFile(const std::string& path,
                                                      std::optional<TrafficFormat> format = {});
[[nodiscard]] Result<TrafficWorkload> ParseTraffic(std::string_view text, std::string file,
                                                   std::optional<TrafficFormat> format = {});

}  // namespace trunkline
