#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <spanstream>
#include <string>
#include <utility>

#include "base/word_reader.h"
#include "fabric/import/reader.h"
#include "fabric/import/scanner.h"
#include "fabric/import/slurm_tree.h"

// Slurm's topology.conf: a tree of switches, or blocks of nodes.
//
//   SwitchName=spine-1 Switches=leaf-[1-2]
//   SwitchName=leaf-1 Nodes=node[01-08]
//
//   BlockName=rack11 Nodes=node[1101-1108]
namespace trunkline {
namespace {

// What Slurm reads of a line: without its comment, which a # begins that no backslash escapes. One
// with a byte 0 is kept whole, to be refused.
std::string_view WithoutComment(std::string_view line) {
  if (line.contains('\0')) return line;
  bool escaped = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && !escaped) return line.substr(0, i);
    escaped = line[i] == '\\' && !escaped;
  }
  return line;
}

// What is before the backslash by which a line goes on: the last of an odd number, with nothing but
// blanks behind; nothing where the line ends.
std::optional<std::string_view> BeforeContinuation(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t\r\v\f");
  if (last == std::string_view::npos || line[last] != '\\') return std::nullopt;
  const std::size_t before = line.find_last_not_of('\\', last);
  const std::size_t backslashes = before == std::string_view::npos ? last + 1 : last - before;
  if (backslashes % 2 == 0) return std::nullopt;
  return line.substr(0, last);
}

// The text without comments, and with lines that go on and the line after as one, in the order of
// Slurm's parse_config.c: a backslash in a comment continues nothing, nor does one at the end of
// the file. Empty lines follow for those that were taken, so that others keep their numbers.
std::string JoinContinued(std::string_view text) {
  std::string joined;
  std::size_t taken = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = WithoutComment(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (const auto begun = BeforeContinuation(line)) {
      joined += *begun;
      ++taken;
      continue;
    }
    joined += line;
    joined.append(std::exchange(taken, std::size_t{0}) + 1, '\n');
  }
  return joined;
}

std::size_t LongestLine(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    longest = std::max(longest, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return longest;
}

class SlurmParser {
 public:
  // A line that goes on may be longer than others. Comments are gone before it is joined.
  SlurmParser(std::string_view text, const std::string& file)
      : text_(JoinContinued(text)),
        stream_(std::span(text_.data(), text_.size())),
        words_(stream_, file, '\0', LongestOf(text)) {}

  Result<FabricSource> Read() {
    while (words_.Next()) ReadLine();
    if (!words_.failed()) {
      for (const auto& [line, problem] : tree_.FindProblems()) {
        words_.LineError(line, problem[0].code, problem[0].message, problem[0].hint);
      }
    }
    if (words_.failed()) return std::unexpected(words_.TakeDiagnostics());
    return tree_.Finish();
  }

 private:
  void ReadLine() {
    std::optional<std::uint32_t> owner;
    for (const Word& word : words_.words()) {
      const std::size_t equals = word.text.find('=');
      const std::string_view key = word.text.substr(0, equals);
      if (equals == std::string_view::npos) return Malformed(word);
      const Word value{word.text.substr(equals + 1), word.column + static_cast<int>(equals) + 1};
      const bool block = SameText(key, "blockname");
      const bool nodes = SameText(key, "nodes");
      if (block || SameText(key, "switchname")) {
        if (value.text.empty()) return Malformed(word);
        const auto described = tree_.Describe(value.text, block, words_.line());
        if (!described) return Note(value, described.error());
        owner = *described;
      } else if (owner && (nodes || SameText(key, "switches"))) {
        const auto attached = tree_.Attach(*owner, nodes, value.text, words_.line());
        if (!attached) Note(value, attached.error());
      } else if (!SameText(key, "linkspeed") && !SameText(key, "blocksizes")) {
        return Malformed(word);
      }
    }
  }

  void Note(const Word& word, const Diagnostics& problem) {
    words_.Error(word, problem[0].code, problem[0].message, problem[0].hint);
  }

  void Malformed(const Word& word) {
    words_.Error(word, "TL1451", fmt::format("'{}' is not of the form of topology.conf", word.text),
                 "SwitchName= or BlockName= first, then Nodes=, Switches= and LinkSpeed=");
  }

  // A line that is as long without a backslash is no text of this kind.
  [[nodiscard]] std::size_t LongestOf(std::string_view text) const {
    return LongestLine(text) > WordReader::kLongestLine
               ? WordReader::kLongestLine
               : std::max(LongestLine(text_), WordReader::kLongestLine);
  }

  std::string text_;
  std::ispanstream stream_;
  WordReader words_;
  SlurmTree tree_;
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
      [](std::string_view text, const std::string& file) {
        return SlurmParser(text, file).Read();
      }};
  return reader;
}

}  // namespace trunkline
