#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/traffic_readers.h"
#include "workload/traffic/reachability.h"

namespace trunkline {
namespace {

// Header lines, each a keyword and a number.
enum Header : std::uint8_t { kNodes, kConnections, kTriggers, kFailures, kHeaderCount };
constexpr std::array<std::string_view, kHeaderCount> kHeaders = {"Nodes", "Connections", "Triggers",
                                                                 "Failures"};

// What a flow line says after `SRC->DST`, each a keyword and a value.
enum FlowKey : std::uint8_t {
  kId,
  kStart,
  kSize,
  kTrigger,
  kSendDone,
  kReceiveDone,
  kFlowKeyCount
};
constexpr std::array<std::string_view, kFlowKeyCount> kFlowKeys = {
    "id", "start", "size", "trigger", "send_done_trigger", "recv_done_trigger"};

class ConnectionMatrixReader {
 public:
  explicit ConnectionMatrixReader(WordReader& reader) : reader_(reader) {}

  TrafficWorkload Read();

 private:
  struct Count {
    int line = 0;  // 0: not given
    std::int64_t value = 0;
  };
  struct FlowId {
    std::uint32_t id = 0;
    int line = 0;
  };
  using FlowWords = std::array<std::optional<Word>, kFlowKeyCount>;

  void ReadLine();
  bool ReadHeader();
  void ReadFlow();
  std::optional<std::pair<RankId, RankId>> ReadEnds(const Word& word);
  std::optional<FlowWords> SplitKeys();
  void ReadTrigger();
  std::optional<std::uint32_t> ReadId(const Word& word);
  // The number of the trigger of that id, which may be described later.
  std::uint32_t TriggerOf(std::uint32_t id);
  std::optional<std::uint32_t> ReadReference(const std::optional<Word>& word);
  void CheckCount(Header header, std::int64_t found, const char* what);
  void CheckIds();
  void CheckTriggers();
  void CheckStarts();

