#include "base/yaml_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trunkline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

YamlDocument Ours(std::string_view text) {
  auto document = YamlDocument::Parse(text, "a.yaml", YamlStyle::kOurs);
  EXPECT_TRUE(document) << Format(document.error().front());
  return std::move(*document);
}

Diagnostic OnlyError(const Result<YamlDocument>& document) {
  EXPECT_FALSE(document);
  return document ? Diagnostic{} : document.error().front();
}

Diagnostic ParseError(std::string_view text) {
  return OnlyError(YamlDocument::Parse(text, "a.yaml", YamlStyle::kOurs));
}

std::string All(const Diagnostics& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics) out += Format(d);
  return out;
}

TEST(YamlReader, ReadsEveryTypeOfValue) {
  auto document = Ours(
      "name: dgx\ncount: 8\nflag: true\nratio: 2.5\nlink: 400 Gb/s\nsize: 64 KiB\n"
      "delay: 1.5 us\npeak: 989 TFLOP/s\nlayout: [1, 2, 3]\nkind: clos\nsub: {a: 1}\n");
  const YamlMap root = document.root();
  std::string name;
  std::uint32_t count = 0;
  bool flag = false;
  double ratio = 0;
  Rate link;
  Bytes size;
  Time delay;
  FlopRate peak;
  std::vector<std::int64_t> layout;
  int kind = 0;
  int a = 0;
  EXPECT_TRUE(root.Require("name", name));
  EXPECT_TRUE(root.Require("count", count, {.min = 1, .max = 64}));
  EXPECT_TRUE(root.Read("flag", flag));
  EXPECT_TRUE(root.Read("ratio", ratio));
  EXPECT_TRUE(root.Read("link", link));
  EXPECT_TRUE(root.Read("size", size));
  EXPECT_TRUE(root.Read("delay", delay));
  EXPECT_TRUE(root.Read("peak", peak));
  EXPECT_TRUE(root.Read("layout", layout));
  EXPECT_TRUE(root.Read("kind", kind, Words<int>{{"tree", 1}, {"clos", 2}}));
  ASSERT_TRUE(root.Map("sub"));
  EXPECT_TRUE(root.Map("sub")->Read("a", a));
  EXPECT_EQ(name, "dgx");
  EXPECT_EQ(count, 8U);
  EXPECT_TRUE(flag);
  EXPECT_DOUBLE_EQ(ratio, 2.5);
  EXPECT_EQ(link, Rate::GigabitsPerSecond(400));
  EXPECT_EQ(size, Bytes(65'536));
  EXPECT_EQ(delay, Time::Picoseconds(1'500'000));
  EXPECT_DOUBLE_EQ(peak.per_second(), 989e12);
  EXPECT_THAT(layout, ElementsAre(1, 2, 3));
  EXPECT_EQ(kind, 2);
  EXPECT_EQ(a, 1);
  EXPECT_EQ(All(document.TakeDiagnostics()), "");
}

TEST(YamlReader, PointsAtTheValueThatIsWrong) {
  auto document = Ours("cluster:\n  link: 40OG\n");
  Rate link;
  EXPECT_FALSE(document.root().Map("cluster")->Read("link", link));
  EXPECT_EQ(All(document.TakeDiagnostics()),
            "a.yaml:2:9: error: '40OG' is not a rate [TL1103]\n"
            "      link: 40OG\n"
            "            ^\n"
            "  hint: write a rate such as 400 Gb/s\n");
}

TEST(YamlReader, ReportsEveryProblemInTheOrderOfTheText) {
  auto document = Ours("nods: 1\nlink: 400\ncount: many\nsize: 8 Gb\n");
  const YamlMap root = document.root();
  Bytes size;
  int count = 0;
  int nodes = 0;
  Rate link;
  root.Read("size", size);
  root.Read("count", count);
  root.Require("nodes", nodes);
  root.Read("link", link);
  const Diagnostics problems = document.TakeDiagnostics();
  std::vector<std::string> codes;
  for (const Diagnostic& d : problems) codes.push_back(d.code);
  EXPECT_THAT(codes,
              testing::UnorderedElementsAre("TL1104", "TL1106", "TL1103", "TL1107", "TL1103"));
  EXPECT_THAT(All(problems), HasSubstr("did you mean 'nodes'?"));
  EXPECT_EQ(problems.back().where.line, 4);
}

TEST(YamlReader, OrdersProblemsByFileThenPlace) {
  auto document = Ours("a: x\nb: x\nc: x\n");
  document.Override("d=x", "--set 1");
  const YamlMap root = document.root();
  int out = 0;
  for (const char* key : {"c", "d", "b", "a"}) root.Read(key, out);
  Diagnostic elsewhere;
  elsewhere.where = {"other.yaml", 1, 1};
  root.Find("a")->Adopt({elsewhere});
  std::vector<std::string> places;
  for (const Diagnostic& d : document.TakeDiagnostics()) {
    places.push_back(d.where.file + ":" + std::to_string(d.where.line));
  }
  EXPECT_THAT(places, ElementsAre("a.yaml:1", "a.yaml:2", "a.yaml:3", "--set 1:1", "other.yaml:1"));
}

TEST(YamlReader, RefusesUnknownKeysInOurFilesAndIgnoresThemInForeignOnes) {
  auto ours = Ours("{a: 1, b: 2}");
  int a = 0;
  ours.root().Read("a", a);
  EXPECT_THAT(All(ours.TakeDiagnostics()), HasSubstr("1:8: error: unknown key 'b' [TL1104]"));
  auto foreign = YamlDocument::Parse("{\"a\": null, \"b\": 2}", "config.json", YamlStyle::kForeign);
  ASSERT_TRUE(foreign);
  a = 7;
  EXPECT_FALSE(foreign->root().Read("a", a));
  EXPECT_EQ(a, 7);
  EXPECT_EQ(All(foreign->TakeDiagnostics()), "");
}

TEST(YamlReader, ANullThatIsRequiredIsMissing) {
  auto foreign = YamlDocument::Parse("{\"a\": null}", "config.json", YamlStyle::kForeign);
  int a = 0;
  EXPECT_FALSE(foreign->root().Require("a", a));
  EXPECT_THAT(All(foreign->TakeDiagnostics()),
              AllOf(HasSubstr("key 'a' is missing [TL1106]"), HasSubstr("add `\"a\": …` here")));
  auto ours = Ours("a:\n");
  EXPECT_FALSE(ours.root().Require("a", a));
  EXPECT_THAT(All(ours.TakeDiagnostics()), HasSubstr("'a' has no value [TL1107]"));
}

TEST(YamlReader, ReadsJsonAsOthersWriteIt) {
  auto document = YamlDocument::Parse(
      "{\n\t\"hidden_size\":8192,\n\t\"rope_theta\": 5e5,\n\t\"name\": \"a\\/b \\u00e9\",\n"
      "\t\"tie\": false, \"list\": [1,\n2]\n}\n",
      "config.json", YamlStyle::kForeign);
  ASSERT_TRUE(document) << All(document.error());
  std::int64_t hidden = 0;
  double theta = 0;
  std::string name;
  bool tie = true;
  EXPECT_TRUE(document->root().Require("hidden_size", hidden, {.min = 1}));
  EXPECT_TRUE(document->root().Require("rope_theta", theta));
  EXPECT_TRUE(document->root().Require("name", name));
  EXPECT_TRUE(document->root().Require("tie", tie));
  EXPECT_EQ(hidden, 8192);
  EXPECT_EQ(theta, 5e5);
  EXPECT_EQ(name, "a/b é");
  EXPECT_FALSE(tie);
  EXPECT_EQ(document->root().Find("hidden_size")->where().column, 16);
}

TEST(YamlReader, TellsTextFromNumbers) {
  auto document = Ours("a: \"8\"\nb: 1e30\nc: 0x10\nd: 99999999999999999999\ne: nan\nf: -1\n");
  const YamlMap root = document.root();
  std::int64_t n = 5;
  double x = 5;
  EXPECT_FALSE(root.Read("a", n));
  EXPECT_FALSE(root.Read("b", n));
  EXPECT_FALSE(root.Read("c", n));
  EXPECT_FALSE(root.Read("d", n));
  EXPECT_FALSE(root.Read("e", x));
  EXPECT_FALSE(root.Read("f", n, {.min = 0, .max = 10}));
  EXPECT_EQ(n, 5);
  EXPECT_EQ(x, 5);
  EXPECT_THAT(All(document.TakeDiagnostics()), HasSubstr("from 0 to 10"));
}

TEST(YamlReader, RepeatedKeysAreErrors) {
  auto document = Ours("a: 1\nb: 2\na: 3\n");
  int out = 0;
  document.root().Read("a", out);
  document.root().Read("b", out);
  const Diagnostics problems = document.TakeDiagnostics();
  EXPECT_THAT(All(problems), HasSubstr("a.yaml:3:1: error: key 'a' appears twice [TL1105]"));
  EXPECT_EQ(problems.size(), 1U) << All(problems);  // and it is no unknown key
}

TEST(YamlReader, RefusesNumbersThatOthersTakeForOctal) {
  for (const char* octal : {"010", "-010", "00", "007.5"}) {
    auto document = Ours(std::string("count: ") + octal + "\nratio: " + octal + "\n");
    int count = 0;
    double ratio = 0;
    document.root().Read("count", count);
    document.root().Read("ratio", ratio);
    EXPECT_THAT(All(document.TakeDiagnostics()),
                AllOf(HasSubstr("a.yaml:1:8"), HasSubstr("a.yaml:2:8"), HasSubstr("TL1107")))
        << octal;
  }
  auto document = Ours("count: 0\nratio: 0.5\nsmall: -0.25\n");
  int count = 1;
  double ratio = 0;
  double small = 0;
  EXPECT_TRUE(document.root().Read("count", count));
  EXPECT_TRUE(document.root().Read("ratio", ratio));
  EXPECT_TRUE(document.root().Read("small", small));
}

TEST(YamlReader, RefusesTextsThatAreNotUtf8WithTheirPlace) {
  const Diagnostic latin = ParseError("a: 1\nb: caf\xe9\n");
  EXPECT_THAT(Format(latin), HasSubstr("a.yaml:2:7: error: the byte 0xe9 is not UTF-8 [TL1102]"));
  EXPECT_EQ(All(Ours("b: caf\xc3\xa9\n").TakeDiagnostics()),
            "a.yaml:1:1: error: unknown key 'b' [TL1104]\n    b: caf\xc3\xa9\n    ^\n");
}

TEST(YamlReader, NamesTheSlipInAForeignFileThatLacksAKey) {
  auto document = YamlDocument::Parse(R"({"num_hidden_layrs": 32, "hidden_size": 64})",
                                      "config.json", YamlStyle::kForeign);
  ASSERT_TRUE(document);
  int layers = 0;
  document->root().Require("num_hidden_layers", layers);
  EXPECT_THAT(All(document->TakeDiagnostics()),
              AllOf(HasSubstr("'num_hidden_layers' is missing"), HasSubstr("'num_hidden_layrs'")));
}

TEST(YamlReader, CallsJsonByItsName) {
  const auto broken = YamlDocument::Parse("{\"a\": [1", "config.json", YamlStyle::kForeign);
  EXPECT_THAT(OnlyError(broken).hint, AllOf(HasSubstr("JSON"), Not(HasSubstr("YAML"))));
  EXPECT_THAT(OnlyError(YamlDocument::Parse("", "config.json", YamlStyle::kForeign)).hint,
              HasSubstr("JSON"));
}

TEST(YamlReader, RefusesWhatWouldExpand) {
  EXPECT_EQ(ParseError("a: &x [1]\nb: *x\n").code, "TL1110");
  EXPECT_EQ(ParseError("a: *x\n").code, "TL1102");
  EXPECT_EQ(ParseError("a: !!python/object 1\n").code, "TL1110");
  EXPECT_EQ(ParseError("a: 1\nb:\n  <<: {c: 1}\n").where.line, 3);
  EXPECT_EQ(ParseError("a: {<<: {c: 1}}\n").code, "TL1110");
  std::string laughs = "a0: &a0 [x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string ref = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + ref + "," + ref + "]\n";
  }
  EXPECT_EQ(ParseError(laughs).code, "TL1110");
}

