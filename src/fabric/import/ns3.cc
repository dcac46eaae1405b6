#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <spanstream>
#include <utility>

#include "base/word_reader.h"
#include "fabric/import/named_cables.h"
#include "fabric/import/reader.h"
#include "fabric/import/scanner.h"

// Topologies of the ns-3 simulators with RDMA: HPCC, ConWeave and ASTRA-sim's
//
//   nodes switches links           376 56 480
//   ids of the switches            320 321 …
//   a line a link                  0 320 100Gbps 1000ns 0.000000
//
// and SimAI's, whose first line is `nodes gpus_per_server nvswitches switches links gpu_type`, and
// whose second lists NVSwitches first.
namespace trunkline {
namespace {

constexpr std::int64_t kMostNodes = 400'000;

class Ns3Parser {
 public:
  Ns3Parser(std::string_view text, const std::string& file)
      : stream_(std::span(text.data(), text.size())), words_(stream_, file) {}

  Result<FabricSource> Read() {
    if (!ReadHeader() || !ReadSwitches()) return std::unexpected(words_.TakeDiagnostics());
    AddDevices();
    std::int64_t links = 0;
    // Behind the links that are announced the simulators stop; people write notes there.
    while (words_.Next()) {
      if (links == links_ && !words_.words()[0].AsInteger()) continue;
      ReadLink();
      ++links;
    }
    if (!words_.failed() && links != links_) {
      words_.FileError("TL1452", fmt::format("{} links where {} are announced", links, links_),
                       "is the file complete?");
    }
    if (words_.failed()) return std::unexpected(words_.TakeDiagnostics());
    return std::move(cables_.list);
  }

 private:
  bool ReadHeader() {
    if (!words_.Next()) {
      words_.FileError("TL1451", "an empty file", "the first line is `nodes switches links`");
      return false;
    }
    const auto words = words_.words();
    simai_ = words.size() >= 5;
    const std::size_t numbers = simai_ ? 5 : 3;
    std::vector<std::int64_t> header;
    for (std::size_t i = 0; i < numbers; ++i) {
      const auto value = i < words.size() ? words[i].AsInteger() : std::nullopt;
      if (!value || *value < 0 || *value > kMostNodes * 16) {
        words_.Error(i, "TL1451", "the first line is not of this format",
                     "write `nodes switches links`, or SimAI's `nodes gpus_per_server nvswitches "
                     "switches links gpu_type`");
        return false;
      }
      header.push_back(*value);
    }
    nodes_ = header[0];
    per_server_ = simai_ ? header[1] : 1;
    nv_switches_ = simai_ ? header[2] : 0;
    switches_ = header[simai_ ? 3 : 1];
    links_ = header[simai_ ? 4 : 2];
    if (nodes_ > kMostNodes || switches_ + nv_switches_ > nodes_ || per_server_ < 1) {
      words_.Error(std::size_t{0}, "TL1452",
                   fmt::format("{} switches among {} nodes", switches_ + nv_switches_, nodes_),
                   fmt::format("at most {} nodes, switches included", kMostNodes));
      return false;
    }
    return true;
  }

  bool ReadSwitches() {
    kind_.assign(static_cast<std::size_t>(nodes_), DeviceKind::kNic);
    std::int64_t listed = 0;
    while (listed < switches_ + nv_switches_) {
      if (!words_.Next()) {
        words_.FileError("TL1452", "the ids of the switches end early", "is the file complete?");
        return false;
      }
      for (const Word& word : words_.words()) {
        const auto id = NodeOf(word);
        if (!id) return false;
        DeviceKind& kind = kind_[*id];
        if (kind != DeviceKind::kNic) {
          words_.Error(word, "TL1452", fmt::format("switch {} is listed twice", *id),
                       "list each id once");
          return false;
        }
        kind = listed++ < nv_switches_ ? DeviceKind::kNvSwitch : DeviceKind::kSwitch;
      }
    }
    return true;
  }

  // Nodes have no names but their numbers.
  void AddDevices() {
    std::int64_t gpus = 0;
    std::int64_t nv_switch = 0;
    const std::int64_t servers =
        std::max<std::int64_t>(1, (nodes_ - switches_ - nv_switches_) / per_server_);
    const std::int64_t per = std::max<std::int64_t>(1, nv_switches_ / servers);
    for (std::size_t i = 0; i < kind_.size(); ++i) {
      CableList::Device device{.kind = kind_[i], .name = {}};
      if (device.kind == DeviceKind::kNic) device.host = std::to_string(gpus++ / per_server_);
      if (device.kind == DeviceKind::kNic && simai_) device.kind = DeviceKind::kGpu;
      if (device.kind == DeviceKind::kNvSwitch) device.host = std::to_string(nv_switch++ / per);
      if (device.kind == DeviceKind::kSwitch) device.latency = Time();  // the links' delays are all
      cables_.list.devices.push_back(std::move(device));
    }
  }

