#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "trunkline/trace/goal.h"

namespace trunkline {
namespace {

// The only problem of a text.
Diagnostic ProblemOf(const std::string& text) {
  const auto trace = ParseGoal(text, "test.goal");
  if (trace || trace.error().size() != 1) {
    std::string all;
    if (!trace) {
      for (const Diagnostic& problem : trace.error()) all += Format(problem);
    }
    ADD_FAILURE() << "not one problem:\n" << all;
    return {};
  }
  return trace.error().front();
}

std::string TwoRanks(const std::string& first, const std::string& second = "") {
  return "num_ranks 2\nrank 0 {\n" + first + "}\nrank 1 {\n" + second + "}\n";
}

// A problem's code, line and column.
struct Place {
  std::string code;
  int line = 0;
  int column = 0;
  bool operator==(const Place&) const = default;
  friend void PrintTo(const Place& place, std::ostream* out) {
    *out << place.code << " at " << place.line << ":" << place.column;
  }
};

// Where the only problem of a text is, which must come with a hint.
Place PlaceOf(const std::string& text) {
  const Diagnostic problem = ProblemOf(text);
  EXPECT_FALSE(problem.hint.empty()) << text;
  return {std::string(problem.code), static_cast<int>(problem.where.line),
          static_cast<int>(problem.where.column)};
}

TEST(GoalText, NamesThePlaceOfWhatItCannotRead) {
  EXPECT_EQ(PlaceOf(""), (Place{"TL1720", 1, 1}));
  EXPECT_EQ(PlaceOf("hello"), (Place{"TL1720", 1, 1}));
  EXPECT_EQ(PlaceOf("num_ranks x\n"), (Place{"TL1720", 1, 11}));
  EXPECT_EQ(PlaceOf("rank 0 {}\n"), (Place{"TL1720", 1, 1}));
  EXPECT_EQ(PlaceOf(TwoRanks("sent 8b to 1\n")), (Place{"TL1720", 3, 6}));
  EXPECT_EQ(PlaceOf(TwoRanks("a: flush\n")), (Place{"TL1720", 3, 4}));
  EXPECT_EQ(PlaceOf(TwoRanks("send 8 to 1\n")), (Place{"TL1720", 3, 8}));
  EXPECT_EQ(PlaceOf(TwoRanks("send 8b from 1\n")), (Place{"TL1720", 3, 9}));
  EXPECT_EQ(PlaceOf(TwoRanks("calc 8 tag 1\n")), (Place{"TL1720", 3, 8}));
  EXPECT_EQ(PlaceOf(TwoRanks("calc -8\n")), (Place{"TL1720", 3, 6}));
  EXPECT_EQ(PlaceOf(TwoRanks("calc 8 8\n")), (Place{"TL1720", 3, 8}));
  EXPECT_EQ(PlaceOf("num_ranks 1\nrank 0 {\n"), (Place{"TL1720", 2, 1}));
  EXPECT_EQ(PlaceOf("num_ranks 1\n/* rank 0 {}\n"), (Place{"TL1720", 2, 1}));
}

TEST(GoalText, RefusesNumbersThatOverflow) {
  EXPECT_EQ(PlaceOf(TwoRanks("calc 8640000000000001\n")), (Place{"TL1721", 3, 6}));
  EXPECT_EQ(PlaceOf(TwoRanks("calc 99999999999999999999999999999\n")), (Place{"TL1721", 3, 6}));
  EXPECT_EQ(PlaceOf(TwoRanks("send 18446744073709551617b to 1\n")), (Place{"TL1721", 3, 6}));
  EXPECT_EQ(PlaceOf(TwoRanks("calc 1 cpu 256\n")), (Place{"TL1721", 3, 12}));
  EXPECT_EQ(PlaceOf(TwoRanks("send 1b to 1 tag 4294967295\n")), (Place{"TL1721", 3, 18}));
}

TEST(GoalText, RefusesMessagesThatTogetherCannotBeCounted) {
  std::string sends;
  for (int i = 0; i < 1025; ++i) sends += "send 1125899906842624b to 1\n";
  EXPECT_EQ(PlaceOf(TwoRanks(sends)), (Place{"TL1721", 3 + 1024, 1}));
}

TEST(GoalText, KnowsEveryRankOnce) {
  EXPECT_EQ(PlaceOf("num_ranks 2\nrank 0 { }\n"), (Place{"TL1722", 1, 1}));
  EXPECT_EQ(PlaceOf("num_ranks 2\nrank 0 { }\nrank 1 { }\nrank 1 { }\n"), (Place{"TL1722", 4, 1}));
  EXPECT_EQ(PlaceOf("num_ranks 1\nrank 0 { }\nrank 1 { }\n"), (Place{"TL1722", 3, 1}));
  EXPECT_EQ(PlaceOf(TwoRanks("send 8b to 2\n")), (Place{"TL1722", 3, 1}));
  EXPECT_EQ(PlaceOf("num_ranks 4000000000\nrank 0 { }\n"), (Place{"TL1722", 1, 11}));
  EXPECT_EQ(PlaceOf("num_ranks 0\n"), (Place{"TL1722", 1, 11}));
}

TEST(GoalText, KnowsEveryLabelOnce) {
  EXPECT_EQ(PlaceOf(TwoRanks("a: calc 1\na requires b\n")), (Place{"TL1723", 4, 12}));
  EXPECT_EQ(PlaceOf(TwoRanks("a: calc 1\n", "b: calc 1\nb requires a\n")),
            (Place{"TL1723", 7, 12}));
  EXPECT_EQ(PlaceOf(TwoRanks("a: calc 1\na: calc 2\n")), (Place{"TL1724", 4, 1}));
}

TEST(GoalText, RefusesOperationsThatWaitForEachOther) {
  EXPECT_EQ(PlaceOf(TwoRanks("a: calc 1\na requires a\n")), (Place{"TL1725", 3, 1}));
  EXPECT_EQ(PlaceOf(TwoRanks("a: calc 1\nb: calc 1\nc: calc 1\n"
                             "b requires a\nc irequires b\nb requires c\n")),
            (Place{"TL1725", 4, 1}));
  EXPECT_EQ(ProblemOf(TwoRanks("a: calc 1\nb: calc 1\na requires b\nb requires a\n")).message,
            "2 operations of rank 0 that wait for each other: line 3, line 4");
}

TEST(GoalText, RefusesWildcardsAndMessagesToOneself) {
  EXPECT_EQ(PlaceOf(TwoRanks("recv 8b from -1\n")), (Place{"TL1726", 3, 1}));
  EXPECT_EQ(PlaceOf(TwoRanks("a: recv 8b from 1 tag -1\n")), (Place{"TL1726", 3, 1}));
  EXPECT_EQ(PlaceOf(TwoRanks("send 8b to 0\n")), (Place{"TL1729", 3, 1}));
}

TEST(GoalText, NamesTheMessageThatHasOneEndOnly) {
  EXPECT_EQ(PlaceOf(TwoRanks("send 8b to 1 tag 4\n")), (Place{"TL1727", 3, 1}));
  EXPECT_EQ(PlaceOf(TwoRanks("", "recv 8b from 0 tag 4\n")), (Place{"TL1727", 5, 1}));
  // Tags tell messages apart, and the second of two is the one too many.
  const auto mixed = ParseGoal(TwoRanks("send 8b to 1 tag 4\n", "recv 8b from 0 tag 5\n"), "f");
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.error().size(), 2U);
  const Diagnostic problem =
      ProblemOf(TwoRanks("send 8b to 1 tag 4\nsend 8b to 1 tag 4\n", "recv 8b from 0 tag 4\n"));
  EXPECT_EQ(problem.where.line, 4);
  EXPECT_EQ(problem.message,
            "rank 0 sends 2 messages with tag 4 to rank 1, which receives 1: this one is never "
            "received");
}

TEST(GoalText, NamesTheMessageWhoseEndsDiffer) {
  const Diagnostic problem =
      ProblemOf(TwoRanks("send 8b to 1\nsend 9b to 1\n", "recv 8b from 0\nrecv 8b from 0\n"));
  EXPECT_EQ(problem.code, "TL1728");
  EXPECT_EQ(problem.where.line, 8);
  EXPECT_EQ(problem.message,
            "rank 1 receives 8 bytes from rank 0 with tag 0, which sends 9 (line 4)");
}

TEST(GoalText, ReportsAllMistakesInTheOrderOfLines) {
  const auto trace = ParseGoal(TwoRanks("a requires b\nsend 8b to 9\n", "x y z\ncalc\n"), "f");
  ASSERT_FALSE(trace);
  std::vector<int> lines;
  for (const Diagnostic& problem : trace.error()) lines.push_back(problem.where.line);
  EXPECT_EQ(lines, (std::vector<int>{3, 4, 7, 8}));
}

// Little endian integers, appended.
class Bytewise {
 public:
  template <typename Int>
  Bytewise& Add(Int value) {
    auto left = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof(Int); ++i, left >>= 8) {
      text_.push_back(static_cast<char>(left & 0xff));
    }
    return *this;
  }
  Bytewise& Node(std::uint32_t needs, std::uint8_t kind, std::uint32_t peer, std::uint64_t amount,
                 std::uint32_t successors = 0) {
    Add(needs).Add(kind).Add(peer).Add(amount).Add(std::uint32_t{7});
    Add(std::uint8_t{0}).Add(std::uint8_t{0});
    Add(successors).Add(std::uint32_t{0}).Add(std::uint32_t{0}).Add(std::uint32_t{0});
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Rank 0 computes and then sends, rank 1 receives.
std::string Binary(std::uint32_t ranks = 2, std::uint32_t nodes = 2, std::uint8_t kind = 3,
                   std::uint32_t needs = 1, std::uint32_t successor = 1, std::uint64_t end = 191) {
  Bytewise bytes;
  bytes.Add(std::uint64_t{4223}).Add(ranks).Add(std::uint8_t{0}).Add(std::uint8_t{0});
  bytes.Add(std::uint64_t{38}).Add(std::uint64_t{140}).Add(std::uint64_t{140}).Add(end);
  bytes.Add(nodes).Add(std::uint32_t{2}).Add(std::uint32_t{0}).Add(std::uint32_t{1});
  bytes.Node(0, kind, 0, 1000, 1).Node(needs, 1, 1, 64).Add(successor).Add(std::uint32_t{0});
  bytes.Add(std::uint32_t{1}).Add(std::uint32_t{1}).Add(std::uint32_t{0}).Node(0, 2, 0, 64);
  return bytes.text();
}

TEST(GoalBinary, IsReadAsItsText) {
  const auto binary = ParseGoal(Binary(), "test.bin");
  ASSERT_TRUE(binary) << Format(binary.error().front());
  EXPECT_EQ(binary->operations, 3U);
  const Program& program = binary->graph->program(binary->graph->program_of(RankId(0)));
  EXPECT_EQ(program.tasks[0].duration, Time::Microseconds(1));
  EXPECT_EQ(program.dependencies_of(program.tasks[1]).front(), 0U);
}

TEST(GoalBinary, RefusesWhatDoesNotFitItsBytes) {
  const std::string whole = Binary();
  for (const std::string& bytes :
       {whole.substr(0, 9), whole.substr(0, 60), Binary(4'000'000'000), Binary(2, 3),
        Binary(2, UINT32_MAX), Binary(2, 2, 4), Binary(2, 2, 3, 2), Binary(2, 2, 3, 1, 2),
        Binary(2, 2, 3, 1, 1, UINT64_MAX / 2)}) {
    const Diagnostic problem = ProblemOf(bytes);
    EXPECT_EQ(problem.code, "TL1730");
    EXPECT_EQ(problem.where.line, 0);
    EXPECT_NE(problem.message.find("(byte "), std::string::npos) << problem.message;
  }
}

}  // namespace
}  // namespace trunkline