  WordReader& reader_;
  TrafficWorkload traffic_;
  std::array<Count, kHeaderCount> counts_;
  std::int64_t flow_lines_ = 0;
  std::int64_t trigger_lines_ = 0;
  std::vector<FlowId> ids_;
  std::vector<int> line_of_flow_;
  std::unordered_map<std::uint32_t, std::uint32_t> trigger_of_id_;
  std::vector<std::uint32_t> id_of_trigger_;
  std::vector<int> defined_at_;      // by trigger: its line; 0: not yet
  std::vector<int> first_named_at_;  // by trigger: the line that first named it
};

std::optional<std::uint32_t> ConnectionMatrixReader::ReadId(const Word& word) {
  const auto id = word.AsInteger();
  if (id && *id > 0 && *id < UINT32_MAX) return static_cast<std::uint32_t>(*id);
  reader_.Error(word, "TL1760", fmt::format("'{}' is not an id", word.text),
                "a whole number from 1 to 2^32 - 2");
  return std::nullopt;
}

std::uint32_t ConnectionMatrixReader::TriggerOf(std::uint32_t id) {
  const auto next = static_cast<std::uint32_t>(traffic_.triggers.size());
  const auto [entry, is_new] = trigger_of_id_.try_emplace(id, next);
  if (is_new) {
    traffic_.triggers.emplace_back();
    id_of_trigger_.push_back(id);
    defined_at_.push_back(0);
    first_named_at_.push_back(reader_.line());
  }
  return entry->second;
}

std::optional<std::uint32_t> ConnectionMatrixReader::ReadReference(
    const std::optional<Word>& word) {
  if (!word) return TrafficFlow::kNoTrigger;
  const auto id = ReadId(*word);
  if (!id) return std::nullopt;
  return TriggerOf(*id);
}

bool ConnectionMatrixReader::ReadHeader() {
  const auto words = reader_.words();
  const auto known = std::ranges::find(kHeaders, words[0].text);
  if (known == kHeaders.end()) return false;
  Count& count = counts_[static_cast<std::size_t>(known - kHeaders.begin())];
  const std::int64_t value = words.size() == 2 ? words[1].AsInteger().value_or(-1) : -1;
  const std::int64_t most = *known == "Nodes" ? kMostTraceHosts : kMostTraceFlows;
  if (count.line != 0) {
    reader_.Error(words[0], "TL1761",
                  fmt::format("{} is given twice, first in line {}", *known, count.line),
                  "keep one of them");
  } else if (value < 0 || value > most) {
    reader_.Error(1U, "TL1760", fmt::format("{} without a number", *known),
                  fmt::format("write `{} N`, N from 0 to {}", *known, most));
    count = {reader_.line(), -1};
  } else {
    count = {reader_.line(), value};
  }
  return true;
}

std::optional<std::pair<RankId, RankId>> ConnectionMatrixReader::ReadEnds(const Word& word) {
  const std::size_t arrow = word.text.find("->");
  const Word source{word.text.substr(0, arrow), word.column};
  const Word destination{word.text.substr(arrow + 2), word.column + static_cast<int>(arrow) + 2};
  std::array<std::int64_t, 2> hosts{};
  for (const auto& [index, end] : {std::pair{0U, source}, std::pair{1U, destination}}) {
    const auto host = end.AsInteger();
    const std::int64_t nodes = counts_[kNodes].value;
    if (!host || *host < 0 || *host >= nodes) {
      reader_.Error(end, "TL1762", fmt::format("'{}' is not one of {} hosts", end.text, nodes),
                    nodes == 0 ? "say `Nodes N` before the flows"
                               : fmt::format("hosts are 0 to {}", nodes - 1));
      return std::nullopt;
    }
    hosts[index] = *host;
  }
  if (hosts[0] == hosts[1]) {
    reader_.Error(destination, "TL1762", fmt::format("host {} sends to itself", hosts[0]),
                  "two different hosts");
    return std::nullopt;
  }
  return std::pair{RankId(hosts[0]), RankId(hosts[1])};
}

// The value of each key of a flow line.
std::optional<ConnectionMatrixReader::FlowWords> ConnectionMatrixReader::SplitKeys() {
  const auto words = reader_.words();
  FlowWords values;
  for (std::size_t i = 1; i < words.size(); i += 2) {
    const auto known = std::ranges::find(kFlowKeys, words[i].text);
    if (known == kFlowKeys.end()) {
      reader_.Error(words[i], "TL1764", fmt::format("nothing reads '{}' of a flow", words[i].text),
                    fmt::format("known: {}", fmt::join(kFlowKeys, ", ")));
      return std::nullopt;
    }
    if (i + 1 == words.size()) {
      reader_.Error(i + 1, "TL1760", fmt::format("{} without a value", *known), "add it");
      return std::nullopt;
    }
    std::optional<Word>& value = values[static_cast<std::size_t>(known - kFlowKeys.begin())];
    if (value) {
      reader_.Error(words[i], "TL1760", fmt::format("{} is given twice", *known),
                    "keep one of them");
      return std::nullopt;
    }
    value = words[i + 1];
  }
  return values;
}

void ConnectionMatrixReader::ReadFlow() {
  ++flow_lines_;
  const auto ends = ReadEnds(reader_.words()[0]);
  const auto values = SplitKeys();
  if (!ends || !values) return;
  TrafficFlow flow;
  flow.source = ends->first;
  flow.destination = ends->second;
  if (!(*values)[kSize]) {
    reader_.Error(reader_.words().size(), "TL1760", "a flow without a size", "add `size BYTES`");
    return;
  }
  if ((*values)[kStart].has_value() == (*values)[kTrigger].has_value()) {
    reader_.Error(reader_.words().size(), "TL1763",
                  (*values)[kStart] ? "a flow with a start and a trigger, which contradict"
                                    : "a flow with neither a start nor a trigger",
                  "give one of `start PICOSECONDS` and `trigger ID`");
    return;
  }
  if ((*values)[kTrigger] && !(*values)[kId]) {
    reader_.Error(reader_.words().size(), "TL1763", "a flow with a trigger but without an id",
                  "add `id N`");
    return;
  }
  const auto bytes = ReadSize(reader_, *(*values)[kSize]);
  const auto start = (*values)[kStart] ? ReadMoment(reader_, *(*values)[kStart],
                                                    Time::Picoseconds(1), "picoseconds")
                                       : Time();
  const auto id = (*values)[kId] ? ReadId(*(*values)[kId]) : 0U;
  const auto trigger = ReadReference((*values)[kTrigger]);
  const auto when_sent = ReadReference((*values)[kSendDone]);
  const auto when_received = ReadReference((*values)[kReceiveDone]);
  if (!bytes || !start || !id || !trigger || !when_sent || !when_received) return;
  flow.bytes = *bytes;
  flow.start = *start;
  flow.trigger = *trigger;
  flow.when_sent = *when_sent;
  flow.when_received = *when_received;
  if (*id != 0) ids_.push_back({*id, reader_.line()});
  const auto index = static_cast<std::uint32_t>(traffic_.flows.size());
  if (flow.trigger != TrafficFlow::kNoTrigger)
    traffic_.triggers[flow.trigger].flows.push_back(index);
  traffic_.flows.push_back(flow);
  line_of_flow_.push_back(reader_.line());
}

void ConnectionMatrixReader::ReadTrigger() {
  ++trigger_lines_;
  const auto words = reader_.words();
  if (words.size() < 4 || words[1].text != "id") {
    reader_.Error(1U, "TL1760", "a trigger that is not described",
                  "write `trigger id N` and oneshot, multishot or `barrier count N`");
    return;
  }
  const auto id = ReadId(words[2]);
  if (!id) return;
  TrafficTrigger::Kind kind{};
  if (words[3].text == "oneshot") {
    kind = TrafficTrigger::Kind::kOneShot;
  } else if (words[3].text == "multishot") {
    kind = TrafficTrigger::Kind::kMultiShot;
  } else if (words[3].text == "barrier") {
    kind = TrafficTrigger::Kind::kBarrier;
  } else {
    reader_.Error(words[3], "TL1760", fmt::format("'{}' is no kind of trigger", words[3].text),
                  "one of oneshot, multishot and barrier");
    return;
  }
  const bool barrier = kind == TrafficTrigger::Kind::kBarrier;
  std::int64_t count = 1;
  if (barrier) {
    const auto given =
        words.size() == 6 && words[4].text == "count" ? words[5].AsInteger() : std::nullopt;
    if (!given || *given < 1 || *given > kMostTraceFlows) {
      reader_.Error(4U, "TL1760", "a barrier without its count",
                    "add `count N`, how many activations it waits for");
      return;
    }
    count = *given;
  } else if (words.size() > 4) {
    reader_.Error(words[4], "TL1764",
                  fmt::format("nothing reads '{}' of a {} trigger", words[4].text, words[3].text),
                  "remove it");
    return;
  }
  const std::uint32_t index = TriggerOf(*id);
  if (defined_at_[index] != 0) {
    reader_.Error(
        words[2], "TL1763",
        fmt::format("trigger {} is described twice, first in line {}", *id, defined_at_[index]),
        "give each its own id");
    return;
  }
  defined_at_[index] = reader_.line();
  traffic_.triggers[index].kind = kind;
  traffic_.triggers[index].count = static_cast<std::uint32_t>(count);
}

void ConnectionMatrixReader::ReadLine() {
  const Word& first = reader_.words()[0];
  if (first.text.find("->") != std::string_view::npos) {
    ReadFlow();
  } else if (first.text == "trigger") {
    ReadTrigger();
  } else if (first.text == "failure") {
    reader_.Error(first, "TL1764", "a failed link of a connection matrix, which nothing reads",
                  "describe it under `faults` of the scenario, by the names of both ends");
  } else if (!ReadHeader()) {
    reader_.Error(first, "TL1760",
                  fmt::format("'{}' begins no line of a connection matrix", first.text),
                  "Nodes, Connections, Triggers, `SRC->DST …` or `trigger id …`");
  }
}

void ConnectionMatrixReader::CheckCount(Header header, std::int64_t found, const char* what) {
  const Count& count = counts_[header];
  if (count.line == 0 && found > 0) {
    reader_.FileError("TL1761", fmt::format("no `{}` line", kHeaders[header]),
                      fmt::format("add `{} {}` at the top", kHeaders[header], found));
  } else if (count.line != 0 && count.value >= 0 && count.value != found) {
    reader_.LineError(count.line, "TL1761",
                      fmt::format("{} {} are announced and {} follow", count.value, what, found),
                      fmt::format("write {} here, or check that the file is whole", found));
  }
}

void ConnectionMatrixReader::CheckIds() {
  std::ranges::stable_sort(ids_, {}, &FlowId::id);
  for (std::size_t i = 1; i < ids_.size(); ++i) {
    if (ids_[i].id != ids_[i - 1].id) continue;
    reader_.LineError(
        ids_[i].line, "TL1763",
        fmt::format("id {} is already that of the flow in line {}", ids_[i].id, ids_[i - 1].line),
        "give each flow its own id");
  }
}

void ConnectionMatrixReader::CheckTriggers() {
  for (std::size_t i = 0; i < defined_at_.size(); ++i) {
    if (defined_at_[i] != 0) continue;
    reader_.LineError(first_named_at_[i], "TL1763",
                      fmt::format("trigger {} is not described", id_of_trigger_[i]),
                      fmt::format("add `trigger id {} oneshot`, multishot or `barrier count N`",
                                  id_of_trigger_[i]));
  }
}

void ConnectionMatrixReader::CheckStarts() {
  const auto idle = FindNeverStarted(traffic_);
  if (!idle) return;
  const std::uint32_t trigger = traffic_.flows[idle->flow].trigger;
  reader_.LineError(
      line_of_flow_[idle->flow], "TL1763",
      fmt::format("this flow never starts: trigger {} is activated {} times and {} are needed",
                  id_of_trigger_[trigger], idle->activations, idle->needed),
      fmt::format("{} flows do not start in all; let flows that do name it as send_done_trigger or "
                  "recv_done_trigger",
                  idle->flows));
}

TrafficWorkload ConnectionMatrixReader::Read() {
  do {
    ReadLine();
  } while (flow_lines_ <= kMostTraceFlows && trigger_lines_ <= kMostTraceFlows && reader_.Next());
  if (!reader_.failed()) {
    CheckCount(kConnections, flow_lines_, "flows");
    CheckCount(kTriggers, trigger_lines_, "triggers");
  }
  if (flow_lines_ == 0 && !reader_.failed()) {
    reader_.FileError("TL1761", "no flows", "add lines `SRC->DST start 0 size BYTES`");
  }
  CheckIds();
  CheckTriggers();
  if (!reader_.failed()) CheckStarts();
  traffic_.ranks = static_cast<std::uint32_t>(std::max<std::int64_t>(counts_[kNodes].value, 0));
  traffic_.jobs.emplace_back("traffic");
  return std::move(traffic_);
}

}  // namespace

TrafficWorkload ReadConnectionMatrix(WordReader& reader) {
  return ConnectionMatrixReader(reader).Read();
}

}  // namespace trunkline