TEST(YamlReader, BoundsDepthWithoutUsingTheStack) {
  EXPECT_EQ(ParseError("a: " + std::string(65, '[') + std::string(65, ']')).code, "TL1111");
  EXPECT_EQ(ParseError(std::string(1'000'000, '[')).code, "TL1111");
  EXPECT_EQ(ParseError(std::string(1'000'000, '{')).code, "TL1111");
  std::string nested;
  for (int i = 0; i < 5'000; ++i) nested += "{\"a\":";
  EXPECT_EQ(ParseError(nested).code, "TL1111");
  std::string dashes;
  for (int i = 0; i < 100'000; ++i) dashes += "- ";
  EXPECT_EQ(ParseError(dashes).code, "TL1111");
  std::string questions;
  for (int i = 0; i < 100'000; ++i) questions += "? ";
  EXPECT_EQ(ParseError(questions).code, "TL1111");
  EXPECT_TRUE(YamlDocument::Parse("a: " + std::string(60, '[') + std::string(60, ']'), "a",
                                  YamlStyle::kOurs));
}

TEST(YamlReader, RefusesTruncatedEmptyBinaryAndOversizedTexts) {
  EXPECT_EQ(ParseError("{\"a\": [1, 2").code, "TL1102");
  EXPECT_EQ(ParseError("{\"a\": \"unfinished").code, "TL1102");
  EXPECT_EQ(ParseError("").code, "TL1102");
  EXPECT_EQ(ParseError("# only a comment\n").code, "TL1102");
  EXPECT_EQ(ParseError(std::string_view("a: \0", 4)).code, "TL1102");
  EXPECT_EQ(ParseError("a: 1\n---\nb: 2\n").code, "TL1102");
  EXPECT_EQ(ParseError("[1, 2]").code, "TL1107");
  EXPECT_EQ(ParseError("just text").code, "TL1107");
  EXPECT_EQ(ParseError(std::string((16U << 20) + 1, ' ')).code, "TL1111");
  const Diagnostic tab = ParseError("a:\n\tb: 1\n");
  EXPECT_THAT(tab.hint, HasSubstr("spaces, not tabs"));
}

TEST(YamlReader, BoundsTheNumberOfValues) {
  std::string text = "a: [";
  for (int i = 0; i < 1'000'001; ++i) text += "1,";
  text += "]\n";
  EXPECT_EQ(ParseError(text).code, "TL1111");
}

TEST(YamlReader, ShowsABoundedNumberOfProblems) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "key" + std::to_string(i) + ": 1\n";
  auto document = Ours(text);
  const Diagnostics problems = document.TakeDiagnostics();
  EXPECT_LT(problems.size(), 60U);
  EXPECT_THAT(All(problems), HasSubstr("more problems are not shown [TL1112]"));
}

TEST(YamlReader, NamesTheFileThatCannotBeRead) {
  const Diagnostic missing =
      OnlyError(YamlDocument::ReadFile("/nonexistent/x.yaml", YamlStyle::kOurs));
  EXPECT_EQ(missing.code, "TL1101");
  EXPECT_EQ(missing.where.file, "/nonexistent/x.yaml");
  EXPECT_EQ(OnlyError(YamlDocument::ReadFile("/", YamlStyle::kOurs)).code, "TL1101");
  EXPECT_EQ(OnlyError(YamlDocument::ReadFile("/dev/zero", YamlStyle::kOurs)).code, "TL1111");
}

TEST(YamlReader, RefusesReservedKeysOnlyWhenPresent) {
  auto document = Ours("jobs: []\n");
  document.root().Refuse("jobs", "TL1202", "not yet");
  document.root().Refuse("background", "TL1202", "not yet");
  const Diagnostics problems = document.TakeDiagnostics();
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].where.column, 1);
  EXPECT_EQ(problems[0].code, "TL1202");
}

