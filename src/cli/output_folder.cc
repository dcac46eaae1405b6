#include "cli/output_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace trunkline {
namespace {

std::string LastError() { return std::generic_category().message(errno); }

}  // namespace

PendingFile::PendingFile(std::string target)
    : target_(std::move(target)),
      path_(fmt::format("{}.{}.part", target_, getpid())),
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
  const bool made = std::filesystem::create_directories(path, failure);
  if (failure) return refuse(failure.message());
  OutputFolder folder(path);
  *folder.made_ = made;
  const PendingFile probe(folder.PathOf("result.json"));
  if (!probe.is_open()) return refuse(LastError());
  return folder;
}

std::string OutputFolder::PathOf(const std::string& name) const {
  return (std::filesystem::path(path_) / name).string();
}

OutputFolder::~OutputFolder() {
  if (!made_ || !*made_) return;
  pending_.clear();
  std::error_code not_empty;
  std::filesystem::remove(path_, not_empty);
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
