#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <variant>
#include <vector>

#include "cli/command_line.h"
#include "cli/console.h"

namespace trunkline {
namespace {

// Most runs last milliseconds, a good part of which the kernel would spend on handing out memory
// page by page, and on taking back what is freed only to hand it out again.
void PrepareHeap() {
#ifdef __GLIBC__
  constexpr std::uintptr_t kHugePage = 2 << 20;
  constexpr std::uintptr_t kRoom = 64 << 20;  // of addresses: memory is taken when it is used
  mallopt(M_MMAP_THRESHOLD, 32 << 20);        // the largest that glibc takes
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, kRoom);
  // A block that is never touched, from where the heap ends to where huge pages can begin.
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  const std::uintptr_t size = 2 * kHugePage - end % kHugePage;
  static void* const block = std::malloc(size);
  if (block == nullptr) return;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(block) + size) | (kHugePage - 1);
  madvise(reinterpret_cast<void*>(begin + 1), kRoom - kHugePage, MADV_HUGEPAGE);
#endif
}

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
    return trunkline::Main(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  } catch (const std::exception& failure) {  // out of memory, say: none of ours gets here
    std::fprintf(stderr, "trunkline: internal error: %s\n", failure.what());
    return trunkline::kExitInternal;
  }
}
