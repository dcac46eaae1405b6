#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <spanstream>
#include <string>
#include <tuple>
#include <utility>

#include "fabric/import/infiniband.h"
#include "fabric/import/reader.h"
#include "fabric/import/scanner.h"

// A line a port, of either end: `ibnetdiscover -p` and `iblinkinfo`.
//
//   CA 134  1 0x7cfe 4x EDR - SW 1719 10 0x7cff ( 'node-1 HCA-1' - 'leaf-1' )
//
//   Switch: 0x7cff leaf-1:
//      1719  10[  ] ==( 4X  25.78125 Gbps Active/  LinkUp)==>  134   1[  ] "node-1 HCA-1" ( )
//
// With --line there are no headers; the GUID and the description of either end stand in the line:
//
//   0x7cff "leaf-1"  1719  10[  ] ==( … LinkUp)==>  0x7cfe  134   1[  ] "node-1 HCA-1" ( )
namespace trunkline {
namespace {

struct Port {
  DeviceKind kind = DeviceKind::kNic;
  std::uint32_t port = 0;
  std::string_view guid;
};

bool IsGuid(std::string_view text) { return text.starts_with("0x") || text.starts_with("0X"); }

std::optional<Port> TakePort(Scanner& scan) {
  const std::string_view kind = scan.Token();
  const bool is_switch = SameText(kind, "sw");
  if (!is_switch && !SameText(kind, "ca") && !SameText(kind, "rt")) return std::nullopt;
  const auto lid = scan.Number();
  const auto port = lid ? scan.Number() : std::nullopt;
  const std::string_view guid = port ? scan.Token() : "";
  if (!IsGuid(guid)) return std::nullopt;
  return Port{is_switch ? DeviceKind::kSwitch : DeviceKind::kNic, *port, guid};
}

class PortReader {
 public:
  PortReader(std::string_view text, const std::string& file)
      : stream_(std::span(text.data(), text.size())),
        words_(stream_, file),
        subnet_(words_, Subnet::Listing::kPartial) {}

  Result<FabricSource> Read() {
    while (words_.Next()) ReadLine();
    auto list = subnet_.Finish();
    if (!list) return std::unexpected(std::move(list.error()));
    return *std::move(list);
  }

 private:
  void ReadLine() {
    Scanner scan(words_.text());
    const auto from = TakePort(scan);
    const std::string_view width = from ? scan.Token() : "";
    const int speed_column = scan.column();
    const std::string_view speed = from ? scan.Token() : "";
    if (speed.empty()) return Malformed(scan);
    if (!scan.Take('-')) {  // nothing is plugged in
      if (const auto name = scan.Quoted('\'')) subnet_.Declare(from->kind, from->guid, *name);
      return;
    }
    const int column = scan.column();
    const auto to = TakePort(scan);
    const bool open = to && scan.Take('(');
    const auto from_name = open ? scan.Quoted('\'') : std::nullopt;
    const auto to_name = from_name && scan.Take('-') ? scan.Quoted('\'') : std::nullopt;
    if (!to_name) return Malformed(scan);
    const auto rate = InfinibandRate(width, speed);
    if (!rate) {
      words_.LineError(words_.line(), speed_column, "TL1453",
                       fmt::format("'{}' is no speed of InfiniBand", speed), "such as EDR or NDR");
    }
    const std::uint32_t device = subnet_.Declare(from->kind, from->guid, *from_name);
    subnet_.Declare(to->kind, to->guid, *to_name);
    subnet_.Connect({device, from->port}, to->guid, to->port, rate, column);
  }

  void Malformed(const Scanner& scan) {
    words_.LineError(words_.line(), scan.column(), "TL1451",
                     "the line is not of the form of ibnetdiscover -p",
                     "such as CA 134 1 0x7cfe 4x EDR - SW 17 10 0x7cff ( 'node HCA-1' - 'leaf' )");
  }

