#include "process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace trunkline {
namespace {

std::string Contents(const std::string& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

[[noreturn]] void Become(const std::vector<std::string>& arguments, const std::string& out,
                         const std::string& err) {
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
  dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
  std::vector<std::string> words = {TRUNKLINE_BINARY};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (chdir(TRUNKLINE_SOURCE_DIR) == 0) execv(TRUNKLINE_BINARY, argv.data());
  _exit(127);
}

}  // namespace

Outcome RunTrunkline(const std::vector<std::string>& arguments, const std::string& interrupt_at,
                     const std::string& stdout_path) {
  const std::string out = stdout_path.empty() ? FreshPath("stdout") : stdout_path;
  const std::string err = FreshPath("stderr");
  const pid_t child = fork();
  if (child == 0) Become(arguments, out, err);
  int status = 0;
  bool ended = false;
  while (!ended && !interrupt_at.empty() && !std::filesystem::exists(interrupt_at)) {
    ended = waitpid(child, &status, WNOHANG) == child;
    std::this_thread::yield();
  }
  if (!ended) {
    if (!interrupt_at.empty()) kill(child, SIGINT);
    waitpid(child, &status, 0);
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
          stdout_path.empty() ? Contents(out) : "", Contents(err)};
}

std::string FreshPath(const std::string& name) {
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) /
      (std::string("trunkline_") + test.test_suite_name() + "_" + test.name());
  std::filesystem::create_directories(folder);
  const std::filesystem::path path = folder / name;
  std::filesystem::remove_all(path);
  return path.string();
}

std::string WriteFresh(const std::string& name, const std::string& text) {
  const std::string path = FreshPath(name);
  std::ofstream(path) << text;
  return path;
}

}  // namespace trunkline
