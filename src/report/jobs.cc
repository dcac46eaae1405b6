#include "report/jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/traffic_json.h"

namespace trunkline {
namespace {

// Figures and rows of as many jobs are shown to people; all are in the JSON.
constexpr std::size_t kShown = 32;

std::string Share(std::int64_t part, std::int64_t whole) {
  return Percent(whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0);
}

// What the jobs and the background send over a link when each has it to itself.
std::int64_t WholeOf(const SharedLink& link) {
  std::int64_t whole = link.background_bytes;
  for (const SharedLink::User& user : link.users) whole += user.bytes;
  return whole;
}

std::string UsersOf(const JobsResult& jobs, const SharedLink& link) {
  constexpr std::size_t kNamed = 4;
  const std::int64_t whole = WholeOf(link);
  std::vector<std::string> parts;
  for (const SharedLink::User& user :
       std::span(link.users).first(std::min(kNamed, link.users.size()))) {
    parts.push_back(
        fmt::format("{} {}", Printable(jobs.jobs[user.job].name), Share(user.bytes, whole)));
  }
  if (link.users.size() > kNamed) {
    parts.push_back(fmt::format("{} more jobs", link.users.size() - kNamed));
  }
  if (link.background_bytes > 0) {
    parts.push_back(fmt::format("background {}", Share(link.background_bytes, whole)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string NameOf(const SharedLink& link) { return fmt::format("{} -> {}", link.from, link.to); }

}  // namespace

Table JobsTable(const JobsResult& jobs) {
  Table table({{"job", Align::kLeft},
               {"workload", Align::kLeft},
               {"ranks"},
               {"nodes"},
               {"units"},
               {"from"},
               {"alone"},
               {"together"},
               {"x alone"},
               {"exposed alone"},
               {"together"}});
  for (const JobResult& job : std::span(jobs.jobs).first(std::min(kShown, jobs.jobs.size()))) {
    const std::string times =
        job.repetitions > 1 ? fmt::format("{} x {}", job.repetitions, job.workload) : job.workload;
    table.Add({job.name, times, fmt::format("{}", job.ranks),
               fmt::format("{}", job.fragmentation.nodes),
               fmt::format("{}", job.fragmentation.units), Humanize(job.start),
               Humanize(job.alone.time), job.together ? Humanize(job.together->time) : "",
               job.together ? Multiple(job.slowdown()) : "", Humanize(job.alone.exposed_comm),
               job.together ? Humanize(job.together->exposed_comm) : ""});
  }
  return table;
}

Table SharedLinksTable(const JobsResult& jobs, std::size_t limit) {
  Table table({{"link", Align::kLeft}, {"used"}, {"bytes"}, {"by", Align::kLeft}});
  for (const SharedLink& link : std::span(jobs.shared).first(std::min(limit, jobs.shared.size()))) {
    table.Add({NameOf(link), Percent(link.utilisation), Humanize(Bytes(link.bytes)),
               UsersOf(jobs, link)});
  }
  return table;
}

std::vector<std::string> JobsFindings(const JobsResult& jobs) {
  std::vector<std::string> findings;
  if (jobs.background) {
    findings.push_back(fmt::format(
        "background: {} at a load of {} between {} endpoints, {} messages until the jobs had ended",
        jobs.background->pattern, jobs.background->load, jobs.background->ranks,
        Grouped(static_cast<double>(jobs.background->messages))));
  }
  if (jobs.shared.empty()) {
    findings.emplace_back("no link is shared: each takes the time that it takes alone");
  } else {
    findings.push_back(
        fmt::format("{} shared; shares are of what each sends over the link when it runs alone",
                    Plural(jobs.shared_total, "link is", "links are")));
  }
  const auto time = [](double seconds) { return Humanize(Time::FromSeconds(seconds)); };
  for (const JobResult& job : jobs.jobs) {
    if (job.together && job.together->fct_s.count > 0) {
      const Percentiles& alone = job.alone.fct_s;
      const Percentiles& together = job.together->fct_s;
      findings.push_back(fmt::format(
          "messages of '{}' arrive after {} on average ({} in 99 %), alone after {} ({})", job.name,
          time(together.mean), time(together.p99), time(alone.mean), time(alone.p99)));
    }
    if (!job.fits_memory) {
      findings.push_back(fmt::format("'{}' does not fit the memory of its GPUs", job.name));
    }
  }
  return findings;
}

std::vector<Figure> JobsFigures(const JobsResult& jobs) {
  std::vector<Figure> figures;
  for (const JobResult& job : std::span(jobs.jobs).first(std::min(kShown, jobs.jobs.size()))) {
    if (!job.together) continue;
    figures.push_back(
        {fmt::format("slowdown of {}", job.name), "time together / time alone",
         fmt::format("{} / {}", Humanize(job.together->time), Humanize(job.alone.time)),
         fmt::format("{:.4f}", job.slowdown())});
  }
  if (jobs.shared.empty()) return figures;
  const SharedLink& worst = jobs.shared.front();
  const std::int64_t whole = WholeOf(worst);
  for (const SharedLink::User& user : worst.users) {
    if (figures.size() >= 2 * kShown) break;
    figures.push_back(
        {fmt::format("{} on {}, the fullest shared link", jobs.jobs[user.job].name, NameOf(worst)),
         "its bytes / bytes of all",
         fmt::format("{} / {}", Humanize(Bytes(user.bytes)), Humanize(Bytes(whole))),
         Share(user.bytes, whole)});
  }
  return figures;
}

namespace {

void WriteTimes(JsonWriter& json, const JobTimes& times) {
  json.BeginObject();
  json.Field("time_s", times.time);
  json.Field("compute_s", times.compute);
  json.Field("exposed_comm_s", times.exposed_comm);
  json.Field("bubble_s", times.bubble);
  json.Field("other_s", times.other);
  json.Field("critical_rank", static_cast<std::uint64_t>(Index(times.critical_rank)));
  WritePercentiles(json, "fct_s", times.fct_s);
  json.EndObject();
}

void WriteJob(JsonWriter& json, const JobResult& job) {
  json.Field("name", job.name);
  json.Field("workload", job.workload);
  json.Field("ranks", job.ranks);
  json.Field("first_rank", static_cast<std::uint64_t>(Index(job.first_rank)));
  json.Field("placement", ToString(job.placement_kind));
  json.Field("nodes", job.fragmentation.nodes);
  json.Field("units", job.fragmentation.units);
  json.Field("units_needed", job.fragmentation.units_needed);
  json.Field("start_s", job.start);
  json.Field("repetitions", job.repetitions);
  json.Field("bound_s", job.bound);
  json.Field("fits_memory", job.fits_memory);
  json.Key("alone");
  WriteTimes(json, job.alone);
  if (!job.together) {
    json.NullField("together");
    json.NullField("slowdown");
    return;
  }
  json.Key("together");
  WriteTimes(json, *job.together);
  json.Field("slowdown", job.slowdown());
}

void WriteShared(JsonWriter& json, const JobsResult& jobs, const SharedLink& link) {
  const std::int64_t whole = WholeOf(link);
  json.Field("from", link.from);
  json.Field("to", link.to);
  json.Field("utilisation", link.utilisation);
  json.Field("bytes", link.bytes);
  json.Key("jobs");
  json.Objects(link.users, [&](const SharedLink::User& user) {
    json.Field("name", jobs.jobs[user.job].name);
    json.Field("bytes", user.bytes);
    json.Field("share", static_cast<double>(user.bytes) / static_cast<double>(whole));
  });
  json.Field("background_bytes", link.background_bytes);
}

}  // namespace

void WriteJobsFields(JsonWriter& json, const JobsResult* jobs) {
  if (jobs == nullptr) {
    for (const char* key : {"jobs", "shared_links", "shared_links_total", "background"}) {
      json.NullField(key);
    }
    return;
  }
  json.Key("jobs");
  json.Objects(jobs->jobs, [&](const JobResult& job) { WriteJob(json, job); });
  json.Key("shared_links");
  json.Objects(jobs->shared, [&](const SharedLink& link) { WriteShared(json, *jobs, link); });
  json.Field("shared_links_total", static_cast<std::uint64_t>(jobs->shared_total));
  json.Key("background");
  if (!jobs->background) {
    json.Null();
    return;
  }
  json.Object([&] {
    json.Field("pattern", jobs->background->pattern);
    json.Field("load", jobs->background->load);
    json.Field("ranks", jobs->background->ranks);
    json.Field("messages", jobs->background->messages);
  });
}

}  // namespace trunkline
