#include "trunkline/planner/advise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "planner/candidates.h"
#include "trunkline/fabric/catalog.h"

namespace trunkline {
namespace {

constexpr const char* kAllToAll = "AllToAll";

// The time of one kind of work on every candidate that ran it, over the least.
class Relative {
 public:
  explicit Relative(std::optional<TrialTime> FabricTrial::* time) : time_(time) {}

  void Note(const FabricTrial& trial) {
    if (!(trial.*time_)) return;
    const double seconds = (trial.*time_)->time.seconds();
    if (seconds > 0 && (least_ == 0 || seconds < least_)) least_ = seconds;
  }
  [[nodiscard]] std::optional<double> Of(const FabricTrial& trial) const {
    if (!(trial.*time_) || least_ == 0) return std::nullopt;
    return (trial.*time_)->time.seconds() / least_;
  }

 private:
  std::optional<TrialTime> FabricTrial::* time_;
  double least_ = 0;
};

struct Scales {
  Relative all_reduce{&FabricTrial::all_reduce};
  Relative all_to_all{&FabricTrial::all_to_all};
  Relative step{&FabricTrial::step};
};

std::optional<double> SlowdownOf(const FabricTrial& trial, const AdviceRequest& request,
                                 const Scales& scales) {
  if (request.trial.step != nullptr) return scales.step.Of(trial);
  const auto reduce = scales.all_reduce.Of(trial);
  const auto exchange = scales.all_to_all.Of(trial);
  if ((request.all_reduce > 0 && !reduce) || (request.all_to_all > 0 && !exchange)) {
    return std::nullopt;
  }
  return (request.all_reduce * reduce.value_or(0) + request.all_to_all * exchange.value_or(0)) /
         (request.all_reduce + request.all_to_all);
}

// Smaller is better: what runs at all, within the budget, then time in steps, then price.
auto RankOf(const Candidate& candidate) {
  const double slowdown = candidate.slowdown.value_or(HUGE_VAL);
  return std::tuple(!candidate.trial, !candidate.slowdown, !candidate.within_budget,
                    std::floor(std::log(slowdown) / std::log1p(Advice::kTie)),
                    candidate.trial ? candidate.trial->cost.price() : 0);
}

std::string Than(double ratio, const char* more, const char* less) {
  if (std::abs(ratio - 1) < 0.005) return "";
  return ratio > 1 ? fmt::format("{:.0f} % {}", (ratio - 1) * 100, more)
                   : fmt::format("{:.0f} % {}", (1 - ratio) * 100, less);
}

// The kinds of work that take longer on it than on the fastest of each, and how many times.
std::vector<std::pair<std::string, double>> SlowAt(const FabricTrial& trial, const Scales& scales) {
  std::vector<std::pair<std::string, double>> slow;
  for (const auto& [name, scale] :
       {std::pair("AllReduce", &scales.all_reduce), std::pair(kAllToAll, &scales.all_to_all),
        std::pair("the step", &scales.step)}) {
    const auto ratio = scale->Of(trial);
    if (ratio && *ratio >= 1 + Advice::kTie) slow.emplace_back(name, *ratio);
  }
  return slow;
}

std::string FailsAt(const FabricTrial& trial, const std::string& cause, const Scales& scales) {
  std::vector<std::string> parts;
  for (const auto& [name, ratio] : SlowAt(trial, scales)) {
    const bool known = name == kAllToAll && !cause.empty();
    parts.push_back(known ? fmt::format("{} ({})", name, cause) : name);
  }
  return fmt::format("{}", fmt::join(parts, " and "));
}

// Against the fastest of all that run.
std::string ReasonFor(const Candidate& candidate, const Candidate& fastest, const Scales& scales,
                      const AdviceRequest& request) {
  if (!candidate.trial) return candidate.refusal;
  if (!candidate.slowdown) {
    return candidate.trial->troubles.empty() ? "the work does not run on it"
                                             : candidate.trial->troubles.front();
  }
  std::vector<std::string> parts;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) parts.push_back(text);
  };
  if (&candidate == &fastest) {
    add("the fastest");
  } else {
    for (const auto& [name, ratio] : SlowAt(*candidate.trial, scales)) {
      add(fmt::format("{} takes {:.2f} times as long", name, ratio));
    }
    if (parts.empty()) add("as fast as the fastest");
    const double price = fastest.trial->cost.price();
    // Of sums that leave out different parts neither is known to be dearer.
    if (price > 0 && candidate.trial->cost.complete() && fastest.trial->cost.complete()) {
      add(Than(candidate.trial->cost.price() / price, "dearer than the fastest",
               "cheaper than the fastest"));
    }
  }
  if (request.budget && candidate.trial->cost.price() > *request.budget) {
    const double times = candidate.trial->cost.price() / *request.budget;
    add(times < 2 ? fmt::format("over the budget by {:.1f} %", (times - 1) * 100)
                  : fmt::format("over the budget {:.{}f} times", times, times < 100 ? 1 : 0));
  }
  if (!candidate.trial->cost.complete()) add("its price leaves parts out");
  return fmt::format("{}", fmt::join(parts, "; "));
}

