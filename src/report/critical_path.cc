#include "report/critical_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/names.h"
#include "report/table.h"

namespace trunkline {
namespace {

// Messages that are told of one by one.
constexpr std::size_t kWorst = 3;

Time Waited(const CriticalMessage& message) {
  return std::max(Time(), message.taken - message.alone);
}

std::vector<const CriticalMessage*> WorstFirst(const PacketReport& packets) {
  std::vector<const CriticalMessage*> order;
  for (const CriticalMessage& message : packets.critical) order.push_back(&message);
  std::ranges::sort(order, [](const CriticalMessage* a, const CriticalMessage* b) {
    return Waited(*a) != Waited(*b) ? Waited(*a) > Waited(*b) : a->begin < b->begin;
  });
  if (order.size() > kWorst) order.resize(kWorst);
  return order;
}

Time WaitedInAll(const PacketReport& packets) {
  Time sum;
  for (const CriticalMessage& message : packets.critical) sum += Waited(message);
  return sum;
}

Time TakenInAll(const PacketReport& packets) {
  Time sum;
  for (const CriticalMessage& message : packets.critical) sum += message.taken;
  return sum;
}

// When the last of the chain arrives; 0 without one.
Time EndOf(const PacketReport& packets) {
  if (packets.critical.empty()) return {};
  return packets.critical.back().begin + packets.critical.back().taken;
}

}  // namespace

std::vector<std::string> CriticalPathFindings(const RunResult& result,
                                              const PacketReport& packets) {
  if (packets.critical.empty()) return {};
  const Time waited = WaitedInAll(packets);
  const Time taken = TakenInAll(packets);
  std::vector<std::string> findings = {fmt::format(
      "The last message, to {}, ends a chain of {}. Of the {} until it arrives, they take {} on "
      "idle paths and waited {} beyond that; {} passed before each was begun, behind its sender's "
      "earlier messages or computation.",
      RankName(result, packets.critical.back().destination),
      Grouped(static_cast<double>(packets.critical.size())), Humanize(EndOf(packets)),
      Humanize(taken - waited), Humanize(waited), Humanize(EndOf(packets) - taken))};
  for (const CriticalMessage* message : WorstFirst(packets)) {
    if (Waited(*message) == Time()) break;
    findings.push_back(fmt::format(
        "From {} to {} at {}: {} where an idle path takes {}; the longest queue on its way was {}, "
        "at {}.",
        RankOfJob(result, message->source), RankOfJob(result, message->destination),
        Humanize(message->begin), Humanize(message->taken), Humanize(message->alone),
        Humanize(Bytes(message->max_queue_bytes)), LinkName(*result.fabric, message->queue)));
  }
  return findings;
}

std::vector<Figure> CriticalPathFigures(const RunResult& result, const PacketReport& packets) {
  if (packets.critical.empty() || result.status != RunStatus::kFinished) return {};
  const Time waited = WaitedInAll(packets);
  const Time taken = TakenInAll(packets);
  std::vector<Figure> figures = {
      {fmt::format("the {} that led to the end",
                   Plural(packets.critical.size(), "message", "messages")),
       "idle paths + waiting + before, between and after messages",
       fmt::format("{} + {} + {}", Humanize(taken - waited, kFigureDigits),
                   Humanize(waited, kFigureDigits), Humanize(result.time - taken, kFigureDigits)),
       Humanize(result.time, kFigureDigits)}};
  for (const CriticalMessage* message : WorstFirst(packets)) {
    if (Waited(*message) == Time()) break;
    const Rate rate = result.fabric->link(message->queue).rate;
    const Bytes queued(message->max_queue_bytes);
    figures.push_back(
        {fmt::format("{} to {} at {}: waiting", RankOfJob(result, message->source),
                     RankOfJob(result, message->destination), Humanize(message->begin)),
         "taken - idle path",
         fmt::format("{} - {}", Humanize(message->taken, kFigureDigits),
                     Humanize(message->alone, kFigureDigits)),
         Humanize(Waited(*message), kFigureDigits)});
    figures.push_back(
        {fmt::format("longest queue on its way, {}", LinkName(*result.fabric, message->queue)),
         "bytes / rate", fmt::format("{} / {}", Humanize(queued), Humanize(rate)),
         Humanize(TransferTime(queued, rate), kFigureDigits)});
  }
  return figures;
}

void WriteCriticalPath(JsonWriter& json, const RunResult& result, const PacketReport& packets) {
  json.BeginObject();
  json.Field("messages", static_cast<std::uint64_t>(packets.critical.size()));
  json.Field("end_s", EndOf(packets));
  json.Field("idle_paths_s", TakenInAll(packets) - WaitedInAll(packets));
  json.Field("waited_s", WaitedInAll(packets));
  json.Field("before_begin_s", EndOf(packets) - TakenInAll(packets));
  json.Key("worst");
  json.Objects(WorstFirst(packets), [&](const CriticalMessage* message) {
    json.Field("from_rank", static_cast<std::uint64_t>(Index(message->source)));
    json.Field("to_rank", static_cast<std::uint64_t>(Index(message->destination)));
    if (const JobResult* job = result.jobs ? JobOfRank(*result.jobs, message->source) : nullptr) {
      json.Field("job", job->name);
    }
    json.Field("begin_s", message->begin);
    json.Field("time_s", message->taken);
    json.Field("alone_s", message->alone);
    json.Field("queue_from", result.fabric->name(result.fabric->link(message->queue).from));
    json.Field("queue_to", result.fabric->name(result.fabric->link(message->queue).to));
    json.Field("max_queue_bytes", message->max_queue_bytes);
  });
  json.EndObject();
}

}  // namespace trunkline
