#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "process.h"

namespace trunkline {
namespace {

using testing::HasSubstr;

// A net file of leaves and spines, every leaf with two servers and one cable to every spine, but
// for the cables between `without` and spine 0.
std::string NetFile(int leaves, int spines, int without) {
  std::string text;
  std::string cas;
  for (int leaf = 0; leaf < leaves; ++leaf) {
    const std::string l = std::to_string(leaf);
    text += "Switch 8 \"leaf-" + l + "\" # \"leaf-" + l + "\"\n";
    for (int port = 1; port <= 2; ++port) {
      const std::string host = "node" + std::to_string(2 * leaf + port);
      text += "[" + std::to_string(port) + "] \"" + host + "\"[1] # \"x\" lid 1 4xNDR\n";
      cas += "Ca 1 \"" + host + "\" # \"" + host + " mlx5_0\"\n[1] \"leaf-" + l + "\"[" +
             std::to_string(port) + "] # lid 1 4xNDR\n\n";
    }
    for (int spine = 0; spine < spines; ++spine) {
      if (leaf == without && spine == 0) continue;
      text += "[" + std::to_string(3 + spine) + "] \"spine-" + std::to_string(spine) + "\"[" +
              std::to_string(leaf + 1) + "] # \"x\" lid 1 4xNDR\n";
    }
    text += "\n";
  }
  for (int spine = 0; spine < spines; ++spine) {
    const std::string s = std::to_string(spine);
    text += "Switch 16 \"spine-" + s + "\" # \"spine-" + s + "\"\n";
    for (int leaf = 0; leaf < leaves; ++leaf) {
      if (leaf == without && spine == 0) continue;
      text += "[" + std::to_string(leaf + 1) + "] \"leaf-" + std::to_string(leaf) + "\"[" +
              std::to_string(3 + spine) + "] # \"x\" lid 1 4xNDR\n";
    }
    text += "\n";
  }
  return text + cas;
}

TEST(FabricFiles, AWholeFabricChecksOut) {
  const Outcome outcome =
      RunTrunkline({"fabric", "check", WriteFresh("whole.net", NetFile(4, 2, -1))});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("nothing is missing"));
}

TEST(FabricFiles, AMissingCableIsNamedWithItsPortItsOversubscriptionAndItsCost) {
  const Outcome outcome =
      RunTrunkline({"fabric", "check", WriteFresh("lacks.net", NetFile(4, 2, 1)), "--json"});
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(json["findings"].size(), 1U);
  EXPECT_EQ(json["findings"][0]["kind"], "missing-cables");
  EXPECT_EQ(json["findings"][0]["text"],
            "leaf-1 misses 1 of 1 cables to spine-0, elsewhere on port 3");
  ASSERT_EQ(json["switches"].size(), 1U);
  EXPECT_EQ(json["switches"][0]["oversubscription"], 2.0);
  EXPECT_EQ(json["switches"][0]["oversubscription_expected"], 1.0);
  // Two servers behind one uplink: of an AllToAll each sends 6 of 7 parts over it.
  const double found = json["cost"]["found"]["all_to_all_s"];
  const double mended = json["cost"]["mended"]["all_to_all_s"];
  EXPECT_NEAR(found / mended, 2.0 * 6 / 7, 0.05);
}

TEST(FabricFiles, ACheckCountsFindingsAndCables) {
  const Outcome outcome =
      RunTrunkline({"fabric", "check", WriteFresh("lacks3.net", NetFile(4, 2, 1))});
  EXPECT_THAT(outcome.out, HasSubstr("found: 1 place with missing cables (1 cable)\n"));
}

// The cables of 8 DGX H100 in two scale units, where `change` makes another line of each.
std::string Exported(const std::function<std::string(const std::string&)>& change) {
  std::istringstream lines(
      RunTrunkline({"fabric", "export", "rail-optimized:node=dgx-h100,nodes=8,unit=4,radix=8"})
          .out);
  std::string text;
  for (std::string line; std::getline(lines, line);) text += change(line);
  return text;
}

TEST(FabricFiles, AServerThatLacksACableIsCheckedWithTheWholeOnesOfItsKind) {
  const std::string file = WriteFresh("lacks-nic.csv", Exported([](const std::string& line) {
                                        return line.starts_with("nic:2/3,") ? "" : line + "\n";
                                      }));
  const Outcome outcome = RunTrunkline({"fabric", "check", file, "--set", "node=dgx-h100"});
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("note: not every server has the NICs of a dgx-h100"));
  EXPECT_THAT(outcome.out, HasSubstr("found: 1 place with missing cables (1 cable)\n"
                                     "  node-2 misses 1 of 1 cables to leaf-3\n"));
}