TEST(YamlOverride, ReplacesAndCreatesValues) {
  auto document = Ours("cluster: {nodes: 4}\nfaults: [{value: 1}]\n");
  document.Override("cluster.nodes=64", "--set 1");
  document.Override("cluster.fabric={kind: clos}", "--set 2");
  document.Override("faults.0.value=9", "--set 3");
  document.Override("new.deep.key=a=b", "--set 4");
  const YamlMap root = document.root();
  int nodes = 0;
  int value = 0;
  std::string kind;
  std::string key;
  EXPECT_TRUE(root.Map("cluster")->Read("nodes", nodes));
  EXPECT_TRUE(root.Map("cluster")->Map("fabric")->Read("kind", kind));
  EXPECT_TRUE(root.List("faults")->front().AsMap()->Read("value", value));
  EXPECT_TRUE(root.Map("new")->Map("deep")->Read("key", key));
  EXPECT_EQ(nodes, 64);
  EXPECT_EQ(kind, "clos");
  EXPECT_EQ(value, 9);
  EXPECT_EQ(key, "a=b");
  EXPECT_EQ(All(document.TakeDiagnostics()), "");
}

TEST(YamlOverride, RefusesAKeyOfAPlainValue) {
  auto document = Ours("label: x\n");
  document.Override("label.inner=1", "--set 1");
  std::string label;
  EXPECT_TRUE(document.root().Read("label", label));
  EXPECT_EQ(label, "x");
  EXPECT_THAT(All(document.TakeDiagnostics()), HasSubstr("'inner' is asked of 'x'"));
}

