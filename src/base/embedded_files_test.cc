#include "base/embedded_files.h"

#include <gtest/gtest.h>

namespace trunkline {
namespace {

TEST(EmbeddedTable, FindsAFileByItsWholePathOnly) {
  const EmbeddedFile files[] = {{"nodes/a.yaml", "one", 3}, {"nodes/b.yaml", "two\0!", 5}};
  const EmbeddedTable table{files};
  ASSERT_NE(table.Find("nodes/b.yaml"), nullptr);
  EXPECT_EQ(table.Find("nodes/b.yaml")->text(), std::string_view("two\0!", 5));
  EXPECT_EQ(table.Find("b.yaml"), nullptr);
  EXPECT_EQ(table.Find(""), nullptr);
}

}  // namespace
}  // namespace trunkline
