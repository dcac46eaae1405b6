#include "trunkline/fabric/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>

namespace trunkline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Reads `text` as a user's node file.
Result<NodeTemplate> ReadNodeText(const std::string& text) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("trunkline-node-" + std::to_string(::getpid()) + ".yaml");
  std::ofstream(path) << text;
  auto node = FindNodeTemplate(path.string());
  std::filesystem::remove(path);
  return node;
}

NodeTemplate Node(const std::string& name) {
  auto node = FindNodeTemplate(name);
  EXPECT_TRUE(node.has_value()) << (node ? "" : Format(node.error().front()));
  return node.value_or(NodeTemplate());
}

Rate BusRate(const NodeTemplate& node, LinkKind kind) {
  for (const NodeTemplate::Bus& bus : node.buses) {
    if (bus.kind == kind) return bus.rate;
  }
  return {};
}

TEST(Catalog, EveryTemplateAndItsAcceleratorCanBeRead) {
  ASSERT_GE(NodeTemplateNames().size(), 9U);
  for (const std::string& name : NodeTemplateNames()) {
    const NodeTemplate node = Node(name);
    EXPECT_EQ(node.name, name);
    EXPECT_FALSE(node.source.empty()) << name;
    if (!node.accelerator.empty()) {
      EXPECT_TRUE(FindAccelerator(node.accelerator).has_value()) << node.accelerator;
    }
  }
}