TEST(YamlOverride, RefusesAnElementOfAListThatIsNotThere) {
  auto document = Ours("label: x\n");
  document.Override("faults.0.target=leaf-0", "--set 1");
  EXPECT_THAT(All(document.TakeDiagnostics()),
              AllOf(HasSubstr("there is no list that '0'"), HasSubstr("key=[…]")));
}

TEST(YamlOverride, SaysHowAnElementOfAListIsNamed) {
  auto document = Ours("faults: [{target: leaf-0}]\n");
  document.Override("faults[0].target=leaf-1", "--set 1");
  EXPECT_THAT(All(document.TakeDiagnostics()), HasSubstr("a step of its own: faults.0"));
}

TEST(YamlOverride, LeavesNoTraceOfAPathThatLeadsNowhere) {
  auto document = Ours("nodes: 4\n");
  document.Override("faults.0.value=50%", "--set 1");
  const YamlMap root = document.root();
  int nodes = 0;
  root.Read("nodes", nodes);
  EXPECT_FALSE(root.List("faults"));
  const Diagnostics problems = document.TakeDiagnostics();
  ASSERT_EQ(problems.size(), 1U) << All(problems);
  EXPECT_EQ(problems.front().code, "TL1113");
}

TEST(YamlOverride, IsToBlameWhereItTakesAValueAway) {
  auto document = Ours("nodes: 4\n");
  document.Override("nodes=~", "--set 1");
  int nodes = 0;
  document.root().Require("nodes", nodes);
  EXPECT_THAT(All(document.TakeDiagnostics()),
              HasSubstr("--set 1:1:7: error: 'nodes' has no value [TL1107]"));
}