  std::ispanstream stream_;
  WordReader words_;
  Subnet subnet_;
};

bool RecognisesPorts(std::string_view text) {
  return AnyLine(text, [](std::string_view line) {
    Scanner scan(line);
    return TakePort(scan).has_value() && scan.Token().ends_with('x');
  });
}

// What iblinkinfo shows is the signalling rate of a lane.
constexpr std::array<std::pair<double, std::string_view>, 9> kLaneSpeeds = {{{2.5, "SDR"},
                                                                             {5, "DDR"},
                                                                             {10, "QDR"},
                                                                             {10.3125, "FDR10"},
                                                                             {14.0625, "FDR"},
                                                                             {25.78125, "EDR"},
                                                                             {53.125, "HDR"},
                                                                             {106.25, "NDR"},
                                                                             {212.5, "XDR"}}};

struct LinkEnd {
  std::string_view guid;
  std::optional<std::string_view> description;
  std::uint32_t lid = 0;
  std::uint32_t port = 0;
  [[nodiscard]] std::string id() const { return "lid " + std::to_string(lid); }
};

std::optional<std::pair<std::uint32_t, std::uint32_t>> TakeLidAndPort(Scanner& scan) {
  const auto lid = scan.Number();
  const std::string_view port = lid ? scan.Token() : "";
  const Word number{port.substr(0, port.find('[')), 0};
  const auto value = number.AsInteger();
  if (!value || *value < 0 || *value > UINT16_MAX) return std::nullopt;
  scan.Take(']');
  return std::pair(*lid, static_cast<std::uint32_t>(*value));
}

std::optional<LinkEnd> TakeEnd(Scanner& scan) {
  LinkEnd end;
  Scanner ahead = scan;
  if (IsGuid(ahead.Token())) {
    end.guid = scan.Token();
    end.description = scan.Quoted();
  }
  const auto place = TakeLidAndPort(scan);
  if (!place) return std::nullopt;
  std::tie(end.lid, end.port) = *place;
  return end;
}

// The ports of each GUID in lines of `iblinkinfo --line`, on either side.
using PortsOfGuids = std::map<std::string, std::set<std::uint32_t>, std::less<>>;

PortsOfGuids CollectPorts(std::string_view text) {
  PortsOfGuids ports;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t left = line.find("==(");
    const std::size_t right = line.find(")==>");
    if (left != line.npos && right != line.npos && left < right) {
      for (const std::string_view side : {line.substr(0, left), line.substr(right + 4)}) {
        Scanner scan(side);
        const auto at = TakeEnd(scan);
        if (at && !at->guid.empty()) ports[std::string(at->guid)].insert(at->port);
      }
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return ports;
}

class LinkReader {
 public:
  LinkReader(std::string_view text, const std::string& file)
      : stream_(std::span(text.data(), text.size())),
        words_(stream_, file),
        subnet_(words_, Subnet::Listing::kPartial),
        ports_(CollectPorts(text)) {}

  Result<FabricSource> Read() {
    while (words_.Next()) {
      const std::string_view first = words_.words().front().text;
      if (SameText(first, "ca:") || SameText(first, "switch:")) {
        ReadHeader();
      } else {
        ReadLink();
      }
    }
    auto list = subnet_.Finish();
    if (!list) return std::unexpected(std::move(list.error()));
    return *std::move(list);
  }

 private:
  // The description of a switch follows its GUID; that of an HCA stands alone.
  void ReadHeader() {
    Scanner scan(words_.text());
    kind_ = SameText(scan.Token(), "switch:") ? DeviceKind::kSwitch : DeviceKind::kNic;
    if (kind_ == DeviceKind::kSwitch) scan.Token();
    std::string_view rest = words_.text().substr(static_cast<std::size_t>(scan.column()) - 1);
    description_ = rest.substr(0, rest.rfind(':'));
    header_ = true;
  }

  void ReadLink() {
    const std::string_view text = words_.text();
    const std::size_t begin = text.find("==(");
    const std::size_t end = text.find(")==>");
    Scanner scan(text);
    if ((!header_ && ports_.empty()) || begin == std::string_view::npos ||
        end == std::string_view::npos || end < begin) {
      return Malformed(scan);
    }
    if (text.substr(begin, end - begin).find("LinkUp") == std::string_view::npos) return;
    Scanner left(text.substr(0, begin));
    const auto local = TakeEnd(left);
    Scanner right(text.substr(end + 4));
    const auto remote = TakeEnd(right);
    const auto name = remote ? right.Quoted() : std::nullopt;
    if (!local || !name || (local->description && remote->guid.empty())) return Malformed(left);
    Scanner state(text.substr(begin + 3, end - begin - 3));
    const std::string_view width = state.Token();
    const Word speed{state.Token(), static_cast<int>(begin) + 1};
    const bool alone = local->description.has_value();  // --line
    const std::uint32_t device =
        alone ? subnet_.Declare(KindOf(*local), local->guid, *local->description)
              : subnet_.Declare(kind_, local->id(), description_);
    if (alone) subnet_.Declare(KindOf(*remote), remote->guid, *name);
    subnet_.Connect({device, local->port}, alone ? std::string(remote->guid) : remote->id(),
                    remote->port, RateOf(width, speed), static_cast<int>(end) + 5);
  }

  // Lines do not say what a GUID is of: a switch has several ports, an HCA a GUID for each.
  [[nodiscard]] DeviceKind KindOf(const LinkEnd& end) const {
    const auto ports = ports_.find(end.guid);
    const bool several = (ports != ports_.end() && ports->second.size() > 1) || end.port > 2;
    return several ? DeviceKind::kSwitch : DeviceKind::kNic;
  }

  std::optional<Rate> RateOf(std::string_view width, const Word& speed) {
    const auto lane = speed.AsReal();
    for (const auto& [rate, name] : kLaneSpeeds) {
      // 25.78125 is printed as 25.78 by some versions.
      if (lane && std::abs(*lane - rate) < 0.005 * rate) return InfinibandRate(width, name);
    }
    words_.Error(speed, "TL1453", fmt::format("'{}' is no lane of InfiniBand", speed.text),
                 "such as 25.78125 Gbps or 106.25 Gbps");
    return std::nullopt;
  }

  void Malformed(const Scanner& scan) {
    words_.LineError(
        words_.line(), scan.column(), "TL1451", "the line is not of the form of iblinkinfo",
        "a line `Switch: GUID name:` or `CA: name:`, then a line a port; or with --line");
  }

  std::ispanstream stream_;
  WordReader words_;
  Subnet subnet_;
  DeviceKind kind_ = DeviceKind::kSwitch;
  std::string description_;
  bool header_ = false;
  PortsOfGuids ports_;  // empty: not of --line
};

}  // namespace

const FabricFileReader& IbnetdiscoverPortsReader() {
  static const FabricFileReader reader = {
      "ibnetdiscover-p", "the lines of ibnetdiscover -p, a port each", RecognisesPorts,
      [](std::string_view text, const std::string& file) { return PortReader(text, file).Read(); }};
  return reader;
}

const FabricFileReader& IblinkinfoReader() {
  static const FabricFileReader reader = {
      "iblinkinfo", "the output of iblinkinfo",
      [](std::string_view text) {
        return AnyLine(text, [](std::string_view line) {
          return line.find("==(") != std::string_view::npos &&
                 line.find(")==>") != std::string_view::npos;
        });
      },
      [](std::string_view text, const std::string& file) { return LinkReader(text, file).Read(); }};
  return reader;
}

}  // namespace trunkline
