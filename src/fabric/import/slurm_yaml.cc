#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/yaml_reader.h"
#include "fabric/import/reader.h"
#include "fabric/import/scanner.h"
#include "fabric/import/slurm_tree.h"

// Slurm's topology.yaml (25.05 and later; its topology.yaml(5)): a list of topologies, each of
// switches, of blocks, or flat.
//
//   - topology: pod
//     cluster_default: true
//     tree:
//       switches:
//         - {switch: spine-1, children: "leaf-[1-2]"}
//         - {switch: leaf-1, nodes: "node[01-08]"}
//   - topology: racks
//     block:
//       block_sizes: [8, 16]
//       blocks:
//         - {block: rack11, nodes: "node[1101-1108]"}
namespace trunkline {
namespace {

class SlurmYamlParser {
 public:
  explicit SlurmYamlParser(YamlDocument document) : document_(std::move(document)) {}

  Result<FabricSource> Read() {
    std::vector<std::string> others;
    if (const auto topology = Choose(others)) ReadTopology(*topology);
    if (document_.error_count() == 0) {
      for (const auto& [line, problem] : tree_.FindProblems()) lists_.at(line).Adopt(problem);
    }
    Diagnostics problems = document_.TakeDiagnostics();
    if (HasErrors(problems)) return std::unexpected(std::move(problems));
    CableList list = tree_.Finish();
    for (const auto& [key, line] : unread_) {
      list.notes.push_back(fmt::format("'{}' (line {}) is not read", key, line));
    }
    if (!others.empty()) {
      list.notes.push_back(
          fmt::format("of the file's topologies one is read, and not {}", fmt::join(others, ", ")));
    }
    return list;
  }

 private:
  // The first that is the cluster's default, as Slurm takes it, else the first.
  std::optional<YamlMap> Choose(std::vector<std::string>& others) {
    const auto topologies = document_.root().List("");
    if (!topologies) return std::nullopt;
    std::vector<std::pair<std::string, YamlMap>> maps;
    std::size_t chosen = 0;
    bool found = false;
    for (const YamlValue& value : *topologies) {
      const auto map = value.AsMap();
      std::string name;
      bool is_default = false;
      if (!map || !map->Require("topology", name)) return std::nullopt;
      map->Read("cluster_default", is_default);
      if (is_default && std::exchange(found, true)) {
        value.Error("TL1452", fmt::format("'{}' is the cluster's default, too", name),
                    "Slurm takes one topology for it: leave cluster_default to that");
      } else if (is_default) {
        chosen = maps.size();
      }
      maps.emplace_back(std::move(name), *map);
    }
    if (maps.empty()) return std::nullopt;
    for (std::size_t i = 0; i < maps.size(); ++i) {
      if (i != chosen) others.push_back(maps[i].first);
    }
    return maps[chosen].second;
  }

  void ReadTopology(const YamlMap& topology) {
    NoteUnread(topology, {"topology", "cluster_default", "tree", "block", "flat"});
    if (topology.Has("tree") && topology.Has("block")) {
      topology.Error("TL1452", "a topology of switches and of blocks",
                     "a topology is one of them: leave `tree:` or `block:` out");
    } else if (const auto tree = topology.Map("tree")) {
      ReadList(*tree, "switches", "switch", false);
    } else if (const auto block = topology.Map("block")) {
      ReadList(*block, "blocks", "block", true);
    } else if (document_.error_count() == 0) {
      topology.Error("TL1451", "a topology without switches or blocks",
                     "of Slurm's topologies those with `tree:` or `block:` describe a network");
    }
  }

  void ReadList(const YamlMap& of, const char* key, const char* name_key, bool blocks) {
    NoteUnread(of, {key, "block_sizes"});
    const auto value = of.Required(key);
    const auto list = value ? value->AsList() : std::nullopt;
    if (!list) return;
    for (const YamlValue& entry : *list) {
      const auto map = entry.AsMap();
      std::string name;
      if (!map || !map->Require(name_key, name)) continue;
      NoteUnread(*map, {name_key, "nodes", "children"});
      const int line = entry.where().line;
      const auto owner = tree_.Describe(name, blocks, line);
      if (!owner) {
        entry.Adopt(owner.error());
        continue;
      }
      if (!map->Has("nodes") && (blocks || !map->Has("children"))) {
        entry.Error("TL1452", fmt::format("'{}' holds nothing", name),
                    blocks ? "a block has `nodes:`" : "a switch has `nodes:` or `children:`");
        continue;
      }
      Attach(*map, "nodes", *owner, true);
      if (!blocks) Attach(*map, "children", *owner, false);
    }
  }

  void Attach(const YamlMap& map, const char* key, std::uint32_t owner, bool nodes) {
    const auto value = map.Find(key);
    std::string list;
    if (!value || !value->Read(list)) return;
    lists_.emplace(value->where().line, *value);
    const auto attached = tree_.Attach(owner, nodes, list, value->where().line);
    if (!attached) value->Adopt(attached.error());
  }

  void NoteUnread(const YamlMap& map, std::initializer_list<std::string_view> known) {
    for (const auto& [key, value] : map.Entries()) {
      if (std::ranges::find(known, key) == known.end()) {
        unread_.emplace(key, value.where().line);
      }
    }
  }

  YamlDocument document_;
  SlurmTree tree_;
  std::map<std::string, int> unread_;  // keys, and a line where each stands
  std::map<int, YamlValue> lists_;     // of nodes or switches, by line
};

}  // namespace

const FabricFileReader& SlurmYamlReader() {
  static const FabricFileReader reader = {
      "slurm-yaml", "Slurm's topology.yaml, of switches or of blocks",
      [](std::string_view text) {
        return AnyLine(text, [](std::string_view line) {
          Scanner scan(line);
          return scan.Take('-') && scan.Token() == "topology:" && !scan.done();
        });
      },
      [](std::string_view text, const std::string& file) -> Result<FabricSource> {
        auto document = YamlDocument::Parse(text, file, YamlStyle::kForeign);
        if (!document) return std::unexpected(std::move(document.error()));
        return SlurmYamlParser(*std::move(document)).Read();
      }};
  return reader;
}

}  // namespace trunkline