TEST(Catalog, DgxH100HasItsPublishedParts) {
  const NodeTemplate node = Node("dgx-h100");
  EXPECT_EQ(node.gpus, 8U);
  EXPECT_EQ(node.nics, 8U);
  EXPECT_EQ(node.nic_rate, Rate::GigabitsPerSecond(400));
  EXPECT_EQ(BusRate(node, LinkKind::kNvlink),
            Rate::BitsPerSecond(2'966'400'000'000));  // 370.8 GB/s
  EXPECT_THAT(node.nic_of_gpu, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(Catalog, NvlinkIsAsManyLinksAsTheGenerationHas) {
  // Rate per link of NCCL 2.30 (20, 20.6, 40.1 GB/s) times 12 or 18 links.
  EXPECT_EQ(BusRate(Node("dgx-a100"), LinkKind::kNvlink).bytes_per_second(), 240e9);
  EXPECT_EQ(BusRate(Node("dgx-h200"), LinkKind::kNvlink).bytes_per_second(), 370.8e9);
  EXPECT_EQ(BusRate(Node("dgx-b200"), LinkKind::kNvlink).bytes_per_second(), 721.8e9);
  EXPECT_EQ(BusRate(Node("gb200-nvl72"), LinkKind::kNvlink).bytes_per_second(), 721.8e9);
}

TEST(Catalog, NoPcieLinkBindsItsNicAtLineRate) {
  for (const std::string& name : NodeTemplateNames()) {
    const NodeTemplate node = Node(name);
    for (const NodeTemplate::Bus& bus : node.buses) {
      if (node.devices[bus.from].kind == DeviceKind::kNic) {
        EXPECT_GE(bus.rate, node.nic_rate) << name;
      }
    }
  }
}

TEST(Catalog, Gb200IsOneNvlinkDomainOf72Gpus) {
  const NodeTemplate node = Node("gb200-nvl72");
  EXPECT_EQ(node.gpus, 72U);
  EXPECT_EQ(node.nics, 72U);
  for (std::uint32_t g = 0; g < 72; ++g) EXPECT_EQ(node.nic_of_gpu[g], g);
}

TEST(Catalog, PcieServerSharesOneNicPerSocket) {
  EXPECT_THAT(Node("hgx-pcie").nic_of_gpu, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
}

TEST(Catalog, Mi300xGpusAreAllJoinedInPairs) {
  int xgmi = 0;
  for (const NodeTemplate::Bus& bus : Node("mi300x").buses) xgmi += bus.kind == LinkKind::kXgmi;
  EXPECT_EQ(xgmi, 8 * 7 / 2);
}

TEST(Catalog, SuggestsTheClosestName) {
  const auto node = FindNodeTemplate("dgx-h10");
  ASSERT_FALSE(node.has_value());
  EXPECT_EQ(node.error()[0].code, "TL1400");
  EXPECT_THAT(node.error()[0].hint, HasSubstr("'dgx-h100'"));
  const auto accelerator = FindAccelerator("H100-SXM5-80G");
  ASSERT_FALSE(accelerator.has_value());
  EXPECT_THAT(accelerator.error()[0].hint, HasSubstr("'H100-SXM5-80GB'"));
}

TEST(Catalog, H100FiguresAreThoseOfTheirSource) {
  const auto h100 = FindAccelerator("H100-SXM5-80GB");
  ASSERT_TRUE(h100.has_value());
  EXPECT_EQ(h100->bf16.per_second(), 989e12);
  EXPECT_EQ(h100->best_matmul_bf16->per_second(), 794.5e12);
  EXPECT_EQ(h100->memory, Bytes(85'520'809'984));  // cudaMemGetInfo's total
  EXPECT_EQ(h100->memory_bandwidth.bytes_per_second(), 3.35e12);
}

// A stack of HBM holds a power of two of bytes, so the "80 GB" of a vendor are GiB, of which a
// driver keeps some back.
TEST(Catalog, MemoryIsWhatDriversReport) {
  const auto memory = [](const char* name) { return FindAccelerator(name)->memory.count(); };
  constexpr std::int64_t kMiB = 1 << 20;
  EXPECT_EQ(memory("A100-SXM4-80GB"), 80 * 1024 * kMiB);
  EXPECT_EQ(memory("H200-SXM"), 143'771 * kMiB);
  EXPECT_EQ(memory("B200-SXM"), 183'359 * kMiB);
  EXPECT_EQ(memory("MI300X"), 206'141'652'992);  // rocm-smi's VRAM Total Memory
}

constexpr const char* kTinyNode = R"(name: tiny
description: one GPU, one NIC
nic_rate: 100 Gb/s
source: test
devices: {gpu: 1, nic: 1}
buses:
  - {from: gpu, to: nic, kind: pcie, rate: 25 GB/s, latency: 0 ns, source: test}
)";

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(Catalog, ReadsAUsersFile) {
  const auto node = ReadNodeText(kTinyNode);
  ASSERT_TRUE(node.has_value()) << Format(node.error().front());
  EXPECT_EQ(node->name, "tiny");
  EXPECT_THAT(node->nic_of_gpu, ElementsAre(0));
}

struct BadNode {
  const char* from;
  const char* to;
  const char* code;
  int line;
};

void PrintTo(const BadNode& node, std::ostream* out) { *out << node.to; }

class BadNodes : public ::testing::TestWithParam<BadNode> {};

TEST_P(BadNodes, IsRefusedWithItsLine) {
  const BadNode& bad = GetParam();
  const auto node = ReadNodeText(Replaced(kTinyNode, bad.from, bad.to));
  ASSERT_FALSE(node.has_value());
  EXPECT_TRUE(std::ranges::any_of(node.error(), [&](const Diagnostic& problem) {
    return problem.code == bad.code && problem.where.line == bad.line;
  })) << Format(node.error()[0]);
}

INSTANTIATE_TEST_SUITE_P(
    Catalog, BadNodes,
    ::testing::Values(BadNode{"nic_rate", "nicrate", "TL1106", 1},
                      BadNode{"100 Gb/s", "100", "TL1103", 3},
                      BadNode{"{gpu: 1, nic: 1}", "{gpu: 1, nic: 9999}", "TL1108", 5},
                      BadNode{"{gpu: 1, nic: 1}", "{gpu: 1}", "TL1407", 5},
                      BadNode{"{gpu: 1, nic: 1}", "{gpu: 1, nic: 1, host: 1}", "TL1407", 5},
                      BadNode{"to: nic", "to: cpu", "TL1407", 7},
                      BadNode{"kind: pcie", "kind: nvlink", "TL1407", 1},
                      BadNode{"kind: pcie", "kind: pci", "TL1109", 7},
                      BadNode{"latency: 0 ns", "latency: 0 ns, each: 2", "TL1104", 7},
                      BadNode{"latency: 0 ns", "latency: 0 ns, raw: 20 GB/s", "TL1407", 7}));

}  // namespace
}  // namespace trunkline
