#include "report/weak_points_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>

#include "base/plural.h"
#include "base/printable.h"
#include "report/names.h"
#include "report/table.h"

namespace trunkline {
namespace {

constexpr std::size_t kShownLinks = 4;       // of each class of the cut, in text
constexpr std::size_t kWrittenLinks = 1000;  // of the cut, in JSON
constexpr std::size_t kLoadedSwitches = 5;
constexpr std::size_t kShownPoints = 12;

template <typename T>
std::span<const T> FirstOf(const std::vector<T>& items, std::size_t most) {
  return std::span(items).first(std::min(items.size(), most));
}

std::string CutText(const Fabric& fabric, const Cut& cut) {
  if (cut.links.empty()) return "No link joins the halves.\n";
  std::map<std::string, std::vector<LinkId>> classes;
  for (LinkId link : cut.links) classes[LinkClassName(fabric, link)].push_back(link);
  std::string text = fmt::format("The halves are cut by {} of {} one way:\n",
                                 Plural(cut.links.size(), "link", "links"), Humanize(cut.capacity));
  for (const auto& [name, links] : classes) {
    std::vector<std::string> names;
    for (LinkId link : FirstOf(links, kShownLinks)) names.push_back(LinkName(fabric, link));
    text += Wrap(fmt::format("{} {}: {}{}", GroupedCount(links.size()), name,
                             fmt::join(names, ", "), links.size() > kShownLinks ? ", …" : ""),
                 "  ", 100);
  }
  return text;
}

std::string LoadedText(const Fabric& fabric, const WeakPoints& weak) {
  if (weak.worst_oversubscription <= 1) {
    return "No switch below the top takes more from below than it passes on.\n";
  }
  Table table({{"most loaded", Align::kLeft}, {"from below"}, {"passes on"}, {"oversubscription"}});
  for (const SwitchLoad& load : FirstOf(weak.loaded, kLoadedSwitches)) {
    table.Add({fabric.name(load.device), Humanize(load.down), Humanize(load.out),
               fmt::format("{:.4g}:1", load.oversubscription())});
  }
  return table.Text("  ");
}

std::string DiversityText(const Fabric& fabric, const PathDiversity& diversity) {
  if (diversity.pairs == 0) return "No two NICs lie on different switches.\n";
  return Wrap(
      fmt::format("Between the switches of two NICs that share none: at least {} paths without a "
                  "common cable ({} on average; the fewest from {} to {}), at least {} shortest "
                  "paths ({} on average). {}",
                  diversity.least_disjoint, Decimal(diversity.mean_disjoint),
                  Printable(fabric.name(diversity.narrowest.first)),
                  Printable(fabric.name(diversity.narrowest.second)),
                  Decimal(diversity.least_equal), Decimal(diversity.mean_equal),
                  diversity.pairs < diversity.all_pairs
                      ? fmt::format("{} of {} pairs were looked at.", GroupedCount(diversity.pairs),
                                    GroupedCount(diversity.all_pairs))
                      : ""),
      "", 100);
}

std::string SinglePointsText(const WeakPoints& weak) {
  if (weak.single_points.empty()) {
    return "No failure of one device or cable cuts off a NIC other than its own.\n";
  }
  Table table({{"single point of failure", Align::kLeft},
               {"of them"},
               {"NICs lost"},
               {"nodes lost"},
               {"such as", Align::kLeft}});
  for (const SinglePoint& point : FirstOf(weak.single_points, kShownPoints)) {
    table.Add({point.what, GroupedCount(point.count), GroupedCount(point.nics_lost),
               GroupedCount(point.nodes_lost), point.example});
  }
  return table.Text("  ");
}

std::string FailuresText(const WeakPoints& weak) {
  Table table({{"one failed", Align::kLeft},
               {"NICs lost"},
               {"nodes lost"},
               {"between the halves"},
               {"left"},
               {"worst switch"},
               {"such as", Align::kLeft}});
  for (const FailureCost& cost : weak.failures) {
    const double whole = weak.cut.capacity.bytes_per_second();
    table.Add({cost.what, GroupedCount(cost.nics_lost), GroupedCount(cost.nodes_lost),
               Humanize(cost.cut), whole > 0 ? Percent(cost.cut.bytes_per_second() / whole) : "",
               cost.oversubscription > 0 ? fmt::format("{:.4g}:1", cost.oversubscription) : "",
               cost.target});
  }
  return table.Text("  ");
}

}  // namespace

std::string WeakPointsText(const Fabric& fabric, const WeakPoints& weak) {
  return CutText(fabric, weak.cut) + "\n" + LoadedText(fabric, weak) + "\n" +
         DiversityText(fabric, weak.diversity) + "\n" + SinglePointsText(weak) + "\n" +
         FailuresText(weak);
}

void WriteCut(JsonWriter& json, const Fabric& fabric, const Cut& cut) {
  json.Field("cut_links", static_cast<std::uint64_t>(cut.links.size()));
  json.Key("cut");
  json.Objects(FirstOf(cut.links, kWrittenLinks), [&](LinkId id) {
    json.Field("from", fabric.name(fabric.link(id).from));
    json.Field("to", fabric.name(fabric.link(id).to));
    json.Field("rate_Bps", fabric.link(id).rate.bytes_per_second());
  });
}

void WriteWeakPoints(JsonWriter& json, const Fabric& fabric, const WeakPoints& weak) {
  json.Key("most_loaded");
  json.Objects(FirstOf(weak.loaded, kWrittenLinks), [&](const SwitchLoad& load) {
    json.Field("name", fabric.name(load.device));
    json.Field("down_Bps", load.down.bytes_per_second());
    json.Field("out_Bps", load.out.bytes_per_second());
    json.Field("oversubscription", load.oversubscription());
  });
  const PathDiversity& diversity = weak.diversity;
  json.Key("path_diversity");
  json.Object([&] {
    json.Field("pairs", diversity.pairs);
    json.Field("all_pairs", diversity.all_pairs);
    json.Field("least_disjoint", diversity.least_disjoint);
    json.Field("mean_disjoint", diversity.mean_disjoint);
    json.Field("least_equal_cost", diversity.least_equal);
    json.Field("mean_equal_cost", diversity.mean_equal);
  });
  json.Key("single_points");
  json.Objects(weak.single_points, [&](const SinglePoint& point) {
    json.Field("what", point.what);
    json.Field("example", point.example);
    json.Field("count", point.count);
    json.Field("nics_lost", point.nics_lost);
    json.Field("nodes_lost", point.nodes_lost);
  });
  json.Key("failures");
  json.Objects(weak.failures, [&](const FailureCost& cost) {
    json.Field("what", cost.what);
    json.Field("target", cost.target);
    json.Field("nics_lost", cost.nics_lost);
    json.Field("nodes_lost", cost.nodes_lost);
    json.Field("cut_Bps", cost.cut.bytes_per_second());
    json.Field("oversubscription", cost.oversubscription);
  });
}

}  // namespace trunkline
