#include "training/layer_writer.h"

#include "training/stage_program.h"

namespace trunkline {

const LayerWriter::Block LayerWriter::kAttention = {
    Piece::kAttentionForward,       Piece::kAttentionBackwardOutput,
    Piece::kAttentionBackwardInput, Piece::kAttentionBackwardWeight,
    Label::kForwardAttention,       Label::kRecomputeAttention,
    Label::kBackwardAttention};
const LayerWriter::Block LayerWriter::kMlp = {Piece::kMlpForward,       Piece::kMlpBackwardOutput,
                                              Piece::kMlpBackwardInput, Piece::kMlpBackwardWeight,
                                              Label::kForwardMlp,       Label::kRecomputeMlp,
                                              Label::kBackwardMlp};

LayerWriter::LayerWriter(const StepContext& context, ProgramWriter& writer)
    : context_(context),
      costs_(context.costs),
      writer_(writer),
      tensor_(context.plan.tp > 1),
      sequence_(tensor_ && context.plan.sequence_parallel),
      pipelined_(sequence_ && context.plan.overlap_tp) {
  if (!tensor_) return;
  const TrainingPlan& plan = context.plan;
  const std::int64_t tokens = plan.micro_batch * plan.sequence;
  const std::int64_t hidden_bytes = tokens * context.model.hidden * kWeightBytes;
  const auto find = [&](Primitive primitive, std::int64_t bytes, std::int64_t element_bytes) {
    return context.collectives.Find(GroupRole::kTensor, primitive, bytes, element_bytes,
                                    plan.tp_algorithm);
  };
  all_gather_ = find(Primitive::kAllGather, hidden_bytes, kWeightBytes);
  partial_sum_ = find(sequence_ ? Primitive::kReduceScatter : Primitive::kAllReduce, hidden_bytes,
                      kWeightBytes);
  constexpr std::int64_t kFp32 = 4;
  loss_sum_ = find(Primitive::kAllReduce, tokens * kFp32, kFp32);
}

std::uint32_t LayerWriter::GatherSequence() {
  return writer_.Collective(Stream::kTensor, Label::kTensorAllGather, GroupRole::kTensor,
                            all_gather_);
}

std::uint32_t LayerWriter::SumPartial() {
  return writer_.Collective(Stream::kTensor, partial_sum_label(), GroupRole::kTensor, partial_sum_);
}

std::uint32_t LayerWriter::SumPartial(const ProgramWriter::Mark& from) {
  return writer_.CollectiveFrom(from, Stream::kTensor, partial_sum_label(), GroupRole::kTensor,
                                partial_sum_);
}

void LayerWriter::GatherBoundary() {
  if (tensor_ && !sequence_) writer_.Wait(GatherSequence());
}

void LayerWriter::Forward(const Unit& unit) {
  switch (unit.kind) {
    case Unit::Kind::kEmbedding:
      Compute(Label::kForwardEmbedding, Piece::kEmbeddingForward);
      if (tensor_) writer_.Wait(SumPartial());
      return;
    case Unit::Kind::kLayer:
      ForwardBlock(kAttention, false);
      ForwardBlock(kMlp, false);
      return;
    case Unit::Kind::kHead:
      ForwardHead();
      return;
  }
}

void LayerWriter::Backward(const Unit& unit) {
  switch (unit.kind) {
    case Unit::Kind::kEmbedding:
      if (sequence_) writer_.Wait(GatherSequence());
      Compute(Label::kBackwardEmbedding, Piece::kEmbeddingBackward);
      return;
    case Unit::Kind::kLayer:
      if (context_.plan.recompute == Recompute::kFull) {
        ForwardBlock(kAttention, true);
        ForwardBlock(kMlp, true);
      }
      BackwardBlock(kMlp);
      if (context_.plan.recompute == Recompute::kSelective) {
        Compute(Label::kRecomputeAttention, Piece::kAttentionRecompute);
      }
      BackwardBlock(kAttention);
      return;
    case Unit::Kind::kHead:
      BackwardHead();
      return;
  }
}

void LayerWriter::ForwardBlock(const Block& block, bool recompute) {
  const Label label = recompute ? block.recompute_label : block.forward_label;
  if (!sequence_) {
    Compute(label, Piece::kNormForward, block.forward);
    if (tensor_) writer_.Wait(SumPartial());
    return;
  }
  Compute(recompute ? Label::kRecomputeNorm : Label::kForwardNorm, Piece::kNormForward);
  const ProgramWriter::Mark before = pipelined_ ? writer_.mark() : ProgramWriter::Mark();
  const std::uint32_t gathered = GatherSequence();
  if (!pipelined_) writer_.Wait(gathered);
  Compute(label, block.forward);
  writer_.Wait(pipelined_ ? SumPartial(before) : SumPartial());
}

void LayerWriter::BackwardBlock(const Block& block) {
  if (!tensor_) {
    writer_.Compute(block.backward_label,
                    costs_.of(block.backward_output) + costs_.of(block.backward_input) +
                        costs_.of(block.backward_weight) + costs_.of(Piece::kNormBackward));
    return;
  }
  if (sequence_) {
    const std::uint32_t gathered = GatherSequence();
    if (!pipelined_) writer_.Wait(gathered);
  }
  Compute(block.backward_label, block.backward_output);
  BackwardColumn(block.backward_label, block.backward_input, block.backward_weight);
  Compute(Label::kBackwardNorm, Piece::kNormBackward);
}

void LayerWriter::BackwardColumn(Label label, Piece input, Piece weight) {
  if (!tensor_) {
    Compute(label, input, weight);
    return;
  }
  std::uint32_t gathered = 0;
  if (sequence_) gathered = GatherSequence();
  Compute(label, input);
  const std::uint32_t summed = SumPartial();
  if (sequence_) writer_.Wait(gathered);
  Compute(label, weight);
  writer_.Wait(summed);
}

void LayerWriter::ForwardHead() {
  if (!tensor_) {
    writer_.Compute(
        Label::kForwardHead,
        costs_.of(Piece::kNormForward) + costs_.of(Piece::kHeadForward) + costs_.of(Piece::kLoss));
    return;
  }
  const auto sum_over_vocabulary = [this] {
    writer_.Wait(writer_.Collective(Stream::kTensor, Label::kTensorAllReduce, GroupRole::kTensor,
                                    loss_sum_));
  };
  Compute(Label::kForwardNorm, Piece::kNormForward);
  if (sequence_) writer_.Wait(GatherSequence());
  Compute(Label::kForwardHead, Piece::kHeadForward);
  sum_over_vocabulary();  // the largest logit
  Compute(Label::kForwardHead, Piece::kLoss);
  sum_over_vocabulary();  // the logit of the target
  sum_over_vocabulary();  // the sum of exponentials
}

void LayerWriter::BackwardHead() {
  BackwardColumn(Label::kBackwardHead, Piece::kHeadBackwardInput, Piece::kHeadBackwardWeight);
  Compute(Label::kBackwardNorm, Piece::kNormBackward);
}

}  // namespace trunkline
