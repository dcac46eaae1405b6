#include <utility>

#include "trunkline/base/check.h"
#include "trunkline/workload/task_graph.h"

namespace trunkline {
namespace {

// One communicator of all ranks and one program: the collective, `count` times.
class SingleCollectiveGraph : public TaskGraph {
 public:
  SingleCollectiveGraph(CollectiveChoice choice, std::uint32_t ranks, std::uint32_t count)
      : ranks_(ranks),
        collectives_{std::move(choice)},
        labels_{{.name = ToString(collectives_.front().spec.primitive),
                 .phase = Phase::kCommunication}},
        streams_{"communication"} {
    program_.tasks.resize(count, {.kind = TaskKind::kCollective});
  }

  [[nodiscard]] std::uint32_t ranks() const override { return ranks_; }
  [[nodiscard]] std::uint32_t program_count() const override { return 1; }
  [[nodiscard]] std::uint32_t program_of(RankId) const override { return 0; }
  [[nodiscard]] const Program& program(std::uint32_t) const override { return program_; }
  [[nodiscard]] std::span<const CollectiveChoice> collectives() const override {
    return collectives_;
  }
  [[nodiscard]] std::span<const TaskLabel> labels() const override { return labels_; }
  [[nodiscard]] std::span<const std::string> streams() const override { return streams_; }

  [[nodiscard]] std::uint32_t communicator_count() const override { return 1; }
  [[nodiscard]] CommunicatorId communicator(RankId, std::uint32_t) const override {
    return CommunicatorId{0};
  }
  [[nodiscard]] std::vector<RankId> members(CommunicatorId) const override {
    std::vector<RankId> all(ranks_);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      all[rank] = RankId{rank};
    }
    return all;
  }
  [[nodiscard]] RankId peer(RankId, std::uint32_t role) const override {
    TL_CHECK(false, "a lone collective has no peer roles", role);
    return RankId{0};
  }
  [[nodiscard]] std::uint32_t reverse_role(std::uint32_t role) const override {
    TL_CHECK(false, "a lone collective has no peer roles", role);
    return role;
  }

 private:
  std::uint32_t ranks_;
  std::vector<CollectiveChoice> collectives_;
  std::vector<TaskLabel> labels_;
  std::vector<std::string> streams_;
  Program program_;
};

}  // namespace

std::unique_ptr<TaskGraph> SingleCollective(CollectiveChoice choice, std::uint32_t ranks,
                                            std::uint32_t count) {
  return std::make_unique<SingleCollectiveGraph>(std::move(choice), ranks, count);
}

}  // namespace trunkline
