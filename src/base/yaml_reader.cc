#include "base/yaml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>
#include <unordered_map>

#include "base/yaml_tree.h"

namespace trunkline {
namespace internal {

SourcePosition YamlTree::Where(std::uint32_t node) const {
  const YamlNode& n = nodes[node];
  return {sources[n.source].name, n.line, n.column};
}

std::string YamlTree::Excerpt(const SourcePosition& where, std::uint32_t source) const {
  const Source& s = sources[source];
  if (where.line < 1 || static_cast<std::size_t>(where.line) > s.lines.size()) return "";
  return s.lines[static_cast<std::size_t>(where.line) - 1];
}

void YamlTree::Note(Severity severity, std::uint32_t node, std::string code, std::string message,
                    std::string hint) {
  if (full()) {
    ++suppressed;
    return;
  }
  Diagnostic diagnostic{severity,           std::move(code), Where(node),
                        std::move(message), std::move(hint), ""};
  diagnostic.excerpt = Excerpt(diagnostic.where, nodes[node].source);
  diagnostics.push_back(std::move(diagnostic));
}

std::size_t YamlTree::error_count() const {
  return static_cast<std::size_t>(
      std::ranges::count(diagnostics, Severity::kError, &Diagnostic::severity));
}

std::optional<std::size_t> YamlTree::FindKey(std::uint32_t node, std::string_view key) const {
  const std::vector<std::uint32_t>& children = nodes[node].children;
  for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
    const YamlNode& candidate = nodes[children[i]];
    if (candidate.kind == YamlNode::Kind::kScalar && candidate.text == key) return i + 1;
  }
  return std::nullopt;
}

}  // namespace internal

namespace {

using internal::YamlNode;
using internal::YamlTree;

// Hints are then in its spelling.
bool IsJson(const YamlTree& tree) { return tree.sources.front().name.ends_with(".json"); }

std::string Shown(const std::string& text) {
  constexpr std::size_t kShown = 60;
  return text.size() <= kShown ? text : text.substr(0, kShown) + "...";
}

std::string Describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return node.quoted ? fmt::format("the text \"{}\"", Shown(node.text))
                         : fmt::format("'{}'", Shown(node.text));
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a mapping";
  }
  return "";
}

std::string RangeText(IntRange range) { return fmt::format("from {} to {}", range.min, range.max); }

std::string RangeText(RealRange range) {
  if (range.max == RealRange{}.max) return fmt::format("at least {}", range.min);
  if (range.min == RealRange{}.min) return fmt::format("at most {}", range.max);
  return fmt::format("from {} to {}", range.min, range.max);
}

void NoteUnknownKeys(YamlTree& tree) {
  constexpr std::size_t kListed = 24;
  for (std::uint32_t map = 0; map < tree.nodes.size(); ++map) {
    if (!tree.nodes[map].read) continue;
    const std::vector<std::string>& known = tree.known[map];
    for (std::size_t i = 0; i < tree.nodes[map].children.size(); i += 2) {
      const std::uint32_t key = tree.nodes[map].children[i];
      const YamlNode& node = tree.nodes[key];
      if (node.asked || node.kind != YamlNode::Kind::kScalar) continue;
      // What will not be shown is not worth its search for a suggestion.
      const std::string match = tree.full() ? "" : ClosestMatch(node.text, known);
      std::string hint;
      if (!match.empty()) {
        hint = fmt::format("did you mean '{}'?", match);
      } else if (!known.empty() && known.size() <= kListed) {
        hint = fmt::format("known here: {}", fmt::join(known, ", "));
      }
      tree.Note(Severity::kError, key, "TL1104", fmt::format("unknown key '{}'", Shown(node.text)),
                std::move(hint));
    }
  }
}

}  // namespace

bool YamlValue::is_map() const { return tree_->nodes[node_].kind == YamlNode::Kind::kMap; }
bool YamlValue::is_list() const { return tree_->nodes[node_].kind == YamlNode::Kind::kList; }
bool YamlValue::is_scalar() const { return tree_->nodes[node_].kind == YamlNode::Kind::kScalar; }
bool YamlValue::is_null() const { return tree_->nodes[node_].kind == YamlNode::Kind::kNull; }
SourcePosition YamlValue::where() const { return tree_->Where(node_); }
std::size_t YamlValue::error_count() const { return tree_->error_count(); }
std::string YamlValue::excerpt() const {
  return tree_->Excerpt(where(), tree_->nodes[node_].source);
}
const std::string& YamlValue::text() const { return tree_->nodes[node_].text; }

