#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fabric/builders/testing.h"
#include "fabric/import/testing.h"
#include "trunkline/fabric/analysis.h"
#include "trunkline/fabric/import.h"

namespace trunkline {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

std::string Problem(const std::string& text) {
  const auto imported = ImportFabric(text, "t");
  return imported ? std::string() : Format(imported.error().front());
}

TEST(Slurm, WhatIsWrittenHasTheServersOfALeafTogether) {
  const auto text = ExportFabric(Build("clos:nodes=64,radix=16").fabric, "slurm");
  ASSERT_TRUE(text);
  const FabricCounts counts = CountParts(Import(*text).built.fabric);
  EXPECT_EQ(counts.tiers.at(0).switches, 8U);
  EXPECT_EQ(counts.nodes, 64U);
}

// A lone switch is the whole tree.
TEST(Slurm, OneSwitchNeedsNoneAbove) {
  EXPECT_EQ(*ExportFabric(Build("single-switch:nodes=3").fabric, "slurm"),
            "SwitchName=unit-0 Nodes=host-0,host-1,host-2\n");
}

// As Slurm reads its files: a backslash at the end, and the line goes on.
TEST(Slurm, ALineGoesOnBehindABackslash) {
  const std::string one =
      "SwitchName=leaf-1 Nodes=a,b,c\nSwitchName=leaf-2 Nodes=d\n"
      "SwitchName=top Switches=leaf-[1-2]\n";
  const std::string many =
      "SwitchName=leaf-1 Nodes=a,\\\nb,\\\r\nc\nSwitchName=leaf-2 \\\n Nodes=d\n"
      "SwitchName=top Switches=leaf-[1-2]\n";
  EXPECT_EQ(CablesOf(Import(many).built.fabric), CablesOf(Import(one).built.fabric));
  // Lines behind keep their numbers, and long ones are read.
  const auto wrong = ImportFabric(many + "Nonsense\n", "topology.conf", {});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().front().where.line, 7);
  std::string nodes = "n0";
  for (int i = 1; i < 2000; ++i) nodes += ",\\\n" + std::string("n") + std::to_string(i);
  EXPECT_EQ(Import("SwitchName=leaf Nodes=" + nodes + "\n").built.fabric.node_count(), 2000U);
}

// Slurm's parse_config.c takes comments away before it looks for a backslash, so one in a comment
// continues nothing. Each of the texts is the same tree, three servers on two leaves.
TEST(Slurm, ALineGoesOnAsInSlurm) {
  const auto expected = CablesOf(
      Import("SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n3\nSwitchName=t Switches=s1,s2\n")
          .built.fabric);
  for (const std::string text : {
           "SwitchName=s1 Nodes=n[1-2]  # rack 1 \\\nSwitchName=s2 Nodes=n3\n"
           "SwitchName=t Switches=s1,s2\n",
           "# old: SwitchName=s0 \\\nSwitchName=s1 Nodes=n[1-2]\n#\\\nSwitchName=s2 Nodes=n3\n"
           "SwitchName=t Switches=s1,s2\n",
           "SwitchName=s1 \\ # the servers:\n Nodes=n[1-2]\nSwitchName=s2 \\ \t \r\nNodes=n3\n"
           "SwitchName=t Switches=s1,s2\n",
           "SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n3\nSwitchName=t Switches=s1,s2 \\",
           "SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n3\nSwitchName=t Switches=s1,s2\\\n",
           "SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n3\nSwitchName=t Switches=s1,s2\\\r\n",
       }) {
    EXPECT_EQ(CablesOf(Import(text).built.fabric), expected) << text;
  }
  // Two backslashes are one that is escaped: nothing goes on, and what Slurm would take for a word
  // is refused in its line.
  const auto pair =
      ImportFabric("SwitchName=s1 Nodes=n1\nSwitchName=s2 Nodes=n2 \\\\\nBlockName=b Nodes=n3\n",
                   "topology.conf", {});
  ASSERT_FALSE(pair);
  EXPECT_EQ(pair.error().front().where.line, 2);
  // An escaped # begins no comment.
  EXPECT_THAT(Problem("SwitchName=s1 Nodes=n1 \\# \\\n Nodes=n2\n"),
              AllOf(HasSubstr("TL1451"), HasSubstr("'\\#'")));
}

TEST(Slurm, ASwitchIsNotBelowItself) {
  // leaf-1 above spine-1, which is above leaf-2, which is above leaf-1.
  EXPECT_THAT(Problem("SwitchName=top Switches=spine-1\nSwitchName=spine-1 Switches=leaf-2\n"
                      "SwitchName=leaf-2 Switches=leaf-1\nSwitchName=leaf-1 Nodes=n1 "
                      "Switches=spine-1\n"),
              AllOf(HasSubstr("TL1452"), HasSubstr("in the end below")));
  EXPECT_THAT(Problem("- topology: a\n  tree:\n    switches:\n      - {switch: a, children: b}\n"
                      "      - {switch: b, children: a, nodes: n1}\n"),
              AllOf(HasSubstr("TL1452"), HasSubstr("t:5:41"), HasSubstr("a is below b")));
}

TEST(Slurm, WhatIsBelowSeveralSwitchesIsTold) {
  const auto notes = Import(
                         "SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n[2-3]\n"
                         "SwitchName=top Switches=s[1-2]\n")
                         .built.notes;
  EXPECT_THAT(notes, Contains(HasSubstr("a switch or node is below several switches")));
  EXPECT_THAT(notes, Contains(HasSubstr("(n2, below s1 and s2)")));
}

TEST(SlurmYaml, KeysThatAreNotReadAreTold) {
  const auto notes = Import(
                         "- topology: a\n  tree:\n    switches:\n"
                         "      - {switch: s, nodes: \"n[1-2]\", speed: 400}\n")
                         .built.notes;
  EXPECT_THAT(notes, Contains(HasSubstr("'speed' (line 4)")));
}

TEST(SlurmYaml, JoinsBlocksAndNamesTheTopologiesThatAreNotRead) {
  const ImportedFabric imported = Import(
      "- topology: racks\n  block:\n    blocks:\n      - {block: b1, nodes: x1}\n"
      "      - {block: b2, nodes: \"y[1-3]\"}\n- topology: all\n  flat: true\n");
  const FabricCounts counts = CountParts(imported.built.fabric);
  EXPECT_EQ(counts.nics, 4U);
  EXPECT_EQ(counts.switch_cables, 2U);
  EXPECT_THAT(imported.built.notes, Contains(HasSubstr("not all")));
}

TEST(SlurmYaml, RefusesWhatContradictsItself) {
  const auto problem = [](const std::string& text) {
    const auto imported = ImportFabric(text, "t.yaml");
    return imported ? std::string() : Format(imported.error().front());
  };
  EXPECT_THAT(problem("- topology: a\n  cluster_default: true\n  flat: true\n- topology: b\n"
                      "  cluster_default: true\n  flat: true\n"),
              AllOf(HasSubstr("TL1452"), HasSubstr("t.yaml:4")));
  EXPECT_THAT(problem("- topology: a\n  tree: {switches: []}\n  block: {blocks: []}\n"),
              AllOf(HasSubstr("TL1452"), HasSubstr("t.yaml:1")));
  EXPECT_THAT(problem("- topology: a\n  tree:\n    switches:\n      - {switch: s, nodez: n1}\n"),
              AllOf(HasSubstr("TL1452"), HasSubstr("t.yaml:4"), HasSubstr("'s' holds nothing")));
}

}  // namespace
}  // namespace trunkline
