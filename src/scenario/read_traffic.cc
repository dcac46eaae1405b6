#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/plural.h"
#include "scenario/reader.h"
#include "trunkline/trace/traffic_file.h"

namespace trunkline {
namespace {

const TrafficPattern* FindPattern(const std::vector<TrafficPattern>& patterns,
                                  std::string_view name) {
  const auto found = std::ranges::find(patterns, name, &TrafficPattern::name);
  return found == patterns.end() ? nullptr : &*found;
}

class JobReader {
 public:
  JobReader(const YamlMap& map, const std::string& file, const Scenario& scenario)
      : map_(map), file_(file), scenario_(scenario) {}

  TrafficJob ReadBackground() {
    TrafficJob job;
    job.name = "background";
    job.arrivals = Arrivals::kPoisson;
    ReadPattern(job);
    ReadSizes(job);
    static const Words<Arrivals> kArrivals = {{"poisson", Arrivals::kPoisson},
                                              {"on_off", Arrivals::kOnOff}};
    map_.Read("arrivals", job.arrivals, kArrivals);
    map_.Require("load", job.load, RealRange{0, 1});
    ReadPeriods(job);
    map_.Read("start", job.start);
    return job;
  }

  TrafficJob Read() {
    TrafficJob job;
    map_.Read("name", job.name);
    ReadPattern(job);
    ReadSizes(job);
    ReadArrivals(job);
    map_.Read("first_rank", job.first_rank, IntRange{.min = 0});
    map_.Read("ranks", job.ranks, IntRange{.min = 1});
    map_.Read("start", job.start);
    map_.Read("class", job.traffic_class, IntRange{.min = 0, .max = 6});
    map_.Read("raw", job.raw);
    WarnOfPackets();
    ReadVerb(job);
    return job;
  }

 private:
  void ReadPattern(TrafficJob& job) {
    static const std::vector<TrafficPattern> kPatterns = TrafficPatterns();
    Words<std::string> words;
    for (const TrafficPattern& pattern : kPatterns) words.emplace_back(pattern.name, pattern.name);
    if (!map_.Require("pattern", job.pattern, words)) {
      // Which keys belong to it is not known.
      for (const TrafficPattern& pattern : kPatterns) {
        for (const TrafficKey& key : pattern.keys) static_cast<void>(map_.Find(key.name));
      }
      return;
    }
    std::set<std::string> known;
    for (const TrafficKey& key : FindPattern(kPatterns, job.pattern)->keys) {
      known.insert(key.name);
      ReadKey(key, job);
    }
    for (const TrafficPattern& other : kPatterns) {
      for (const TrafficKey& key : other.keys) {
        if (!known.insert(key.name).second) continue;
        map_.Refuse(key.name, "TL1207",
                    fmt::format("the pattern {} does not read '{}'", job.pattern, key.name),
                    fmt::format("pattern: {} does", other.name));
      }
    }
  }

  void ReadKey(const TrafficKey& key, TrafficJob& job) {
    const auto value = map_.Find(key.name);
    if (!value) return;
    TrafficValue read{.value = 0, .where = value->where(), .excerpt = value->excerpt()};
    bool good = false;
    if (key.type == TrafficKey::Type::kCount) {
      std::int64_t count = 0;
      good = value->Read(
          count, IntRange{static_cast<std::int64_t>(key.min), static_cast<std::int64_t>(key.max)});
      read.value = static_cast<double>(count);
    } else {
      good = value->Read(read.value, RealRange{key.min, key.max});
    }
    if (good) job.values.emplace(key.name, std::move(read));
  }

  // `size: 2 MB`, or `sizes: NAME` of a distribution of the catalogue or in a file.
  void ReadSizes(TrafficJob& job) {
    const auto size = map_.Find("size");
    const auto sizes = map_.Find("sizes");
    if (size.has_value() == sizes.has_value()) {
      map_.Error("TL1205", "the sizes of the messages are not given exactly once",
                 "write `size: 2 MB`, or `sizes: web-search` or a file of sizes and percentages");
      return;
    }
    if (size) {
      Bytes bytes;
      if (size->Read(bytes)) job.sizes = FlowSizes::Fixed(bytes);
      return;
    }
    std::string name;
    if (!sizes->Read(name)) return;
    const bool is_file = name.find('/') != std::string::npos || name.find('.') != std::string::npos;
    const auto path = is_file ? FindFile(file_, *sizes) : name;
    if (!path) return;
    const auto found = FindFlowSizes(*path);
    if (found) {
      job.sizes = *found;
    } else {
      sizes->Adopt(found.error());
    }
  }

