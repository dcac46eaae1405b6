#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "collective/tree_schedule.h"
#include "engine/analytic/forms.h"

namespace trunkline {
namespace {

const TreeSchedule& TreesOf(const FormInput& input) {
  const auto* trees = dynamic_cast<const TreeSchedule*>(&input.schedule);
  TL_CHECK(trees != nullptr, "not a tree schedule", input.schedule.algorithm());
  return *trees;
}

// A tree with its ranks in an order in which parents come first.
struct OrderedTree {
  OrderedTree(const Tree& t, std::uint32_t ranks) : tree(t), depth(ranks, 0) {
    order.reserve(ranks);
    for (Participant p = 0; p < ranks; ++p) {
      if (tree.is_root(p)) order.push_back(p);
    }
    for (std::size_t next = 0; next < order.size(); ++next) {
      for (const Participant child : tree.children(order[next])) {
        depth[child] = depth[order[next]] + 1;
        order.push_back(child);
      }
    }
  }

  const Tree& tree;
  std::vector<Participant> order;
  std::vector<std::uint32_t> depth;
};

// The first slice of each tree on its way. Slices of several trees meet where a rank has children
// at the same depth in each, at the common root above all.
class SliceTravel {
 public:
  SliceTravel(GroupModel& group, std::span<const Tree> trees, double bytes)
      : group_(group), bytes_(bytes) {
    for (const Tree& tree : trees) trees_.emplace_back(tree, group.ranks());
  }

  [[nodiscard]] std::size_t trees() const { return trees_.size(); }

  // When the root has the sum. The puts of children share the way into their parent, which is busy
  // from the first until all have passed, whatever their order; what limits each connection alone,
  // the kernel, does so for all of them at once. Where GPUs are meshed each child of the same node
  // has a way of its own.
  [[nodiscard]] double Up(std::size_t number) {
    const OrderedTree& tree = trees_[number];
    std::vector<double> ready(group_.ranks(), 0);
    std::vector<std::pair<double, Participant>> puts;
    for (auto parent = tree.order.rbegin(); parent != tree.order.rend(); ++parent) {
      puts.clear();
      for (const Participant child : tree.tree.children(*parent)) {
        puts.emplace_back(ready[child], child);
      }
      std::ranges::sort(puts);
      double busy_inside = 0;
      double busy_outside = 0;
      for (const auto& [start, child] : puts) {
        const bool inside = group_.SameNode(child, *parent);
        const bool own_way = inside && group_.layout().meshed;
        double alone = start;
        double& busy = own_way ? alone : (inside ? busy_inside : busy_outside);
        const Way& way = group_.WayOf(child, *parent);
        const double overhead = group_.transport().message_overhead.seconds();
        const double slices =
            own_way ? Together(tree, child, *parent) : Meeting(tree, *parent, inside);
        busy = std::max(busy, start) + overhead + slices * bytes_ * way.per_hop_byte;
        const double arrival = std::max(busy, start + overhead + bytes_ * way.per_byte);
        ready[*parent] = std::max(ready[*parent], arrival + way.latency);
      }
    }
    return ready[tree.order.front()];
  }

  // When the last leaf has what the root starts to send at 0. A parent's puts to its children share
  // the way out.
  [[nodiscard]] double Down(std::size_t number) {
    const OrderedTree& tree = trees_[number];
    std::vector<double> ready(group_.ranks(), 0);
    double last = 0;
    for (const Participant parent : tree.order) {
      group_.LoadStep([&](const auto& visit) {
        for (const OrderedTree& other : trees_) {
          if (other.depth[parent] != tree.depth[parent]) continue;
          for (const Participant child : other.tree.children(parent)) visit(parent, child, bytes_);
        }
      });
      for (const Participant child : tree.tree.children(parent)) {
        ready[child] = ready[parent] + group_.BusySeconds(parent, child, bytes_) +
                       group_.WayOf(parent, child).latency;
        last = std::max(last, ready[child]);
      }
    }
    return last;
  }

