#include "trunkline/trace/traffic_file.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/word_reader.h"
#include "trace/traffic_readers.h"

namespace trunkline {
namespace {

constexpr std::array<std::pair<TrafficFormat, const char*>, 2> kFormats = {{
    {TrafficFormat::kConnectionMatrix, "htsim-cm"},
    {TrafficFormat::kFlowList, "flow-list"},
}};

std::unexpected<Diagnostics> AtFile(const std::string& file, std::string code, std::string message,
                                    std::string hint) {
  auto error = Error(std::move(code), std::move(message), std::move(hint));
  error.error().front().where.file = file;
  return error;
}

std::unexpected<Diagnostics> Unreadable(const std::string& file, const std::string& why) {
  return AtFile(file, "TL1101", "cannot be read: " + why, "check the path");
}

// By the first line with words: a keyword or `SRC->DST`, or the number of flows alone.
std::optional<TrafficFormat> FormatOf(std::span<const Word> words) {
  const std::string_view first = words.front().text;
  if (first.find("->") != std::string_view::npos) return TrafficFormat::kConnectionMatrix;
  for (const std::string_view keyword : {"Nodes", "Connections", "Triggers", "Failures"}) {
    if (first == keyword) return TrafficFormat::kConnectionMatrix;
  }
  if (words.size() == 1 && words.front().AsInteger()) return TrafficFormat::kFlowList;
  return std::nullopt;
}

Result<TrafficWorkload> ReadStream(std::istream& stream, const std::string& file,
                                   std::optional<TrafficFormat> format) {
  // gzip: RFC 1952, ID1.
  if (stream.peek() == 0x1f) {
    return AtFile(file, "TL1765", "this file is compressed", "run gunzip on a copy of it first");
  }
  WordReader reader(stream, file);
  if (!reader.Next()) {
    if (stream.bad()) return Unreadable(file, "is it a file?");
    if (!reader.failed()) reader.FileError("TL1765", "no flows", "is this the right file?");
    return std::unexpected(reader.TakeDiagnostics());
  }
  if (!format) format = FormatOf(reader.words());
  if (!format) {
    reader.Error(0U, "TL1765", "neither a connection matrix nor a list of flows",
                 "a .cm file begins with `Nodes N`, a flow.txt with the number of its flows");
    return std::unexpected(reader.TakeDiagnostics());
  }
  TrafficWorkload traffic = *format == TrafficFormat::kConnectionMatrix
                                ? ReadConnectionMatrix(reader)
                                : ReadFlowList(reader);
  if (stream.bad()) return Unreadable(file, "it ends too early");
  if (reader.failed()) return std::unexpected(reader.TakeDiagnostics());
  return traffic;
}

}  // namespace

const char* ToString(TrafficFormat format) {
  return kFormats[static_cast<std::size_t>(format)].second;
}

std::optional<TrafficFormat> ParseTrafficFormat(std::string_view text) {
  for (const auto& [format, name] : kFormats) {
    if (text == name) return format;
  }
  return std::nullopt;
}

Result<TrafficWorkload> ReadTrafficFile(const std::string& path,
                                        std::optional<TrafficFormat> format) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Unreadable(path, std::generic_category().message(errno));
  return ReadStream(stream, path, format);
}

Result<TrafficWorkload> ParseTraffic(std::string_view text, std::string file,
                                     std::optional<TrafficFormat> format) {
  std::istringstream stream{std::string(text)};
  return ReadStream(stream, file, format);
}

std::optional<Bytes> ReadSize(WordReader& reader, const Word& word) {
  const auto bytes = word.AsInteger();
  if (bytes && *bytes > 0 && *bytes <= kLargestTraceFlow) return Bytes(*bytes);
  reader.Error(word, "TL1760",
               bytes == 0 ? "a size of 0, which htsim takes for a flow without end"
                          : fmt::format("'{}' is not a size", word.text),
               "whole bytes, from 1 to 2^40");
  return std::nullopt;
}

std::optional<Time> ReadMoment(WordReader& reader, const Word& word, Time unit,
                               const char* unit_name) {
  const auto number = word.AsReal();
  const double ps = number.value_or(-1) * static_cast<double>(unit.ps());
  if (ps >= 0 && ps <= static_cast<double>(Time::Horizon().ps())) {
    return Time::Picoseconds(std::llround(ps));
  }
  reader.Error(word, "TL1760", fmt::format("'{}' is not a start", word.text),
               fmt::format("{} from the beginning of the run, up to 100 days", unit_name));
  return std::nullopt;
}

}  // namespace trunkline
