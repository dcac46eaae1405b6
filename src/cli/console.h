#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "trunkline/base/diagnostics.h"
#include "trunkline/base/progress.h"

// stdout carries the result, stderr everything else.
namespace trunkline {

void PrintResult(std::string_view text);
// One screen of diagnostics on stderr, coloured on a terminal unless NO_COLOR is set.
void PrintDiagnostics(const Diagnostics& diagnostics);
// The same, and the exit status of input that is refused.
[[nodiscard]] int Refuse(const Diagnostics& diagnostics);
void PrintNote(std::string_view text);
[[nodiscard]] bool ColorOnStdout();

// Progress on stderr: a bar on a terminal, else a line after 10 s and then every minute where it
// says something new.
class ConsoleProgress final : public ProgressSink {
 public:
  explicit ConsoleProgress(bool quiet);
  ~ConsoleProgress() override;
  ConsoleProgress(const ConsoleProgress&) = delete;
  ConsoleProgress& operator=(const ConsoleProgress&) = delete;

  void Update(double fraction, std::string_view what) override;
  void Note(std::string_view text) override;

 private:
  using Clock = std::chrono::steady_clock;
  bool quiet_;
  bool terminal_;
  bool bar_shown_ = false;
  std::string last_;  // line, where there is no terminal: it is not repeated
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_;
};

inline constexpr std::string_view kInterruptedNote =
    "interrupted: the run was not finished and nothing was written";

// From now on Ctrl-C (and SIGTERM) asks the run to stop through the returned token; a second one
// that does not follow at once, or a second without an answer, ends the process with
// kExitInterrupted.
[[nodiscard]] StopToken& StopOnSignals();
// The run has stopped as it was asked to: from here on only a second signal ends the process.
void TakeYourTime();

}  // namespace trunkline
