#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <unordered_set>

#include "base/printable.h"
#include "base/yaml_tree.h"

namespace trunkline::internal {
namespace {

// Leaves yaml-cpp's parser, which knows no other way out; never passes ParseInto.
struct Refusal {
  Diagnostic diagnostic;
};

// Builds the node pool from yaml-cpp's events. Unlike yaml-cpp's own tree it keeps the position of
// keys, sees repeated keys, and stops at the first sign of an input that would grow.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(YamlTree& tree, std::uint32_t source) : tree_(tree), source_(source) {}

  [[nodiscard]] std::optional<std::uint32_t> root() const { return root_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (root_) Refuse(mark, "TL1102", "a second document begins here", "keep one document a file");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add(mark, "", anchor, YamlNode::Kind::kNull);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Refuse(mark, "TL1110", "aliases (*name) are not read", "write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const std::uint32_t node = Add(mark, tag, anchor, YamlNode::Kind::kScalar);
    tree_.nodes[node].quoted = tag == "!";
    tree_.nodes[node].text = value;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, Add(mark, tag, anchor, YamlNode::Kind::kList));
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, Add(mark, tag, anchor, YamlNode::Kind::kMap));
  }
  void OnMapEnd() override {
    CheckKeys(open_.back());
    open_.pop_back();
  }

 private:
  std::uint32_t Add(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YamlNode::Kind kind) {
    if (anchor != 0) Refuse(mark, "TL1110", "anchors (&name) are not read", "write the value out");
    if (!tag.empty() && tag != "?" && tag != "!") {
      Refuse(mark, "TL1110", fmt::format("the tag {} is not read", tag), "remove it");
    }
    if (tree_.nodes.size() >= kMaxNodes) {
      Refuse(mark, "TL1111", fmt::format("more than {} values", kMaxNodes), "shorten the file");
    }
    const auto id = static_cast<std::uint32_t>(tree_.nodes.size());
    YamlNode& node = tree_.nodes.emplace_back();
    node.kind = kind;
    node.source = source_;
    node.line = mark.line + 1;
    node.column = mark.column + 1 + ColumnOffset(node.line);
    if (open_.empty()) {
      root_ = id;
    } else {
      tree_.nodes[open_.back()].children.push_back(id);
    }
    return id;
  }

  void Open(const YAML::Mark& mark, std::uint32_t node) {
    if (open_.size() >= kMaxDepth) {
      Refuse(mark, "TL1111", fmt::format("nested deeper than {} levels", kMaxDepth),
             "flatten the structure");
    }
    open_.push_back(node);
  }

  void CheckKeys(std::uint32_t map) {
    std::unordered_set<std::string_view> seen;
    const std::vector<std::uint32_t>& children = tree_.nodes[map].children;
    for (std::size_t i = 0; i < children.size(); i += 2) {
      const YamlNode& key = tree_.nodes[children[i]];
      if (key.kind != YamlNode::Kind::kScalar) {
        tree_.Note(Severity::kError, children[i], "TL1107", "a key must be a word",
                   "write `key: value`");
      } else if (key.text == "<<" && !key.quoted) {
        RefuseAt(key.line, key.column - ColumnOffset(key.line), "TL1110",
                 "merge keys (<<) are not read", "write the keys of the mapping out");
      } else if (!seen.insert(key.text).second) {
        tree_.Note(Severity::kError, children[i], "TL1105",
                   fmt::format("key '{}' appears twice", key.text), "keep one of them");
        tree_.nodes[children[i]].asked = true;  // getters see the first; this one is known, too
      }
    }
  }

  // What stands before the text in the line that the user wrote.
  [[nodiscard]] int ColumnOffset(int line) const {
    return line == 1 ? tree_.sources[source_].column_offset : 0;
  }

  [[noreturn]] static void Refuse(const YAML::Mark& mark, std::string code, std::string message,
                                  std::string hint) {
    RefuseAt(mark.line + 1, mark.column + 1, std::move(code), std::move(message), std::move(hint));
  }

