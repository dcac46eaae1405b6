#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <spanstream>
#include <utility>

#include "base/disjoint_sets.h"
#include "base/word_reader.h"
#include "fabric/import/node_draft.h"
#include "fabric/import/scanner.h"

// `nvidia-smi topo -m`: how every two of a server's GPUs and NICs reach each other.
//
//           GPU0    GPU1    NIC0    CPU Affinity    NUMA Affinity
//   GPU0     X      NV18    PIX     0-55            0
namespace trunkline {
namespace {

// NVLinks of one GPU: more are shown only where an NVSwitch gives every peer all of them.
constexpr std::int64_t kMostLinks = 18;
constexpr std::size_t kMostDevices = 256;

enum class Near : std::uint8_t { kBridge, kBridges, kHost, kSystem, kUnknown };

class TopologyMatrixParser {
 public:
  TopologyMatrixParser(std::string_view text, const std::string& file)
      : stream_(std::span(text.data(), text.size())), words_(stream_, file) {}

  Result<NodeTemplate> Read() {
    if (!ReadHeader()) return std::unexpected(words_.TakeDiagnostics());
    while (rows_ < names_.size() && words_.Next()) ReadRow();
    while (!words_.failed() && words_.Next()) CheckNoRow();
    if (!words_.failed() && rows_ < names_.size()) {
      words_.FileError("TL1452", fmt::format("{} rows for {} columns", rows_, names_.size()),
                       "is the matrix complete?");
    }
    if (!words_.failed()) Draw();
    if (words_.failed()) return std::unexpected(words_.TakeDiagnostics());
    NodeTemplate node = draft_.Finish();
    node.nic_rate = Rate::GigabitsPerSecond(400);
    node.description =
        "as nvidia-smi topo -m shows it, which has no rates: assumed are 400 Gb/s NICs, PCIe 5.0 "
        "x16, 20.6 GB/s an NVLink (NVLink 4), 22 GB/s between sockets";
    return node;
  }

 private:
  static std::string_view Plain(std::string_view word) {
    // Headers may be underlined on a terminal: ESC [ 4 m GPU0 … ESC [ 0 m.
    if (word.starts_with("\033[4m")) word.remove_prefix(4);
    if (word.starts_with("\033[0m")) word.remove_prefix(4);
    return word;
  }

  bool ReadHeader() {
    while (words_.Next()) {
      if (!Plain(words_.words()[0].text).starts_with("GPU")) continue;
      for (const Word& word : words_.words()) {
        const std::string_view name = Plain(word.text);
        if (name.empty()) continue;
        if (name == "CPU" || name == "NUMA" || name == "GPU") break;
        if (IsDevice(name)) {
          words_.Error(word, "TL1452", fmt::format("a second column of {}", name),
                       "each device has one column and one row");
          return false;
        }
        names_.emplace_back(name);
      }
      if (names_.size() <= kMostDevices) {
        matrix_.assign(names_.size() * names_.size(), "");
        return true;
      }
      words_.Error(std::size_t{0}, "TL1452", fmt::format("{} devices", names_.size()),
                   fmt::format("at most {}", kMostDevices));
      return false;
    }
    words_.FileError("TL1451", "no line of column names", "the first is GPU0");
    return false;
  }

  void ReadRow() {
    const auto words = words_.words();
    if (Plain(words[0].text) != names_[rows_]) {
      words_.Error(
          words[0], "TL1451",
          fmt::format("a row of '{}' where that of {} comes", words[0].text, names_[rows_]),
          "rows are named and ordered as columns");
      rows_ = names_.size();
      return;
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (i + 1 >= words.size() || !Known(words[i + 1].text)) {
        words_.Error(i + 1, "TL1451", "no relation that nvidia-smi knows",
                     "X, NV#, PIX, PXB, PHB, NODE or SYS");
        break;
      }
      matrix_[rows_ * names_.size() + i] = words[i + 1].text;
    }
    ++rows_;
  }

  [[nodiscard]] bool IsDevice(std::string_view name) const {
    return std::ranges::find(names_, name) != names_.end();
  }

  // Behind the matrix come a legend and the names of NICs (`NIC0: mlx5_0`).
  void CheckNoRow() {
    const Word& first = words_.words()[0];
    if (!IsDevice(Plain(first.text))) return;
    words_.Error(first, "TL1452", fmt::format("a second row of {}", Plain(first.text)),
                 "each device has one column and one row");
  }

  static std::int64_t Nvlinks(std::string_view text) {
    if (!text.starts_with("NV")) return 0;
    const Word number{text.substr(2), 0};
    const auto value = number.AsInteger();
    return value && *value > 0 && *value <= 64 ? *value : 0;
  }

