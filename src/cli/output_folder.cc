#include "cli/output_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace trunkline {
namespace {

std::string LastError() { return std::generic_category().message(errno); }

// What a signal's handler looks at: no allocation, no lock.
std::array<std::atomic<const char*>, 64> made_paths{};
static_assert(std::atomic<const char*>::is_always_lock_free);

// The folders that are missing on the way to `path`, the outermost first.
std::vector<std::string> MissingFolders(std::filesystem::path path) {
  std::vector<std::string> missing;
  if (!path.has_filename()) path = path.parent_path();  // "out/"
  std::error_code ignored;
  for (; !path.empty() && !std::filesystem::exists(path, ignored); path = path.parent_path()) {
    missing.push_back(path.string());
  }
  std::ranges::reverse(missing);
  return missing;
}

}  // namespace

MadePath::MadePath(const std::string& path) : path_(new char[path.size() + 1]) {
  std::memcpy(path_.get(), path.c_str(), path.size() + 1);
  for (std::atomic<const char*>& slot : made_paths) {
    const char* expected = nullptr;
    if (slot.compare_exchange_strong(expected, path_.get())) return;
  }
}

MadePath::~MadePath() {
  for (std::atomic<const char*>& slot : made_paths) {
    const char* expected = path_.get();
    if (slot.compare_exchange_strong(expected, nullptr)) return;
  }
}

void RemoveMadePaths() {
  for (const std::atomic<const char*>& slot : made_paths) {
    if (const char* path = slot.load()) unlink(path);
  }
  for (std::size_t i = made_paths.size(); i-- > 0;) {  // the innermost first
    if (const char* path = made_paths[i].load()) rmdir(path);
  }
}

PendingFile::PendingFile(std::string target)
    : target_(std::move(target)),
      path_(fmt::format("{}.{}.part", target_, getpid())),
      made_(path_),
      descriptor_(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {}

PendingFile::~PendingFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(path_.c_str());
}

bool PendingFile::Append(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool PendingFile::Finish() {
  if (fsync(descriptor_) != 0 || close(descriptor_) != 0) return false;
  if (std::rename(path_.c_str(), target_.c_str()) != 0) return false;
  descriptor_ = -1;
  return true;
}

std::unexpected<Diagnostics> CannotWrite(const std::string& target) {
  return Error("TL1903", fmt::format("cannot write {}: {}", target, LastError()),
               "make room on the disk or choose another folder with --out");
}

Result<OutputFolder> OutputFolder::Open(const std::string& path) {
  const auto refuse = [&path](const std::string& why) {
    return Error("TL1902", fmt::format("cannot write to the folder '{}': {}", path, why),
                 "name a folder that you may write in with --out");
  };
  std::error_code failure;
  OutputFolder folder(path);
  folder.made_ = MissingFolders(path);
  for (const std::string& made : folder.made_) {  // before they are, as a signal may come between
    folder.made_paths_.push_back(std::make_unique<MadePath>(made));
  }
  std::filesystem::create_directories(path, failure);
  if (failure) return refuse(failure.message());
  const PendingFile probe(folder.PathOf("result.json"));
  if (!probe.is_open()) return refuse(LastError());
  return folder;
}

std::string OutputFolder::PathOf(const std::string& name) const {
  return (std::filesystem::path(path_) / name).string();
}

OutputFolder::~OutputFolder() {
  pending_.clear();
  for (auto made = made_.rbegin(); made != made_.rend(); ++made) rmdir(made->c_str());
}

Result<void> OutputFolder::Write(const std::string& name, std::string_view text) {
  auto file = std::make_unique<PendingFile>(PathOf(name));
  if (!file->is_open() || !file->Append(text)) return CannotWrite(file->target());
  pending_.push_back(std::move(file));
  return {};
}

Result<void> OutputFolder::Finish() {
  for (const auto& file : pending_) {
    if (std::filesystem::is_directory(file->target())) {
      errno = EISDIR;
      return CannotWrite(file->target());
    }
  }
  for (const auto& file : pending_) {
    if (!file->Finish()) return CannotWrite(file->target());
  }
  pending_.clear();
  return {};
}

}  // namespace trunkline
