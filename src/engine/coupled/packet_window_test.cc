#include "trunkline/engine/packet_window.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/test_units.h"
#include "engine/test_fabrics.h"
#include "engine/test_graphs.h"
#include "trunkline/fabric/fabric.h"

namespace trunkline {
namespace {

using ::testing::HasSubstr;

// Hosts on one switch, whole packets forwarded, no software.
struct WindowCase {
  explicit WindowCase(std::uint32_t hosts) : fabric(Crossbar(hosts, k100Gb, kHop)) {
    RouterOptions routing;
    routing.policy = RoutingPolicy::kEcmp;
    routing.payload_bytes = transport.mtu.count();
    routing.wire_bytes = (transport.mtu + transport.packet_overhead).count();
    router.emplace(fabric, routing);
  }

  [[nodiscard]] Result<WindowTimeline> Try(const TaskGraph& graph,
                                           const PacketWindow& window) const {
    const Placement placement = PackedPlacement(fabric, graph.ranks()).value();
    return RunPacketWindow({*router, model, graph, placement}, Packets(), window, {});
  }
  [[nodiscard]] WindowReport Run(const TaskGraph& graph, const PacketWindow& window) const {
    auto run = Try(graph, window);
    if (!run) {
      ADD_FAILURE() << Format(run.error().front());
      return {};
    }
    EXPECT_TRUE(run->window.has_value());
    return *std::move(run->window);
  }
  [[nodiscard]] Timeline Flows(const TaskGraph& graph) const {
    const Placement placement = PackedPlacement(fabric, graph.ranks()).value();
    return RunFlow({*router, model, graph, placement}, {}).value();
  }
  [[nodiscard]] PacketTimeline WholeAsPackets(const TaskGraph& graph) const {
    const Placement placement = PackedPlacement(fabric, graph.ranks()).value();
    return RunPacket({*router, model, graph, placement}, Packets(), {}).value();
  }

  // How much longer a message takes as packets than as a fluid: the switch waits for the whole of
  // its last packet, and the fluid's last packet costs headers in proportion only.
  [[nodiscard]] Time StoredAndForwarded() const {
    return TransferTime(transport.mtu + transport.packet_overhead, k100Gb);
  }

  Fabric fabric;
  SwitchModel switches{};
  PacketTransport transport{};
  TransportModel model = IdealTransport();
  std::optional<Router> router;

