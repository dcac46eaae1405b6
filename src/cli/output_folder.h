#pragma once

#include <string>
#include <string_view>

#include "trunkline/base/diagnostics.h"

namespace trunkline {

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
