#include "report/test_result.h"

#include <utility>

#include "trunkline/engine/packet_samples.h"
#include "trunkline/engine/packet_window.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/fabric/route.h"
#include "trunkline/scenario/traffic_result.h"
#include "trunkline/training/training.h"

namespace trunkline::testing {
namespace {

constexpr int kStages = 4;
constexpr int kReplicas = 2;
constexpr std::uint32_t kGpusPerNode = 4;

constexpr Time Milliseconds(std::int64_t n) { return Time::Microseconds(1000 * n); }
constexpr Time kForward = Milliseconds(10);
constexpr Time kBackward = Milliseconds(20);
constexpr Time kReduce = Milliseconds(30);
constexpr Time kUpdate = Milliseconds(5);
constexpr Time kForwarding = Time::Nanoseconds(400);  // of a switch

enum Label : std::uint16_t {
  kForwardLabel,
  kBackwardLabel,
  kReduceLabel,
  kUpdateLabel,
  kTransferLabel
};
enum Stream : std::uint8_t { kComputeStream, kDpStream, kSendStream, kReceiveStream };

// Stages in rank order: rank = stage x replicas + replica.
class PipelineGraph final : public TaskGraph {
 public:
  explicit PipelineGraph(int micro_batches) {
    const CollectiveSpec spec{.primitive = Primitive::kReduceScatter,
                              .bytes = Bytes(1'000'000'000)};
    collectives_.push_back({spec, "ring", Protocol::kSimple});
    programs_.resize(kStages);
    for (int stage = 0; stage < kStages; ++stage) {
      std::vector<Task>& tasks = programs_[static_cast<std::size_t>(stage)].tasks;
      const auto repeat = [&](const Task& task) {
        tasks.insert(tasks.end(), static_cast<std::size_t>(micro_batches), task);
      };
      repeat({.label = kForwardLabel, .duration = kForward});
      repeat({.label = kBackwardLabel, .duration = kBackward});
      tasks.push_back({.kind = TaskKind::kCollective, .stream = kDpStream, .label = kReduceLabel});
      tasks.push_back({.label = kUpdateLabel, .duration = kUpdate});
      if (stage > 0) {
        tasks.push_back(
            {.kind = TaskKind::kReceive, .stream = kReceiveStream, .label = kTransferLabel});
      }
      if (stage + 1 == kStages) continue;
      repeat({.kind = TaskKind::kSend,
              .stream = kSendStream,
              .label = kTransferLabel,
              .role = 1,
              .bytes = Bytes(8'000'000)});
    }
  }

  std::uint32_t ranks() const override { return kStages * kReplicas; }
  std::uint32_t program_count() const override { return kStages; }
  std::uint32_t program_of(RankId rank) const override {
    return static_cast<std::uint32_t>(Index(rank)) / kReplicas;
  }
  const Program& program(std::uint32_t index) const override { return programs_[index]; }
  std::span<const CollectiveChoice> collectives() const override { return collectives_; }
  std::span<const TaskLabel> labels() const override { return labels_; }
  std::span<const std::string> streams() const override { return streams_; }
  std::uint32_t communicator_count() const override { return kStages; }
  CommunicatorId communicator(RankId rank, std::uint32_t) const override {
    return CommunicatorId(program_of(rank));
  }
  std::vector<RankId> members(CommunicatorId communicator) const override {
    const auto first = static_cast<std::uint32_t>(Index(communicator)) * kReplicas;
    return {RankId(first), RankId(first + 1)};
  }
  RankId peer(RankId rank, std::uint32_t) const override { return RankId(Index(rank) + kReplicas); }
  std::uint32_t reverse_role(std::uint32_t role) const override { return role; }

 private:
  std::vector<CollectiveChoice> collectives_;
  std::vector<Program> programs_;
  std::vector<TaskLabel> labels_{{"forward", Phase::kForward},
                                 {"backward", Phase::kBackward},
                                 {"dp reduce_scatter", Phase::kCommunication},
                                 {"optimizer", Phase::kOptimizer},
                                 {"pp transfer", Phase::kCommunication}};
  std::vector<std::string> streams_{"compute", "dp", "pp-send", "pp-recv"};
};

// Two servers (GPU g and NIC g share a PCIe bus), each under a leaf of its own, below one spine.
Fabric TwoLeaves() {
  FabricBuilder builder;
  std::vector<DeviceId> nics;
  for (std::uint32_t node = 0; node < 2; ++node) {
    for (std::uint32_t local = 0; local < kGpusPerNode; ++local) {
      const DeviceId gpu = builder.AddDevice({DeviceKind::kGpu, 0, node, local});
      nics.push_back(builder.AddDevice({DeviceKind::kNic, 0, node, local}));
      builder.AddCable(gpu, nics.back(), Rate::GigabytesPerSecond(50), Time::Nanoseconds(300),
                       LinkKind::kPcie);
    }
  }
  const DeviceId spine =
      builder.AddDevice({DeviceKind::kSwitch, 2, Device::kNoNode, 0, kForwarding});
  for (std::uint32_t node = 0; node < 2; ++node) {
    const DeviceId leaf =
        builder.AddDevice({DeviceKind::kSwitch, 1, Device::kNoNode, node, kForwarding});
    for (std::uint32_t local = 0; local < kGpusPerNode; ++local) {
      builder.AddCable(nics[node * kGpusPerNode + local], leaf, Rate::GigabitsPerSecond(400),
                       Time::Nanoseconds(500), LinkKind::kNetwork);
    }
    builder.AddCable(leaf, spine, Rate::GigabitsPerSecond(800), Time::Nanoseconds(600),
                     LinkKind::kNetwork);
  }
  return std::move(builder).Build();
}

// The link from one device to another.
LinkId LinkBetween(const Fabric& fabric, const char* from, const char* to) {
  for (const LinkId link : fabric.out(fabric.Find(from).front())) {
    if (fabric.name(fabric.link(link).to) == to) return link;
  }
  TL_CHECK(false, "no link", from, to);
  return {};
}

// Traffic that takes `share` of a link during the run. Call from the most to the least used.
void UseLink(RunResult& result, const char* from, const char* to, double share) {
  const LinkId link = LinkBetween(*result.fabric, from, to);
  const double capacity = result.fabric->link(link).rate.bytes_per_second() * result.time.seconds();
  const auto bytes = static_cast<std::int64_t>(capacity * share);
  result.links.push_back({link, from, to, share, bytes});
  result.timeline.links.push_back({link, bytes});
}

RunResult BaseResult() {
  RunResult result;
  result.engine = "flow";
  result.cluster_summary = "2 servers of 4 GPUs, 400 Gb/s, oversubscription 2";
  result.fabric = std::make_shared<const Fabric>(TwoLeaves());
  result.router = std::make_shared<const Router>(*result.fabric, RouterOptions{});
  const std::span<const DeviceId> endpoints = result.fabric->endpoints();
  result.placement = Placement({endpoints.begin(), endpoints.end()});
  result.transport.mtu = Bytes(4096);
  result.transport.packet_overhead = Bytes(26);
  result.transport.message_overhead = Time::Nanoseconds(200);
  result.links_total = result.fabric->link_count();
  result.events = 42;
  return result;
}

// A rank's spans, in the order of its program: forwards arrive one stage after another, backwards
// in the opposite direction.
void AddSpans(Timeline& timeline, RankId rank, int stage, int micro_batches) {
  Time at;
  std::uint32_t task = 0;
  const auto add = [&](Stream stream, Label label, Time start, Time duration) {
    timeline.spans.push_back({rank, task++, stream, label, start, start + duration});
    at = start + duration;
  };
  for (int i = 0; i < micro_batches; ++i) {
    add(kComputeStream, kForwardLabel, kForward * (stage + i), kForward);
  }
  const Time forwards = kForward * (micro_batches + kStages - 1);
  for (int i = 0; i < micro_batches; ++i) {
    add(kComputeStream, kBackwardLabel, forwards + kBackward * (kStages - 1 - stage + i),
        kBackward);
  }
  const Time end = forwards + kBackward * (micro_batches + kStages - 1);
  add(kDpStream, kReduceLabel, end, kReduce);
  add(kComputeStream, kUpdateLabel, end + kReduce, kUpdate);
  // Only the wait for the first message is drawn.
  if (stage > 0) add(kReceiveStream, kTransferLabel, Time(), kForward * stage);
}

std::shared_ptr<TrainingWorkload> Training(int micro_batches) {
  auto training = std::make_shared<TrainingWorkload>();
  training->graph = std::make_unique<PipelineGraph>(micro_batches);
  training->model.name = "tiny";
  training->model.layers = 4;
  training->model.hidden = 1024;
  training->model.ffn = 4096;
  training->model.heads = 16;
  training->model.kv_heads = 16;
  training->model.head_dim = 64;
  training->model.vocab = 32'000;
  training->model.max_positions = 2048;
  training->plan.pp = kStages;
  training->plan.dp = kReplicas;
  training->plan.zero = 1;
  training->plan.schedule = PipelineSchedule::kGpipe;
  training->plan.global_batch = kReplicas * micro_batches;
  training->plan.sequence = 2048;
  training->plan.overlap_grad_reduce = false;
  training->tokens_per_step = training->plan.global_batch * 2048;
  training->model_flops_per_step = Flops(6.5e13 * micro_batches);
  training->peak_per_gpu = FlopRate(989e12);
  for (int stage = 0; stage < kStages; ++stage) {
    training->memory.push_back({Bytes(4'000'000'000), Bytes(8'000'000'000), Bytes(12'000'000'000),
                                Bytes(6'000'000'000 * (kStages - stage)), Bytes(2'000'000'000)});
    training->stage_compute.push_back((kForward + kBackward) * micro_batches + kUpdate);
  }
  training->kernels.push_back({"mlp gate+up GEMM forward", "m=2048 n=8192 k=1024", Flops(3.4e10),
                               Bytes(50'000'000), 0.7, true, Time::Microseconds(49),
                               "by hand, for tests"});
  training->kernels.push_back({"norm forward", "6291456 bytes", Flops(), Bytes(6'291'456),
                               std::nullopt, false, Time::Microseconds(3), "by hand, for tests"});
  return training;
}

void FillIteration(RunResult& result, int micro_batches) {
  IterationResult iteration;
  iteration.time = result.time;
  iteration.compute = (kForward + kBackward) * micro_batches + kUpdate;
  iteration.bubble = (kForward + kBackward) * (kStages - 1);
  iteration.exposed_comm = kReduce;
  iteration.mean_compute_s = iteration.compute.seconds();
  iteration.mean_bubble_s = iteration.bubble.seconds();
  iteration.mean_exposed_comm_s = kReduce.seconds();
  iteration.critical_rank = RankId(6);
  iteration.tokens_per_s =
      static_cast<double>(result.training->tokens_per_step) / result.time.seconds();
  const double per_gpu =
      result.training->model_flops_per_step.count() / result.time.seconds() / (kStages * kReplicas);
  iteration.model_flops_per_gpu_s = FlopRate(per_gpu);
  iteration.mfu = per_gpu / result.training->peak_per_gpu.per_second();
  result.iteration = iteration;
}

}  // namespace

RunResult PipelineResult(int micro_batches) {
  RunResult result = BaseResult();
  result.title = "tiny on 8 GPUs";
  result.time = (kForward + kBackward) * (micro_batches + kStages - 1) + kReduce + kUpdate;
  result.bound = result.time - Milliseconds(10);
  result.training = Training(micro_batches);
  FillIteration(result, micro_batches);

  StepCollective& reduce = result.step_collectives.emplace_back();
  reduce.row.primitive = Primitive::kReduceScatter;
  reduce.row.bytes = Bytes(1'000'000'000);
  reduce.row.algorithm = "ring";
  reduce.row.bound = Milliseconds(20);
  reduce.row.busbw_Bps = 1e9 / 2 / 0.030;
  reduce.role = "dp";
  reduce.group_size = kReplicas;
  reduce.count = 1;
  reduce.time = kReduce;
  reduce.exposed = kReduce;
  reduce.timed_count = reduce.count;
  reduce.timed = kReduce;

  result.tried = {
      {.change = "", .time = Milliseconds(360)},
      {.change = "workload.training.overlap.grad_reduce: true", .time = Milliseconds(335)}};
  result.memory_per_gpu = result.training->memory.front().total();
  result.memory_capacity = Bytes(80'000'000'000);
  UseLink(result, "leaf-0", "spine-0", 0.25);
  UseLink(result, "nic:0/0", "leaf-0", 0.2);
  UseLink(result, "nic:0/1", "leaf-0", 0.1);
  result.assumptions = {"kernels overlap with nothing", "every rank is equally fast"};
  Diagnostic warning;
  warning.severity = Severity::kWarning;
  warning.code = "TL1399";
  warning.message = "the kernel table is made by hand";
  result.warnings = {warning};

  Timeline& timeline = result.timeline;
  timeline.end = result.time;
  for (int stage = 0; stage < kStages; ++stage) {
    const auto rank = RankId(static_cast<std::uint32_t>(stage) * kReplicas);
    AddSpans(timeline, rank, stage, micro_batches);
    timeline.ranks.push_back({.rank = rank,
                              .ranks_represented = kReplicas,
                              .finish = result.time,
                              .compute = result.iteration->compute,
                              .exposed_communication = kReduce,
                              .bubble = result.iteration->bubble,
                              .other = {},
                              .communication = kReduce + Milliseconds(30)});
  }
  timeline.critical = kStages - 1;
  timeline.collectives.push_back({.group_size = kReplicas,
                                  .count = 1,
                                  .total = kReduce,
                                  .waiting = {},
                                  .exposed = kReduce,
                                  .bound = Milliseconds(20),
                                  .timed_count = 1,
                                  .timed = kReduce});
  return result;
}

RunResult WindowResult() {
  RunResult result = PipelineResult();
  WindowReport window;
  window.from = Time::Microseconds(100'000);
  window.until = Time::Microseconds(110'000);
  window.flow_time = Time::Microseconds(10'000);
  window.packet_time = Time::Microseconds(12'000);
  window.tasks = 16;
  window.step_delay = Time::Microseconds(1'000);
  window.kinds.push_back({.label = 0,
                          .tasks = 8,
                          .cut = 2,
                          .flow_s = 4e-3,
                          .packet_s = 5e-3,
                          .rank = RankId(3),
                          .task = 7,
                          .start = window.from,
                          .delay = Time::Microseconds(2'000)});
  window.packets.counters.packets.data = 1'000;
  result.window = std::make_shared<const WindowReport>(std::move(window));
  return result;
}

RunResult CollectiveResult() {
  RunResult result = BaseResult();
  result.title = "all_reduce on 8 GPUs";
  for (const auto& [bytes, time] :
       {std::pair{1024, 10}, std::pair{65'536, 20}, std::pair{1'048'576, 100}}) {
    CollectiveRow row;
    row.bytes = Bytes(bytes);
    row.count = bytes / 4;
    row.algorithm = "ring";
    row.time = Time::Microseconds(time);
    row.bound = Time::Microseconds(time / 2);
    row.algbw_Bps = bytes / row.time.seconds();
    row.busbw_Bps = row.algbw_Bps * 2 * 7 / 8;
    result.rows.push_back(row);
  }
  result.time = result.rows.back().time;
  result.bound = result.rows.back().bound;
  return result;
}

// Four intervals of 25 us: the queue grows to 64 KiB in the second and is half gone in the third.
PacketSamples MessagesSamples(const Fabric& fabric) {
  PacketSamples samples;
  samples.every = samples.width = Time::Microseconds(25);
  samples.taken = samples.intervals = 4;
  samples.links.push_back({.link = LinkBetween(fabric, "leaf-0", "spine-0"),
                           .wire_bytes = {250'000, 1'000'000, 1'000'000, 0},
                           .peak_queue_bytes = {0, 65'536, 32'768, 0},
                           .pauses = {0, 3, 0, 0}});
  samples.links.push_back({.link = LinkBetween(fabric, "nic:0/0", "leaf-0"),
                           .wire_bytes = {500'000, 0, 0, 0},
                           .peak_queue_bytes = {0, 0, 0, 0},
                           .pauses = {0, 0, 0, 0}});
  samples.flows.push_back({.flow = 99, .delivered_bytes = {0, 25'000, 50'000, 25'000}});
  return samples;
}

RunResult MessagesResult() {
  RunResult result = BaseResult();
  result.title = "100 messages";
  result.engine = "packet";
  result.time = Time::Microseconds(100);
  result.bound = Time::Microseconds(50);
  TrafficWorkload traffic;
  std::vector<FlowRecord> records;
  for (int i = 1; i <= 100; ++i) {
    TrafficFlow& flow = traffic.flows.emplace_back();
    flow.bytes = Bytes(i <= 50 ? 1'000 : 100'000);
    FlowRecord& record = records.emplace_back();
    record.posted = Time();
    record.delivered = Time::Microseconds(i);
    record.acknowledged = Time::Microseconds(i + 1);
    record.alone = Time::Microseconds(1);
  }
  TrafficResult summary;
  summary.statistics = MeasureTraffic(traffic, records);
  for (int i = 1; i <= 100; ++i) summary.completion.push_back({i * 1e-6, i / 100.0});
  PacketCounters& counters = summary.counters.emplace();
  counters.packets = {.data = 1'300, .ack = 100, .control = 7};
  counters.hops = {.data = 5'200, .ack = 400, .control = 7};
  counters.marks = 12;
  counters.pauses = 3;
  result.traffic = std::make_shared<const TrafficResult>(std::move(summary));
  result.repeat =
      RepeatResult{.seeds = {1, 2, 3}, .figures = {{"time_s", {1e-4, 1e-5}, 9e-5, 1.1e-4}}};
  UseLink(result, "leaf-0", "spine-0", 0.5);
  result.links.front().packets =
      PacketLinkFigures{.packets = 5'607, .max_queue_bytes = 65'536, .marks = 12, .pauses = 3};
  result.samples = std::make_shared<const PacketSamples>(MessagesSamples(*result.fabric));
  return result;
}

}  // namespace trunkline::testing