TEST(YamlOverride, ShowsWhatTheUserWrote) {
  auto document = Ours("cluster: {nodes: 4}\n");
  document.Override("cluster.nodes=5x", "--nodes", {"5x", -14});
  document.Override("cluster.link=400", "spec", {"kind:link=400", 5 - 8});
  int nodes = 0;
  Rate link;
  const auto cluster = document.root().Map("cluster");
  ASSERT_TRUE(cluster);
  cluster->Read("nodes", nodes);
  cluster->Read("link", link);
  const std::string problems = All(document.TakeDiagnostics());
  EXPECT_THAT(problems, HasSubstr("--nodes:1:1: error: '5x' is not a whole number [TL1107]\n"
                                  "    5x\n    ^\n"));
  EXPECT_THAT(problems, HasSubstr("spec:1:11: error: '400' has no unit [TL1103]\n"
                                  "    kind:link=400\n              ^\n"));
}

TEST(YamlOverride, NamesItselfAsThePlaceOfAMistake) {
  auto document = Ours("link: 400 Gb/s\n");
  document.Override("link=400", "--set 1");
  document.Override("lnk=1", "--set 2");
  Rate link;
  document.root().Read("link", link);
  EXPECT_EQ(All(document.TakeDiagnostics()),
            "--set 1:1:6: error: '400' has no unit [TL1103]\n"
            "    link=400\n"
            "         ^\n"
            "  hint: write a rate with its unit, such as 400 Gb/s\n"
            "--set 2:1:1: error: unknown key 'lnk' [TL1104]\n"
            "    lnk=1\n"
            "    ^\n"
            "  hint: did you mean 'link'?\n");
}

TEST(YamlOverride, RefusesWhatIsNoAssignment) {
  auto document = Ours("faults: [1]\n");
  for (const char* bad :
       {"", "=", "a", "a=", ".a=1", "a..b=1", "faults.3=1", "faults.x=1", "a=[1", "a=&x 1"}) {
    document.Override(bad, "--set 1");
  }
  std::vector<std::int64_t> faults;
  document.root().Read("faults", faults);
  const Diagnostics problems = document.TakeDiagnostics();
  EXPECT_EQ(problems.size(), 10U) << All(problems);
  EXPECT_THAT(All(problems), HasSubstr("write an index from 0 to 0"));
}

}  // namespace
}  // namespace trunkline
