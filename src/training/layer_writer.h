#pragma once

#include <cstdint>

#include "training/program_writer.h"
#include "training/stage_model.h"
#include "training/step_kernels.h"

namespace trunkline {

struct StepContext;

// Writes the tasks of one unit (a layer, the embedding, the head) for one micro-batch: compute cut
// where tensor-parallel collectives sit.
//
// With sequence parallelism each block gathers its input and scatters its output (AllGather,
// ReduceScatter); without it each block ends in an AllReduce. Backward, the gradient of a block's
// input is on its way while the gradient of its first weight is computed, and the input gathered
// again for that weight is on its way while the gradient of the input is computed (Megatron-LM,
// megatron/core/tensor_parallel/layers.py; arXiv 2205.05198, section 4.2).
class LayerWriter {
 public:
  LayerWriter(const StepContext& context, ProgramWriter& writer);

  void Forward(const Unit& unit);
  void Backward(const Unit& unit);
  // Assembles the parts of a message between stages, which tensor-parallel ranks carry in pieces.
  void GatherBoundary();

 private:
  // A block between two residual additions: attention or MLP.
  struct Block {
    Piece forward;
    Piece backward_output;
    Piece backward_input;
    Piece backward_weight;
    Label forward_label;
    Label recompute_label;
    Label backward_label;
  };
  static const Block kAttention;
  static const Block kMlp;

  void ForwardBlock(const Block& block, bool recompute);
  void BackwardBlock(const Block& block);
  // The backward of a column-parallel matrix: gradients of its input and its weight.
  void BackwardColumn(Label label, Piece input, Piece weight);
  void ForwardHead();
  void BackwardHead();

  void Compute(Label label, Piece piece) { writer_.Compute(label, costs_.of(piece)); }
  void Compute(Label label, Piece piece, Piece second) {
    writer_.Compute(label, costs_.of(piece) + costs_.of(second));
  }

  // Collectives over the tensor-parallel group on the hidden states of a micro-batch.
  std::uint32_t GatherSequence();  // AllGather
  // The sum of partial results: ReduceScatter with sequence parallelism, else AllReduce.
  std::uint32_t SumPartial();
  std::uint32_t SumPartial(const ProgramWriter::Mark& from);
  [[nodiscard]] Label partial_sum_label() const {
    return sequence_ ? Label::kTensorReduceScatter : Label::kTensorAllReduce;
  }

  const StepContext& context_;
  const StepKernels& costs_;
  ProgramWriter& writer_;
  bool tensor_;     // tp > 1
  bool sequence_;   // tp > 1 with sequence parallelism
  bool pipelined_;  // collectives run beside the GEMMs they feed (overlap_tp)
  std::uint32_t all_gather_ = 0;
  std::uint32_t partial_sum_ = 0;
  std::uint32_t loss_sum_ = 0;
};

}  // namespace trunkline
