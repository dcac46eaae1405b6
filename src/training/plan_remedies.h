#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trunkline/training/model.h"
#include "trunkline/training/plan.h"

namespace trunkline {

// The divisors of `n` next to `wanted`: "4 or 8".
[[nodiscard]] std::string NearestDivisors(std::int64_t n, std::int64_t wanted);

// What to change in a plan that CheckPlan refuses: hints, whose values it accepts. Where schedule
// and vp do not go together (TL1323), no extents would do as they are: the search mends them first,
// and hints say how.
class PlanRemedies {
 public:
  // REQUIRES: extents in range. Keeps references.
  PlanRemedies(const ModelConfig& model, const TrainingPlan& plan, std::int64_t gpus,
               const NodeNumbers& nodes);

  [[nodiscard]] std::string ForProduct() const;  // TL1321
  [[nodiscard]] std::string ForTensor() const;   // TL1322
  [[nodiscard]] std::string ForChunks() const;   // TL1324
  [[nodiscard]] std::string ForBatch() const;    // TL1326

  // As even as possible, with the lighter chunks first and last, beside embedding and head.
  [[nodiscard]] std::string SuggestedLayout() const { return LayoutText(given_); }

 private:
  // Chooses the way to mend schedule and vp that leaves most as it was asked for.
  void MendSchedule();
  // A plan with other extents, which fills `gpus`.
  [[nodiscard]] std::optional<TrainingPlan> CutInto(const TrainingPlan& plan, std::int64_t tp,
                                                    std::int64_t pp, std::int64_t gpus) const;
  // All of those whose tp is at most 8 that cut the model, whatever the batch.
  [[nodiscard]] std::vector<TrainingPlan> Cuts(const TrainingPlan& plan, std::int64_t gpus) const;
  // Those that cut the batch, too.
  [[nodiscard]] std::vector<TrainingPlan> Fillings(const TrainingPlan& plan,
                                                   std::int64_t gpus) const;
  [[nodiscard]] std::optional<TrainingPlan> AsAsked(const TrainingPlan& plan,
                                                    std::int64_t gpus) const;
  // With the batch nearest to the one asked for that some cut allows.
  [[nodiscard]] std::optional<TrainingPlan> OtherBatch(const TrainingPlan& plan) const;
  // On the nearest number of nodes that the cluster can have.
  [[nodiscard]] std::optional<TrainingPlan> OtherNodes(const TrainingPlan& plan) const;
  [[nodiscard]] std::string Elsewhere(const TrainingPlan& plan, const std::string& why) const;
  [[nodiscard]] std::vector<std::int64_t> EvenLayout(const TrainingPlan& plan) const;
  [[nodiscard]] std::string LayoutText(const TrainingPlan& plan) const;

  const ModelConfig& model_;
  const TrainingPlan& given_;
  TrainingPlan plan_;   // as given, but with a schedule and a vp that go together
  std::string mended_;  // "with vp 2: ", or empty
  std::int64_t gpus_;
  const NodeNumbers& nodes_;
};

}  // namespace trunkline
