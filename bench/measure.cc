// Runs a command as a whole process and prints what it cost: the least user + system CPU seconds of
// several runs, and the largest resident set in MiB.
//
//   measure RUNS OUTPUT COMMAND [ARGUMENT…]
//
// The command's standard output goes to the file OUTPUT. A command that fails ends the measurement;
// status 3, a full result of something infeasible, is no failure.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

extern char** environ;

namespace {

constexpr int kInfeasible = 3;

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// The exit status of one run, 127 when the command cannot be started.
int Run(char** command, const char* output, rusage& use) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC,
                                   0644);
  pid_t child = 0;
  const int error = posix_spawnp(&child, command[0], &files, nullptr, command, environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return 127;
  int status = 0;
  if (wait4(child, &status, 0, &use) != child) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 3 ? std::atoi(argv[1]) : 0;
  if (runs < 1) {
    std::fprintf(stderr, "usage: measure RUNS OUTPUT COMMAND [ARGUMENT…]\n");
    return 2;
  }
  double least = 0;
  long largest = 0;
  for (int run = 0; run < runs; ++run) {
    rusage use{};
    const int status = Run(argv + 3, argv[2], use);
    if (status != 0 && status != kInfeasible) {
      std::fprintf(stderr, "measure: %s ended with status %d\n", argv[3], status);
      return status;
    }
    const double seconds = Seconds(use.ru_utime) + Seconds(use.ru_stime);
    least = run == 0 ? seconds : std::min(least, seconds);
    largest = std::max(largest, use.ru_maxrss);
  }
  std::printf("%.4f %ld\n", least, (largest + 1023) / 1024);
  return 0;
}