  static Near NearOf(std::string_view text) {
    if (text == "PIX") return Near::kBridge;
    if (text == "PXB") return Near::kBridges;
    if (text == "PHB" || text == "NODE") return Near::kHost;
    return text == "SYS" ? Near::kSystem : Near::kUnknown;
  }
  static bool Known(std::string_view text) {
    return text == "X" || Nvlinks(text) > 0 || NearOf(text) != Near::kUnknown;
  }

  [[nodiscard]] const std::string& At(std::size_t a, std::size_t b) const {
    return matrix_[a * names_.size() + b];
  }

  // One device for each set of what is that near, joined to what its first member hangs from.
  std::vector<std::uint32_t> Group(Near most, DeviceKind kind) {
    DisjointSets sets(names_.size());
    for (std::uint32_t a = 0; a < names_.size(); ++a) {
      for (std::uint32_t b = 0; b < names_.size(); ++b) {
        if (NearOf(At(a, b)) <= most) sets.Unite(a, b);
      }
    }
    std::map<std::uint32_t, std::uint32_t> made;
    std::vector<std::uint32_t> of;
    for (std::uint32_t a = 0; a < names_.size(); ++a) {
      const auto [at, added] = made.try_emplace(sets.Find(a), 0);
      if (added) at->second = draft_.Add(kind, a);
      of.push_back(at->second);
    }
    return of;
  }

  void Draw() {
    const Rate pcie = PcieRate(32, 16);
    std::vector<std::uint32_t> device;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      device.push_back(
          draft_.Add(names_[i].starts_with("GPU") ? DeviceKind::kGpu : DeviceKind::kNic,
                     static_cast<std::int64_t>(i)));
    }
    if (draft_.Count(DeviceKind::kNic) == 0) {
      words_.FileError("TL1452", "the server has no NIC", "a matrix with NIC rows is needed");
      return;
    }
    // Bridges below bridges below CPUs; a bridge of one device changes nothing but a hop.
    const std::vector<std::uint32_t> low = Group(Near::kBridge, DeviceKind::kPcieSwitch);
    const std::vector<std::uint32_t> high = Group(Near::kBridges, DeviceKind::kPcieSwitch);
    const std::vector<std::uint32_t> cpu = Group(Near::kHost, DeviceKind::kCpu);
    std::set<std::pair<std::uint32_t, std::uint32_t>> joined;
    const auto join = [&](std::uint32_t a, std::uint32_t b) {
      if (joined.insert({a, b}).second) draft_.Join(a, b, LinkKind::kPcie, pcie);
    };
    for (std::size_t i = 0; i < names_.size(); ++i) {
      join(device[i], low[i]);
      join(low[i], high[i]);
      join(high[i], cpu[i]);
    }
    draft_.JoinCpus(Rate::GigabytesPerSecond(22));
    DrawNvlinks(device);
  }

  void DrawNvlinks(const std::vector<std::uint32_t>& device) {
    const Rate one = Rate::BitsPerSecond(164'800'000'000);  // 20.6 GB/s: NCCL 2.30 topo.h
    std::optional<std::uint32_t> crossbar;
    for (std::size_t a = 0; a < names_.size(); ++a) {
      std::int64_t all = 0;
      std::int64_t most = 0;
      for (std::size_t b = 0; b < names_.size(); ++b) {
        all += Nvlinks(At(a, b));
        most = std::max(most, Nvlinks(At(a, b)));
      }
      if (all > kMostLinks) {
        if (!crossbar) crossbar = draft_.Add(DeviceKind::kNvSwitch, 0);
        draft_.Join(device[a], *crossbar, LinkKind::kNvlink, one * most);
        continue;
      }
      for (std::size_t b = a + 1; b < names_.size(); ++b) {
        const std::int64_t links = Nvlinks(At(a, b));
        if (links > 0) draft_.Join(device[a], device[b], LinkKind::kNvlink, one * links);
      }
    }
  }

  std::ispanstream stream_;
  WordReader words_;
  NodeDraft draft_;
  std::vector<std::string> names_;
  std::vector<std::string> matrix_;
  std::size_t rows_ = 0;
};

}  // namespace

bool LooksLikeTopologyMatrix(std::string_view text) {
  return AnyLine(text, [](std::string_view line) {
    Scanner scan(line);
    const std::string_view first = scan.Token();
    const std::string_view second = scan.Token();
    return first == "GPU0" && (second == "X" || second.starts_with("GPU"));
  });
}

Result<NodeTemplate> ReadTopologyMatrix(std::string_view text, const std::string& file) {
  return TopologyMatrixParser(text, file).Read();
}

}  // namespace trunkline