void YamlValue::Error(std::string code, std::string message, std::string hint) const {
  tree_->Note(Severity::kError, node_, std::move(code), std::move(message), std::move(hint));
}

void YamlValue::Warn(std::string code, std::string message, std::string hint) const {
  tree_->Note(Severity::kWarning, node_, std::move(code), std::move(message), std::move(hint));
}

void YamlValue::Adopt(const Diagnostics& diagnostics) const {
  for (const Diagnostic& d : diagnostics) {
    if (d.where.file.empty()) {
      tree_->Note(d.severity, node_, d.code, d.message, d.hint);
    } else {
      tree_->diagnostics.push_back(d);
    }
  }
}

bool YamlValue::Mistyped(std::string_view wanted) const {
  Error("TL1107", fmt::format("{} is not {}", Describe(tree_->nodes[node_]), wanted),
        fmt::format("write {}", wanted));
  return false;
}

bool YamlValue::Read(std::string& out) const {
  if (!is_scalar()) return Mistyped("a text");
  if (text().empty()) {
    Error("TL1107", "an empty text", "write one or remove the key");
    return false;
  }
  out = text();
  return true;
}

bool YamlValue::Read(bool& out) const {
  if (is_scalar() && !tree_->nodes[node_].quoted) {
    if (text() == "true" || text() == "false") {
      out = text() == "true";
      return true;
    }
  }
  return Mistyped("true or false");
}

namespace {

// Whether a number has a leading 0, which is noted.
bool RefusesLeadingZero(const YamlValue& value) {
  std::string_view digits = value.text();
  if (digits.starts_with('-')) digits.remove_prefix(1);
  if (digits.size() < 2 || digits[0] != '0' || digits[1] < '0' || digits[1] > '9') return false;
  value.Error("TL1107",
              fmt::format("'{}' begins with 0, and is octal to some readers of YAML (8 for 010)",
                          Shown(value.text())),
              "write the number without a leading 0");
  return true;
}

}  // namespace

bool YamlValue::Read(std::int64_t& out, IntRange range) const {
  const std::string& digits = text();
  if (!is_scalar() || tree_->nodes[node_].quoted || digits.empty()) {
    return Mistyped("a whole number");
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument) {
    return Mistyped("a whole number");
  }
  if (RefusesLeadingZero(*this)) return false;
  if (error == std::errc::result_out_of_range || value < range.min || value > range.max) {
    Error("TL1108", fmt::format("{} is out of range", Shown(digits)),
          fmt::format("write a whole number {}", RangeText(range)));
    return false;
  }
  out = value;
  return true;
}

bool YamlValue::Read(double& out, RealRange range) const {
  const std::string& digits = text();
  if (!is_scalar() || tree_->nodes[node_].quoted || digits.empty()) return Mistyped("a number");
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument ||
      std::isnan(value)) {
    return Mistyped("a number");
  }
  if (RefusesLeadingZero(*this)) return false;
  if (error == std::errc::result_out_of_range || !(value >= range.min && value <= range.max)) {
    Error("TL1108", fmt::format("{} is out of range", Shown(digits)),
          fmt::format("write a number {}", RangeText(range)));
    return false;
  }
  out = value;
  return true;
}

namespace {

template <typename T>
bool TakeQuantity(const YamlValue& value, UnitResult<T> parsed, T& out) {
  if (!parsed) {
    value.Error("TL1103", parsed.error().message, parsed.error().hint);
    return false;
  }
  out = *parsed;
  return true;
}

}  // namespace

bool YamlValue::Read(Time& out) const {
  if (!is_scalar()) return Mistyped("a time such as 1.5 us");
  return TakeQuantity(*this, ParseTime(text()), out);
}

bool YamlValue::Read(Bytes& out, Bytes min) const {
  if (!is_scalar()) return Mistyped("a size such as 64 KiB");
  Bytes size;
  if (!TakeQuantity(*this, ParseBytes(text()), size)) return false;
  if (size < min) {
    Error("TL1108", fmt::format("{} is out of range", Shown(text())),
          fmt::format("write at least {}", ToString(min)));
    return false;
  }
  out = size;
  return true;
}

bool YamlValue::Read(Rate& out) const {
  if (!is_scalar()) return Mistyped("a rate such as 400 Gb/s");
  return TakeQuantity(*this, ParseRate(text()), out);
}

bool YamlValue::Read(FlopRate& out) const {
  if (!is_scalar()) return Mistyped("a FLOP rate such as 989 TFLOP/s");
  return TakeQuantity(*this, ParseFlopRate(text()), out);
}

