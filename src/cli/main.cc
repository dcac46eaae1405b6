#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include "cli/command_line.h"
#include "cli/console.h"
#include "trunkline/base/heap.h"

namespace trunkline {
namespace {

int Execute(const PrintCommand& command) {
  PrintResult(command.text);
  return kExitDone;
}

int Main(const std::vector<std::string>& arguments) {
  const Result<Command> command = ParseCommandLine(arguments);
  if (!command) return Refuse(command.error());
  const int status = std::visit([](const auto& chosen) { return Execute(chosen); }, *command);
  if (std::ferror(stdout) != 0) {
    PrintDiagnostics(Error("TL1904", "the result could not be written to stdout",
                           "make room where it is redirected to, or keep the reader of the pipe")
                         .error());
    return kExitFoundFailure;
  }
  return status;
}

int ReportInternal(const std::exception& failure) {
  std::fprintf(stderr, "trunkline: internal error: %s\n", failure.what());
  return kExitInternal;
}

// What the run held is free again here, as it has been left.
int ReportMemory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::string had = Humanize(Bytes(std::int64_t{usage.ru_maxrss} * 1024)) + " in use";
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur <= INT64_MAX) {
    had += fmt::format(", and `ulimit -v` allows addresses of {}",
                       Humanize(Bytes(static_cast<std::int64_t>(limit.rlim_cur))));
  }
  PrintDiagnostics(Error("TL1007", fmt::format("memory ran out, with {}", had),
                         "what takes less: no --no-fold, engine: analytic in place of flow, flow "
                         "in place of packet, fewer nodes; or give the run more memory")
                       .error());
  return kExitFoundFailure;
}

// A failure beside the first thread leaves nothing.
[[noreturn]] void EndBesides() {
  try {
    if (const auto failure = std::current_exception()) std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    std::_Exit(ReportMemory());
  } catch (...) {  // a defect: its core is worth more than its message
  }
  std::abort();
}

int ReportThreads() {
  PrintDiagnostics(Error("TL1008", "the system has no thread left for the run",
                         "fewer --threads, or a higher limit (ulimit -u and -v)")
                       .error());
  return kExitFoundFailure;
}

}  // namespace
}  // namespace trunkline

int main(int argc, char** argv) {
  try {
    trunkline::PrepareHeap();
    std::set_terminate(trunkline::EndBesides);
    std::signal(SIGXFSZ, SIG_IGN);  // a file larger than the user's limit is a failed write
    return trunkline::Main(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  } catch (const std::bad_alloc&) {
    return trunkline::ReportMemory();
  } catch (const std::system_error& failure) {
    if (failure.code() == std::errc::resource_unavailable_try_again) {
      return trunkline::ReportThreads();
    }
    return trunkline::ReportInternal(failure);
  } catch (const std::exception& failure) {  // none of ours gets here
    return trunkline::ReportInternal(failure);
  }
}
