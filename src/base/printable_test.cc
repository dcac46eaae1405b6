#include "base/printable.h"

#include <gtest/gtest.h>

namespace trunkline {
namespace {

TEST(Printable, KeepsWhatPeopleWrite) {
  for (const char* text : {"leaf-1", "Zürich µs", "机柜-3",
                           "no\xC2\xA0"
                           "break",
                           "\xF0\x9F\x9A\x82"}) {
    EXPECT_EQ(Printable(text), text);
  }
}

TEST(Printable, ReplacesControlsAndTurnsTabsIntoSpaces) {
  EXPECT_EQ(Printable("a\x1b[31mb\tc\n"), "a?[31mb c?");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "2J"),
            "??2J");  // CSI in one character
}

TEST(Printable, ReplacesMarksThatTurnOrHideText) {
  EXPECT_EQ(Printable("a\xE2\x80\xAE"
                      "b"),
            "a???b");  // right-to-left override
  EXPECT_EQ(Printable("a\xE2\x80\x8B"
                      "b"),
            "a???b");                           // zero-width space
  EXPECT_EQ(Printable("\xEF\xBB\xBF"), "???");  // byte order mark
}

// RFC 3629, sections 3 and 10.
TEST(Printable, CountsTheBytesThatAreUtf8) {
  EXPECT_EQ(ValidUtf8(""), 0U);
  EXPECT_EQ(ValidUtf8("caf\xc3\xa9"), 5U);
  EXPECT_EQ(ValidUtf8("caf\xe9 au lait"), 3U);
  EXPECT_EQ(ValidUtf8("\xf0\x9f\x9a"), 0U);  // cut short
}

TEST(Printable, ReplacesWhatIsNotUtf8ByteByByte) {
  EXPECT_EQ(Printable("\xff\xfe"
                      "a"),
            "??a");
  EXPECT_EQ(Printable("\xC0\xAF"), "??");            // '/' in two bytes
  EXPECT_EQ(Printable("\xED\xA0\x80"), "???");       // half of a UTF-16 pair
  EXPECT_EQ(Printable("\xF4\x90\x80\x80"), "????");  // beyond U+10FFFF
  EXPECT_EQ(Printable("x\xE2\x82"), "x??");          // cut short
  EXPECT_EQ(Printable("\xE2\x82\xE2\x82\xAC"), "??\xE2\x82\xAC");
}

}  // namespace
}  // namespace trunkline