 private:
  [[nodiscard]] PacketInput Packets() const {
    return {.router = *router, .switches = switches, .transport = transport};
  }
};

std::string Problem(const Result<WindowTimeline>& run) {
  return run ? "none" : Format(run.error().front());
}

// Each of `ranks` computes for `compute`, sends to the next, and computes again when it has what
// the one before it sent; so `rounds` times.
TableGraph RingOfMessages(std::uint32_t ranks, int rounds, Time compute, Bytes bytes) {
  TableGraph graph;
  std::vector<TableGraph::Step> steps;
  for (int round = 0; round < rounds; ++round) {
    const auto first = static_cast<std::uint32_t>(steps.size());
    TableGraph::Step work{.kind = TaskKind::kCompute, .duration = compute};
    if (round > 0) work.dependencies = {first - 1};
    steps.push_back(work);
    steps.push_back(
        {.kind = TaskKind::kSend, .stream = 2, .role = 1, .bytes = bytes, .dependencies = {first}});
    steps.push_back({.kind = TaskKind::kReceive, .stream = 3, .role = 2, .bytes = bytes});
  }
  const std::uint32_t program = graph.AddProgram(steps);
  for (std::uint32_t i = 0; i < ranks; ++i) graph.AddRank(program);
  for (std::uint32_t i = 0; i < ranks; ++i) {
    graph.Connect(RankId(i), 1, RankId((i + 1) % ranks), 2);
  }
  return graph;
}

constexpr Time kCompute = Time::Microseconds(20);
constexpr Bytes kMessage{1'024'000};  // 250 packets of 4096 bytes

TEST(PacketWindow, OfTheWholeRunIsTheWholeRunAsPackets) {
  const WindowCase c(4);
  TableGraph graph;
  CollectiveChoice choice;
  choice.spec.primitive = Primitive::kAllReduce;
  choice.spec.bytes = Bytes(1'000'000);
  choice.algorithm = "ring";
  graph.AddCollective(choice);
  const std::uint32_t program =
      graph.AddProgram({{.kind = TaskKind::kCompute, .duration = kCompute},
                        {.kind = TaskKind::kCollective, .stream = 1, .dependencies = {0}},
                        {.kind = TaskKind::kCompute, .duration = kCompute, .dependencies = {1}},
                        {.kind = TaskKind::kCollective, .stream = 1, .dependencies = {2}}});
  std::vector<RankId> all;
  for (int i = 0; i < 4; ++i) all.push_back(graph.AddRank(program));
  graph.AddCommunicator(0, all);

  const Time end = c.Flows(graph).end;
  const PacketTimeline packets = c.WholeAsPackets(graph);
  const WindowReport window = c.Run(graph, {.until = end});
  EXPECT_EQ(window.cut_error, Time());
  EXPECT_EQ(window.flow_time, end);
  EXPECT_EQ(window.packet_time, packets.timeline.end);
  EXPECT_EQ(window.step_delay, packets.timeline.end - end);
  EXPECT_EQ(window.packets.counters.packets.data, packets.packets.counters.packets.data);
  EXPECT_EQ(window.tasks, 16);
}

// Round two of four: its messages meet nobody, so that nothing is lost by cutting it out. Every
// round waits for the one before it, so the end is later by as much as a message: that is stored at
// the switch, and each host's cable also carries the acknowledgements, one for 16 packets, of what
// comes the other way.
TEST(PacketWindow, DelaysTheEndByWhatItsMessagesTakeLonger) {
  const WindowCase c(4);
  const TableGraph graph = RingOfMessages(4, 4, kCompute, kMessage);
  const Time end = c.Flows(graph).end;
  const Time message = Time::Picoseconds((end.ps() - 4 * kCompute.ps()) / 4);
  const Time from = kCompute + message;
  const WindowReport window = c.Run(graph, {.from = from, .until = from + kCompute + message});
  ASSERT_EQ(window.kinds.size(), 1);
  EXPECT_EQ(window.cut_error, Time());
  EXPECT_EQ(window.kinds.front().cut, 0);
  EXPECT_EQ(window.packets.counters.packets.data, 4 * 250);
  EXPECT_EQ(window.step_delay, window.kinds.front().delay);
  const Time acknowledgements = TransferTime(c.transport.ack_bytes, k100Gb) * (250 / 16 + 1);
  EXPECT_GE(window.step_delay, c.StoredAndForwarded());
  EXPECT_LE(window.step_delay, c.StoredAndForwarded() + acknowledgements);
}

TEST(PacketWindow, DelaysNothingWhereTheComputationAfterItHasTimeToSpare) {
  const WindowCase c(2);
  TableGraph graph;
  // The receiver computes for longer than the message takes, in either engine.
  const std::uint32_t sender =
      graph.AddProgram({{.kind = TaskKind::kSend, .stream = 2, .role = 1, .bytes = kMessage}});
  const std::uint32_t receiver =
      graph.AddProgram({{.kind = TaskKind::kCompute, .duration = Time::Microseconds(1000)},
                        {.kind = TaskKind::kReceive, .stream = 3, .role = 2, .bytes = kMessage},
                        {.kind = TaskKind::kCompute, .duration = kCompute, .dependencies = {1}}});
  graph.AddRank(sender);
  graph.AddRank(receiver);
  graph.Connect(RankId(0), 1, RankId(1), 2);
  const WindowReport window = c.Run(graph, {.until = Time::Microseconds(200)});
  // A fluid's time is rounded to a picosecond.
  EXPECT_NEAR(static_cast<double>((window.kinds.front().delay - c.StoredAndForwarded()).ps()), 0,
              1);
  EXPECT_EQ(window.step_delay, Time());
}

// A message of 4 MB, of whose time the window takes the middle half.
TEST(PacketWindow, TakesTheShareOfAMessageThatMovesInIt) {
  const WindowCase c(2);
  TableGraph graph;
  const Bytes bytes(4'096'000);
  const std::uint32_t sender =
      graph.AddProgram({{.kind = TaskKind::kSend, .stream = 2, .role = 1, .bytes = bytes}});
  const std::uint32_t receiver =
      graph.AddProgram({{.kind = TaskKind::kReceive, .stream = 3, .role = 2, .bytes = bytes}});
  graph.AddRank(sender);
  graph.AddRank(receiver);
  graph.Connect(RankId(0), 1, RankId(1), 2);
  const Time sending = c.Flows(graph).end - kHop * 2;
  const WindowReport window =
      c.Run(graph, {.from = Time::Picoseconds(sending.ps() / 4),
                    .until = Time::Picoseconds(sending.ps() / 4 + sending.ps() / 2)});
  EXPECT_EQ(window.kinds.front().cut, 2);  // the send and the receive
  EXPECT_NEAR(static_cast<double>(window.packets.counters.delivered_bytes), 2'048'000, 1);
}

TEST(PacketWindow, GoesFromTheStartOfItsTasksToTheEndOfTheLast) {
  const WindowCase c(4);
  const TableGraph graph = RingOfMessages(4, 4, kCompute, kMessage);
  const WindowReport window =
      c.Run(graph, {.from = {}, .until = {}, .tasks = {{.program = 0, .first = 4, .last = 4}}});
  const Time message = Time::Picoseconds((c.Flows(graph).end.ps() - 4 * kCompute.ps()) / 4);
  EXPECT_EQ(window.from, kCompute * 2 + message);
  EXPECT_EQ(window.until, kCompute * 2 + message * 2 - kHop * 2);
}

TEST(PacketWindow, IsRefusedWithWhatWouldDo) {
  const WindowCase c(4);
  const TableGraph graph = RingOfMessages(4, 1, kCompute, kMessage);
  const Time late = Time::Microseconds(1'000'000);
  EXPECT_THAT(Problem(c.Try(graph, {.from = late, .until = late * 2})),
              HasSubstr("the run ends at"));
  EXPECT_THAT(Problem(c.Try(graph, {.from = kCompute, .until = kCompute})), HasSubstr("empty"));
  EXPECT_THAT(Problem(c.Try(graph, {.until = Time::Microseconds(10)})),
              HasSubstr("no message is under way"));
}

TEST(PacketWindow, GivesTheSameTwice) {
  const WindowCase c(4);
  const TableGraph graph = RingOfMessages(4, 3, kCompute, kMessage);
  const PacketWindow window{.from = kCompute * 2, .until = kCompute * 6};
  const WindowReport first = c.Run(graph, window);
  const WindowReport second = c.Run(graph, window);
  EXPECT_EQ(first.packet_time, second.packet_time);
  EXPECT_EQ(first.packets.events, second.packets.events);
  EXPECT_GT(first.packets.events, 0);
}

// Of n tasks each of which starts after both before it have started there are more ways back to the
// first than a run has time for: Fibonacci numbers.
TEST(PacketWindow, OfDiamondsOfStartsIsDoneAtOnce) {
  const WindowCase c(2);
  TableGraph graph;
  std::vector<TableGraph::Step> steps = {
      {.kind = TaskKind::kSend, .stream = 2, .role = 1, .bytes = kMessage}};
  for (std::uint32_t i = 1; i <= 100; ++i) {
    TableGraph::Step step{.kind = TaskKind::kCompute, .stream = 3, .duration = kCompute};
    step.start_dependencies.push_back(i - 1);
    if (i > 1) step.start_dependencies.push_back(i - 2);
    steps.push_back(step);
  }
  const std::uint32_t sends = graph.AddProgram(steps);
  const std::uint32_t receives =
      graph.AddProgram({{.kind = TaskKind::kReceive, .stream = 2, .role = 2, .bytes = kMessage}});
  graph.AddRank(sends);
  graph.AddRank(receives);
  graph.Connect(RankId(0), 1, RankId(1), 2);
  const WindowReport report = c.Run(graph, {.until = Time::Microseconds(50)});
  EXPECT_EQ(report.status, RunStatus::kFinished);
  EXPECT_EQ(report.step_delay, Time());  // the computation ends last, and waits for no byte
}

}  // namespace
}  // namespace trunkline
