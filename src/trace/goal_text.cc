#include "trace/goal_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trace/goal_limits.h"
#include "trace/label_table.h"

namespace trunkline {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

class TextReader final : public GoalReader {
 public:
  TextReader(std::string_view text, GoalProblems& problems) : text_(text), problems_(&problems) {}

  [[nodiscard]] std::uint32_t ranks() const override { return ranks_; }
  bool Next(GoalBlock& block) override;
  void Reread(std::size_t begin, GoalBlock& block) override;

 private:
  // A dependency on a label that has not been defined yet.
  struct Forward {
    std::string_view task;
    std::string_view needed;
    bool start = false;
  };

  // False, after noting why.
  bool Fail(const char* code, std::size_t place, std::string message, std::string hint);
  bool FailExpected(const char* what);

  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  [[nodiscard]] std::size_t PlaceOf(std::string_view part) const {
    return static_cast<std::size_t>(part.data() - text_.data());
  }
  void SkipBlank();
  void SkipLines();
  void SkipRestOfLine() { at_ = std::min(text_.find('\n', at_), text_.size()); }
  bool SkipComment();
  std::string_view Word();
  bool Number(const char* what, std::uint64_t most, std::uint64_t& value);
  bool NumberOrAny(const char* what, std::uint32_t& value);
  bool Symbol(char symbol, const char* what);

  bool Header();
  bool Body(GoalBlock& block);
  bool Statement(GoalBlock& block);
  bool Operation(std::string_view kind, std::size_t place, GoalBlock& block);
  bool Endpoint(std::string_view preposition, GoalOperation& operation);
  bool Attributes(GoalOperation& operation);
  bool Dependency(std::string_view task, GoalBlock& block);
  void Resolve(const Forward& forward, GoalBlock& block);
  bool EndOfStatement();

