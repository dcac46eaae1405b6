#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "base/embedded_yaml.h"
#include "cli/command_line.h"
#include "cli/console.h"
#include "trunkline/base/check.h"
#include "trunkline/collective/algorithm.h"
#include "trunkline/fabric/build.h"
#include "trunkline/fabric/route.h"

namespace trunkline {

extern const EmbeddedTable k_trunkline_docs;
extern const EmbeddedTable k_trunkline_data_terms;

namespace {

struct Entry {
  std::string name;
  std::string text;
};

// The rows `| TL1103 | what | remedy |` of docs/errors.md.
std::vector<Entry> ErrorCodes() {
  const EmbeddedFile* file = k_trunkline_docs.Find("../docs/errors.md");
  TL_CHECK(file != nullptr, "the error codes are not built in");
  std::vector<Entry> entries;
  std::string_view text = file->text();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with("| TL1")) continue;
    const std::size_t what = line.find(" | ");
    const std::size_t remedy = line.rfind(" | ");
    if (what == std::string_view::npos || remedy <= what) continue;
    entries.push_back({std::string(line.substr(2, what - 2)),
                       fmt::format("{}\nRemedy: {}", line.substr(what + 3, remedy - what - 3),
                                   line.substr(remedy + 3, line.size() - remedy - 5))});
  }
  return entries;
}

std::vector<Entry> Terms() {
  YamlDocument document = OpenEmbedded(k_trunkline_data_terms, "terms/terms.yaml");
  std::vector<Entry> entries;
  for (const auto& [name, value] : document.root().Entries()) {
    entries.push_back({name, value.text()});
  }
  CloseEmbedded(document);
  return entries;
}

std::vector<Entry> AlgorithmEntries() {
  std::vector<Entry> entries;
  for (const Algorithm& algorithm : Algorithms()) {
    entries.push_back(
        {algorithm.name, fmt::format("{}\nCost: {}", algorithm.summary, algorithm.cost)});
  }
  return entries;
}

std::vector<Entry> FabricEntries() {
  std::vector<Entry> entries;
  for (const FabricKind& kind : FabricKinds()) entries.push_back({kind.name, kind.summary});
  return entries;
}

std::vector<Entry> RoutingEntries() {
  std::vector<Entry> entries;
  for (const RoutingPolicyInfo& policy : RoutingPolicies()) {
    entries.push_back({policy.name, policy.summary});
  }
  return entries;
}

bool Knows(const std::vector<Entry>& entries, const std::string& name) {
  return std::ranges::find(entries, name, &Entry::name) != entries.end();
}

std::string NamesOf(const std::vector<Entry>& entries) {
  std::string list;
  for (const Entry& entry : entries) list += fmt::format("  {}\n", entry.name);
  return list;
}

// A heading with the names below it, but for those that a list before has.
class Listing {
 public:
  void Add(const char* heading, std::vector<Entry> entries) {
    std::erase_if(entries, [&](const Entry& entry) { return Knows(seen_, entry.name); });
    if (!entries.empty()) text_ += fmt::format("{}:\n{}", heading, NamesOf(entries));
    std::ranges::copy(entries, std::back_inserter(seen_));
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::vector<Entry> seen_;
  std::string text_;
};

std::string Lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) {
    return c == '_' || c == '-' ? ' ' : static_cast<char>(std::tolower(c));
  });
  return out;
}

std::string Wrapped(std::string_view text) {
  constexpr std::size_t kWidth = 88;
  std::string out;
  std::size_t column = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", i), text.size());
    const std::size_t length = end - i;
    if (column > 0 && column + 1 + length > kWidth) {
      out += '\n';
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += text.substr(i, length);
    column += length;
    if (end < text.size() && text[end] == '\n') {
      out += '\n';
      column = 0;
    }
    i = end + 1;
  }
  return out;
}

}  // namespace

int Execute(const ExplainCommand& command) {
  std::vector<Entry> entries = Terms();
  if (command.term.empty()) {
    Listing listing;
    listing.Add("Terms", entries);
    listing.Add("Algorithms", AlgorithmEntries());
    listing.Add("Fabrics", FabricEntries());
    listing.Add("Routing", RoutingEntries());
    PrintResult(listing.text() +
                "and every error code, such as TL1103 (docs/errors.md lists them).\n");
    return kExitDone;
  }
  for (auto* more : {&AlgorithmEntries, &FabricEntries, &RoutingEntries, &ErrorCodes}) {
    std::ranges::copy(more(), std::back_inserter(entries));
  }
  bool found = false;
  for (const Entry& entry : entries) {
    if (Lower(entry.name) != Lower(command.term)) continue;
    PrintResult(fmt::format("{}: {}\n", entry.name, Wrapped(entry.text)));
    found = true;
  }
  const std::string first_word = Lower(command.term) + ' ';
  for (const Entry& entry : entries) {
    if (found) break;
    if (!Lower(entry.name).starts_with(first_word)) continue;
    PrintResult(fmt::format("{}: {}\n", entry.name, Wrapped(entry.text)));
    found = true;
  }
  if (found) return kExitDone;
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(Lower(entry.name));
  const std::string match = ClosestMatch(Lower(command.term), names);
  return Refuse(Error("TL1005", fmt::format("nothing is known about '{}'", command.term),
                      match.empty() ? "`trunkline explain` lists what can be explained"
                                    : fmt::format("did you mean '{}'?", match))
                    .error());
}

}  // namespace trunkline