 private:
  // How many slices come to `parent` where this tree sends one, from inside its node or from
  // outside: those of all trees in which it is as deep.
  [[nodiscard]] double Meeting(const OrderedTree& tree, Participant parent, bool inside) const {
    const auto children = [&](const OrderedTree& t) {
      return std::ranges::count_if(t.tree.children(parent), [&](Participant child) {
        return group_.SameNode(child, parent) == inside;
      });
    };
    std::ptrdiff_t all = 0;
    for (const OrderedTree& other : trees_) {
      if (other.depth[parent] == tree.depth[parent]) all += children(other);
    }
    return static_cast<double>(all) / static_cast<double>(children(tree));
  }

  // The same from one child.
  [[nodiscard]] double Together(const OrderedTree& tree, Participant child,
                                Participant parent) const {
    return static_cast<double>(std::ranges::count_if(trees_, [&](const OrderedTree& other) {
      return other.depth[child] == tree.depth[child] && !other.tree.is_root(child) &&
             other.tree.parent(child) == parent;
    }));
  }

  GroupModel& group_;
  std::vector<OrderedTree> trees_;
  double bytes_;
};

double SliceBytes(const FormInput& input, const TreeSchedule& schedule) {
  const CollectiveSpec& spec = input.spec;
  const std::int64_t piece = LongestPiece(spec.bytes.count(), spec.element_bytes,
                                          static_cast<std::int64_t>(schedule.trees().size()));
  return static_cast<double>(LongestPiece(piece, spec.element_bytes, schedule.slice_count()));
}

bool GoesUp(Primitive primitive) { return primitive != Primitive::kBroadcast; }
bool GoesDown(Primitive primitive) { return primitive != Primitive::kReduce; }

}  // namespace

// The first slice travels up and down; then a slice follows every time that the busiest way,
// used by all trees in both directions, takes for one of each.
double TreeForm(const FormInput& input) {
  const TreeSchedule& schedule = TreesOf(input);
  GroupModel& group = input.group;
  const bool up = GoesUp(input.spec.primitive);
  const bool down = GoesDown(input.spec.primitive);
  const double bytes = SliceBytes(input, schedule);
  SliceTravel travel(group, schedule.trees(), bytes);
  double fill = 0;
  for (std::size_t tree = 0; tree < travel.trees(); ++tree) {
    fill = std::max(fill, (up ? travel.Up(tree) : 0) + (down ? travel.Down(tree) : 0));
  }
  if (schedule.slice_count() == 1) return fill;

  const auto each_put = [&](const auto& visit) {
    for (const Tree& tree : schedule.trees()) {
      for (Participant p = 0; p < group.ranks(); ++p) {
        if (tree.is_root(p)) continue;
        if (up) visit(p, tree.parent(p), bytes);
        if (down) visit(tree.parent(p), p, bytes);
      }
    }
  };
  group.LoadStep(each_put);
  double interval = 0;
  each_put([&](Participant from, Participant to, double size) {
    interval = std::max(interval, group.BusySeconds(from, to, size));
  });
  return fill + static_cast<double>(schedule.slice_count() - 1) * interval;
}

// Switches add up: every rank sends its buffer once and receives it once, in slices. A switch
// passes a slice on when it has all of it, so that filling takes one slice for every link up and
// down. The latency is that of the farthest pair, whose way leads over the root.
double SwitchTreeForm(const FormInput& input) {
  const TreeSchedule& schedule = TreesOf(input);
  GroupModel& group = input.group;
  const Tree& tree = schedule.trees().front();
  std::uint32_t depth = 0;
  for (Participant p = 0; !tree.is_root(p); p = tree.parent(p)) ++depth;
  const double bytes = SliceBytes(input, schedule);
  double busy = 0;
  double latency = 0;
  for (std::uint32_t rank = 1; rank < group.ranks(); ++rank) {
    const Way& way = group.WayOf(0, rank);
    const std::size_t trees = schedule.trees().size();
    const double per_byte = way.PerByte(static_cast<std::uint32_t>(trees));
    busy = std::max(busy, group.transport().message_overhead.seconds() +
                              static_cast<double>(trees) * bytes * per_byte);
    latency = std::max(latency, way.latency);
  }
  return latency + (2.0 * depth + static_cast<double>(schedule.slice_count() - 1)) * busy;
}

}  // namespace trunkline