TEST(FabricFiles, ASlowNicCableHasACost) {
  const std::string file = WriteFresh("slow-nic.csv", Exported([](std::string line) {
                                        if (line.starts_with("nic:2/3,"))
                                          line.replace(line.find("400 Gb/s"), 3, "100");
                                        return line + "\n";
                                      }));
  const Outcome outcome = RunTrunkline({"fabric", "check", file, "--json"});
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  // All that the ring moves passes the cable, at a quarter of the rate.
  const double found = json["cost"]["found"]["ring_s"];
  const double mended = json["cost"]["mended"]["ring_s"];
  EXPECT_NEAR(found / mended, 4, 0.1);
}

TEST(FabricFiles, AFabricThatHasFallenApartSaysWhyItHasNoCost) {
  const std::string file = WriteFresh("cut-off.csv", Exported([](const std::string& line) {
                                        return line.starts_with("leaf-3,") ? "" : line + "\n";
                                      }));
  const Outcome outcome = RunTrunkline({"fabric", "check", file});
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("leaf-3 misses 1 of 1 cables to spine-4"));
  EXPECT_THAT(outcome.out, HasSubstr("the cost cannot be told: in the fabric found, no path from"));
  EXPECT_EQ(outcome.err.find("error"), std::string::npos) << outcome.err;
}

TEST(FabricFiles, ASwitchHasThePortsThatTheSpecOrItsKindSays) {
  for (const char* spec : {"clos:nodes=32,tiers=3,radix=64", "clos:nodes=32,tiers=3"}) {
    EXPECT_THAT(RunTrunkline({"fabric", spec}).out, HasSubstr("5 x 32 / 64 = 2.5 ")) << spec;
  }
}

TEST(FabricFiles, AnEndThatIsNotThereIsAnsweredWithTheNamesOfThoseThatAre) {
  const Outcome outcome = RunTrunkline(
      {"fabric", "path", WriteFresh("whole3.net", NetFile(4, 2, -1)), "gpu:0/0", "gpu:1/0"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("its ends run from node1 to node8"));
}

TEST(FabricFiles, WhatIsExpectedMayBeAnotherFileOrASpec) {
  const std::string lacks = WriteFresh("lacks2.net", NetFile(4, 2, 1));
  const std::string whole = WriteFresh("whole2.net", NetFile(4, 2, -1));
  for (const std::string& expected :
       {whole, std::string("fat-tree:children=[2,4],parents=[1,2]")}) {
    const Outcome outcome = RunTrunkline({"fabric", "check", lacks, "--expect", expected});
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("misses 1 of 1 cables to spine-"));
    EXPECT_EQ(RunTrunkline({"fabric", "check", whole, "--expect", expected}).status, 0) << expected;
  }
}

// "from,to" in two bytes a character, with the mark of the order of bytes and without: every file
// is read alike, scenarios and traffic too.
TEST(FabricFiles, TextOfTwoBytesACharacterIsRefusedWithTheRemedy) {
  using namespace std::string_literals;
  for (const std::string& text :
       {"\xFF\xFE"s + "f\0r\0o\0m\0,\0t\0o\0\n\0"s, "\xFE\xFF"s + "\0f\0r\0o\0m\0,\0t\0o\0\n"s,
        "f\0r\0o\0m\0,\0t\0o\0\n\0"s}) {
    const std::string file = WriteFresh("wide.csv", text);
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"fabric", "show", file},
          {"run", file},
          {"fabric", "cost", "fat-tree:k=4", "--prices", WriteFresh("wide.yaml", text)}}) {
      const Outcome outcome = RunTrunkline(words);
      EXPECT_EQ(outcome.status, 2) << outcome.out;
      EXPECT_THAT(outcome.err, HasSubstr("iconv -f UTF-16 -t UTF-8")) << words[1];
    }
  }
}

TEST(FabricFiles, AScenarioRunsOnAFileBesideIt) {
  WriteFresh("beside.net", NetFile(4, 2, -1));
  const std::string scenario =
      WriteFresh("on-a-file.yaml",
                 "cluster: {fabric: {file: beside.net}}\n"
                 "workload: {collective: {primitive: all_reduce, sizes: [1 MiB]}}\n");
  const Outcome outcome = RunTrunkline({"run", scenario, "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_GT(nlohmann::json::parse(outcome.out)["time_s"], 0.0);
}

TEST(FabricFiles, AKindBesideAFileIsRefused) {
  const std::string scenario = WriteFresh("both.yaml",
                                          "cluster: {fabric: {file: x.net, kind: clos}}\n"
                                          "workload: {collective: {primitive: all_reduce}}\n");
  const Outcome outcome = RunTrunkline({"run", scenario});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("a fabric has a file or a kind, not both [TL1402]"));
}

}  // namespace
}  // namespace trunkline
