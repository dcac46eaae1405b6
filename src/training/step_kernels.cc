#include "training/step_kernels.h"

#include <utility>

#include "training/model_flops.h"
#include "training/stage_model.h"

namespace trunkline {
namespace {

// Collects the kernels of one GPU. Widths are those of its tensor-parallel shard.
class CostCollector {
 public:
  CostCollector(const ModelConfig& model, const TrainingPlan& plan, const KernelModel& kernels)
      : model_(model), plan_(plan), kernels_(kernels) {
    tokens_ = plan.micro_batch * plan.sequence;
    // Tokens that norms, residuals and dropout see.
    own_tokens_ = plan.sequence_parallel ? tokens_ / plan.tp : tokens_;
    qkv_ = model.head_dim * (model.heads + 2 * model.kv_heads) / plan.tp;
    context_ = model.head_dim * model.heads / plan.tp;
    ffn_ = model.ffn / plan.tp;
    up_ = model.gated_mlp ? 2 * ffn_ : ffn_;
    vocab_ = PaddedVocabulary(model, plan) / plan.tp;
    attention_ = {.batch = plan.micro_batch,
                  .sequence = plan.sequence,
                  .heads = model.heads / plan.tp,
                  .kv_heads = model.kv_heads / plan.tp,
                  .head_dim = model.head_dim,
                  .mean_context = MeanContext(model, plan.sequence)};
  }

  StepKernels Collect() && {
    Norms();
    Attention();
    Mlp();
    Head();
    Embedding();
    return std::move(costs_);
  }

 private:
  void Add(Piece piece, KernelCost cost) {
    costs_.time[static_cast<std::size_t>(piece)] += cost.time;
    costs_.kernels.push_back(std::move(cost));
  }
  void Gemm(Piece piece, const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k,
            GemmPass pass) {
    Add(piece, kernels_.Gemm(name, {.m = m, .n = n, .k = k}, pass));
  }
  // A kernel that moves `per_row` bytes for each of `rows`.
  void Stream(Piece piece, const char* name, std::int64_t rows, std::int64_t per_row) {
    if (per_row == 0) return;
    Add(piece, kernels_.Streaming(name, static_cast<double>(rows) * static_cast<double>(per_row)));
  }

  // Bytes per value: 16-bit tensors 2, dropout masks 1, fp32 tensors 4.
  void Norms() {
    const std::int64_t h = model_.hidden;
    // Reads the block's output and the residual, writes the sum (and a mask); then reads and
    // writes once more for the norm.
    Stream(Piece::kNormForward, "residual addition forward", own_tokens_,
           h * (6 + (model_.dropout ? 1 : 0)));
    Stream(Piece::kNormForward, "norm forward", own_tokens_, h * 4);
    // Reads output gradient, input and residual gradient, writes the input gradient.
    Stream(Piece::kNormBackward, "norm backward", own_tokens_, h * 8);
    Stream(Piece::kNormBackward, "dropout backward", own_tokens_, model_.dropout ? h * 5 : 0);
  }

  void Attention() {
    const std::int64_t h = model_.hidden;
    const std::int64_t rotary =
        model_.learned_positions ? 0 : 4 * (context_ + (qkv_ - context_) / 2);  // queries and keys
    Gemm(Piece::kAttentionForward, "attention qkv GEMM forward", tokens_, qkv_, h,
         GemmPass::kForward);
    Stream(Piece::kAttentionForward, "rotary embedding forward", tokens_, rotary);
    AttentionCore(Piece::kAttentionForward, AttentionPass::kForward);
    Gemm(Piece::kAttentionForward, "attention output GEMM forward", tokens_, h, context_,
         GemmPass::kForward);

    if (plan_.recompute == Recompute::kSelective) {
      const std::size_t listed = costs_.kernels.size();
      AttentionCore(Piece::kAttentionRecompute, AttentionPass::kForward);
      costs_.kernels.resize(listed);  // the same kernels again
    }
    Gemm(Piece::kAttentionBackwardOutput, "attention output GEMM data gradient", tokens_, context_,
         h, GemmPass::kDataGrad);
    Gemm(Piece::kAttentionBackwardOutput, "attention output GEMM weight gradient", h, context_,
         tokens_, GemmPass::kWeightGrad);
    AttentionCore(Piece::kAttentionBackwardOutput, AttentionPass::kBackward);
    Stream(Piece::kAttentionBackwardOutput, "rotary embedding backward", tokens_, rotary);
    Gemm(Piece::kAttentionBackwardInput, "attention qkv GEMM data gradient", tokens_, h, qkv_,
         GemmPass::kDataGrad);
    Gemm(Piece::kAttentionBackwardWeight, "attention qkv GEMM weight gradient", qkv_, h, tokens_,
         GemmPass::kWeightGrad);
  }

