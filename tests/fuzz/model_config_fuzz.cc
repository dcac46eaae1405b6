// A model's config.json: what is accepted has a shape that the planner can work with.
#include "fuzz/fuzz.h"
#include "trunkline/training/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trunkline;
  const auto model = ParseModelConfig(TextOf(data, size), "config.json");
  if (!model) {
    RequireExplained(model.error());
    return 0;
  }
  Require(model->layers > 0 && model->hidden > 0 && model->heads > 0 && model->vocab > 0,
          "an accepted model has layers, a width, heads and a vocabulary");
  Require(model->parameters() > 0, "an accepted model has parameters");
  TrainingPlan plan;
  plan.tp = 8;
  plan.pp = 4;
  for (const Diagnostic& diagnostic : CheckPlan(*model, plan, 64)) RequireExplained({diagnostic});
  return 0;
}
