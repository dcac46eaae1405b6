#include <string>

#include "report/advice.h"
#include "report/blocked.h"
#include "report/critical_path.h"
#include "report/explain.h"
#include "report/jobs.h"
#include "report/json_writer.h"
#include "report/link_classes.h"
#include "report/samples_json.h"
#include "report/traffic_json.h"
#include "report/window.h"
#include "trunkline/report/report.h"
#include "trunkline/training/training.h"

namespace trunkline {
namespace {

void WriteWarnings(JsonWriter& json, const Diagnostics& warnings) {
  json.Objects(warnings, [&](const Diagnostic& warning) {
    json.Field("code", warning.code);
    json.Field("message", warning.message);
    json.Field("hint", warning.hint);
    json.Field("file", warning.where.file);
    json.Field("line", warning.where.line);
    json.Field("column", warning.where.column);
  });
}

void WriteIteration(JsonWriter& json, const IterationResult& iteration) {
  json.BeginObject();
  json.Field("time_s", iteration.time);
  json.Field("compute_s", iteration.compute);
  json.Field("exposed_comm_s", iteration.exposed_comm);
  json.Field("bubble_s", iteration.bubble);
  json.Field("other_s", iteration.other);
  json.Field("serial_s", iteration.serial);
  json.Field("critical_rank", static_cast<std::uint64_t>(Index(iteration.critical_rank)));
  json.Field("mean_compute_s", iteration.mean_compute_s);
  json.Field("mean_exposed_comm_s", iteration.mean_exposed_comm_s);
  json.Field("mean_bubble_s", iteration.mean_bubble_s);
  json.Field("mean_other_s", iteration.mean_other_s);
  json.Field("tokens_per_s", iteration.tokens_per_s);
  json.Field("mfu", iteration.mfu);
  json.Field("model_flops_per_gpu_s", iteration.model_flops_per_gpu_s.per_second());
  json.EndObject();
}

void WriteTraining(JsonWriter& json, const TrainingWorkload& training) {
  const TrainingPlan& plan = training.plan;
  json.BeginObject();
  json.Field("model", training.model.name);
  json.Field("parameters", training.model.parameters());
  json.Field("tp", plan.tp);
  json.Field("pp", plan.pp);
  json.Field("dp", plan.dp);
  json.Field("cp", plan.cp);
  json.Field("vp", plan.vp);
  json.Field("zero", plan.zero);
  json.Field("micro_batch", plan.micro_batch);
  json.Field("micro_batches", plan.micro_batches());
  json.Field("global_batch", plan.global_batch);
  json.Field("tokens_per_step", training.tokens_per_step);
  json.Field("model_flops_per_step", training.model_flops_per_step.count());
  json.Field("peak_flops_per_gpu_s", training.peak_per_gpu.per_second());
  json.Key("stage_compute_s");
  json.Values(training.stage_compute);
  json.Key("kernels");
  json.Objects(training.kernels, [&](const KernelCost& kernel) {
    json.Field("name", kernel.name);
    json.Field("shape", kernel.shape);
    json.Field("flops", kernel.flops.count());
    json.Field("memory_bytes", kernel.memory_traffic);
    json.Field("efficiency", kernel.efficiency);
    json.Field("extrapolated", kernel.extrapolated);
    json.Field("time_s", kernel.time);
    json.Field("source", kernel.source);
  });
  json.EndObject();
}

void WriteMemory(JsonWriter& json, const RunResult& result) {
  json.BeginObject();
  json.Field("per_gpu_bytes", result.memory_per_gpu);
  json.Field("capacity_bytes", result.memory_capacity);
  json.Field("fits", result.fits_memory);
  json.Key("stages");
  json.Objects(result.training->memory, [&](const StageMemory& stage) {
    json.Field("weights_bytes", stage.weights);
    json.Field("gradients_bytes", stage.gradients);
    json.Field("optimizer_bytes", stage.optimizer);
    json.Field("activations_bytes", stage.activations);
    json.Field("other_bytes", stage.other);
    json.Field("total_bytes", stage.total());
  });
  json.EndObject();
}

void WriteStepCollectives(JsonWriter& json, const std::vector<StepCollective>& collectives) {
  json.Objects(collectives, [&](const StepCollective& collective) {
    json.Field("role", collective.role);
    json.Field("primitive", ToString(collective.row.primitive));
    json.Field("algorithm", collective.row.algorithm);
    json.Field("protocol", ToString(collective.row.protocol));
    json.Field("channels", collective.row.channels);
    json.Field("group_size", collective.group_size);
    json.Field("bytes", collective.row.bytes);
    json.Field("count", collective.count);
    json.Field("time_s", collective.time);
    json.Field("waiting_s", collective.waiting);
    json.Field("exposed_s", collective.exposed);
    json.Field("bound_s", collective.row.bound);
    json.Field("timed_calls", collective.timed_count);
    json.Field("timed_s", collective.timed);
    if (collective.timed_count > 0) {
      json.Field("busbw_Bps", collective.row.busbw_Bps);
    } else {
      json.NullField("busbw_Bps");
    }
  });
}

void WriteRows(JsonWriter& json, const std::vector<CollectiveRow>& rows) {
  json.Objects(rows, [&](const CollectiveRow& row) {
    json.Field("primitive", ToString(row.primitive));
    json.Field("bytes", row.bytes);
    json.Field("count", row.count);
    json.Field("dtype", row.dtype);
    json.Field("algorithm", row.algorithm);
    json.Field("protocol", ToString(row.protocol));
    json.Field("channels", row.channels);
    json.Field("time_s", row.time);
    json.Field("bound_s", row.bound);
    json.Field("algbw_Bps", row.algbw_Bps);
    json.Field("busbw_Bps", row.busbw_Bps);
  });
}

void WriteLinks(JsonWriter& json, const RunResult& result) {
  json.Objects(result.links, [&](const LinkRow& row) {
    json.Field("from", row.from);
    json.Field("to", row.to);
    if (result.fabric) {
      const Link& link = result.fabric->link(row.link);
      json.Field("kind", ToString(link.kind));
      json.Field("rate_Bps", link.rate.bytes_per_second());
    }
    json.Field("utilisation", row.utilisation);
    json.Field("bytes", row.bytes);
    if (!row.packets) {
      for (const char* key : {"packets", "max_queue_bytes", "ecn_marks", "pauses"}) {
        json.NullField(key);
      }
      return;
    }
    json.Field("packets", row.packets->packets);
    json.Field("max_queue_bytes", row.packets->max_queue_bytes);
    json.Field("ecn_marks", row.packets->marks);
    json.Field("pauses", row.packets->pauses);
  });
}

void WriteLinkClasses(JsonWriter& json, const RunResult& result) {
  json.Objects(LinkClassesOf(result), [&](const LinkClass& entry) {
    const Link& worst = result.fabric->link(entry.worst);
    json.Field("name", entry.name);
    json.Field("kind", ToString(entry.kind));
    json.Field("rate_Bps", worst.rate.bytes_per_second());
    json.Field("links", static_cast<std::uint64_t>(entry.links));
    json.Field("from", result.fabric->name(worst.from));
    json.Field("to", result.fabric->name(worst.to));
    json.Field("utilisation", entry.worst_utilisation);
    json.Field("mean_utilisation", entry.mean_utilisation);
  });
}

void WriteFlowCounters(JsonWriter& json, const FlowCounters& flow) {
  json.BeginObject();
  json.Field("solves", flow.solves);
  json.Field("reuses", flow.reuses);
  json.Field("transfers_simulated", flow.transfers_simulated);
  json.Field("transfers_represented", flow.transfers_represented);
  json.Field("fold_classes", flow.fold_classes);
  json.EndObject();
}

void WriteBlocked(JsonWriter& json, const std::vector<BlockedTask>& blocked) {
  json.Objects(blocked, [&](const BlockedTask& task) {
    json.Field("rank", static_cast<std::uint64_t>(Index(task.rank)));
    json.Field("task", task.task);
    json.Field("waits_for", task.waits_for);
    if (task.peer) {
      json.Field("peer", static_cast<std::uint64_t>(Index(*task.peer)));
    } else {
      json.NullField("peer");
    }
  });
}

void WriteExplanation(JsonWriter& json, const std::vector<Question>& questions) {
  json.Objects(questions, [&](const Question& question) {
    json.Field("layer", question.layer);
    json.Field("question", question.question);
    json.Field("answer", question.answer);
    json.Key("figures");
    json.Objects(question.figures, [&](const Figure& figure) {
      json.Field("name", figure.name);
      json.Field("formula", figure.formula);
      json.Field("numbers", figure.numbers);
      json.Field("value", figure.value);
    });
  });
}

void WriteRepeat(JsonWriter& json, const RepeatResult& repeat) {
  json.BeginObject();
  json.Key("seeds");
  json.Values(repeat.seeds);
  json.Key("figures");
  json.Objects(repeat.figures, [&](const RepeatedFigure& figure) {
    json.Field("name", figure.name);
    json.Field("mean", figure.interval.mean);
    json.Field("half_width_95", figure.interval.half_width);
    json.Field("least", figure.least);
    json.Field("most", figure.most);
  });
  json.EndObject();
}

void WriteHead(JsonWriter& json, const RunResult& result) {
  json.Field("schema", "trunkline.result/1");
  json.Field("title", result.title);
  json.Field("cluster", result.cluster_summary);
  json.Field("ranks", static_cast<std::uint64_t>(result.placement.rank_count()));
  const Fragmentation& lies = result.fragmentation;
  json.Key("placement");
  json.Object([&] {
    json.Field("kind", ToString(result.placement_kind));
    json.Field("nodes", lies.nodes);
    json.Field("units", lies.units);
    json.Field("units_needed", lies.units_needed);
    json.Field("units_total", lies.units_total);
    json.Field("ring_over_spines", lies.ring_over_spines);
    json.Field("pairs_over_spines", lies.pairs_over_spines);
  });
  json.Field("status", ToString(result.status));
  json.Field("engine", result.engine);
  json.Field("seed", result.seed);
  json.Field("time_s", result.time);
  json.Field("bound_s", result.bound);
  json.Field("events", result.events);
  json.Field("wall_s", result.wall_s);
  json.Field("cpu_s", result.cpu_s);
  json.Field("threads", result.threads);
}

}  // namespace

std::string RenderJson(const RunResult& result) {
  JsonWriter json(2);
  const auto field = [&](const char* key, auto write) {
    json.Key(key);
    write();
  };
  const auto optional = [&](const char* key, bool present, auto write) {
    json.Key(key);
    if (present) {
      write();
    } else {
      json.Null();
    }
  };
  const bool training = result.training != nullptr;
  json.BeginObject();
  WriteHead(json, result);
  optional("iteration", result.iteration.has_value(),
           [&] { WriteIteration(json, *result.iteration); });
  optional("memory", training, [&] { WriteMemory(json, result); });
  optional("training", training, [&] { WriteTraining(json, *result.training); });
  optional("collectives", training, [&] { WriteStepCollectives(json, result.step_collectives); });
  optional("rows", !result.rows.empty(), [&] { WriteRows(json, result.rows); });
  WriteJobsFields(json, result.jobs.get());
  WriteTrafficFields(json, result);
  optional("critical_path", result.packets != nullptr && !result.packets->critical.empty(),
           [&] { WriteCriticalPath(json, result, *result.packets); });
  optional("window", result.window != nullptr, [&] { WriteWindow(json, result); });
  optional("samples", result.samples != nullptr, [&] { WriteSamples(json, result); });
  optional("repeat", result.repeat.has_value(), [&] { WriteRepeat(json, *result.repeat); });
  field("link_classes", [&] { WriteLinkClasses(json, result); });
  field("links", [&] { WriteLinks(json, result); });
  // A closed form knows no links.
  optional("links_total", result.engine != "analytic",
           [&] { json.Value(static_cast<std::uint64_t>(result.links_total)); });
  optional("flow", result.engine == "flow", [&] { WriteFlowCounters(json, result.timeline.flow); });
  field("blocked", [&] { WriteBlocked(json, BlockedOf(result)); });
  field("advice", [&] { json.Values(AdviceOf(result)); });
  field("explanation", [&] { WriteExplanation(json, Explain(result)); });
  field("assumptions", [&] { json.Values(result.assumptions); });
  field("warnings", [&] { WriteWarnings(json, result.warnings); });
  json.EndObject();
  return std::move(json).Take() + "\n";
}

}  // namespace trunkline