  void AttentionCore(Piece piece, AttentionPass pass) {
    const bool forward = pass == AttentionPass::kForward;
    if (plan_.flash_attention) {
      Add(piece,
          kernels_.Attention(forward ? "flash attention forward" : "flash attention backward",
                             attention_, pass));
      return;
    }
    // Scores as a matrix: batched GEMMs over the whole square, softmax and dropout over it.
    const std::int64_t s = attention_.sequence;
    const std::int64_t d = attention_.head_dim;
    const std::int64_t squares = attention_.batch * attention_.heads;
    const GemmShape scores{.m = s, .n = s, .k = d, .batch = squares};
    const GemmShape values{.m = s, .n = d, .k = s, .batch = squares};
    const std::int64_t dropout = model_.dropout ? 5 : 0;
    if (forward) {
      Add(piece, kernels_.Gemm("attention scores forward", scores, GemmPass::kForward));
      Stream(piece, "scale, mask and softmax forward", squares * s, s * 4);
      Stream(piece, "attention dropout forward", squares * s, s * dropout);
      Add(piece, kernels_.Gemm("attention values forward", values, GemmPass::kForward));
      return;
    }
    Add(piece, kernels_.Gemm("attention values data gradient", scores, GemmPass::kDataGrad));
    Add(piece, kernels_.Gemm("attention values gradient of v", values, GemmPass::kDataGrad));
    Stream(piece, "attention dropout backward", squares * s, s * dropout);
    Stream(piece, "softmax backward", squares * s, s * 6);
    Add(piece, kernels_.Gemm("attention scores gradient of q", values, GemmPass::kDataGrad));
    Add(piece, kernels_.Gemm("attention scores gradient of k", values, GemmPass::kDataGrad));
  }

  void Mlp() {
    const std::int64_t h = model_.hidden;
    const std::string up = model_.gated_mlp ? "mlp gate+up GEMM" : "mlp up GEMM";
    Gemm(Piece::kMlpForward, up + " forward", tokens_, up_, h, GemmPass::kForward);
    Stream(Piece::kMlpForward, "activation forward", tokens_, 2 * up_ + 2 * ffn_);
    Gemm(Piece::kMlpForward, "mlp down GEMM forward", tokens_, h, ffn_, GemmPass::kForward);

    Gemm(Piece::kMlpBackwardOutput, "mlp down GEMM data gradient", tokens_, ffn_, h,
         GemmPass::kDataGrad);
    Gemm(Piece::kMlpBackwardOutput, "mlp down GEMM weight gradient", h, ffn_, tokens_,
         GemmPass::kWeightGrad);
    Stream(Piece::kMlpBackwardOutput, "activation backward", tokens_, 4 * up_ + 2 * ffn_);
    Gemm(Piece::kMlpBackwardInput, up + " data gradient", tokens_, h, up_, GemmPass::kDataGrad);
    Gemm(Piece::kMlpBackwardWeight, up + " weight gradient", up_, h, tokens_,
         GemmPass::kWeightGrad);
  }

  void Head() {
    const std::int64_t h = model_.hidden;
    Gemm(Piece::kHeadForward, "logits GEMM forward", tokens_, vocab_, h, GemmPass::kForward);
    // Megatron-LM's vocabulary-parallel cross-entropy, one pass a tensor operation in fp32: convert
    // (6 B a logit) and maximum (4); subtract (8), exponential (8), sum (4), normalise (8).
    Stream(Piece::kHeadForward, "logits to fp32 and maximum", tokens_, vocab_ * 10);
    Stream(Piece::kLoss, "cross-entropy forward", tokens_, vocab_ * 28);
    // Scale the saved softmax (8) and convert to 16 bits (6).
    Stream(Piece::kHeadBackwardInput, "cross-entropy backward", tokens_, vocab_ * 14);
    Gemm(Piece::kHeadBackwardInput, "logits GEMM data gradient", tokens_, h, vocab_,
         GemmPass::kDataGrad);
    Gemm(Piece::kHeadBackwardWeight, "logits GEMM weight gradient", vocab_, h, tokens_,
         GemmPass::kWeightGrad);
  }

  void Embedding() {
    const std::int64_t h = model_.hidden;
    Stream(Piece::kEmbeddingForward, "embedding forward", tokens_,
           h * (4 + (model_.learned_positions ? 4 : 0)));
    // Reads the 16-bit gradient, adds it to fp32 rows.
    Stream(Piece::kEmbeddingBackward, "embedding backward", tokens_, h * 10);
  }

  const ModelConfig& model_;
  const TrainingPlan& plan_;
  const KernelModel& kernels_;
  std::int64_t tokens_ = 0;
  std::int64_t own_tokens_ = 0;
  std::int64_t qkv_ = 0;
  std::int64_t context_ = 0;
  std::int64_t ffn_ = 0;
  std::int64_t up_ = 0;
  std::int64_t vocab_ = 0;
  AttentionShape attention_;
  StepKernels costs_;
};

}  // namespace

std::int64_t PaddedVocabulary(const ModelConfig& model, const TrainingPlan& plan) {
  const std::int64_t multiple = 128 * plan.tp;
  return (model.vocab + multiple - 1) / multiple * multiple;
}

StepKernels ComputeStepKernels(const ModelConfig& model, const TrainingPlan& plan,
                               const KernelModel& kernels) {
  return CostCollector(model, plan, kernels).Collect();
}

KernelCost GradientNormCost(const KernelModel& kernels, const TrainingPlan& plan,
                            std::int64_t parameters) {
  return kernels.Streaming("gradient norm", static_cast<double>(parameters * GradientBytes(plan)));
}

KernelCost OptimizerCost(const KernelModel& kernels, const TrainingPlan& plan,
                         std::int64_t parameters) {
  // Clipping reads and writes the gradient; the update reads it, reads and writes the fp32 weight
  // and the moments, and writes the 16-bit weight.
  const std::int64_t per_parameter =
      3 * GradientBytes(plan) + 8 * (1 + Moments(plan)) + kWeightBytes;
  return kernels.Streaming("optimizer update", static_cast<double>(parameters * per_parameter));
}

}  // namespace trunkline
