#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "trunkline/base/diagnostics.h"

namespace trunkline {

// A file that is written beside its name and gets it when it is whole. A process that dies leaves
// what it has written so far there.
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
  int descriptor_;
};

// TL1903, with the reason in errno.
[[nodiscard]] std::unexpected<Diagnostics> CannotWrite(const std::string& target);

// The folder of `--out`. A file appears under its name only when it is whole: it is written beside,
// flushed to the disk, then renamed.
class OutputFolder {
 public:
  // Makes the folder if need be and proves that files can be written in it. TL1902.
  [[nodiscard]] static Result<OutputFolder> Open(const std::string& path);

  // TL1903 when the disk does not take it.
  [[nodiscard]] Result<void> Write(const std::string& name, std::string_view text) const;
  [[nodiscard]] std::string PathOf(const std::string& name) const;

 private:
  explicit OutputFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace trunkline
