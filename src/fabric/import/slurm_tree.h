#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/import/named_cables.h"
#include "trunkline/base/diagnostics.h"

namespace trunkline {

// What Slurm knows of a network, in either of its files: which switches and nodes are below which
// switch, or in which block. Problems come without a place, which the readers know.
class SlurmTree {
 public:
  // A switch or block has a description of its own. TL1452.
  Result<std::uint32_t> Describe(std::string_view name, bool block, int line);
  // Slurm's list of the nodes or switches below one. TL1451, TL1452.
  Result<void> Attach(std::uint32_t owner, bool nodes, std::string_view list, int line);

  // What only the whole file shows, by the line of a list of nodes or switches. TL1452.
  struct Problem {
    int line = 0;
    Diagnostics what;
  };
  // Switches that are described nowhere, and one that is below itself.
  [[nodiscard]] std::vector<Problem> FindProblems() const;
  // Blocks are joined above.
  [[nodiscard]] CableList Finish();

 private:
  void Cable(std::uint32_t child, std::uint32_t owner, int line);
  [[nodiscard]] std::optional<Problem> FindCycle() const;
  void NoteSharedChildren();

  NamedCables cables_;
  std::set<std::uint32_t> described_;
  std::map<std::uint32_t, std::set<std::uint32_t>> parents_;
  std::map<std::uint32_t, std::uint32_t> ports_;
  std::vector<std::uint32_t> blocks_;
};

}  // namespace trunkline