  void ReadArrivals(TrafficJob& job) {
    static const Words<Arrivals> kArrivals = {{"at_once", Arrivals::kAtOnce},
                                              {"poisson", Arrivals::kPoisson},
                                              {"on_off", Arrivals::kOnOff}};
    map_.Read("arrivals", job.arrivals, kArrivals);
    if (job.arrivals == Arrivals::kAtOnce) {
      map_.Read("rounds", job.rounds, IntRange{.min = 1});
      RefuseKey("load", "poisson", job);
    } else {
      map_.Require("load", job.load, RealRange{1e-9, 1});
      RefuseKey("rounds", "at_once", job);
    }
    ReadPeriods(job);
  }

  void ReadPeriods(TrafficJob& job) {
    if (job.arrivals == Arrivals::kOnOff) {
      map_.Require("mean_on", job.mean_on);
      map_.Require("mean_off", job.mean_off);
    } else {
      RefuseKey("mean_on", "on_off", job);
      RefuseKey("mean_off", "on_off", job);
    }
  }

  void RefuseKey(const char* key, const char* owner, const TrafficJob& job) {
    map_.Refuse(key, "TL1207",
                fmt::format("arrivals: {} does not read '{}'", ToString(job.arrivals), key),
                fmt::format("arrivals: {} does", owner));
  }

  // Fluid flows are of one class, and nothing but their share of the links holds them back.
  void WarnOfPackets() {
    for (const char* key : {"class", "raw"}) {
      const auto value = scenario_.has_packets() ? std::nullopt : map_.Find(key);
      if (!value) continue;
      value->Warn("TL1210",
                  fmt::format("the {} engine does not read '{}'", ToString(scenario_.engine), key),
                  "run it with engine: packet");
    }
  }

  // Sends and writes are one: data that its source pushes.
  void ReadVerb(TrafficJob& job) {
    static const Words<bool> kVerbs = {{"send", false}, {"write", false}, {"read", true}};
    const auto verb = map_.Find("verb");
    if (!verb || !verb->Read(job.read, kVerbs)) return;
    if (!scenario_.cluster.transport.sockets) return;
    verb->Error("TL1207", "'verb' is of RDMA, and sockets have none",
                "remove the key, or choose transport kind infiniband or rocev2");
  }

  const YamlMap& map_;
  const std::string& file_;
  const Scenario& scenario_;
};

// `file: PATH`, told apart by content unless `format` names it.
void ReadFile(const std::string& file, const YamlMap& map, const YamlValue& path,
              std::int64_t endpoints, Scenario& scenario) {
  static const Words<TrafficFormat> kFormats = {
      {ToString(TrafficFormat::kConnectionMatrix), TrafficFormat::kConnectionMatrix},
      {ToString(TrafficFormat::kFlowList), TrafficFormat::kFlowList}};
  std::optional<TrafficFormat> format;
  TrafficFormat named{};
  if (map.Read("format", named, kFormats)) format = named;
  std::string name;
  if (!path.Read(name)) return;
  const auto found = FindFile(file, path);
  if (!found) return;
  auto read = ReadTrafficFile(*found, format);
  if (!read) {
    path.Adopt(read.error());
    return;
  }
  if (endpoints > 0 && read->ranks > endpoints) {
    path.Error("TL1206",
               fmt::format("{} on {}", Plural(read->ranks, "rank"),
                           Plural(static_cast<std::uint64_t>(endpoints), "endpoint")),
               "use a larger fabric");
    return;
  }
  scenario.workload =
      TrafficInput{.spec = {},
                   .messages = std::make_shared<const TrafficWorkload>(std::move(*read)),
                   .where = path.where(),
                   .excerpt = path.excerpt()};
}

}  // namespace

TrafficJob ReadBackgroundTraffic(const std::string& file, const YamlMap& map,
                                 const Scenario& scenario) {
  return JobReader(map, file, scenario).ReadBackground();
}

void ReadTraffic(const std::string& file, const YamlValue& value, std::int64_t endpoints,
                 Scenario& scenario) {
  const auto map = value.AsMap();
  if (!map) return;
  if (const auto path = map->Find("file")) {
    ReadFile(file, *map, *path, endpoints, scenario);
    return;
  }
  TrafficSpec spec;
  if (const auto jobs = map->List("jobs")) {
    for (const YamlValue& element : *jobs) {
      if (const auto job = element.AsMap())
        spec.jobs.push_back(JobReader(*job, file, scenario).Read());
    }
  } else {
    spec.jobs.push_back(JobReader(*map, file, scenario).Read());
  }
  map->Read("warm_up", spec.warm_up);
  map->Read("window", spec.window);
  map->Read("drain", spec.drain);
  scenario.workload = TrafficInput{.spec = std::move(spec),
                                   .messages = nullptr,
                                   .where = value.where(),
                                   .excerpt = value.excerpt()};
}

}  // namespace trunkline
