#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "base/word_reader.h"
#include "trunkline/fabric/fabric.h"
#include "trunkline/fabric/placement.h"

// Endpoints by the names of nodes, and of themselves.
namespace trunkline {
namespace {

// "mlx5_0 of node7" and the like stand behind the node's name in files of other tools.
constexpr std::string_view kNameEnds = " /:.";

// Nodes by the names that their devices have, whole and up to a separator.
std::map<std::string, std::uint32_t, std::less<>> NamesOfNodes(const Fabric& fabric) {
  std::map<std::string, std::uint32_t, std::less<>> nodes;
  for (std::size_t i = 0; i < fabric.device_count(); ++i) {
    const Device& device = fabric.device(DeviceId(i));
    if (device.node == Device::kNoNode) continue;
    const std::string name = fabric.name(DeviceId(i));
    nodes.try_emplace(name, device.node);
    nodes.try_emplace(name.substr(0, name.find_first_of(kNameEnds)), device.node);
  }
  return nodes;
}

std::optional<std::uint32_t> NumberAtEnd(std::string_view name) {
  const std::size_t letter = name.find_last_not_of("0123456789");
  const std::string_view digits = name.substr(letter == name.npos ? 0 : letter + 1);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || error != std::errc()) return std::nullopt;
  return number;
}

}  // namespace

Result<std::vector<DeviceId>> EndpointsOfNodes(const Fabric& fabric,
                                               std::span<const std::string> names) {
  const auto known = NamesOfNodes(fabric);
  std::vector<std::vector<DeviceId>> of_node(fabric.node_count());
  for (DeviceId id : fabric.endpoints()) of_node[fabric.device(id).node].push_back(id);
  std::vector<DeviceId> endpoints;
  std::map<std::uint32_t, std::string> taken;
  for (const std::string& name : names) {
    const auto found = known.find(name);
    const auto node = found != known.end() ? std::optional(found->second) : NumberAtEnd(name);
    if (!node || *node >= fabric.node_count()) {
      return Error("TL1423", fmt::format("no node '{}' in this fabric", name),
                   fmt::format("its nodes are numbered from 0 to {}", fabric.node_count() - 1));
    }
    const auto [other, fresh] = taken.emplace(*node, name);
    if (!fresh) {
      return Error("TL1423",
                   fmt::format("'{}' and '{}' are the same node, {}", other->second, name, *node),
                   "name each node once");
    }
    endpoints.insert(endpoints.end(), of_node[*node].begin(), of_node[*node].end());
  }
  return endpoints;
}

Result<std::vector<DeviceId>> ParsePlacementFile(std::string_view text, const std::string& file,
                                                 const Fabric& fabric) {
  std::istringstream stream{std::string(text)};
  WordReader words(stream, file);
  std::map<std::string, DeviceId, std::less<>> known;
  for (DeviceId id : fabric.endpoints()) known.emplace(fabric.name(id), id);
  std::map<std::uint32_t, DeviceId> by_rank;
  std::set<DeviceId> taken;
  std::optional<bool> numbered;  // whether lines name their ranks
  while (words.Next()) {
    const Word& word = words.words()[0];
    std::string_view name = word.text;
    auto rank = static_cast<std::uint32_t>(by_rank.size());
    const std::size_t equal = name.find('=');
    const bool says_rank = equal != name.npos;
    if (words.words().size() > 1 || numbered.value_or(says_rank) != says_rank) {
      words.Error(word, "TL1424", "not of the form of the lines before, or more than one word",
                  "write gpu:0/3 on every line, or 17=gpu:0/3 on every line");
      continue;
    }
    numbered = says_rank;
    if (says_rank) {
      const std::string_view digits = name.substr(0, equal);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
      if (error != std::errc() || end != digits.data() + digits.size()) {
        words.Error(word, "TL1424", fmt::format("'{}' is no rank", digits), "write 17=gpu:0/3");
        continue;
      }
      name.remove_prefix(equal + 1);
    }
    const auto device = known.find(name);
    if (device == known.end()) {
      words.Error(word, "TL1424", fmt::format("no GPU or host '{}' in this fabric", name),
                  "endpoints are named gpu:NODE/INDEX or host-NODE");
    } else if (!taken.insert(device->second).second ||
               !by_rank.emplace(rank, device->second).second) {
      words.Error(word, "TL1424", "the rank or the endpoint stands on an earlier line, too",
                  "an endpoint takes one rank");
    }
  }
  if (!words.failed() && (by_rank.empty() || by_rank.rbegin()->first + 1 != by_rank.size())) {
    words.FileError("TL1424", by_rank.empty() ? "no rank is placed" : "some ranks are not placed",
                    "place every rank from 0 on");
  }
  if (words.failed()) return std::unexpected(words.TakeDiagnostics());
  std::vector<DeviceId> endpoints;
  for (const auto& [rank, device] : by_rank) endpoints.push_back(device);
  return endpoints;
}

}  // namespace trunkline
