#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "trace/traffic_readers.h"

namespace trunkline {
namespace {

constexpr std::int64_t kPriorityGroups = 8;

class FlowListReader {
 public:
  explicit FlowListReader(WordReader& reader) : reader_(reader) {}

  TrafficWorkload Read();

 private:
  void ReadFlow();
  std::optional<std::uint32_t> ReadHost(const Word& word);
  std::optional<std::uint8_t> ReadGroup(const Word& word);
  void WarnOfRest(std::int64_t count);
  void NumberClasses();

  WordReader& reader_;
  TrafficWorkload traffic_;
  std::size_t fields_ = 0;  // of every line: 6 with a port, 5 without
  std::array<bool, kPriorityGroups> used_groups_{};
};

std::optional<std::uint32_t> FlowListReader::ReadHost(const Word& word) {
  const auto host = word.AsInteger();
  if (host && *host >= 0 && *host < kMostTraceHosts) return static_cast<std::uint32_t>(*host);
  reader_.Error(word, "TL1762", fmt::format("'{}' is not a host", word.text),
                fmt::format("hosts are 0 to {}", kMostTraceHosts - 1));
  return std::nullopt;
}

std::optional<std::uint8_t> FlowListReader::ReadGroup(const Word& word) {
  const auto group = word.AsInteger();
  if (group && *group >= 0 && *group < kPriorityGroups) {
    used_groups_[static_cast<std::size_t>(*group)] = true;
    return static_cast<std::uint8_t>(*group);
  }
  reader_.Error(word, "TL1760", fmt::format("'{}' is not a priority group", word.text),
                "0 to 7; the usual one is 3");
  return std::nullopt;
}

void FlowListReader::ReadFlow() {
  const auto words = reader_.words();
  if (fields_ == 0 && (words.size() == 5 || words.size() == 6)) fields_ = words.size();
  if (words.size() != fields_) {
    reader_.Error(std::min<std::size_t>(words.size(), 6), "TL1760",
                  fmt::format("a flow of {} fields", words.size()),
                  fields_ == 0 ? "source, destination, priority group, port (or none), bytes, start"
                               : fmt::format("{}, as the flows before", fields_));
    return;
  }
  const auto source = ReadHost(words[0]);
  const auto destination = ReadHost(words[1]);
  const auto group = ReadGroup(words[2]);
  const auto bytes = ReadSize(reader_, words[fields_ - 2]);
  const auto start =
      ReadMoment(reader_, words[fields_ - 1], Time::Picoseconds(1'000'000'000'000), "seconds");
  if (!source || !destination || !group || !bytes || !start) return;
  if (*source == *destination) {
    reader_.Error(words[1], "TL1762", fmt::format("host {} sends to itself", *source),
                  "two different hosts");
    return;
  }
  traffic_.ranks = std::max({traffic_.ranks, *source + 1, *destination + 1});
  TrafficFlow flow;
  flow.source = RankId(*source);
  flow.destination = RankId(*destination);
  flow.bytes = *bytes;
  flow.start = *start;
  flow.traffic_class = *group;
  traffic_.flows.push_back(flow);
}

// As in HPCC, whose own example ends with its documentation.
void FlowListReader::WarnOfRest(std::int64_t count) {
  Diagnostic warning =
      Warning("TL1766", fmt::format("{} flows are announced: nothing is read from here on", count),
              "mend the number in the first line if more are meant");
  warning.where = {reader_.file(), reader_.line(), 0};
  traffic_.warnings.push_back(std::move(warning));
}

// Groups that are used become classes 0, 1, …
void FlowListReader::NumberClasses() {
  std::array<std::uint8_t, kPriorityGroups> class_of_group{};
  std::uint8_t next = 0;
  for (std::size_t group = 0; group < used_groups_.size(); ++group) {
    if (used_groups_[group]) class_of_group[group] = next++;
  }
  for (TrafficFlow& flow : traffic_.flows) {
    flow.traffic_class = class_of_group[flow.traffic_class];
  }
}

TrafficWorkload FlowListReader::Read() {
  const Word first = reader_.words().front();
  const int first_line = reader_.line();
  const auto count = first.AsInteger();
  if (reader_.words().size() != 1 || !count || *count < 1 || *count > kMostTraceFlows) {
    reader_.Error(0U, "TL1761", "the first line is not the number of flows",
                  fmt::format("a number from 1 to {} alone", kMostTraceFlows));
    return {};
  }
  std::int64_t lines = 0;
  while (lines < *count && reader_.Next()) {
    ++lines;
    ReadFlow();
  }
  if (!reader_.failed() && lines != *count) {
    reader_.LineError(first_line, "TL1761",
                      fmt::format("{} flows are announced and {} follow", *count, lines),
                      fmt::format("write {} here, or check that the file is whole", lines));
  }
  if (reader_.Next()) WarnOfRest(*count);
  NumberClasses();
  traffic_.jobs.emplace_back("traffic");
  return std::move(traffic_);
}

}  // namespace

TrafficWorkload ReadFlowList(WordReader& reader) { return FlowListReader(reader).Read(); }

}  // namespace trunkline
