#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "fabric/import/node_draft.h"
#include "fabric/import/testing.h"
#include "trunkline/fabric/catalog.h"

namespace trunkline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two GPUs behind an NVSwitch, each beside its NIC on a PCIe 4 switch; the second CPU has no
// device.
constexpr const char* kNccl = R"(<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:10:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
      <pci busid="0000:11:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
        <gpu dev="1" sm="80" rank="1" gdr="1">
          <nvlink target="fffffff:ffff:ff" count="12" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:12:00.0" class="0x020700" link_speed="16.0 GT/s PCIe" link_width="16">
        <nic><net name="mlx5_1" dev="1" speed="200000" port="1" guid="0x1"/></nic>
      </pci>
    </pci>
    <pci busid="0000:20:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
      <pci busid="0000:21:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="80" rank="0" gdr="1">
          <nvlink target="fffffff:ffff:ff" count="12" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:22:00.0" class="0x020700" link_speed="16.0 GT/s PCIe" link_width="16">
        <nic><net name="mlx5_0" dev="0" speed="200000" port="1" guid="0x2"/></nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143"/>
</system>
)";

constexpr const char* kMatrix =
    "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV4\tSYS\tPIX\t0-15\t0\n"
    "GPU1\tNV4\t X \tPIX\tSYS\t16-31\t1\n"
    "NIC0\tSYS\tPIX\t X \tSYS\n"
    "NIC1\tPIX\tSYS\tSYS\t X \n"
    "\nLegend:\n  X    = Self\n";

Rate BusOf(const NodeTemplate& node, std::uint32_t device, LinkKind kind) {
  const auto bus = std::ranges::find_if(node.buses, [&](const NodeTemplate::Bus& one) {
    return one.kind == kind && (one.from == device || one.to == device);
  });
  return bus == node.buses.end() ? Rate() : bus->rate;
}

TEST(NcclTopology, IsTheServerThatItDraws) {
  ASSERT_TRUE(LooksLikeNcclTopology(kNccl));
  const auto node = ReadNcclTopology(kNccl, "topo.xml");
  ASSERT_TRUE(node) << Format(node.error()[0]);
  EXPECT_EQ(node->gpus, 2U);
  EXPECT_EQ(node->nics, 2U);
  EXPECT_EQ(node->nic_rate, Rate::GigabitsPerSecond(200));
  EXPECT_EQ(std::ranges::count(node->devices, DeviceKind::kCpu, &Device::kind), 2);
  EXPECT_EQ(BusOf(*node, 0, LinkKind::kNvlink), Rate::GigabytesPerSecond(12 * 20));
  // PCIe 4 x16 as data/nodes/dgx-a100.yaml has it: 26.46 GB/s.
  EXPECT_NEAR(BusOf(*node, 0, LinkKind::kPcie).bytes_per_second(), 26.46e9, 0.005e9);
}

TEST(NcclTopology, ATruncatedFileIsRefusedWithItsPlace) {
  const std::string text = kNccl;
  for (std::size_t length = 0; length + 12 < text.size(); ++length) {
    const auto node = ReadNcclTopology(text.substr(0, length), "topo.xml");
    ASSERT_FALSE(node) << length;
    EXPECT_EQ(node.error()[0].code, "TL1451");
    EXPECT_GT(node.error()[0].where.line, 0);
  }
}

TEST(NcclTopology, NonsenseSpeedsAreRefused) {
  const auto lanes = ReadNcclTopology(With(kNccl, "link_width=\"16\"", "link_width=\"999\""), "t");
  ASSERT_FALSE(lanes);
  EXPECT_EQ(lanes.error()[0].code, "TL1453");
  EXPECT_EQ(lanes.error()[0].where.line, 3);
  const auto nic = ReadNcclTopology(With(kNccl, "speed=\"200000\"", "speed=\"-1\""), "t");
  ASSERT_FALSE(nic);
  EXPECT_EQ(nic.error()[0].where.line, 10);
}

TEST(NcclTopology, WhatContradictsItselfIsRefused) {
  const std::string pair =
      "<system><cpu numaid=\"0\">\n"
      "<pci busid=\"a\" class=\"0x030200\"><gpu dev=\"0\" sm=\"80\">\n"
      "<nvlink target=\"b\" count=\"4\"/></gpu></pci>\n"
      "<pci busid=\"b\" class=\"0x030200\"><gpu dev=\"1\" sm=\"80\">\n"
      "<nvlink target=\"a\" count=\"4\"/></gpu></pci>\n"
      "<pci busid=\"c\" class=\"0x020000\"/></cpu></system>";
  const auto node = ReadNcclTopology(pair, "topo.xml");
  ASSERT_TRUE(node) << Format(node.error()[0]);
  EXPECT_EQ(BusOf(*node, 0, LinkKind::kNvlink), Rate::GigabytesPerSecond(4 * 20));
  const auto problem = [&](const std::string& from, const std::string& to) {
    const auto read = ReadNcclTopology(With(pair, from, to), "topo.xml");
    EXPECT_FALSE(read) << to;
    return read ? Diagnostic() : read.error()[0];
  };
  EXPECT_THAT(problem("busid=\"c\"", "busid=\"b\"").message, HasSubstr("two devices"));
  EXPECT_THAT(problem("<nvlink target=\"a\" count=\"4\"/>", "").message, HasSubstr("lists 0"));
  EXPECT_THAT(problem("count=\"4\"/></gpu></pci>\n<pci busid=\"c",
                      "count=\"5\"/></gpu></pci>\n<pci busid=\"c")
                  .message,
              HasSubstr("lists 5"));
  EXPECT_EQ(problem("count=\"4\"", "count=\"many\"").where.line, 3);
  EXPECT_EQ(problem("dev=\"0\"", "dev=\"nan\"").where.column, 43);  // of its value
  EXPECT_EQ(problem("sm=\"80\"", "sm=\"8x\"").code, "TL1453");
  EXPECT_EQ(problem("numaid=\"0\"", "numaid=\"0.5\"").code, "TL1453");
}

