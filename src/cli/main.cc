#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
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
  if (!command) {
    PrintDiagnostics(command.error());
    return kExitUsage;
  }
  const int status = std::visit([](const auto& chosen) { return Execute(chosen); }, *command);
  if (std::ferror(stdout) != 0) {
    PrintDiagnostics(Error("TL1904", "the result could not be written to stdout",
                           "make room where it is redirected to, or keep the reader of the pipe")
                         .error());
    return kExitFoundFailure;
  }
  return status;
}

}  // namespace
}  // namespace trunkline

int main(int argc, char** argv) {
  try {
    trunkline::PrepareHeap();
    std::signal(SIGXFSZ, SIG_IGN);  // a file larger than the user's limit is a failed write
    return trunkline::Main(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  } catch (const std::exception& failure) {  // out of memory, say: none of ours gets here
    std::fprintf(stderr, "trunkline: internal error: %s\n", failure.what());
    return trunkline::kExitInternal;
  }
}
