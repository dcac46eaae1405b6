#include "cli/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "cli/command_line.h"
#include "cli/output_folder.h"

namespace trunkline {
namespace {

bool ColorOn(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && isatty(descriptor) == 1;
}

constexpr auto kBarInterval = std::chrono::milliseconds(100);
constexpr auto kFirstLine = std::chrono::seconds(10);
constexpr auto kLineInterval = std::chrono::seconds(60);

StopToken& Token() {
  static StopToken token;
  return token;
}

std::int64_t Milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// A run has a second to stop by itself; a second signal, or the alarm, ends the process. What comes
// at once after the first is no second one: timeout(1) sends its signal to the process and then to
// its group.
void OnSignal(int signal) {
  constexpr std::int64_t kAtOnce = 200;
  static volatile std::int64_t first = 0;
  if (!Token().stop_requested()) {
    first = Milliseconds();
    Token().RequestStop();
    alarm(1);
    return;
  }
  if (signal != SIGALRM && Milliseconds() - first < kAtOnce) return;
  constexpr std::string_view kLine = "\n";
  const bool noted = write(STDERR_FILENO, kInterruptedNote.data(), kInterruptedNote.size()) > 0 &&
                     write(STDERR_FILENO, kLine.data(), kLine.size()) > 0;
  static_cast<void>(noted);  // there is no other place to say it
  RemoveMadePaths();
  _exit(kExitInterrupted);
}

// What is left of work of which `fraction` took `spent`; empty where that says nothing yet.
std::string TimeLeft(double fraction, std::chrono::steady_clock::duration spent) {
  constexpr double kTelling = 0.02;
  if (fraction < kTelling || fraction >= 1) return "";
  const double seconds = std::chrono::duration<double>(spent).count() * (1 - fraction) / fraction;
  if (seconds < 90) return fmt::format(", {:.0f} s left", seconds);
  return seconds < 5400 ? fmt::format(", {:.0f} min left", seconds / 60)
                        : fmt::format(", {:.1f} h left", seconds / 3600);
}

}  // namespace

void PrintResult(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void PrintDiagnostics(const Diagnostics& diagnostics) {
  const bool color = ColorOn(STDERR_FILENO);
  constexpr std::ptrdiff_t kScreen = 23;  // lines, with one left for what is not shown
  std::ptrdiff_t lines = 0;
  for (std::size_t i = 0; i < diagnostics.size(); ++i) {
    const std::string text = Format(diagnostics[i], color);
    lines += std::ranges::count(text, '\n');
    if (i > 0 && lines > kScreen) {
      PrintNote(fmt::format("{} more; mend these first", diagnostics.size() - i));
      return;
    }
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
}

int Refuse(const Diagnostics& diagnostics) {
  PrintDiagnostics(diagnostics);
  return kExitUsage;
}

void PrintNote(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fputc('\n', stderr);
}

bool ColorOnStdout() { return ColorOn(STDOUT_FILENO); }

ConsoleProgress::ConsoleProgress(bool quiet)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {
  next_ = Clock::now() + (terminal_ ? Clock::duration(kBarInterval) : kFirstLine);
}

ConsoleProgress::~ConsoleProgress() {
  if (bar_shown_) std::fputs("\r\033[K", stderr);
}

void ConsoleProgress::Update(double fraction, std::string_view what) {
  if (quiet_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + (terminal_ ? Clock::duration(kBarInterval) : kLineInterval);
  // Nothing is said of a share before there is one.
  const std::string percent =
      fraction > 0 ? fmt::format("{:3.0f} % ", 100 * std::min(fraction, 1.0)) : "";
  const std::string line = percent + std::string(what) + TimeLeft(fraction, now - begin_);
  if (!terminal_) {
    if (line != last_) fmt::print(stderr, "{}\n", line);
    last_ = line;
    return;
  }
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(kWidth * std::clamp(fraction, 0.0, 1.0));
  fmt::print(stderr, "\r\033[K[{:<{}}] {}", std::string(static_cast<std::size_t>(filled), '='),
             kWidth, line);
  std::fflush(stderr);
  bar_shown_ = true;
}

void ConsoleProgress::Note(std::string_view text) {
  if (!quiet_) PrintNote(text);
}

void TakeYourTime() { alarm(0); }

StopToken& StopOnSignals() {
  struct sigaction action{};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGALRM, &action, nullptr);
  return Token();
}

}  // namespace trunkline