  std::optional<std::size_t> NodeOf(const Word& word) {
    const auto id = word.AsInteger();
    if (id && *id >= 0 && *id < nodes_) return static_cast<std::size_t>(*id);
    words_.Error(word, "TL1451", fmt::format("'{}' is no node", word.text),
                 fmt::format("a number below {}", nodes_));
    return std::nullopt;
  }

  template <typename T>
  std::optional<T> Quantity(const Word& word, UnitResult<T> (*parse)(std::string_view),
                            std::string text) {
    auto value = parse(text);
    if (value) return *value;
    words_.Error(word, "TL1453", value.error().message, value.error().hint);
    return std::nullopt;
  }

  void ReadLink() {
    const auto words = words_.words();
    if (words.size() < 4 || words.size() > 5) {
      words_.Error(std::min<std::size_t>(words.size(), 5), "TL1451",
                   fmt::format("a link of {} words", words.size()),
                   "write `from to rate delay error_rate`, such as `0 8 100Gbps 1000ns 0`");
      return;
    }
    const auto from = NodeOf(words[0]);
    const auto to = from ? NodeOf(words[1]) : std::nullopt;
    if (!to) return;
    if (*from == *to) {
      words_.Error(words[1], "TL1452", fmt::format("a link from {} to itself", *from),
                   "remove the line");
      return;
    }
    // ns-3 writes 100Gbps where we write 100 Gb/s.
    std::string rate_text(words[2].text);
    if (rate_text.ends_with("bps")) rate_text.replace(rate_text.size() - 2, 2, "/s");
    const auto rate = Quantity<Rate>(words[2], ParseRate, rate_text);
    const auto delay = Quantity<Time>(words[3], ParseTime, std::string(words[3].text));
    if (!rate || !delay || (words.size() == 5 && !CheckErrorRate(words[4]))) return;
    cables_.list.cables.push_back({{static_cast<std::uint32_t>(*from), ++ports_[*from]},
                                   {static_cast<std::uint32_t>(*to), ++ports_[*to]},
                                   *rate,
                                   *delay,
                                   words_.line()});
  }

  // What these simulators drop at random is a fault here, of one cable and for a time.
  bool CheckErrorRate(const Word& word) {
    const auto rate = word.AsReal();
    if (rate == 0) return true;
    if (rate && *rate > 0 && *rate <= 1) {
      words_.Error(word, "TL1455", fmt::format("an error rate of {}", word.text),
                   "write 0, and in the scenario faults: [{target: A/B, kind: frame_loss, value: "
                   "the rate}]");
    } else {
      words_.Error(word, "TL1453", fmt::format("'{}' is no error rate", word.text),
                   "a number from 0 to 1");
    }
    return false;
  }

  std::ispanstream stream_;
  WordReader words_;
  NamedCables cables_;
  bool simai_ = false;
  std::int64_t nodes_ = 0;
  std::int64_t per_server_ = 1;
  std::int64_t nv_switches_ = 0;
  std::int64_t switches_ = 0;
  std::int64_t links_ = 0;
  std::vector<DeviceKind> kind_;
  std::map<std::size_t, std::uint32_t> ports_;
};

// The first line is numbers, and some line is a link.
bool RecognisesNs3(std::string_view text) {
  Scanner first(text.substr(0, text.find('\n')));
  for (int i = 0; i < 3; ++i) {
    if (!first.Number()) return false;
  }
  return AnyLine(text, [](std::string_view line) {
    Scanner scan(line);
    return scan.Number() && scan.Number() && scan.Token().ends_with("bps");
  });
}

}  // namespace

const FabricFileReader& Ns3Reader() {
  static const FabricFileReader reader = {
      "ns3", "the topology files of HPCC's, ConWeave's, ASTRA-sim's and SimAI's ns-3",
      RecognisesNs3,
      [](std::string_view text, const std::string& file) { return Ns3Parser(text, file).Read(); }};
  return reader;
}

}  // namespace trunkline