TEST(NcclTopology, ANicTwiceIsRefusedAtItsName) {
  const auto node = ReadNcclTopology(With(kNccl, "name=\"mlx5_0\"", "name=\"mlx5_1\""), "t");
  ASSERT_FALSE(node);
  EXPECT_THAT(node.error()[0].message, HasSubstr("two NICs are called 'mlx5_1'"));
  EXPECT_EQ(node.error()[0].where.line, 20);
  EXPECT_EQ(node.error()[0].where.column, 25);
}

TEST(TopologyMatrix, IsTheServerThatItDraws) {
  ASSERT_TRUE(LooksLikeTopologyMatrix(kMatrix));
  const auto node = ReadTopologyMatrix(kMatrix, "topo.txt");
  ASSERT_TRUE(node) << Format(node.error()[0]);
  EXPECT_EQ(node->gpus, 2U);
  EXPECT_EQ(node->nics, 2U);
  EXPECT_EQ(std::ranges::count(node->devices, DeviceKind::kCpu, &Device::kind), 2);
  EXPECT_EQ(std::ranges::count(node->devices, DeviceKind::kNvSwitch, &Device::kind), 0);
  EXPECT_EQ(BusOf(*node, 0, LinkKind::kNvlink), Rate::BitsPerSecond(4 * 164'800'000'000));
}

TEST(TopologyMatrix, WhatIsWrongIsNamedWithItsPlace) {
  const auto place = [](const std::string& text) {
    const auto node = ReadTopologyMatrix(text, "topo.txt");
    EXPECT_FALSE(node);
    if (node) return std::string();
    const Diagnostic& problem = node.error()[0];
    return problem.code + " " + std::to_string(problem.where.line) + ":" +
           std::to_string(problem.where.column);
  };
  EXPECT_EQ(place(With(kMatrix, "PIX", "PIZ")), "TL1451 2:18");
  EXPECT_EQ(place(With(kMatrix, "NIC0\tSYS", "NIC7\tSYS")), "TL1451 4:1");
  EXPECT_EQ(place(std::string(kMatrix).substr(0, std::string(kMatrix).find("NIC1\tPIX"))),
            "TL1452 0:0");
  EXPECT_EQ(place("\tGPU0\nGPU0\tX\n"), "TL1452 0:0");
  EXPECT_EQ(place(std::string(kMatrix) + "GPU1\tNV4\tX\n"), "TL1452 9:1");
  EXPECT_EQ(place("\tGPU0\tGPU0\nGPU0\tX\tX\n"), "TL1452 1:7");
}

TEST(NodeFiles, OtherToolsServersAreTemplates) {
  const std::string folder = TRUNKLINE_SOURCE_DIR "/../shared/samples/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  struct Expected {
    const char* file;
    std::uint32_t gpus;
    std::uint32_t nics;
  };
  for (const Expected& expected :
       std::vector<Expected>{{"nccl-topo/rccl-8p-gfx90a.xml", 8, 1},
                             {"nccl-topo/rccl-8p-rome-4nics.xml", 8, 4},
                             {"nccl-topo/aws-p4d-a100-topo.xml", 8, 4},
                             {"nccl-topo/azure-ndv4-a100-topo.xml", 8, 8},
                             {"nccl-topo/azure-ncv4-a100pcie-topo.xml", 4, 1},
                             {"nvidia-smi-topo/hgx-h100-8gpu-13nic.txt", 8, 13},
                             {"nvidia-smi-topo/a100-4gpu-2hdr-tabs.txt", 4, 2},
                             {"nvidia-smi-topo/dgx1-v100-hybrid-mesh-1nic.txt", 8, 1},
                             {"nvidia-smi-topo/pcie-8gpu-pxb-2nic.txt", 8, 2},
                             {"nvidia-smi-topo/a100-8gpu-nps4-1nic.txt", 8, 1}}) {
    const auto node = FindNodeTemplate(folder + expected.file);
    ASSERT_TRUE(node) << Format(node.error().front());
    EXPECT_EQ(node->gpus, expected.gpus) << expected.file;
    EXPECT_EQ(node->nics, expected.nics) << expected.file;
    EXPECT_EQ(node->nic_of_gpu.size(), expected.gpus) << expected.file;
  }
  const auto hgx = FindNodeTemplate(folder + "nvidia-smi-topo/hgx-h100-8gpu-13nic.txt");
  ASSERT_TRUE(hgx);
  // The PIX column of each GPU.
  EXPECT_THAT(hgx->nic_of_gpu, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

}  // namespace
}  // namespace trunkline
