#include "scenario/jobs_summary.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include "trunkline/base/check.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {

JobTimes TimesOf(const Timeline& timeline, std::uint32_t first, std::uint32_t last, Time start) {
  const RankSummary* critical = nullptr;
  for (const RankSummary& rank : timeline.ranks) {
    if (Index(rank.rank) < first || Index(rank.rank) >= last) continue;
    if (critical == nullptr || rank.finish > critical->finish) critical = &rank;
  }
  TL_CHECK(critical != nullptr, "a job without ranks", first, last);
  // Until its start a rank is held back by a computation (RepeatedGraph).
  JobTimes times{.time = critical->finish - start,
                 .compute = critical->compute - start,
                 .exposed_comm = critical->exposed_communication,
                 .bubble = critical->bubble,
                 .other = {},
                 .critical_rank = RankId(Index(critical->rank) - first),
                 .fct_s = {}};
  times.other = times.time - times.compute - times.exposed_comm - times.bubble;
  TL_CHECK(times.other >= Time(), "the parts of a job exceed it", times.other.ps());
  return times;
}

Percentiles CompletionTimes(const Timeline& timeline, const TaskGraph& job, std::uint32_t first) {
  // By role, the posts and arrivals of its messages, one for each repetition.
  std::unordered_map<std::uint32_t, std::pair<std::vector<Time>, std::vector<Time>>> messages;
  for (const TaskSpan& span : timeline.spans) {
    if (Index(span.rank) < first || Index(span.rank) >= first + job.ranks()) continue;
    const auto rank = RankId(Index(span.rank) - first);
    const Task& task = job.program(job.program_of(rank)).tasks[span.task];
    if (task.kind == TaskKind::kSend) messages[task.role].first.push_back(span.start);
    if (task.kind == TaskKind::kReceive) messages[task.role].second.push_back(span.end);
  }
  std::vector<double> times;
  for (auto& [role, message] : messages) {
    auto& [posted, arrived] = message;
    std::ranges::sort(arrived);
    for (std::size_t i = 0; i < std::min(posted.size(), arrived.size()); ++i) {
      times.push_back((arrived[i] - posted[i]).seconds());
    }
  }
  std::ranges::sort(times);  // so that the mean is the same to the last digit
  return PercentilesOf(std::move(times));
}

std::vector<SharedLink> SharedLinks(const Fabric& fabric,
                                    std::span<const std::vector<LinkUse>> alone,
                                    std::span<const LinkUse> together, Time time, bool background) {
  std::unordered_map<LinkId, std::vector<SharedLink::User>> users;
  for (std::size_t job = 0; job < alone.size(); ++job) {
    for (const LinkUse& use : alone[job]) {
      if (use.wire_bytes > 0) users[use.link].push_back({job, use.wire_bytes});
    }
  }
  std::vector<SharedLink> shared;
  for (const LinkUse& use : together) {
    const auto found = users.find(use.link);
    if (found == users.end()) continue;  // background alone
    SharedLink row{.link = use.link,
                   .from = {},
                   .to = {},
                   .utilisation = 0,
                   .bytes = use.wire_bytes,
                   .users = found->second,
                   .background_bytes = 0};
    std::int64_t of_jobs = 0;
    for (const SharedLink::User& user : row.users) of_jobs += user.bytes;
    if (background) row.background_bytes = std::max<std::int64_t>(0, use.wire_bytes - of_jobs);
    if (row.users.size() + (row.background_bytes > 0 ? 1 : 0) < 2) continue;
    const Link& link = fabric.link(use.link);
    row.from = fabric.name(link.from);
    row.to = fabric.name(link.to);
    row.utilisation = Utilisation(use, link.rate, time);
    std::ranges::stable_sort(row.users, std::greater<>(), &SharedLink::User::bytes);
    shared.push_back(std::move(row));
  }
  std::ranges::stable_sort(shared, std::greater<>(), &SharedLink::utilisation);
  return shared;
}

}  // namespace trunkline