bool YamlValue::Read(std::vector<std::int64_t>& out, IntRange range) const {
  const auto elements = AsList();
  if (!elements) return false;
  if (elements->empty()) {
    Error("TL1107", "an empty list", "write its numbers or remove the key");
    return false;
  }
  std::vector<std::int64_t> values;
  bool good = true;
  for (const YamlValue& element : *elements) {
    good = element.Read(values.emplace_back(), range) && good;
  }
  if (good) out = std::move(values);
  return good;
}

std::optional<std::size_t> YamlValue::FindWord(const std::vector<std::string>& words) const {
  const auto found = std::ranges::find(words, text());
  if (is_scalar() && found != words.end()) {
    return static_cast<std::size_t>(found - words.begin());
  }
  const std::string match = is_scalar() ? ClosestMatch(text(), words) : "";
  Error("TL1109", fmt::format("{} is none of the choices", Describe(tree_->nodes[node_])),
        match.empty()
            ? fmt::format("choose one of: {}", fmt::join(words, ", "))
            : fmt::format("did you mean '{}'? (choices: {})", match, fmt::join(words, ", ")));
  return std::nullopt;
}

std::optional<YamlMap> YamlValue::AsMap() const {
  if (!is_map()) {
    Mistyped("a mapping");
    return std::nullopt;
  }
  tree_->nodes[node_].read = true;
  return YamlMap(*this);
}

std::optional<std::vector<YamlValue>> YamlValue::AsList() const {
  if (!is_list()) {
    Mistyped("a list");
    return std::nullopt;
  }
  std::vector<YamlValue> elements;
  for (const std::uint32_t child : tree_->nodes[node_].children) {
    elements.push_back(YamlValue(tree_, child));
  }
  return elements;
}

std::optional<YamlValue> YamlMap::Find(std::string_view key) const {
  YamlTree& tree = *value_.tree_;
  std::vector<std::string>& known = tree.known[value_.node_];
  if (std::ranges::find(known, key) == known.end()) known.emplace_back(key);
  const std::optional<std::size_t> index = tree.FindKey(value_.node_, key);
  if (!index) return std::nullopt;
  const std::vector<std::uint32_t>& children = tree.nodes[value_.node_].children;
  const std::uint32_t key_node = children[*index - 1];
  const YamlValue value(&tree, children[*index]);
  const bool first_time = !tree.nodes[key_node].asked;
  tree.nodes[key_node].asked = true;
  if (value.is_null()) {
    if (tree.style == YamlStyle::kOurs && first_time) {
      // Of `--set key=~`, the value alone stands there.
      const bool replaced = tree.nodes[value.node_].source != tree.nodes[key_node].source;
      tree.Note(Severity::kError, replaced ? value.node_ : key_node, "TL1107",
                fmt::format("'{}' has no value", key), "write one or remove the key");
    }
    return std::nullopt;
  }
  return value;
}

std::vector<std::pair<std::string, YamlValue>> YamlMap::Entries() const {
  YamlTree& tree = *value_.tree_;
  std::vector<std::pair<std::string, YamlValue>> entries;
  const std::vector<std::uint32_t>& children = tree.nodes[value_.node_].children;
  for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
    tree.nodes[children[i]].asked = true;
    entries.emplace_back(tree.nodes[children[i]].text, YamlValue(&tree, children[i + 1]));
  }
  return entries;
}

std::optional<YamlMap> YamlMap::Map(std::string_view key) const {
  const std::optional<YamlValue> value = Find(key);
  return value ? value->AsMap() : std::nullopt;
}

std::optional<std::vector<YamlValue>> YamlMap::List(std::string_view key) const {
  const std::optional<YamlValue> value = Find(key);
  return value ? value->AsList() : std::nullopt;
}

std::string YamlMap::Misspelt(std::string_view key) const {
  const YamlTree& tree = *value_.tree_;
  if (tree.style == YamlStyle::kOurs) return "";
  std::vector<std::string> unread;
  const std::vector<std::uint32_t>& children = tree.nodes[value_.node_].children;
  for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
    if (!tree.nodes[children[i]].asked) unread.push_back(tree.nodes[children[i]].text);
  }
  return ClosestMatch(key, unread);
}