  [[noreturn]] static void RefuseAt(int line, int column, std::string code, std::string message,
                                    std::string hint) {
    Diagnostic diagnostic;
    diagnostic.code = std::move(code);
    diagnostic.message = std::move(message);
    diagnostic.hint = std::move(hint);
    diagnostic.where.line = line;
    diagnostic.where.column = column;
    throw Refusal{std::move(diagnostic)};
  }

  YamlTree& tree_;
  std::uint32_t source_;
  std::optional<std::uint32_t> root_;
  std::vector<std::uint32_t> open_;
};

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string SyntaxHint(const std::string& line, const std::string& file) {
  const std::string_view indentation(line.data(),
                                     std::min(line.find_first_not_of(" \t"), line.size()));
  if (indentation.find('\t') != std::string_view::npos) return "indent with spaces, not tabs";
  return file.ends_with(".json")
             ? "the text up to here is read as JSON; look for a missing quote, bracket or comma"
             : "the text up to here is read as YAML; look for a missing quote, bracket, comma or "
               "indentation";
}

std::unexpected<Diagnostics> Fail(const YamlTree& tree, std::uint32_t source,
                                  Diagnostic diagnostic) {
  diagnostic.where.file = tree.sources[source].name;
  if (diagnostic.where.line == 1) diagnostic.where.column += tree.sources[source].column_offset;
  diagnostic.excerpt = tree.Excerpt(diagnostic.where, source);
  if (diagnostic.code == "TL1102" && diagnostic.hint.empty()) {
    diagnostic.hint = SyntaxHint(diagnostic.excerpt, diagnostic.where.file);
  }
  return std::unexpected(Diagnostics{std::move(diagnostic)});
}

Diagnostic OfWholeText(std::string code, std::string message, std::string hint) {
  return {Severity::kError, std::move(code), {}, std::move(message), std::move(hint), ""};
}

}  // namespace

Result<std::uint32_t> ParseInto(YamlTree& tree, std::string_view text, const std::string& name,
                                int column_offset) {
  const auto source = static_cast<std::uint32_t>(tree.sources.size());
  tree.sources.push_back({name, SplitLines(text), column_offset});
  if (text.size() > kMostTextBytes) {
    return Fail(tree, source,
                OfWholeText("TL1111", fmt::format("larger than {} MiB", kMostTextBytes >> 20),
                            "is this the right file?"));
  }
  if (text.find('\0') != std::string_view::npos) {
    return Fail(tree, source,
                OfWholeText("TL1102", "holds binary data", "a text in YAML or JSON is expected"));
  }
  if (const std::size_t valid = ValidUtf8(text); valid < text.size()) {
    const std::string_view before = text.substr(0, valid);
    Diagnostic diagnostic = OfWholeText(
        "TL1102",
        fmt::format("the byte 0x{:02x} is not UTF-8", static_cast<unsigned char>(text[valid])),
        "save the text as UTF-8, say with `iconv -f latin1 -t utf-8`");
    diagnostic.where.line = 1 + static_cast<int>(std::ranges::count(before, '\n'));
    diagnostic.where.column = static_cast<int>(valid - (before.rfind('\n') + 1)) + 1;
    return Fail(tree, source, std::move(diagnostic));
  }
  TreeBuilder builder(tree, source);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refusal& refusal) {
    return Fail(tree, source, refusal.diagnostic);
  } catch (const YAML::Exception& exception) {
    Diagnostic diagnostic = OfWholeText("TL1102", "cannot be read: " + exception.msg, "");
    diagnostic.where.line = std::max(0, exception.mark.line + 1);
    diagnostic.where.column = std::max(0, exception.mark.column + 1);
    return Fail(tree, source, std::move(diagnostic));
  }
  if (!builder.root()) {
    return Fail(tree, source,
                OfWholeText("TL1102", "is empty",
                            name.ends_with(".json") ? "a JSON object is expected"
                                                    : "a YAML mapping is expected"));
  }
  return *builder.root();
}

}  // namespace trunkline::internal
