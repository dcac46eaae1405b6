#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "base/yaml_reader.h"

namespace trunkline {
namespace {

std::string LastError() { return std::generic_category().message(errno); }

// A descriptor that closes itself. Opening a pipe does not wait for its writer.
class InputFile {
 public:
  explicit InputFile(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}
  ~InputFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }

  // Why nothing can be read from what this is; empty: it can.
  [[nodiscard]] std::string Objection() const {
    struct stat status{};
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) return LastError();
    if (S_ISDIR(status.st_mode)) return "it is a folder";
    return "";
  }

 private:
  int descriptor_;
};

// Waits until there is something to read, or no writer is left. False when asked to stop.
bool AwaitInput(int descriptor, const std::string& path, ProgressSink* progress,
                const StopToken* stop) {
  constexpr int kPollMilliseconds = 100;
  pollfd input{.fd = descriptor, .events = POLLIN, .revents = 0};
  while (poll(&input, 1, kPollMilliseconds) <= 0) {
    if (stop != nullptr && stop->stop_requested()) return false;
    if (progress != nullptr) progress->Update(-1, "waiting for input from " + path);
  }
  return true;
}

bool LooksLikeUtf16(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return true;
  // Without a mark: every other byte of what begins as our files do is zero.
  constexpr std::size_t kLooked = 8;
  if (text.size() < kLooked) return false;
  for (const std::size_t first : {0U, 1U}) {
    bool every_other = true;
    for (std::size_t i = 0; i < kLooked; ++i) {
      every_other = every_other && (text[i] == '\0') == (i % 2 == first);
    }
    if (every_other) return true;
  }
  return false;
}

}  // namespace

Result<std::string> ReadTextFile(const std::string& path, std::size_t most, ProgressSink* progress,
                                 const StopToken* stop) {
  const auto refuse = [&path](std::string code, std::string message, std::string hint) {
    auto error = Error(std::move(code), std::move(message), std::move(hint));
    error.error().front().where.file = path;
    return error;
  };
  const InputFile file(path);
  if (const std::string why = file.Objection(); !why.empty()) {
    return refuse("TL1101", "cannot be read: " + why, "check the path");
  }
  std::string text;
  std::array<char, 65'536> block{};
  while (text.size() <= most) {
    if (!AwaitInput(file.descriptor(), path, progress, stop)) {
      return refuse("TL1101", "was not read: interrupted", "");
    }
    const ssize_t count = read(file.descriptor(), block.data(), block.size());
    if (count == 0) {
      constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // that some editors put first
      if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
      if (LooksLikeUtf16(text)) {
        return refuse("TL1101", "cannot be read: its characters take two bytes each (UTF-16)",
                      "save it as UTF-8: iconv -f UTF-16 -t UTF-8 OLD > NEW");
      }
      return text;
    }
    if (count > 0) {
      text.append(block.data(), static_cast<std::size_t>(count));
    } else if (errno != EINTR && errno != EAGAIN) {
      return refuse("TL1101", "cannot be read: " + LastError(), "check the path");
    }
  }
  return refuse("TL1111", fmt::format("larger than {} MiB", most >> 20), "is this the right file?");
}

}  // namespace trunkline