std::optional<YamlValue> YamlMap::Required(std::string_view key) const {
  const std::optional<YamlValue> value = Find(key);
  const bool missing = value_.tree_->style == YamlStyle::kForeign ||
                       !value_.tree_->FindKey(value_.node_, key);  // else Find has noted it
  if (!value && missing) {
    const std::string slip = Misspelt(key);
    Error("TL1106", fmt::format("key '{}' is missing", key),
          slip.empty()
              ? fmt::format("add `{0}{1}{0}: …` here", IsJson(*value_.tree_) ? "\"" : "", key)
              : fmt::format("is '{}' it? write `{}`", Shown(slip), key));
  }
  return value;
}

void YamlMap::Refuse(std::string_view key, const std::string& code, const std::string& message,
                     const std::string& hint) const {
  YamlTree& tree = *value_.tree_;
  const auto index = tree.FindKey(value_.node_, key);
  if (!index) return;  // and no suggestion for another key
  const std::vector<std::uint32_t>& children = tree.nodes[value_.node_].children;
  tree.nodes[children[*index - 1]].asked = true;
  const bool absent = tree.style == YamlStyle::kForeign &&
                      tree.nodes[children[*index]].kind == YamlNode::Kind::kNull;
  if (!absent) YamlValue(&tree, children[*index - 1]).Error(code, message, hint);
}

YamlDocument::YamlDocument(std::unique_ptr<internal::YamlTree> tree) : tree_(std::move(tree)) {}
YamlDocument::YamlDocument(YamlDocument&&) noexcept = default;
YamlDocument& YamlDocument::operator=(YamlDocument&&) noexcept = default;
YamlDocument::~YamlDocument() = default;

Result<YamlDocument> YamlDocument::Parse(std::string_view text, std::string file, YamlStyle style) {
  auto tree = std::make_unique<YamlTree>();
  tree->style = style;
  const Result<std::uint32_t> root = internal::ParseInto(*tree, text, file, 0);
  if (!root) return std::unexpected(root.error());
  tree->root = *root;
  if (style == YamlStyle::kForeign && tree->nodes[*root].kind == YamlNode::Kind::kList) {
    const auto key = static_cast<std::uint32_t>(tree->nodes.size());
    YamlNode map = tree->nodes[*root];
    map.kind = YamlNode::Kind::kMap;
    map.children = {key, *root};
    tree->nodes.emplace_back().kind = YamlNode::Kind::kScalar;
    tree->nodes.push_back(std::move(map));
    tree->root = key + 1;
  }
  YamlNode& node = tree->nodes[tree->root];
  if (node.kind != YamlNode::Kind::kMap) {
    tree->Note(Severity::kError, *root, "TL1107",
               fmt::format("{} is not a mapping", Describe(node)),
               IsJson(*tree) ? "the file is a JSON object: {\"key\": value, …}"
                             : "the file begins with `key: value` lines");
    return std::unexpected(tree->diagnostics);
  }
  node.read = true;
  return YamlDocument(std::move(tree));
}

Result<YamlDocument> YamlDocument::ReadFile(const std::string& path, YamlStyle style) {
  const Result<std::string> text = ReadTextFile(path);
  if (!text) return std::unexpected(text.error());
  return Parse(*text, path, style);
}

YamlMap YamlDocument::root() const { return YamlMap(YamlValue(tree_.get(), tree_->root)); }

namespace {

// Readers ask for keys in an order of their own; people read from top to bottom. Files stay in the
// order in which they first appear.
Diagnostics InOrderOfText(Diagnostics diagnostics) {
  std::unordered_map<std::string, std::size_t> rank;
  for (const Diagnostic& d : diagnostics) rank.emplace(d.where.file, rank.size());
  std::ranges::stable_sort(diagnostics, {}, [&](const Diagnostic& d) {
    return std::tuple(rank.at(d.where.file), d.where.line, d.where.column);
  });
  return diagnostics;
}

}  // namespace

std::size_t YamlDocument::error_count() const { return tree_->error_count(); }

Diagnostics YamlDocument::TakeDiagnostics() {
  if (tree_->style == YamlStyle::kOurs && !tree_->incomplete) NoteUnknownKeys(*tree_);
  Diagnostics taken = InOrderOfText(std::move(tree_->diagnostics));
  tree_->diagnostics.clear();
  if (tree_->suppressed > 0) {
    Diagnostic more;
    more.code = "TL1112";
    more.where.file = tree_->sources.front().name;
    more.message = fmt::format("{} more problems are not shown", tree_->suppressed);
    taken.push_back(std::move(more));
  }
  return taken;
}

bool HasErrors(const Diagnostics& diagnostics) {
  return std::ranges::any_of(diagnostics,
                             [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

}  // namespace trunkline
