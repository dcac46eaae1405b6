#include "cli/run_and_report.h"

#include <fmt/format.h>

#include <optional>
#include <variant>

#include "cli/console.h"
#include "cli/output_folder.h"
#include "cli/sample_file.h"
#include "trunkline/fabric/build.h"
#include "trunkline/report/report.h"

namespace trunkline {
namespace {

int Interrupted() {
  PrintNote(kInterruptedNote);
  return kExitInterrupted;
}

Result<Scenario> Read(const std::string& path, const RunFlags& flags, const StopToken& stop) {
  if (path.empty()) return ParseScenario("name: collective\n", "command line", flags.assignments);
  ConsoleProgress progress(flags.quiet);
  return ReadScenario(path, flags.assignments, &progress, &stop);
}

int ExitStatus(const RunResult& result) {
  if (result.status != RunStatus::kFinished) return kExitFoundFailure;
  return result.fits_memory ? kExitDone : kExitInfeasible;
}

// The files of --out, all whole or none.
Result<void> WriteFiles(OutputFolder& folder, const RunResult& result) {
  if (auto done = folder.Write("result.json", RenderJson(result)); !done) return done;
  if (auto done = folder.Write("trace.json", RenderTrace(result)); !done) return done;
  if (!HtmlAvailable()) {
    if (auto done = folder.Finish(); !done) return done;
    PrintNote(fmt::format("wrote {} and trace.json; report.html needs a build with npm",
                          folder.PathOf("result.json")));
    return {};
  }
  const Result<std::string> page = RenderHtml(result);
  if (!page) return std::unexpected(page.error());
  if (auto done = folder.Write("report.html", *page); !done) return done;
  if (auto done = folder.Finish(); !done) return done;
  PrintNote(fmt::format("report: {}", folder.PathOf("report.html")));
  return {};
}

// Collectives have nccl-tests' table. One that did not finish has no row; who waits for whom is
// told.
std::string Render(const RunResult& result) {
  TextOptions options;
  options.color = ColorOnStdout();
  if (result.rows.empty()) return RenderText(result, options);
  std::string text = RenderCollectiveTable(result);
  if (result.status != RunStatus::kFinished) text += "\n" + RenderText(result, options);
  return text;
}

void WarnAboutThreads(const RunFlags& flags, const Scenario& scenario) {
  if (flags.threads == 1 || scenario.uses_threads()) return;
  const char* what = scenario.background ? "jobs with a background " : "";
  PrintDiagnostics(
      {Warning("TL1004", fmt::format("--threads {}: the {} engine runs {}on one thread",
                                     flags.threads, ToString(scenario.engine), what))});
}

void WarnOfLostSamples(const RunFlags& flags, const Scenario& scenario) {
  if (!scenario.sampling || !flags.out.empty() || !scenario.has_packets()) return;
  PrintDiagnostics({Warning("TL1006", "packet.sample without --out: nothing keeps the samples",
                            "name a folder for them and the report with --out")});
}

}  // namespace

int RunAndReport(const std::string& path, const RunFlags& flags) {
  StopToken& stop = StopOnSignals();
  const Result<Scenario> scenario = Read(path, flags, stop);
  if (stop.stop_requested()) return Interrupted();
  if (!scenario) return Refuse(scenario.error());
  std::optional<OutputFolder> folder;
  if (!flags.out.empty()) {
    auto opened = OutputFolder::Open(flags.out);
    if (!opened) return Refuse(opened.error());
    folder.emplace(*std::move(opened));
  }
  WarnAboutThreads(flags, *scenario);
  WarnOfLostSamples(flags, *scenario);
  std::optional<SampleFile> samples;
  if (folder && scenario->sampling && scenario->has_packets()) {
    samples.emplace(folder->PathOf(kSampleFileName), scenario->cluster.fabric->fabric);
  }
  Result<RunResult> result = [&] {
    ConsoleProgress progress(flags.quiet);
    RunOptions options;
    options.fold = flags.fold;
    options.memo = flags.memo;
    options.handshake = flags.handshake;
    options.threads = static_cast<std::uint32_t>(flags.threads);
    options.repeat = static_cast<std::uint32_t>(flags.repeat);
    options.all_links = flags.all_links;
    options.try_changes = !flags.json || folder;  // JSON alone has no advice
    options.samples = samples ? &*samples : nullptr;
    options.progress = &progress;
    options.stop = &stop;
    return RunScenario(*scenario, options);
  }();
  const bool interrupted =
      stop.stop_requested() || (result && result->status == RunStatus::kInterrupted);
  // Of traffic, what has happened so far stands by itself; half a step or collective does not.
  if (interrupted && !(result && result->traffic)) return Interrupted();
  if (!result) return Refuse(result.error());
  if (interrupted) {
    TakeYourTime();
    PrintNote("interrupted: the figures cover what ran");
  }
  if (samples && result->samples != nullptr) {
    if (const auto written = samples->Finish(); !written) return Refuse(written.error());
    result->samples_file = kSampleFileName;
  }
  PrintDiagnostics(result->warnings);
  PrintResult(flags.json ? RenderJson(*result) : Render(*result));
  if (flags.explain && !flags.json) PrintResult("\n" + RenderExplain(*result));
  if (folder) {
    if (const auto written = WriteFiles(*folder, *result); !written) {
      return Refuse(written.error());
    }
  }
  return interrupted ? kExitInterrupted : ExitStatus(*result);
}

}  // namespace trunkline
