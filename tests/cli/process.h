#pragma once

#include <string>
#include <vector>

namespace trunkline {

struct Outcome {
  int status = -1;  // exit status, or -signal
  std::string out;
  std::string err;
};

// Runs the trunkline binary, in the source folder. It gets a SIGINT as soon as the file or folder
// `interrupt_at` exists; its stdout is `stdout_path` where that is given.
[[nodiscard]] Outcome RunTrunkline(const std::vector<std::string>& arguments,
                                   const std::string& interrupt_at = "",
                                   const std::string& stdout_path = "");

// A file or folder name of this test alone, in the temporary folder; what was there is removed.
[[nodiscard]] std::string FreshPath(const std::string& name);
// Writes a text there and returns the path.
std::string WriteFresh(const std::string& name, const std::string& text);

}  // namespace trunkline
