#include "training/stage_program.h"

#include <bit>

#include "training/layer_writer.h"

namespace trunkline {
namespace {

class StageWriter {
 public:
  StageWriter(const StepContext& context, const Stage& stage, std::uint32_t index)
      : context_(context),
        plan_(context.plan),
        stage_(stage),
        index_(index),
        shape_(ShapeOf(plan_)),
        layers_(context, writer_),
        bucket_parameters_(BucketParameters(plan_, index)) {
    const bool scattered = plan_.tp > 1;  // each tensor-parallel rank sends its part
    boundary_bytes_ = Bytes(plan_.micro_batch * plan_.sequence * context.model.hidden *
                            kWeightBytes / (scattered ? plan_.tp : 1));
    sharded_ = ShardSize(plan_) > 1;
    weights_ready_.resize(stage.chunks.size());
  }

  StageProgram Write() && {
    if (plan_.zero < 3 && plan_.zero > 0 && plan_.overlap_param_gather) GatherAllWeights();
    const std::vector<PipelineSlot> slots = StageSlots(shape_, index_);
    std::vector<std::uint32_t> backwards_left(stage_.chunks.size(), shape_.micro_batches);
    for (const PipelineSlot& slot : slots) {
      const Chunk& chunk = stage_.chunks[slot.chunk];
      if (slot.forward) {
        Forward(chunk, slot.chunk);
      } else {
        Backward(chunk, --backwards_left[slot.chunk] == 0);
      }
    }
    const Time passes = writer_.compute_time();
    FinishStep();
    const Time compute = writer_.compute_time();
    return {std::move(writer_).Take(), compute, forward_, passes - forward_,
            std::move(last_backward_)};
  }

 private:
  using TaskIndex = ProgramWriter::TaskIndex;

  // ---- micro-batches

  void Forward(const Chunk& chunk, std::size_t number) {
    const Time before = writer_.compute_time();
    if (!chunk.first) ReceiveFrom(PeerRole::kPreviousStage, Label::kReceiveActivations);
    TaskIndex prefetched = ProgramWriter::kNone;
    for (std::size_t i = 0; i < chunk.units.size(); ++i) {
      const Unit* next = i + 1 < chunk.units.size() ? &chunk.units[i + 1] : nullptr;
      BeginUnit(chunk.units[i], next, prefetched);
      if (!weights_ready_[number].empty()) writer_.Wait(weights_ready_[number][i]);
      layers_.Forward(chunk.units[i]);
    }
    weights_ready_[number].clear();  // waited for once, by the first micro-batch
    if (!chunk.last) SendTo(PeerRole::kNextStage, Label::kSendActivations);
    forward_ += writer_.compute_time() - before;
  }

  void Backward(const Chunk& chunk, bool last_micro_batch) {
    if (!chunk.last) ReceiveFrom(PeerRole::kNextStage, Label::kReceiveGradients);
    TaskIndex prefetched = ProgramWriter::kNone;
    std::int64_t bucket = 0;
    for (std::size_t i = chunk.units.size(); i-- > 0;) {
      const Unit* next = i > 0 ? &chunk.units[i - 1] : nullptr;
      const TaskIndex first = writer_.next();
      BeginUnit(chunk.units[i], next, prefetched);
      layers_.Backward(chunk.units[i]);
      bucket += chunk.units[i].parameters;
      if (plan_.zero == 3 || bucket >= bucket_parameters_ || i == 0) {
        EndBucket(bucket, last_micro_batch);
        bucket = 0;
      }
      if (last_micro_batch && chunk.units[i].kind == Unit::Kind::kLayer) {
        last_backward_.push_back({chunk.units[i].layer, index_, first, writer_.next() - 1});
      }
    }
    if (!chunk.first) SendTo(PeerRole::kPreviousStage, Label::kSendGradients);
  }

  void SendTo(PeerRole role, Label label) {
    const TaskIndex send = writer_.Send(label, role, boundary_bytes_);
    if (!plan_.overlap_p2p) writer_.Wait(send);
  }

  void ReceiveFrom(PeerRole role, Label label) {
    writer_.Wait(writer_.Receive(label, role, boundary_bytes_));
    layers_.GatherBoundary();
  }

  // ---- weights and gradients

  // ZeRO-3: gathers the unit's weights unless they were prefetched, and starts on the next unit's.
  void BeginUnit(const Unit& unit, const Unit* next, TaskIndex& prefetched) {
    if (plan_.zero < 3 || !sharded_) return;
    const TaskIndex own =
        prefetched != ProgramWriter::kNone ? prefetched : GatherWeights(unit.parameters);
    // Starts when the unit before this one is done, so that two units at most are whole.
    prefetched = next != nullptr ? GatherWeights(next->parameters) : ProgramWriter::kNone;
    writer_.Wait(own);
  }

  TaskIndex GatherWeights(std::int64_t parameters) {
    return writer_.Collective(
        Stream::kData, Label::kDataAllGather, GroupRole::kShard,
        DataCollective(GroupRole::kShard, Primitive::kAllGather, parameters, kWeightBytes));
  }

  // ZeRO-1 and 2: the weights that the previous step's optimizer updated, in order of use.
  void GatherAllWeights() {
    if (!sharded_) return;
    for (std::size_t c = 0; c < stage_.chunks.size(); ++c) {
      const std::vector<Unit>& units = stage_.chunks[c].units;
      weights_ready_[c].resize(units.size());
      std::int64_t bucket = 0;
      std::size_t first = 0;
      for (std::size_t i = 0; i < units.size(); ++i) {
        bucket += units[i].parameters;
        if (bucket < bucket_parameters_ && i + 1 < units.size()) continue;
        const TaskIndex gather = GatherWeights(bucket);
        for (; first <= i; ++first) weights_ready_[c][first] = gather;
        bucket = 0;
      }
    }
  }

