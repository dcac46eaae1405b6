#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <spanstream>
#include <utility>

#include "base/word_reader.h"
#include "fabric/import/named_cables.h"
#include "fabric/import/reader.h"
#include "fabric/import/scanner.h"
#include "trunkline/fabric/placement.h"

// Slurm's topology.conf: a tree of switches, or blocks of nodes.
//
//   SwitchName=spine-1 Switches=leaf-[1-2]
//   SwitchName=leaf-1 Nodes=node[01-08]
//
//   BlockName=rack11 Nodes=node[1101-1108]
namespace trunkline {
namespace {

class Reader {
 public:
  Reader(std::string_view text, const std::string& file)
      : stream_(std::span(text.data(), text.size())), words_(stream_, file) {}

  Result<FabricSource> Read() {
    while (words_.Next()) ReadLine();
    if (!words_.failed()) CheckDescribed();
    if (words_.failed()) return std::unexpected(words_.TakeDiagnostics());
    if (!blocks_.empty()) JoinBlocks();
    cables_.list.notes.emplace_back(
        "Slurm's file says who is below whom, not by how many cables: one is taken for each");
    return std::move(cables_.list);
  }

 private:
  void ReadLine() {
    std::optional<std::uint32_t> owner;
    for (const Word& word : words_.words()) {
      const std::size_t equals = word.text.find('=');
      const std::string_view key = word.text.substr(0, equals);
      if (equals == std::string_view::npos) return Malformed(word);
      Word value{word.text.substr(equals + 1), word.column + static_cast<int>(equals) + 1};
      if (SameText(key, "switchname") || SameText(key, "blockname")) {
        if (value.text.empty()) return Malformed(word);
        owner = Describe(value);
        if (!owner) return;
        if (SameText(key, "blockname")) blocks_.push_back(*owner);
      } else if (owner && (SameText(key, "nodes") || SameText(key, "switches"))) {
        Attach(*owner, SameText(key, "nodes"), value);
      } else if (!SameText(key, "linkspeed") && !SameText(key, "blocksizes")) {
        return Malformed(word);
      }
    }
  }

  std::optional<std::uint32_t> Describe(const Word& name) {
    const std::uint32_t at = cables_.Device(DeviceKind::kSwitch, name.text, "", words_.line());
    if (!described_.insert({at, words_.line()}).second ||
        cables_.list.devices[at].kind != DeviceKind::kSwitch) {
      words_.Error(name, "TL1452", fmt::format("{} is described twice", name.text),
                   "a name stands for one switch, block or node");
      return std::nullopt;
    }
    return at;
  }

  void Attach(std::uint32_t owner, bool nodes, const Word& list) {
    const auto names = ParseNodeList(list.text);
    if (!names) {
      words_.Error(list, "TL1451", names.error().front().message, names.error().front().hint);
      return;
    }
    for (const std::string& name : *names) {
      const DeviceKind kind = nodes ? DeviceKind::kNic : DeviceKind::kSwitch;
      const std::uint32_t child = cables_.Device(kind, name, "", words_.line());
      if (cables_.list.devices[child].kind != kind || child == owner ||
          !parents_[child].insert(owner).second) {
        words_.Error(
            list, "TL1452",
            fmt::format("{} cannot be below {}", name, cables_.list.devices[owner].name),
            "it is there already, the same, or a node in one place and a switch in another");
        return;
      }
      cables_.list.cables.push_back({{child, ++ports_[child]},
                                     {owner, ++ports_[owner]},
                                     std::nullopt,
                                     std::nullopt,
                                     words_.line()});
    }
  }

  void CheckDescribed() {
    for (std::uint32_t d = 0; d < cables_.list.devices.size(); ++d) {
      const CableList::Device& device = cables_.list.devices[d];
      if (device.kind != DeviceKind::kSwitch || described_.contains(d)) continue;
      words_.LineError(device.line, "TL1452",
                       fmt::format("switch {} has no line of its own", device.name),
                       "is the file complete?");
    }
  }

  // A block is what a node reaches in full; blocks meet above.
  void JoinBlocks() {
    if (blocks_.size() < 2) return;
    const std::uint32_t above = cables_.Device(DeviceKind::kSwitch, "between blocks");
    for (std::uint32_t block : blocks_) {
      cables_.list.cables.push_back(
          {{block, ++ports_[block]}, {above, ++ports_[above]}, std::nullopt, std::nullopt, 0});
    }
    cables_.list.notes.emplace_back("blocks are taken as switches that one switch joins");
  }

  void Malformed(const Word& word) {
    words_.Error(word, "TL1451", fmt::format("'{}' is not of the form of topology.conf", word.text),
                 "SwitchName= or BlockName= first, then Nodes=, Switches= and LinkSpeed=");
  }

  std::ispanstream stream_;
  WordReader words_;
  NamedCables cables_;
  std::map<std::uint32_t, int> described_;  // with their lines
  std::map<std::uint32_t, std::set<std::uint32_t>> parents_;
  std::map<std::uint32_t, std::uint32_t> ports_;
  std::vector<std::uint32_t> blocks_;
};

}  // namespace

const FabricFileReader& SlurmReader() {
  static const FabricFileReader reader = {
      "slurm", "Slurm's topology.conf, of switches or of blocks",
      [](std::string_view text) {
        return AnyLine(text, [](std::string_view line) {
          const std::string_view key = Scanner(line).Token();
          const std::string_view name = key.substr(0, key.find('='));
          return key.size() > name.size() &&
                 (SameText(name, "switchname") || SameText(name, "blockname"));
        });
      },
      [](std::string_view text, const std::string& file) { return Reader(text, file).Read(); }};
  return reader;
}

}  // namespace trunkline
