#include "report/pipeline_bubble.h"

#include "training/pipeline.h"
#include "trunkline/base/units.h"

namespace trunkline {

PipelineBubble PipelineBubbleOf(const TrainingWorkload& training, std::int64_t micro_batches) {
  const TrainingPlan& plan = training.plan;
  PipelineBubble bubble{.fill = plan.pp - 1, .passes = plan.vp * micro_batches};
  if (plan.schedule != PipelineSchedule::kInterleaved) return bubble;
  bubble.last_group = micro_batches % plan.pp;
  if (bubble.last_group == 0) return bubble;

  const std::int64_t passes = plan.pp * plan.vp * plan.micro_batches();
  const Time forward = Time::Picoseconds(training.forward_compute.ps() / passes);
  const Time backward = Time::Picoseconds(training.backward_compute.ps() / passes);
  const Time pass = forward + backward;
  if (pass == Time()) return bubble;
  PipelineShape shape = ShapeOf(plan);
  shape.micro_batches = static_cast<std::uint32_t>(micro_batches);
  const Time waits = PipelineTime(shape, forward, backward) - pass * (bubble.passes + bubble.fill);
  bubble.group_wait = waits.seconds() / pass.seconds();
  return bubble;
}

}  // namespace trunkline
