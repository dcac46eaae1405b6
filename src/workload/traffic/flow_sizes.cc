#include "trunkline/workload/flow_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "base/embedded_files.h"
#include "base/word_reader.h"
#include "base/yaml_reader.h"
#include "trunkline/base/check.h"

namespace trunkline {

// Generated from data/flow_sizes.
extern const EmbeddedTable k_trunkline_workload_data_flow_sizes;

namespace {

constexpr std::int64_t kLargestFlow = std::int64_t{1} << 50;  // 1 PiB
constexpr std::string_view kFolder = "flow_sizes/";
constexpr std::string_view kExtension = ".cdf";

std::string NameOf(const EmbeddedFile& file) {
  const std::string_view name = file.name;
  return std::string(name.substr(kFolder.size(), name.size() - kFolder.size() - kExtension.size()));
}

// The first line of a built-in file is a comment that says what it holds.
std::string SummaryOf(const EmbeddedFile& file) {
  const std::string_view first = file.text().substr(0, file.text().find('\n'));
  TL_CHECK(first.starts_with("# "), "a flow size file begins with its summary", file.name);
  return std::string(first.substr(2));
}

double MeanOf(const std::vector<FlowSizes::Point>& points) {
  double mean = 0;
  FlowSizes::Point last;
  for (const FlowSizes::Point& point : points) {
    mean +=
        (point.share - last.share) * static_cast<double>((last.bytes + point.bytes).count()) / 2;
    last = point;
  }
  return mean;
}

void ReadPoint(WordReader& reader, std::vector<FlowSizes::Point>& points) {
  const auto words = reader.words();
  if (words.size() != 2) {
    reader.Error(2, "TL1755", fmt::format("a line of {} words", words.size()),
                 "write a size in bytes and a percentage, such as `4000 22.9`");
    return;
  }
  const auto bytes = words[0].AsReal();
  if (!bytes || *bytes < 0 || *bytes > static_cast<double>(kLargestFlow)) {
    reader.Error(words[0], "TL1755", fmt::format("'{}' is not a size in bytes", words[0].text),
                 "a number from 0 to 2^50");
    return;
  }
  const auto percent = words[1].AsReal();
  if (!percent || *percent < 0 || *percent > 100) {
    reader.Error(words[1], "TL1755", fmt::format("'{}' is not a percentage", words[1].text),
                 "the percentage of messages that are at most as large, from 0 to 100");
    return;
  }
  const FlowSizes::Point point{Bytes(std::llround(*bytes)), *percent / 100};
  if (point.bytes == Bytes(0) && point.share > 0) {
    reader.Error(words[1], "TL1755", fmt::format("{} % of the messages are of 0 bytes", *percent),
                 "begin with `0 0`, or give them a size");
  } else if (!points.empty() && point.bytes <= points.back().bytes) {
    reader.Error(words[0], "TL1755",
                 fmt::format("{} does not follow {}: sizes rise", point.bytes.count(),
                             points.back().bytes.count()),
                 "sort the lines and merge those of one size");
  } else if (!points.empty() && point.share < points.back().share) {
    reader.Error(words[1], "TL1755",
                 fmt::format("{} % follows {} %: a cumulative share cannot fall", *percent,
                             points.back().share * 100),
                 "each line counts all messages up to its size");
  } else {
    points.push_back(point);
  }
}

}  // namespace

FlowSizes FlowSizes::Fixed(Bytes bytes) {
  FlowSizes sizes;
  sizes.name_ = ToString(bytes);
  sizes.points_ = {{bytes, 1}};
  sizes.mean_ = static_cast<double>(bytes.count());
  return sizes;
}

FlowSizes FlowSizes::Distribution(std::string name, std::vector<Point> points) {
  TL_CHECK(!points.empty() && points.back().share == 1, "a distribution that does not end at 1");
  FlowSizes sizes;
  sizes.name_ = std::move(name);
  // A first point above 0 % stands for that many messages of exactly its size.
  if (points.front().share > 0) points.insert(points.begin(), {points.front().bytes, 0});
  sizes.mean_ = MeanOf(points);
  sizes.points_ = std::move(points);
  return sizes;
}

Bytes FlowSizes::Quantile(double u) const {
  if (points_.size() == 1) return points_.front().bytes;
  const auto above = std::ranges::upper_bound(points_, u, {}, &Point::share);
  TL_CHECK(above != points_.begin() && above != points_.end(), "no quantile of", u);
  const Point& low = *(above - 1);
  const double within = (u - low.share) / (above->share - low.share);
  const auto width = static_cast<double>((above->bytes - low.bytes).count());
  return std::max(Bytes(1), low.bytes + Bytes(std::llround(within * width)));
}

std::vector<FlowSizesInfo> FlowSizeCatalog() {
  std::vector<FlowSizesInfo> catalog;
  for (const EmbeddedFile& file : k_trunkline_workload_data_flow_sizes.files) {
    catalog.push_back({NameOf(file), SummaryOf(file)});
  }
  return catalog;
}

Result<FlowSizes> ParseFlowSizes(std::string_view text, std::string file) {
  std::istringstream stream{std::string(text)};
  WordReader reader(stream, file);
  std::vector<FlowSizes::Point> points;
  while (reader.Next()) ReadPoint(reader, points);
  if (!reader.failed() && points.empty()) {
    reader.FileError("TL1755", "no sizes", "write lines `SIZE PERCENT`, such as `4000 22.9`");
  } else if (!reader.failed() && points.back().share != 1) {
    const double last = points.back().share * 100;
    reader.FileError("TL1755", fmt::format("the last percentage is {}, not 100", last),
                     last == 1 ? "these look like shares: multiply them by 100"
                               : "add the size of the largest messages with 100");
  }
  if (reader.failed()) return std::unexpected(reader.TakeDiagnostics());
  return FlowSizes::Distribution(std::move(file), std::move(points));
}

Result<FlowSizes> FindFlowSizes(std::string_view name) {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : k_trunkline_workload_data_flow_sizes.files) {
    names.push_back(NameOf(file));
    if (names.back() == name) return ParseFlowSizes(file.text(), names.back());
  }
  if (name.find_first_of("/.") == std::string_view::npos) {
    const std::string close = ClosestMatch(name, names);
    return Error("TL1756", fmt::format("unknown distribution of sizes '{}'", name),
                 close.empty() ? fmt::format("one of {}, or the path of a file with lines "
                                             "`SIZE PERCENT`, such as ./sizes.txt",
                                             fmt::join(names, ", "))
                               : fmt::format("did you mean '{}'?", close));
  }
  const auto text = ReadTextFile(std::string(name));
  if (!text) return std::unexpected(text.error());
  return ParseFlowSizes(*text, std::string(name));
}

}  // namespace trunkline