Candidate Try(const CandidateFabric& fabric, const AdviceRequest& request) {
  Candidate candidate{.kind = fabric.kind,
                      .spec = fabric.spec,
                      .trial = {},
                      .refusal = fabric.refusal,
                      .slowdown = {},
                      .reason = {},
                      .suits = fabric.suits,
                      .fails_at = {},
                      .risks = fabric.risks};
  if (!candidate.refusal.empty()) return candidate;
  auto spec = ParseFabricSpec(fabric.spec);
  auto built = spec ? BuildFabric(*spec) : std::unexpected(std::move(spec.error()));
  if (!built) {
    const Diagnostic& problem = built.error().front();
    candidate.refusal = problem.message + (problem.hint.empty() ? "" : ": " + problem.hint);
    return candidate;
  }
  candidate.trial = TryFabric(fabric.spec, std::make_shared<const BuiltFabric>(*std::move(built)),
                              RoutingPolicy::kAdaptive, request.trial);
  const FabricCost& cost = candidate.trial->cost;
  candidate.within_budget = !request.budget || (cost.complete() && cost.price() <= *request.budget);
  return candidate;
}

// Sizes of a kind that cannot win are not simulated in flows: those that are no cheaper than one
// tried before of the kind, and by the closed forms, which take milliseconds, no faster at either
// collective.
class Sizes {
 public:
  explicit Sizes(const AdviceRequest& request) : request_(request) {
    request_.trial.engine = EngineKind::kAnalytic;
  }

  bool CannotWin(const CandidateFabric& fabric) {
    const bool simulated = request_.trial.step == nullptr && request_.gpus <= kFlowReduce;
    if (!simulated || !fabric.refusal.empty()) return false;
    Candidate estimate = Try(fabric, request_);
    const auto& trial = estimate.trial;
    if (!trial || !trial->all_reduce || !trial->all_to_all || !trial->cost.complete()) {
      return false;
    }
    const auto no_better = [&](const FabricTrial& before) {
      return trial->cost.price() >= before.cost.price() &&
             trial->all_reduce->time >= before.all_reduce->time &&
             trial->all_to_all->time >= before.all_to_all->time;
    };
    if (std::ranges::any_of(tried_[fabric.kind], no_better)) return true;
    tried_[fabric.kind].push_back(*std::move(estimate.trial));
    return false;
  }

 private:
  AdviceRequest request_;
  std::map<std::string, std::vector<FabricTrial>> tried_;
};

bool Builds(const AdviceRequest& request, const NodeTemplate& node) {
  return std::ranges::any_of(CandidatesFor(request, node), [](const CandidateFabric& fabric) {
    const auto spec = ParseFabricSpec(fabric.spec);
    return fabric.refusal.empty() && spec && BuildFabric(*spec);
  });
}

// The key of a Clos that says how many ports a switch has.
FabricKey RadixKey() {
  for (const FabricKind& kind : FabricKinds()) {
    if (kind.name != "clos") continue;
    const auto key = std::ranges::find(kind.keys, "radix", &FabricKey::name);
    if (key != kind.keys.end()) return *key;
  }
  return {};
}

