#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/yaml_tree.h"

// `--set key.path=value`.
namespace trunkline {
namespace {

using internal::YamlNode;
using internal::YamlTree;

// The node that the steps of a path lead to so far, and where the step stands in the assignment.
class PathWalker {
 public:
  PathWalker(YamlTree& tree, std::uint32_t source, int start)
      : tree_(tree), source_(source), start_(start) {}

  // The child slot that `key` names; makes mappings as needed. Nothing after noting why not.
  std::optional<std::uint32_t> Step(std::uint32_t node, const std::string& key, int column) {
    if (tree_.nodes[node].kind == YamlNode::Kind::kList) return Element(node, key, column);
    if (tree_.nodes[node].kind == YamlNode::Kind::kScalar) {
      Fail(column,
           fmt::format("'{}' is asked of '{}', which has no keys", key,
                       tree_.nodes[node].text.substr(0, 60)),
           "set the whole value instead: write the path without this key");
      return std::nullopt;
    }
    if (const std::size_t bracket = key.find('['); bracket != std::string::npos && bracket > 0) {
      Fail(column, fmt::format("'{}' is no key", key),
           fmt::format("an element of a list is a step of its own: {}.0", key.substr(0, bracket)));
      return std::nullopt;
    }
    if (tree_.nodes[node].kind != YamlNode::Kind::kMap) {
      if (IndexOf(key)) {
        Fail(column, fmt::format("there is no list that '{}' could be an element of", key),
             "set the list as a whole: key=[…]");
        return std::nullopt;
      }
      YamlNode fresh = Fresh(column);
      fresh.kind = YamlNode::Kind::kMap;
      tree_.nodes[node] = std::move(fresh);
    }
    if (const auto index = tree_.FindKey(node, key)) return tree_.nodes[node].children[*index];
    YamlNode name = Fresh(column);
    name.kind = YamlNode::Kind::kScalar;
    name.text = key;
    const std::uint32_t name_id = Add(std::move(name));
    const std::uint32_t value_id = Add(Fresh(column));
    tree_.nodes[node].children.push_back(name_id);
    tree_.nodes[node].children.push_back(value_id);
    if (!grown_) grown_ = node;
    return value_id;
  }

  // Takes back the keys that steps have made, so that a path that leads nowhere leaves no trace.
  void Undo() {
    if (!grown_) return;
    std::vector<std::uint32_t>& children = tree_.nodes[*grown_].children;
    children.resize(children.size() - 2);
  }

  void Fail(int column, const std::string& message, const std::string& hint) {
    tree_.incomplete = true;
    tree_.Note(Severity::kError, Add(Fresh(column)), "TL1113", message, hint);
  }

 private:
  static std::optional<std::size_t> IndexOf(const std::string& key) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
    if (error != std::errc() || end != key.data() + key.size()) return std::nullopt;
    return index;
  }

  std::optional<std::uint32_t> Element(std::uint32_t list, const std::string& key, int column) {
    const std::vector<std::uint32_t>& elements = tree_.nodes[list].children;
    if (const auto index = IndexOf(key); index && *index < elements.size()) {
      return elements[*index];
    }
    Fail(column, fmt::format("'{}' is not an element of the list", key),
         elements.empty() ? "the list is empty; set it as a whole: key=[…]"
                          : fmt::format("write an index from 0 to {}", elements.size() - 1));
    return std::nullopt;
  }

  [[nodiscard]] YamlNode Fresh(int column) const {
    YamlNode node;
    node.source = source_;
    node.line = 1;
    node.column = std::max(1, column + start_);
    return node;
  }

  std::uint32_t Add(YamlNode node) {
    tree_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(tree_.nodes.size() - 1);
  }

  YamlTree& tree_;
  std::uint32_t source_;
  int start_;
  std::optional<std::uint32_t> grown_;  // the mapping that got a key first
};

}  // namespace

void YamlDocument::Override(std::string_view assignment, const std::string& label,
                            const Written& written) {
  YamlTree& tree = *tree_;
  const auto source = static_cast<std::uint32_t>(tree.sources.size());
  const std::string line(written.line);
  const std::size_t equals = assignment.find('=');
  const std::string_view path = assignment.substr(0, std::min(equals, assignment.size()));

  PathWalker walker(tree, source, written.start);
  if (equals == std::string_view::npos || equals == 0 || path.front() == '.' ||
      path.back() == '.' || path.find("..") != std::string_view::npos ||
      equals + 1 == assignment.size()) {
    tree.sources.push_back({label, {line}, 0});
    walker.Fail(1, fmt::format("'{}' is not an assignment", assignment.substr(0, 60)),
                "write key.path=value, such as cluster.nodes=128");
    return;
  }
  const auto value = internal::ParseInto(tree, assignment.substr(equals + 1), label,
                                         static_cast<int>(equals) + 1 + written.start);
  tree.sources[source].lines = {line};
  if (!value) {
    tree.incomplete = true;
    for (Diagnostic diagnostic : value.error()) {
      diagnostic.excerpt = line;
      tree.diagnostics.push_back(std::move(diagnostic));
    }
    return;
  }
  std::uint32_t node = tree.root;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const auto next = walker.Step(node, std::string(path.substr(begin, end - begin)),
                                  static_cast<int>(begin) + 1);
    if (!next) {
      walker.Undo();
      return;
    }
    node = *next;
    begin = end + 1;
  }
  tree.nodes[node] = tree.nodes[*value];
}

}  // namespace trunkline