  // The gradients of a bucket are complete for this micro-batch.
  void EndBucket(std::int64_t parameters, bool last_micro_batch) {
    const bool every_micro_batch = plan_.zero >= 2;
    if (!last_micro_batch && !every_micro_batch) return;
    if (plan_.overlap_grad_reduce || !last_micro_batch) {
      Reduce(parameters, last_micro_batch);
    } else {
      unreduced_.push_back(parameters);
    }
  }

  void Reduce(std::int64_t parameters, bool last_micro_batch) {
    const std::int64_t bytes = GradientBytes(plan_);
    if (sharded_) {
      const bool scatter = plan_.zero > 0;
      reduced_ = writer_.Collective(
          Stream::kData, scatter ? Label::kDataReduceScatter : Label::kDataAllReduce,
          GroupRole::kShard,
          DataCollective(GroupRole::kShard,
                         scatter ? Primitive::kReduceScatter : Primitive::kAllReduce, parameters,
                         bytes));
    }
    if (last_micro_batch && context_.grid.group_size(GroupRole::kReplicate) > 1) {
      const std::int64_t shard = (parameters + ShardSize(plan_) - 1) / ShardSize(plan_);
      reduced_ = writer_.Collective(
          Stream::kData, Label::kDataAllReduce, GroupRole::kReplicate,
          DataCollective(GroupRole::kReplicate, Primitive::kAllReduce, shard, bytes));
    }
  }

  std::uint32_t DataCollective(GroupRole role, Primitive primitive, std::int64_t parameters,
                               std::int64_t bytes) {
    // Buckets are padded so that every rank's shard is equal.
    const std::int64_t ranks = context_.grid.group_size(role);
    const std::int64_t padded = (parameters + ranks - 1) / ranks * ranks;
    return context_.collectives.Find(role, primitive, padded * bytes, bytes, plan_.dp_algorithm);
  }

  // ---- after the last micro-batch

  void FinishStep() {
    for (const std::int64_t bucket : unreduced_) Reduce(bucket, true);
    if (reduced_ != ProgramWriter::kNone) writer_.Wait(reduced_);
    ReduceSharedEmbedding();

    const std::int64_t own = OwnParameters(plan_, stage_);
    writer_.Compute(Label::kGradientNorm, GradientNormCost(context_.kernels, plan_, own).time);
    if (context_.grid.group_size(GroupRole::kWorld) > 1) {
      // The norm that clipping needs: a barrier of all ranks before anyone updates.
      constexpr std::int64_t kScalar = 4;
      writer_.Wait(
          writer_.Collective(Stream::kWorld, Label::kNormAllReduce, GroupRole::kWorld,
                             context_.collectives.Find(GroupRole::kWorld, Primitive::kAllReduce,
                                                       kScalar, kScalar, NormAlgorithm())));
    }
    writer_.Compute(Label::kOptimizer, OptimizerCost(context_.kernels, plan_, own).time);
    if (sharded_ && plan_.zero > 0 && plan_.zero < 3 && !plan_.overlap_param_gather) {
      for (const Chunk& chunk : stage_.chunks) GatherWeights(chunk.parameters());
    }
  }

  // Few steps, and all ranks alike, so that replicas stay congruent through the one collective that
  // spans them all: recursive doubling where their number is a power of two, recursive multiplying
  // where its prime factors are small enough for a put to so many at once (the bound is ours).
  [[nodiscard]] const char* NormAlgorithm() const {
    constexpr std::uint32_t kLargestFactor = 31;
    std::uint32_t ranks = context_.grid.group_size(GroupRole::kWorld);
    if (std::has_single_bit(ranks)) return "recursive_doubling";
    for (std::uint32_t factor = 2; factor <= kLargestFactor; ++factor) {
      while (ranks % factor == 0) ranks /= factor;
    }
    return ranks == 1 ? "recursive_multiplying" : "recursive_doubling";
  }

  void ReduceSharedEmbedding() {
    if (stage_.shared_embedding == 0) return;
    const std::int64_t bytes = GradientBytes(plan_);
    writer_.Wait(writer_.Collective(
        Stream::kEmbedding, Label::kEmbeddingAllReduce, GroupRole::kEmbedding,
        context_.collectives.Find(GroupRole::kEmbedding, Primitive::kAllReduce,
                                  stage_.shared_embedding * bytes, bytes, "auto")));
  }

  const StepContext& context_;
  const TrainingPlan& plan_;
  const Stage& stage_;
  std::uint32_t index_;
  PipelineShape shape_;
  ProgramWriter writer_;
  LayerWriter layers_;
  std::int64_t bucket_parameters_;
  Bytes boundary_bytes_;
  bool sharded_ = false;
  Time forward_;  // compute of the forward passes
  // By chunk and unit: the gather that its first forward waits for; empty once waited for.
  std::vector<std::vector<TaskIndex>> weights_ready_;
  std::vector<LayerTasks> last_backward_;
  std::vector<std::int64_t> unreduced_;       // buckets whose reduction starts after all compute
  TaskIndex reduced_ = ProgramWriter::kNone;  // the last reduction issued
};

}  // namespace

StageProgram WriteStageProgram(const StepContext& context, const Stage& stage,
                               std::uint32_t stage_index) {
  return StageWriter(context, stage, stage_index).Write();
}

}  // namespace trunkline