  std::string_view text_;
  GoalProblems* problems_;  // nullptr: read again
  std::size_t at_ = 0;
  std::uint32_t ranks_ = 0;
  LabelTable labels_;
  std::vector<Forward> forward_;
  bool garbled_ = false;  // a statement of this block could not be read
};

bool TextReader::Fail(const char* code, std::size_t place, std::string message, std::string hint) {
  if (problems_ != nullptr) problems_->Add(code, place, std::move(message), std::move(hint));
  return false;
}

bool TextReader::FailExpected(const char* what) {
  const std::size_t begin = at_;
  std::size_t end = std::min(text_.find_first_of(" \t\r\n", at_), text_.size());
  end = std::min(std::max(end, begin + 1), begin + 40);
  const std::string found = begin < text_.size() && text_[begin] != '\n'
                                ? fmt::format("'{}'", text_.substr(begin, end - begin))
                                : "the end of the line";
  return Fail("TL1720", begin, fmt::format("expected {}, found {}", what, found),
              "write `LABEL: send SIZEb to RANK tag N`, `LABEL: recv SIZEb from RANK tag N`, "
              "`LABEL: calc NANOSECONDS` or `LABEL requires LABEL`");
}

bool TextReader::SkipComment() {
  if (text_.substr(at_, 2) == "//") {
    SkipRestOfLine();
    return true;
  }
  if (text_.substr(at_, 2) != "/*") return false;
  const std::size_t end = text_.find("*/", at_ + 2);
  if (end == std::string_view::npos) {
    Fail("TL1720", at_, "a comment that does not end", "close it with */");
  }
  at_ = end == std::string_view::npos ? text_.size() : end + 2;
  return true;
}

void TextReader::SkipBlank() {
  for (;;) {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r') ++at_;
    if (peek() != '/' || !SkipComment()) return;
  }
}

void TextReader::SkipLines() {
  for (SkipBlank(); peek() == '\n'; SkipBlank()) ++at_;
}

// A word, empty where there is none.
std::string_view TextReader::Word() {
  const std::size_t begin = at_;
  if (!IsLetter(peek())) return {};
  while (IsLetter(peek()) || IsDigit(peek()) || peek() == '_') ++at_;
  return text_.substr(begin, at_ - begin);
}

bool TextReader::Number(const char* what, std::uint64_t most, std::uint64_t& value) {
  SkipBlank();
  if (!IsDigit(peek())) return FailExpected(what);
  const std::size_t begin = at_;
  value = 0;
  for (; IsDigit(peek()); ++at_) {
    const auto digit = static_cast<std::uint64_t>(peek() - '0');
    // Once too large it stays so, and cannot wrap around.
    if (value <= most) value = value > UINT64_MAX / 16 ? UINT64_MAX : 10 * value + digit;
  }
  if (value <= most) return true;
  return Fail("TL1721", begin, fmt::format("{} above {}", what, most),
              fmt::format("use at most {}", most));
}

// A rank or tag, or the wildcard -1.
bool TextReader::NumberOrAny(const char* what, std::uint32_t& value) {
  SkipBlank();
  if (text_.substr(at_, 2) == "-1") {
    at_ += 2;
    value = GoalOperation::kAny;
    return true;
  }
  std::uint64_t number = 0;
  if (!Number(what, GoalOperation::kAny - 1, number)) return false;
  value = static_cast<std::uint32_t>(number);
  return true;
}

bool TextReader::Symbol(char symbol, const char* what) {
  SkipBlank();
  if (peek() != symbol) return FailExpected(what);
  ++at_;
  return true;
}

// `num_ranks N`, after the word.
bool TextReader::Header() {
  SkipBlank();
  const std::size_t place = at_;
  std::uint64_t count = 0;
  if (!Number("a number of ranks", UINT32_MAX - 1, count)) return false;
  if (ranks_ != 0) {
    return Fail("TL1720", place, "a second num_ranks", "keep the first line of the file only");
  }
  // The shortest block is `rank 0{}`.
  const std::uint64_t room = text_.size() / 8;
  if (count == 0 || count > room) {
    return Fail("TL1722", place,
                fmt::format("{} ranks, and the file has room for the blocks of {}", count, room),
                "count the `rank R {` blocks: every rank has one");
  }
  ranks_ = static_cast<std::uint32_t>(count);
  return true;
}

bool TextReader::Next(GoalBlock& block) {
  for (;;) {
    SkipLines();
    if (at_ >= text_.size()) {
      if (ranks_ == 0) Fail("TL1720", at_, "no num_ranks", "begin the file with `num_ranks N`");
      return false;
    }
    block.begin = at_;
    const std::string_view word = Word();
    if (word == "num_ranks") {
      if (!Header()) return false;
      continue;
    }
    if (word != "rank") {
      at_ = block.begin;
      return FailExpected("`num_ranks N` or `rank R {`");
    }
    if (ranks_ == 0) {
      return Fail("TL1720", block.begin, "a rank before num_ranks",
                  "begin the file with `num_ranks N`");
    }
    return Body(block);
  }
}

void TextReader::Reread(std::size_t begin, GoalBlock& block) {
  GoalProblems* const problems = std::exchange(problems_, nullptr);
  at_ = begin;
  Next(block);
  problems_ = problems;
}

// `R { statements }`. Statements with mistakes are left out.
bool TextReader::Body(GoalBlock& block) {
  block.Clear();
  labels_.Clear();
  forward_.clear();
  garbled_ = false;
  std::uint64_t rank = 0;
  if (!Number("a rank", UINT32_MAX, rank) || !Symbol('{', "'{'")) return false;
  block.rank = static_cast<std::uint32_t>(rank);
  for (SkipLines(); peek() != '}'; SkipLines()) {
    if (at_ >= text_.size()) {
      return Fail("TL1720", block.begin, fmt::format("the block of rank {} does not end", rank),
                  "close it with '}'");
    }
    if (!Statement(block)) {
      garbled_ = true;
      if (problems_ != nullptr && problems_->full()) return false;
      SkipRestOfLine();
    }
  }
  ++at_;
  for (const Forward& forward : forward_) Resolve(forward, block);
  return true;
}

bool TextReader::Statement(GoalBlock& block) {
  const std::size_t place = at_;
  const auto is_kind = [](std::string_view word) {
    return word == "send" || word == "recv" || word == "calc";
  };
  const std::string_view first = Word();
  if (is_kind(first)) return Operation(first, place, block);
  if (first.empty()) return FailExpected("an operation, a label or '}'");
  SkipBlank();
  if (peek() != ':') return Dependency(first, block);
  ++at_;
  SkipBlank();
  const std::string_view kind = Word();
  if (!is_kind(kind)) {
    at_ -= kind.size();
    return FailExpected("send, recv or calc");
  }
  if (!Operation(kind, place, block)) return false;
  const auto operation = static_cast<std::uint32_t>(block.operations.size() - 1);
  const std::uint32_t before = labels_.Insert(first, operation);
  if (before == LabelTable::kNone || problems_ == nullptr) return true;
  return Fail("TL1724", place,
              fmt::format("label '{}' names two operations of rank {}; the first is on {}", first,
                          block.rank, problems_->Name(block.places[before])),
              "give each operation of a rank a label of its own");
}

bool TextReader::Operation(std::string_view kind, std::size_t place, GoalBlock& block) {
  GoalOperation operation;
  const bool computes = kind == "calc";
  std::uint64_t amount = 0;
  if (!Number(computes ? "nanoseconds" : "a size in bytes",
              static_cast<std::uint64_t>(computes ? kGoalMostNanoseconds : kGoalMostBytes),
              amount)) {
    return false;
  }
  operation.amount = static_cast<std::int64_t>(amount);
  if (!computes) {
    operation.kind = kind == "send" ? TaskKind::kSend : TaskKind::kReceive;
    if (!Symbol('b', "'b' after the size")) return false;
    if (!Endpoint(kind == "send" ? "to" : "from", operation)) return false;
  }
  if (!Attributes(operation)) return false;
  block.operations.push_back(operation);
  block.places.push_back(place);
  return true;
}

bool TextReader::Endpoint(std::string_view preposition, GoalOperation& operation) {
  SkipBlank();
  const std::size_t place = at_;
  if (Word() != preposition) {
    at_ = place;
    return FailExpected(preposition == "to" ? "'to'" : "'from'");
  }
  return NumberOrAny("a rank", operation.peer);
}

bool TextReader::Attributes(GoalOperation& operation) {
  for (;;) {
    SkipBlank();
    const std::size_t place = at_;
    const std::string_view name = Word();
    if (name == "tag" && operation.kind != TaskKind::kCompute) {
      if (!NumberOrAny("a tag", operation.tag)) return false;
      continue;
    }
    if (name != "cpu" && name != "nic") {
      at_ = place;
      return EndOfStatement();
    }
    std::uint64_t number = 0;
    if (!Number("a number", UINT8_MAX, number)) return false;
    (name == "cpu" ? operation.cpu : operation.nic) = static_cast<std::uint8_t>(number);
  }
}

bool TextReader::Dependency(std::string_view task, GoalBlock& block) {
  const std::size_t place = at_;
  const std::string_view verb = Word();
  if (verb != "requires" && verb != "irequires") {
    at_ = place;
    return FailExpected("':', requires or irequires after a label");
  }
  SkipBlank();
  const std::string_view needed = Word();
  if (needed.empty()) return FailExpected("a label");
  if (!EndOfStatement()) return false;
  const Forward dependency{task, needed, verb == "irequires"};
  if (labels_.operation(task) == LabelTable::kNone ||
      labels_.operation(needed) == LabelTable::kNone) {
    forward_.push_back(dependency);
  } else {
    Resolve(dependency, block);
  }
  return true;
}

void TextReader::Resolve(const Forward& forward, GoalBlock& block) {
  const std::uint32_t task = labels_.operation(forward.task);
  const std::uint32_t needed = labels_.operation(forward.needed);
  for (const auto& [label, operation] :
       {std::pair(forward.task, task), std::pair(forward.needed, needed)}) {
    if (operation != LabelTable::kNone) continue;
    // It may be the label of a statement that could not be read.
    if (garbled_) return;
    Fail("TL1723", PlaceOf(label),
         fmt::format("label '{}' names no operation of rank {}", label, block.rank),
         "give an operation of this rank that label; other ranks' labels are not seen");
    return;
  }
  block.dependencies.push_back({task, needed, forward.start});
}

bool TextReader::EndOfStatement() {
  SkipBlank();
  if (at_ >= text_.size() || peek() == '\n' || peek() == '}') return true;
  return FailExpected("the end of the line");
}

}  // namespace

std::unique_ptr<GoalReader> MakeGoalTextReader(std::string_view text, GoalProblems& problems) {
  return std::make_unique<TextReader>(text, problems);
}

}  // namespace trunkline
