#include <fmt/format.h>

#include <optional>
#include <spanstream>
#include <utility>

#include "fabric/import/infiniband.h"
#include "fabric/import/reader.h"
#include "fabric/import/scanner.h"

// The topology file of `ibnetdiscover`, which ibsim also reads: a record a device, a line a port.
//
//   Switch  65 "S-2c5eab0300b87b40"    # "MF0;leaf-04:MQM9701/U1" enhanced port 0 lid 73 lmc 0
//   [1]     "H-e09d7303007a4bd8"[1](e09d7303007a4bd8)    # "node-01 mlx5_5" lid 647 4xNDR
//   Ca      1 "H-e09d7303007a4bd8"     # "node-01 mlx5_5"
namespace trunkline {
namespace {

constexpr std::string_view kRecordForm = R"(Switch 65 "S-0123"  # "leaf-04")";
constexpr std::string_view kPortForm = R"([1] "H-0123"[1]  # "node-01 mlx5_0" lid 7 4xNDR)";

std::optional<DeviceKind> RecordKind(std::string_view word) {
  if (SameText(word, "switch")) return DeviceKind::kSwitch;
  if (SameText(word, "ca") || SameText(word, "hca") || SameText(word, "rt")) {
    return DeviceKind::kNic;
  }
  return std::nullopt;
}

// `vendid=0x2c9`, which nothing here reads.
bool IsAttribute(std::string_view line) {
  const std::size_t equals = line.find('=');
  return equals != std::string_view::npos && equals > 0 &&
         line.substr(0, equals).find_first_of("\" []#") == std::string_view::npos;
}

class IbnetdiscoverParser {
 public:
  IbnetdiscoverParser(std::string_view text, const std::string& file)
      : stream_(std::span(text.data(), text.size())),
        words_(stream_, file, '\0'),
        subnet_(words_, Subnet::Listing::kWhole) {}

  Result<FabricSource> Read() {
    while (words_.Next()) {
      const std::string_view first = words_.words().front().text;
      if (first.front() == '#' || IsAttribute(first)) continue;
      if (first.front() == '[') {
        ReadPort();
      } else {
        ReadRecord();
      }
    }
    auto list = subnet_.Finish();
    if (!list) return std::unexpected(std::move(list.error()));
    return *std::move(list);
  }

 private:
  void Malformed(int column, std::string_view form) {
    words_.LineError(words_.line(), column, "TL1451",
                     "the line is not of the form of ibnetdiscover",
                     fmt::format("such as {}", form));
  }

  void ReadRecord() {
    Scanner scan(words_.text());
    current_.reset();
    const auto kind = RecordKind(scan.Token());
    if (!kind) return Malformed(words_.words().front().column, kRecordForm);
    const auto ports = scan.Number();
    const int column = scan.column();
    const auto id = ports ? scan.Quoted() : std::nullopt;
    if (!id || id->empty()) return Malformed(column, kRecordForm);
    if (subnet_.Find(*id)) {
      words_.LineError(words_.line(), column, "TL1452", fmt::format("{} is described twice", *id),
                       "an id stands for one device; remove one of its records");
      return;
    }
    ports_ = *ports;
    current_ = subnet_.Declare(*kind, *id, Comment(scan).value_or(""));
  }

  // The quoted text behind '#'.
  static std::optional<std::string_view> Comment(Scanner& scan) {
    if (!scan.SkipPast('#')) return std::nullopt;
    return scan.Quoted();
  }

  void ReadPort() {
    Scanner scan(words_.text());
    const auto port = scan.Bracketed();
    // What is told of the port of an HCA may follow in parentheses: [1](e09d7303007a4bd8).
    if (port) scan.Parenthesised();
    const int column = scan.column();
    const auto remote = port ? scan.Quoted() : std::nullopt;
    const auto remote_port = remote ? scan.Bracketed() : std::nullopt;
    if (!remote_port) return Malformed(scan.column(), kPortForm);
    if (!current_) {
      if (!words_.failed())
        Malformed(scan.column(), kRecordForm);  // else of a record that was refused
      return;
    }
    if (*port > ports_) {
      words_.LineError(words_.line(), 1, "TL1452",
                       fmt::format("port {} of a device of {} ports", *port, ports_),
                       "ports are counted from 1");
      return;
    }
    subnet_.Connect({*current_, *port}, *remote, *remote_port, RateOf(scan), column);
  }

  // The last word of the comment is `4xNDR`. Files for ibsim have none, or one without it.
  std::optional<Rate> RateOf(Scanner& scan) {
    if (!scan.SkipPast('#')) return std::nullopt;
    const Word& last = words_.words().back();
    const std::size_t x = last.text.find_first_not_of("0123456789");
    if (x == 0 || x == std::string_view::npos || (last.text[x] != 'x' && last.text[x] != 'X')) {
      return std::nullopt;
    }
    const auto rate = InfinibandRate(last.text.substr(0, x + 1), last.text.substr(x + 1));
    if (!rate) {
      words_.Error(last, "TL1453", fmt::format("'{}' is no speed of InfiniBand", last.text),
                   "such as 4xHDR, 4xNDR or 4xXDR");
    }
    return rate;
  }

  std::ispanstream stream_;
  WordReader words_;
  Subnet subnet_;
  std::optional<std::uint32_t> current_;
  std::uint32_t ports_ = 0;
};

// A record's first line.
bool RecognisesIbnetdiscover(std::string_view text) {
  return AnyLine(text, [](std::string_view line) {
    Scanner scan(line);
    return RecordKind(scan.Token()) && scan.Number() && scan.Quoted();
  });
}

}  // namespace

const FabricFileReader& IbnetdiscoverReader() {
  static const FabricFileReader reader = {
      "ibnetdiscover", "the topology file of ibnetdiscover, and of ibsim", RecognisesIbnetdiscover,
      [](std::string_view text, const std::string& file) {
        return IbnetdiscoverParser(text, file).Read();
      }};
  return reader;
}

}  // namespace trunkline
