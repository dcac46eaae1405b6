#include "report/link_classes.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "report/names.h"

namespace trunkline {

namespace {

// What makes links alike.
using DeviceKey = std::pair<DeviceKind, std::uint8_t>;  // kind and tier
using ClassKey = std::tuple<LinkKind, DeviceKey, DeviceKey>;

ClassKey KeyOf(const Fabric& fabric, const Link& link) {
  const Device& from = fabric.device(link.from);
  const Device& to = fabric.device(link.to);
  const std::pair a{from.kind, from.tier};
  const std::pair b{to.kind, to.tier};
  return {link.kind, std::min(a, b), std::max(a, b)};
}

// Links of one class, by rate: how many, and the first.
using ByRate = std::map<Rate, std::pair<std::size_t, LinkId>>;

void FindSlow(const ByRate& rates, LinkClass& entry) {
  const auto usual =
      std::ranges::max_element(rates, {}, [](const auto& item) { return item.second.first; });
  if (4 * usual->second.first < 3 * entry.links) return;
  entry.usual = usual->first;
  entry.usual_links = usual->second.first;
  if (rates.begin() != usual) entry.slow = rates.begin()->second.second;
}

}  // namespace

std::vector<LinkClass> LinkClassesOf(const RunResult& result) {
  if (!result.fabric || result.time <= Time()) return {};
  const Fabric& fabric = *result.fabric;
  std::map<ClassKey, LinkClass> by_key;
  std::map<ClassKey, ByRate> rates;
  for (const LinkUse& use : result.timeline.links) {
    const Link& link = fabric.link(use.link);
    const ClassKey kind = KeyOf(fabric, link);
    LinkClass& entry = by_key[kind];
    ++rates[kind].try_emplace(link.rate, 0, use.link).first->second.first;
    const double utilisation = Utilisation(use, link.rate, result.time);
    if (entry.links == 0 || utilisation > entry.worst_utilisation) {
      entry.worst = use.link;
      entry.worst_utilisation = utilisation;
    }
    entry.mean_utilisation += utilisation;
    ++entry.links;
  }
  std::vector<LinkClass> classes;
  for (auto& [key, entry] : by_key) {
    entry.name = LinkClassName(fabric, entry.worst);
    entry.kind = fabric.link(entry.worst).kind;
    entry.mean_utilisation /= static_cast<double>(entry.links);
    FindSlow(rates[key], entry);
    classes.push_back(std::move(entry));
  }
  std::ranges::sort(classes, {}, [](const LinkClass& entry) {
    return std::pair(-entry.worst_utilisation, entry.worst);
  });
  return classes;
}

}  // namespace trunkline
