#pragma once

#include <cstddef>
#include <string>

#include "trunkline/base/diagnostics.h"
#include "trunkline/engine/packet_samples.h"
#include "trunkline/scenario/result.h"

// What a run says, in each form people and programs read. Pure functions of the result: the same
// result gives the same bytes. Texts end with a newline.
namespace trunkline {

struct TextOptions {
  bool color = false;       // ANSI colours, for a terminal
  std::size_t links = 8;    // worst links listed
  bool assumptions = true;  // list what the model assumes
};

// The answer at a glance: how long, where the time goes, what binds, what to change.
[[nodiscard]] std::string RenderText(const RunResult& result, const TextOptions& options = {});

// One JSON document with the keys of docs/report.md. Numbers are printed exactly (times from
// integer picoseconds); what was not computed is null.
[[nodiscard]] std::string RenderJson(const RunResult& result);

// The rows of a collective run in nccl-tests' layout, with the lower bound as a last column.
[[nodiscard]] std::string RenderCollectiveTable(const RunResult& result);

// The causal chain, question by question, for this run: every figure with its formula and the
// numbers put in.
[[nodiscard]] std::string RenderExplain(const RunResult& result);

// Chrome's trace event format, which Perfetto (ui.perfetto.dev) and chrome://tracing load: a
// process per recorded rank, a thread per stream.
[[nodiscard]] std::string RenderTrace(const RunResult& result);

// A line of JSON: when the interval ended, and what it brought.
[[nodiscard]] std::string RenderSample(const PacketSample& sample, const Fabric& fabric);

// Whether this build carries the report's page (it needs npm when Trunkline is built).
[[nodiscard]] bool HtmlAvailable();

// One self-contained HTML file. Fails with TL1901 in a build without the page.
[[nodiscard]] Result<std::string> RenderHtml(const RunResult& result);

}  // namespace trunkline
