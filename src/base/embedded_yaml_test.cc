#include "base/embedded_yaml.h"

#include <gtest/gtest.h>

namespace trunkline {
namespace {

constexpr EmbeddedFile kFiles[] = {{"good.yaml", "a: 1", 4}, {"bad.yaml", "a: [", 4}};
constexpr EmbeddedTable kTable{kFiles};

TEST(EmbeddedYaml, ReadsAFileOfWhichEveryKeyIsAskedFor) {
  YamlDocument document = OpenEmbedded(kTable, "good.yaml");
  int a = 0;
  EXPECT_TRUE(document.root().Require("a", a));
  EXPECT_EQ(a, 1);
  CloseEmbedded(document);
}

TEST(EmbeddedYamlDeathTest, EndsTheProcessWhereAFileIsAbsentMalformedOrNotWhollyRead) {
  const auto internal_error = testing::ExitedWithCode(70);
  EXPECT_EXIT((void)OpenEmbedded(kTable, "none.yaml"), internal_error, "no embedded file none");
  EXPECT_EXIT((void)OpenEmbedded(kTable, "bad.yaml"), internal_error, "bad.yaml:1:.*TL1102");
  EXPECT_EXIT(
      {
        YamlDocument document = OpenEmbedded(kTable, "good.yaml");
        CloseEmbedded(document);
      },
      internal_error, "unknown key 'a'");
}

}  // namespace
}  // namespace trunkline
