#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trunkline/base/diagnostics.h"

namespace trunkline {

// A file or folder that is removed should the process end by a signal before this is destroyed.
class MadePath {
 public:
  explicit MadePath(const std::string& path);
  ~MadePath();
  MadePath(const MadePath&) = delete;
  MadePath& operator=(const MadePath&) = delete;

 private:
  std::unique_ptr<char[]> path_;  // its characters stay where they are
};
// Removes all of those, but for folders with something else in them. A signal's handler may call
// it, if it then ends the process.
void RemoveMadePaths();

// A file that is written beside its name and gets it when it is whole. A process that is killed
// outright leaves what it has written so far there.
class PendingFile {
 public:
  explicit PendingFile(std::string target);
  ~PendingFile();  // removes what was not finished
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  [[nodiscard]] const std::string& target() const { return target_; }
  // False, with errno, when the disk does not take it.
  [[nodiscard]] bool Append(std::string_view text) const;
  [[nodiscard]] bool Finish();

 private:
  std::string target_;
  std::string path_;
  MadePath made_;  // before the file is, as a signal may come between
  int descriptor_;
};

// TL1903, with the reason in errno.
[[nodiscard]] std::unexpected<Diagnostics> CannotWrite(const std::string& target);

// The folder of `--out`. Its files appear under their names together, when all are whole: they are
// written beside, then flushed to the disk and renamed.
class OutputFolder {
 public:
  // Makes the folder if need be and proves that files can be written in it. TL1902.
  [[nodiscard]] static Result<OutputFolder> Open(const std::string& path);
  // Removes the folders that this made, where nothing is in them.
  ~OutputFolder();
  OutputFolder(OutputFolder&&) = default;
  OutputFolder& operator=(OutputFolder&&) = delete;

  // TL1903 when the disk does not take it.
  [[nodiscard]] Result<void> Write(const std::string& name, std::string_view text);
  // What was written since the last call gets its names. TL1903.
  [[nodiscard]] Result<void> Finish();
  [[nodiscard]] std::string PathOf(const std::string& name) const;

 private:
  explicit OutputFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
  std::vector<std::string> made_;  // folders, the outermost first; empty once moved from
  std::vector<std::unique_ptr<MadePath>> made_paths_;
  std::vector<std::unique_ptr<PendingFile>> pending_;
};

}  // namespace trunkline
