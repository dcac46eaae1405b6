#include "training/plan_remedies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <tuple>
#include <utility>

#include "training/plan_rules.h"

namespace trunkline {
namespace {

std::vector<std::int64_t> Divisors(std::int64_t n) {
  std::vector<std::int64_t> low;
  std::vector<std::int64_t> high;
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    low.push_back(d);
    if (d * d != n) high.push_back(n / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

// Those of `sorted` next to `wanted`: "4 or 8". REQUIRES: it is not empty.
std::string Nearest(const std::vector<std::int64_t>& sorted, std::int64_t wanted) {
  const auto above = std::ranges::upper_bound(sorted, wanted);
  if (above == sorted.end()) return fmt::format("{}", sorted.back());
  if (above == sorted.begin()) return fmt::format("{}", sorted.front());
  return fmt::format("{} or {}", *std::prev(above), *above);
}

std::string Extents(const TrainingPlan& plan) {
  return fmt::format("tp {} x pp {} x dp {}", plan.tp, plan.pp, plan.dp);
}

// "these fill 512 GPUs: …".
std::string Listed(const std::vector<TrainingPlan>& fillings, std::int64_t gpus) {
  std::vector<std::string> options;
  for (const TrainingPlan& plan : fillings) options.push_back(Extents(plan));
  // The largest tensor-parallel sizes come last and are the ones asked for here.
  constexpr std::size_t kShown = 6;
  if (options.size() > kShown) options.erase(options.begin(), options.end() - kShown);
  return fmt::format("these fill {} GPUs: {}", gpus, fmt::join(options, "; "));
}

// The batch nearest to the plan's that its dp and micro_batch cut; 0: none in range.
std::int64_t NearestBatch(const TrainingPlan& plan) {
  const std::int64_t step = plan.micro_batch * plan.dp;
  const std::int64_t below = plan.global_batch / step * step;
  const std::int64_t above = below + step;
  if (above > kMaxExtent) return below;
  return below > 0 && plan.global_batch - below <= above - plan.global_batch ? below : above;
}

// A plan with another schedule or vp, and what a hint says of that.
struct MendedSchedule {
  TrainingPlan plan;
  std::string with;
};

// The ways to make schedule and vp go together, those that keep more of what was asked for first.
std::vector<MendedSchedule> WaysToMendSchedule(const ModelConfig& model, const TrainingPlan& plan) {
  std::vector<MendedSchedule> ways;
  const auto add = [&](PipelineSchedule schedule, std::int64_t vp, std::string with) {
    ways.push_back({.plan = plan, .with = std::move(with)});
    ways.back().plan.schedule = schedule;
    ways.back().plan.vp = vp;
  };
  if (plan.schedule != PipelineSchedule::kInterleaved) {
    if (plan.vp == 1) return {{.plan = plan, .with = ""}};
    add(PipelineSchedule::kInterleaved, plan.vp, "with schedule interleaved: ");
    add(plan.schedule, 1, "with vp 1: ");
    return ways;
  }
  if (plan.vp >= 2) {
    ways.push_back({.plan = plan, .with = ""});
    if (plan.pp < 2) add(PipelineSchedule::kOneFOneB, 1, "with schedule 1f1b and vp 1: ");
    return ways;
  }
  for (const std::int64_t vp : Divisors(model.layers)) {
    if (vp >= 2) add(PipelineSchedule::kInterleaved, vp, fmt::format("with vp {}: ", vp));
  }
  add(PipelineSchedule::kOneFOneB, 1, "with schedule 1f1b: ");
  return ways;
}

}  // namespace

PlanRemedies::PlanRemedies(const ModelConfig& model, const TrainingPlan& plan, std::int64_t gpus,
                           const NodeNumbers& nodes)
    : model_(model), given_(plan), plan_(plan), gpus_(gpus), nodes_(nodes) {
  MendSchedule();
}

void PlanRemedies::MendSchedule() {
  std::vector<MendedSchedule> ways = WaysToMendSchedule(model_, given_);
  const auto choose = [&](MendedSchedule& way) {
    plan_ = std::move(way.plan);
    mended_ = std::move(way.with);
  };
  if (ways.size() > 1) {
    for (MendedSchedule& way : ways) {
      if (AsAsked(way.plan, gpus_)) return choose(way);
    }
    for (const bool same_pp : {true, false}) {
      for (MendedSchedule& way : ways) {
        const auto fills = [&](const TrainingPlan& filling) {
          return !same_pp || filling.pp == given_.pp;
        };
        if (std::ranges::any_of(Fillings(way.plan, gpus_), fills)) return choose(way);
      }
    }
  }
  choose(ways.back());
}

std::string NearestDivisors(std::int64_t n, std::int64_t wanted) {
  return Nearest(Divisors(n), wanted);
}

std::optional<TrainingPlan> PlanRemedies::CutInto(const TrainingPlan& plan, std::int64_t tp,
                                                  std::int64_t pp, std::int64_t gpus) const {
  if (gpus % (tp * pp) != 0 || gpus / (tp * pp) > kMaxExtent) return std::nullopt;
  TrainingPlan cut = plan;
  cut.tp = tp;
  cut.pp = pp;
  cut.dp = gpus / (tp * pp);
  cut.cp = 1;
  return CutsModel(model_, cut) ? std::optional(std::move(cut)) : std::nullopt;
}

std::optional<TrainingPlan> PlanRemedies::AsAsked(const TrainingPlan& plan,
                                                  std::int64_t gpus) const {
  auto cut = CutInto(plan, plan_.tp, plan_.pp, gpus);
  return cut && CutsBatch(model_, *cut) ? std::move(cut) : std::nullopt;
}

std::vector<TrainingPlan> PlanRemedies::Cuts(const TrainingPlan& plan, std::int64_t gpus) const {
  std::vector<TrainingPlan> cuts;
  for (const std::int64_t tp : Divisors(std::gcd(gpus, WidestTensorCut(model_)))) {
    if (tp > 8) break;  // a tensor-parallel group belongs inside one NVLink domain
    const std::vector<std::int64_t> stages =
        plan.layout.empty() ? Divisors(std::gcd(gpus / tp, model_.layers)) : std::vector{plan.pp};
    for (const std::int64_t pp : stages) {
      if (auto cut = CutInto(plan, tp, pp, gpus)) cuts.push_back(*std::move(cut));
    }
  }
  return cuts;
}

std::vector<TrainingPlan> PlanRemedies::Fillings(const TrainingPlan& plan,
                                                 std::int64_t gpus) const {
  std::vector<TrainingPlan> cuts = Cuts(plan, gpus);
  std::erase_if(cuts, [&](const TrainingPlan& cut) { return !CutsBatch(model_, cut); });
  return cuts;
}

std::optional<TrainingPlan> PlanRemedies::OtherBatch(const TrainingPlan& plan) const {
  std::vector<TrainingPlan> cuts = Cuts(plan, gpus_);
  for (TrainingPlan& cut : cuts) cut.global_batch = NearestBatch(cut);
  std::erase_if(cuts, [&](const TrainingPlan& cut) {
    return cut.global_batch == 0 || !CutsBatch(model_, cut);
  });
  if (cuts.empty()) return std::nullopt;
  // The extents as asked, else the least change; of the same, a GPU's share of the model is small.
  return *std::ranges::min_element(cuts, {}, [&](const TrainingPlan& cut) {
    const bool other = cut.tp != plan_.tp || cut.pp != plan_.pp;
    return std::tuple(other, std::abs(cut.global_batch - plan_.global_batch), -cut.tp * cut.pp,
                      -cut.tp);
  });
}

std::optional<TrainingPlan> PlanRemedies::OtherNodes(const TrainingPlan& plan) const {
  if (nodes_.gpus_per_node == 0) return std::nullopt;
  const std::int64_t now = gpus_ / nodes_.gpus_per_node;
  for (const bool as_asked : {true, false}) {
    int tried = 0;
    constexpr int kMostTried = 4;  // each may build a fabric
    for (std::int64_t away = 1; away < std::max<std::int64_t>(now, 2) && tried < kMostTried;
         ++away) {
      for (const std::int64_t nodes : {now + away, now - away}) {
        if (nodes < 1) continue;
        const std::int64_t gpus = nodes * nodes_.gpus_per_node;
        auto found = AsAsked(plan, gpus);
        if (const auto any = as_asked ? std::vector<TrainingPlan>{} : Fillings(plan, gpus);
            !any.empty()) {
          found = any.back();
        }
        if (!found) continue;
        ++tried;
        if (nodes_.possible(nodes)) return found;
      }
    }
  }
  return std::nullopt;
}

std::string PlanRemedies::Elsewhere(const TrainingPlan& plan, const std::string& why) const {
  const auto batch = OtherBatch(plan);
  const auto nodes = OtherNodes(plan);
  std::vector<std::string> ways;
  if (batch)
    ways.push_back(
        fmt::format("global_batch {} does with {}", batch->global_batch, Extents(*batch)));
  if (nodes) {
    ways.push_back(
        fmt::format("{} nodes do with {}", nodes->ranks() / nodes_.gpus_per_node, Extents(*nodes)));
  }
  if (ways.empty()) return why + ", whatever the global_batch: change the number of nodes";
  return fmt::format("{}: {}{}", why, mended_, fmt::join(ways, "; "));
}

std::string PlanRemedies::ForProduct() const {
  if (const auto asked = AsAsked(plan_, gpus_)) {
    return fmt::format("{}with tp {} and pp {}{}, dp {} fills the cluster", mended_, plan_.tp,
                       plan_.pp, plan_.cp > 1 ? " and cp 1" : "", asked->dp);
  }
  if (const auto fillings = Fillings(plan_, gpus_); !fillings.empty()) {
    return mended_ + Listed(fillings, gpus_);
  }
  if (plan_.layout.empty()) {
    return Elsewhere(
        plan_, fmt::format("no tp up to 8 and pp cut this model and batch for {} GPUs", gpus_));
  }
  TrainingPlan even = plan_;
  even.layout.clear();
  const std::string layout = fmt::format(
      "parallel.layout is of {} chunks, which no tp up to 8 and dp spread over {} GPUs "
      "with this batch",
      plan_.layout.size(), gpus_);
  const auto fillings = Fillings(even, gpus_);
  if (fillings.empty()) return Elsewhere(even, layout + "; nor does any pp without it");
  return fmt::format("{}; {}without it {}", layout, mended_, Listed(fillings, gpus_));
}

std::string PlanRemedies::ForTensor() const {
  std::vector<std::int64_t> good;
  for (const bool with_batch : {true, false}) {
    for (const std::int64_t tp : Divisors(WidestTensorCut(model_))) {
      const auto cut = CutInto(plan_, tp, plan_.pp, gpus_);
      if (cut && (!with_batch || CutsBatch(model_, *cut))) good.push_back(tp);
    }
    if (!good.empty()) break;
  }
  if (good.empty()) return ForProduct();
  const std::string hint = mended_ + "use tp " + Nearest(good, plan_.tp);
  if (good.back() > plan_.tp) return hint;
  const std::int64_t dp = gpus_ / (good.back() * plan_.pp);
  return dp == plan_.dp ? hint : fmt::format("{}, which dp {} fills the cluster with", hint, dp);
}

std::string PlanRemedies::ForChunks() const {
  // Once schedule and vp go together, the chunks may be right as they are.
  if (!mended_.empty() && AsAsked(plan_, gpus_)) return ForProduct();
  std::vector<std::string> ways;
  std::vector<std::int64_t> good;
  if (plan_.vp > 1 && model_.layers % plan_.pp == 0) {
    good = Divisors(model_.layers / plan_.pp);
    std::erase(good, 1);
    if (!good.empty()) ways.push_back("use vp " + Nearest(good, plan_.vp));
  }
  if (ways.empty()) {
    good.clear();
    for (const TrainingPlan& plan : Fillings(plan_, gpus_)) good.push_back(plan.pp);
    std::ranges::sort(good);
    if (!good.empty()) ways.push_back("use pp " + Nearest(good, plan_.pp));
  }
  if (plan_.pp * plan_.vp <= model_.layers) {
    TrainingPlan uneven = plan_;
    uneven.layout = EvenLayout(plan_);
    if (AsAsked(uneven, gpus_) || !Fillings(uneven, gpus_).empty()) {
      ways.push_back("give parallel.layout: the layers of each chunk, such as " +
                     LayoutText(plan_));
    }
  }
  if (ways.empty()) return "use another pp or vp";
  return fmt::format("{}{}", mended_, fmt::join(ways, ", or "));
}

std::string PlanRemedies::ForBatch() const {
  if (const auto asked = AsAsked(plan_, gpus_); asked && asked->dp != plan_.dp) {
    return fmt::format("it is one with dp {}, which fills the cluster", asked->dp);
  }
  // With a dp that does not fill the cluster, another batch would not help.
  const std::int64_t model_gpus = plan_.tp * plan_.pp;
  const std::int64_t dp = gpus_ % model_gpus == 0 ? gpus_ / model_gpus : plan_.dp;
  const std::string with =
      dp == plan_.dp ? "" : fmt::format("with dp {}, which fills the cluster, ", dp);
  const std::int64_t step = plan_.micro_batch * dp;
  const std::int64_t below = plan_.global_batch / step * step;
  std::vector<std::int64_t> batches;
  if (below > 0) batches.push_back(below);
  if (below + step <= kMaxExtent) batches.push_back(below + step);
  if (!batches.empty())
    return fmt::format("{}use global_batch {}", with, fmt::join(batches, " or "));
  return fmt::format("with dp {}, use a micro_batch of at most {}: global_batch is at most {}", dp,
                     std::max<std::int64_t>(kMaxExtent / dp, 1), kMaxExtent);
}

std::vector<std::int64_t> PlanRemedies::EvenLayout(const TrainingPlan& plan) const {
  const std::int64_t chunks = plan.pp * plan.vp;
  std::vector<std::int64_t> layout(static_cast<std::size_t>(chunks), model_.layers / chunks);
  const std::int64_t extra = model_.layers % chunks;
  const std::int64_t first = (chunks - extra) / 2;
  for (std::int64_t i = 0; i < extra; ++i) ++layout[static_cast<std::size_t>(first + i)];
  return layout;
}

std::string PlanRemedies::LayoutText(const TrainingPlan& plan) const {
  return fmt::format("[{}]", fmt::join(EvenLayout(plan), ", "));
}

}  // namespace trunkline