// The next power of two of ports, and the most GPUs by halves, with which something can be built.
std::string WouldWork(const AdviceRequest& request, const NodeTemplate& node) {
  AdviceRequest other = request;
  std::vector<std::string> works;
  const auto most_ports = static_cast<std::uint32_t>(RadixKey().max);
  for (other.radix = std::bit_ceil(request.radix + 1); other.radix <= most_ports;
       other.radix *= 2) {
    if (!Builds(other, node)) continue;
    works.push_back(fmt::format("switches of {} ports", other.radix));
    break;
  }
  other.radix = request.radix;
  const std::uint32_t per_node = std::max(1U, node.gpus);
  for (std::uint32_t nodes = request.gpus / per_node / 2; nodes > 1; nodes /= 2) {
    other.gpus = nodes * per_node;
    if (!Builds(other, node)) continue;
    works.push_back(fmt::format("{} GPUs", other.gpus));
    break;
  }
  return fmt::format("{}", fmt::join(works, ", or "));
}

Result<void> Check(const AdviceRequest& request, const NodeTemplate& node) {
  const FabricKey ports = RadixKey();
  if (request.radix < ports.min || request.radix > ports.max) {
    return Error("TL1432", fmt::format("no switch has {} ports", request.radix),
                 fmt::format("ask for a radix from {} to {}", ports.min, ports.max));
  }

  const std::uint32_t per_node = std::max(1U, node.gpus);
  if (request.gpus == 0 || request.gpus % per_node != 0 || request.gpus == per_node) {
    const std::uint32_t nodes = std::max(2U, (request.gpus + per_node - 1) / per_node);
    return Error(
        "TL1432",
        fmt::format("{} GPUs are no two or more whole {} of {}", request.gpus, node.name, per_node),
        fmt::format("ask for {}, say", nodes * per_node));
  }
  const bool weighted = request.all_reduce >= 0 && request.all_to_all >= 0 &&
                        request.all_reduce + request.all_to_all > 0;
  if (!weighted) {
    return Error("TL1432", "the mix weighs nothing", "give one collective a weight above 0");
  }
  return {};
}

}  // namespace

Result<Advice> AdviseFabric(const AdviceRequest& request) {
  const auto node = FindNodeTemplate(request.node);
  if (!node) return std::unexpected(node.error());
  if (auto checked = Check(request, *node); !checked) return std::unexpected(checked.error());
  AdviceRequest asked = request;
  asked.trial.collectives = request.trial.step == nullptr;
  Advice advice;
  Scales scales;
  std::map<std::string, std::string> causes;  // by kind
  const std::vector<CandidateFabric> fabrics = CandidatesFor(request, *node);
  Sizes sizes(asked);
  for (const CandidateFabric& fabric : fabrics) {
    causes[fabric.kind] = fabric.cause;
    const bool several = std::ranges::count(fabrics, fabric.kind, &CandidateFabric::kind) > 1;
    if (several && sizes.CannotWin(fabric)) continue;
    advice.candidates.push_back(Try(fabric, asked));
    const auto& trial = advice.candidates.back().trial;
    if (!trial) continue;
    scales.all_reduce.Note(*trial);
    scales.all_to_all.Note(*trial);
    scales.step.Note(*trial);
    advice.stopped |= trial->stopped;
    if (advice.stopped) return advice;
  }
  if (std::ranges::none_of(advice.candidates,
                           [](const Candidate& one) { return one.trial.has_value(); })) {
    advice.would_work = WouldWork(request, *node);
  }
  for (Candidate& candidate : advice.candidates) {
    if (candidate.trial) candidate.slowdown = SlowdownOf(*candidate.trial, asked, scales);
  }
  std::ranges::stable_sort(advice.candidates, {}, RankOf);
  // Of a kind that is tried in several sizes, the best stands for all.
  std::set<std::string> kinds;
  std::erase_if(advice.candidates,
                [&](const Candidate& one) { return !kinds.insert(one.kind).second; });
  const auto fastest = std::ranges::min_element(
      advice.candidates, {}, [](const Candidate& one) { return one.slowdown.value_or(HUGE_VAL); });
  for (Candidate& candidate : advice.candidates) {
    candidate.reason = ReasonFor(candidate, *fastest, scales, asked);
    if (candidate.trial) {
      candidate.fails_at = FailsAt(*candidate.trial, causes[candidate.kind], scales);
    }
  }
  return advice;
}

}  // namespace trunkline
