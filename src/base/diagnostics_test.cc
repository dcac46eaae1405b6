#include "trunkline/base/diagnostics.h"

#include <gtest/gtest.h>

namespace trunkline {
namespace {

Diagnostic LinkRate() {
  return {Severity::kError,        "TL1103",
          {"cluster.yaml", 12, 9}, "link rate '40OG' is not a rate",
          "write 400 Gb/s",        "  link:  40OG"};
}

TEST(Diagnostic, PrintsPlaceMessageCodeExcerptCaretAndHint) {
  EXPECT_EQ(Format(LinkRate()),
            "cluster.yaml:12:9: error: link rate '40OG' is not a rate [TL1103]\n"
            "      link:  40OG\n"
            "            ^\n"
            "  hint: write 400 Gb/s\n");
}

TEST(Diagnostic, WithoutAPositionPrintsOnlyWhatItKnows) {
  const auto error = Error("TL1001", "no scenario given");
  EXPECT_EQ(Format(error.error().front()), "error: no scenario given [TL1001]\n");
}

TEST(Diagnostic, CutsALongLineAroundTheCaret) {
  Diagnostic d = LinkRate();
  d.where.column = 5'001;
  d.excerpt = std::string(5'000, 'a') + 'X' + std::string(5'000, 'b');
  const std::string text = Format(d);
  EXPECT_LT(text.size(), 400U);
  const auto line = text.find("    ...a") + 4;
  const auto caret_line = text.find('\n', line) + 5;
  EXPECT_EQ(text.find('X') - line, text.find('^') - caret_line);
}

TEST(Diagnostic, NeverPassesControlCharactersOfTheInputToATerminal) {
  Diagnostic d = LinkRate();
  d.message = "bad \033[2J";
  d.excerpt =
      "x\033]0;owned\007\xC2\x9B"
      "2J\xC2\xA0";
  d.where.file = "a\nb";
  d.hint = "\r";
  const std::string text = Format(d);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_EQ(text.find('\007'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find("\xC2\x9B"), std::string::npos);  // CSI in one character
  EXPECT_NE(text.find("\xC2\xA0"), std::string::npos);  // a no-break space is harmless
}

TEST(Diagnostic, PutsTheCaretUnderTheRightCharacterAfterMultiByteText) {
  Diagnostic d = LinkRate();
  d.excerpt = "é: 1";  // the 1 is byte 5, character 4
  d.where.column = 5;
  EXPECT_NE(Format(d).find("\n       ^\n"), std::string::npos) << Format(d);
}

TEST(ClosestMatch, FindsASlipOfOneLetterCaseOrSeparator) {
  const std::vector<std::string> known = {"rail-optimized", "clos", "fat-tree"};
  EXPECT_EQ(ClosestMatch("cols", known), "clos");
  EXPECT_EQ(ClosestMatch("FAT_TREE", known), "fat-tree");
  EXPECT_EQ(ClosestMatch("rail-optimised", known), "rail-optimized");
}

TEST(ClosestMatch, OfTwoEquallyNearTheLonger) {
  EXPECT_EQ(ClosestMatch("nods", {"node", "nodes"}), "nodes");
  EXPECT_EQ(ClosestMatch("nods", {"nodes", "node"}), "nodes");
  EXPECT_EQ(ClosestMatch("nod", {"node", "nodes"}), "node");
}

TEST(ClosestMatch, SuggestsNothingForAWordThatIsFarFromAll) {
  EXPECT_EQ(ClosestMatch("banana", {"clos", "tree"}), "");
  EXPECT_EQ(ClosestMatch("", {"clos"}), "");
  EXPECT_EQ(ClosestMatch(std::string(1'000'000, 'x'), {"clos"}), "");
}

// A name of 300 kB: what it is, and what is wrong with it, fit a screen.
TEST(Diagnostics, LongInputsAreCutAndNotWhatIsSaidOfThem) {
  Diagnostic diagnostic;
  diagnostic.message = "'" + std::string(300'000, 'a') + "' is no port";
  diagnostic.hint = "write 1 in place of " + std::string(300'000, 'b') + " here";
  const std::string text = Format(diagnostic);
  EXPECT_LT(text.size(), 500U);
  EXPECT_NE(text.find("aaa' is no port"), std::string::npos) << text;
  EXPECT_NE(text.find("bbb here"), std::string::npos) << text;
}

}  // namespace
}  // namespace trunkline
