#include "trunkline/fabric/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "fabric/analysis/connectivity.h"
#include "fabric/analysis/floor.h"
#include "fabric/tier_name.h"

namespace trunkline {
namespace {

// Cables of one switch, by rate.
using Cables = std::map<Rate, std::uint64_t>;

std::uint64_t CeilDivide(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

std::uint64_t CeilDivide(Rate a, Rate b) {
  return CeilDivide(static_cast<std::uint64_t>(a.bits_per_second()),
                    static_cast<std::uint64_t>(b.bits_per_second()));
}

// Links of a rate that share a port.
std::uint32_t Share(const SwitchPrice& price, Rate rate) {
  if (price.ports == 0 || rate >= price.rate) return 1;
  const auto fit = price.rate.bits_per_second() / rate.bits_per_second();
  return static_cast<std::uint32_t>(std::min<std::int64_t>(fit, price.breakout));
}

// Ports of `price` that `cables` take: slower ones share a port, faster ones take several.
std::uint64_t PortsFor(const Cables& cables, const SwitchPrice& price) {
  std::uint64_t ports = 0;
  for (const auto& [rate, count] : cables) {
    if (price.ports == 0) {
      ports += count;
    } else if (rate > price.rate) {
      ports += count * CeilDivide(rate, price.rate);
    } else {
      ports += CeilDivide(count, Share(price, rate));
    }
  }
  return ports;
}

double PriceOf(const SwitchPrice& price, std::uint64_t ports) {
  return std::max(0.0, price.price + price.per_port * static_cast<double>(ports));
}

class Bill {
 public:
  Bill(const BuiltFabric& built, const PriceList& prices)
      : fabric_(built.fabric),
        prices_(prices),
        floor_(built.fabric, prices.floor),
        bought_(built.fabric.device_count()) {
    for (const CablePrice& cable : prices.cables) {
      if (cable.rate) fastest_ = std::max(fastest_, *cable.rate);
    }
    bool any_rate = false;
    for (const SwitchPrice& price : prices.switches) {
      any_rate |= price.ports == 0;
      fastest_port_ = std::max(fastest_port_, price.rate);
    }
    if (any_rate || prices.switches.empty()) fastest_port_ = Rate::BitsPerSecond(INT64_MAX);
  }

  void AddSwitches(FabricCost& cost) {
    std::map<std::pair<std::uint8_t, const SwitchPrice*>, CostLine> lines;
    for (std::size_t i = 0; i < fabric_.device_count(); ++i) {
      const Device& device = fabric_.device(DeviceId(i));
      if (device.kind != DeviceKind::kSwitch) continue;
      Cables cables;
      for (LinkId out : fabric_.out(DeviceId(i))) ++cables[fabric_.link(out).rate];
      const auto [price, ports] = ChooseSwitch(cables);
      if (price == nullptr) {
        NoteMissing(fmt::format("a {} of {}", DeviceClass(device), Describe(cables)));
        continue;
      }
      bought_[i] = price;
      CostLine& line = lines[{device.tier, price}];
      line.part = price->name;
      line.rate = price->ports == 0 ? Rate() : price->rate;
      line.use = DeviceClass(device);
      line.is_switch = true;
      line.source = price->source;
      ++line.count;
      line.ports_used += ports;
      line.ports_free += price->ports == 0 ? 0 : price->ports - ports;
      line.price += PriceOf(*price, ports);
      line.watts += price->watts + price->per_port_watts * static_cast<double>(ports);
    }
    for (auto& [key, line] : lines) {
      cost.switches_price += line.price;
      cost.watts += line.watts;
      cost.lines.push_back(std::move(line));
    }
  }

  // REQUIRES: AddSwitches() was called before, which says whose ports are shared.
  void AddCables(FabricCost& cost) {
    std::map<LineKey, CostLine> lines;
    std::map<std::pair<LineKey, DeviceId>, Legs> legs;
    for (std::size_t i = 0; i < fabric_.link_count(); i += 2) {
      const Link& link = fabric_.link(LinkId(i));
      if (link.kind != LinkKind::kNetwork) continue;
      const double metres = floor_.Length(link.from, link.to);
      const Rate most = std::min(fastest_, fastest_port_);
      const std::uint64_t strands =
          most > Rate() && link.rate > most ? CeilDivide(link.rate, most) : 1;
      const Rate rate = strands > 1 ? most : link.rate;
      const auto [head, share] = SharedPort(link);
      const CablePrice* price = share > 1 ? ChooseCable(rate, metres, share) : nullptr;
      if (price == nullptr) price = ChooseCable(rate, metres, 1);
      if (price == nullptr) {
        NoteMissing(fmt::format("a cable of {} over {:.3g} m", ToString(rate), metres));
        continue;
      }
      const LineKey key{NameOfCable(fabric_, LinkId(i)).kind, rate, price};
      if (price->breakout > 1) {
        Legs& split = legs[{key, head}];
        ++split.count;
        split.longest_m = std::max(split.longest_m, metres);
      } else {
        AddTo(lines[key], *price, rate, strands, metres);
      }
    }
    for (const auto& [place, split] : legs) {
      const LineKey& key = place.first;
      AddTo(lines[key], *key.price, key.rate, CeilDivide(split.count, key.price->breakout),
            split.longest_m);
    }
    for (auto& [key, line] : lines) {
      line.use = key.use;
      cost.cables_price += line.price;
      cost.watts += line.watts;
      cost.lines.push_back(std::move(line));
    }
  }

  [[nodiscard]] std::vector<std::string> TakeMissing() {
    return {missing_.begin(), missing_.end()};
  }

 private:
  struct LineKey {
    std::string use;
    Rate rate;
    const CablePrice* price = nullptr;
    auto operator<=>(const LineKey&) const = default;
  };
  // Links of one switch that port-split cables of one kind may join, as long as the longest.
  struct Legs {
    std::uint64_t count = 0;
    double longest_m = 0;
  };

  static void AddTo(CostLine& line, const CablePrice& price, Rate rate, std::uint64_t count,
                    double metres) {
    line.part = price.name;
    line.source = price.source;
    line.rate = rate;
    line.breakout = price.breakout;
    line.count += count;
    line.metres += metres * static_cast<double>(count);
    line.longest_m = std::max(line.longest_m, metres);
    line.price += CablePriceOf(price, rate, metres) * static_cast<double>(count);
    line.watts += price.watts * static_cast<double>(count);
  }

  // The end of a link whose port it shares with others, and how many share it: 1 where neither or
  // both ends do, as no cable is split at both.
  [[nodiscard]] std::pair<DeviceId, std::uint32_t> SharedPort(const Link& link) const {
    const auto share = [&](DeviceId id) {
      const SwitchPrice* price = bought_[Index(id)];
      return price == nullptr ? 1U : Share(*price, link.rate);
    };
    const std::uint32_t from = share(link.from);
    const std::uint32_t to = share(link.to);
    if (from > 1 && to > 1) return {link.from, 1};
    return from > 1 ? std::pair(link.from, from) : std::pair(link.to, to);
  }

  [[nodiscard]] std::pair<const SwitchPrice*, std::uint64_t> ChooseSwitch(
      const Cables& cables) const {
    const SwitchPrice* best = nullptr;
    std::uint64_t best_ports = 0;
    // A link takes one port where any on sale is as fast; a faster one several of the fastest.
    const Rate rate =
        cables.empty() ? Rate() : std::min(std::prev(cables.end())->first, fastest_port_);
    for (const SwitchPrice& price : prices_.switches) {
      const std::uint64_t ports = PortsFor(cables, price);
      if (price.ports > 0 && (price.rate < rate || ports > price.ports)) continue;
      if (best != nullptr && PriceOf(price, ports) >= PriceOf(*best, best_ports)) continue;
      best = &price;
      best_ports = ports;
    }
    return {best, best_ports};
  }

  static double CablePriceOf(const CablePrice& cable, Rate rate, double metres) {
    const double scale =
        cable.rate ? 1 : static_cast<double>(rate.bits_per_second()) / 1e9;  // for each Gb/s
    return scale * (cable.price + cable.per_m * metres);
  }

  // Among those of the least rate that the list has with that breakout and that carries `rate`: a
  // port takes no faster one.
  [[nodiscard]] const CablePrice* ChooseCable(Rate rate, double metres,
                                              std::uint32_t breakout) const {
    std::optional<Rate> class_rate;
    for (const CablePrice& cable : prices_.cables) {
      const bool carries = cable.rate && *cable.rate >= rate && cable.breakout == breakout;
      if (carries && (!class_rate || *cable.rate < *class_rate)) class_rate = cable.rate;
    }
    const CablePrice* best = nullptr;
    for (const CablePrice& cable : prices_.cables) {
      if (cable.reach_m < metres || cable.breakout != breakout) continue;
      if (cable.rate && cable.rate != class_rate) continue;
      if (best == nullptr ||
          CablePriceOf(cable, rate, metres) < CablePriceOf(*best, rate, metres)) {
        best = &cable;
      }
    }
    return best;
  }

  static std::string Describe(const Cables& cables) {
    std::string text;
    for (const auto& [rate, count] : cables) {
      text += fmt::format("{}{} x {}", text.empty() ? "" : " and ", count, ToString(rate));
    }
    return text;
  }

  void NoteMissing(std::string what) {
    constexpr std::size_t kMostKinds = 20;
    if (missing_.size() < kMostKinds) missing_.insert(std::move(what));
  }

  const Fabric& fabric_;
  const PriceList& prices_;
  Floor floor_;
  std::vector<const SwitchPrice*> bought_;  // by device; null: no switch, or none suffices
  Rate fastest_;                            // of a cable
  Rate fastest_port_;  // the greatest of all where a switch has ports of any rate
  std::set<std::string> missing_;
};

}  // namespace

std::optional<double> FabricCost::per_end() const {
  if (ends == 0) return std::nullopt;
  return price() / static_cast<double>(ends);
}

std::optional<double> FabricCost::per_gigabyte_of_bisection() const {
  if (bisection == Rate()) return std::nullopt;
  return price() / (bisection.bytes_per_second() / 1e9);
}

FabricCost CostFabric(const BuiltFabric& built, const PriceList& prices,
                      const Bisection& bisection) {
  FabricCost cost{.prices = prices.name,
                  .currency = prices.currency,
                  .lines = {},
                  .unpriced = {},
                  .ends = built.fabric.endpoints().size(),
                  .bisection = bisection.lower,
                  .bisection_exact = bisection.lower == bisection.upper,
                  .floor = prices.floor};
  Bill bill(built, prices);
  bill.AddSwitches(cost);
  bill.AddCables(cost);
  cost.unpriced = bill.TakeMissing();
  return cost;
}

}  // namespace trunkline
