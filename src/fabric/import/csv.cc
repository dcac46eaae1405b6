#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <spanstream>
#include <utility>

#include "base/word_reader.h"
#include "fabric/import/named_cables.h"
#include "fabric/import/reader.h"
#include "fabric/import/scanner.h"

// A list of cables as comma-separated values. The first line names the columns, in any order:
//
//   from,from_port,to,to_port,rate,latency,from_kind,from_host
//   node-1/mlx5_0,1,leaf-1,1,400 Gb/s,50 ns,nic,node-1
//
// `from` and `to` are needed. Kinds are switch and nic (or host, hca, ca, server); without them a
// device with one cable is a server.
namespace trunkline {
namespace {

enum Column : std::uint8_t {
  kFrom,
  kFromPort,
  kFromKind,
  kFromHost,
  kTo,
  kToPort,
  kToKind,
  kToHost,
  kRate,
  kLatency,
  kColumns
};
constexpr std::array<const char*, kColumns> kNames = {"from", "from_port", "from_kind", "from_host",
                                                      "to",   "to_port",   "to_kind",   "to_host",
                                                      "rate", "latency"};
// What inventories call the port of a server.
constexpr std::array kEndKinds = {"nic", "host", "hca", "ca", "server"};
constexpr std::size_t kNoColumn = SIZE_MAX;

// The cells of a line, without blanks and quotes around them; a quote that begins or ends none is
// left in its cell.
std::vector<Word> Cells(std::string_view line) {
  std::vector<Word> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    std::size_t first = begin;
    std::size_t last = end;
    const auto blank = [&](std::size_t i) {
      return line[i] == ' ' || line[i] == '\t' || line[i] == '\r';
    };
    while (first < last && blank(first)) ++first;
    while (last > first && blank(last - 1)) --last;
    if (last - first >= 2 && line[first] == '"' && line[last - 1] == '"') {
      ++first;
      --last;
      while (first < last && blank(first)) ++first;
      while (last > first && blank(last - 1)) --last;
    }
    cells.push_back({line.substr(first, last - first), static_cast<int>(first) + 1});
    begin = end + 1;
  }
  return cells;
}

class CsvParser {
 public:
  CsvParser(std::string_view text, const std::string& file)
      : stream_(std::span(text.data(), text.size())), words_(stream_, file) {}

  Result<FabricSource> Read() {
    if (words_.Next() && ReadHeader()) {
      while (words_.Next()) ReadRow();
    }
    if (words_.failed()) return std::unexpected(words_.TakeDiagnostics());
    FindKinds();
    return std::move(cables_.list);
  }

 private:
  bool ReadHeader() {
    column_.fill(kNoColumn);
    const std::vector<Word> cells = Cells(words_.text());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto known = std::ranges::find_if(
          kNames, [&](const char* name) { return SameText(name, cells[i].text); });
      if (known == kNames.end()) {
        words_.Error(cells[i], "TL1451", fmt::format("an unknown column '{}'", cells[i].text),
                     fmt::format("the columns are {}", fmt::join(kNames, ", ")));
      } else {
        column_[static_cast<std::size_t>(known - kNames.begin())] = i;
      }
    }
    if (column_[kFrom] == kNoColumn || column_[kTo] == kNoColumn) {
      words_.LineError(words_.line(), 1, "TL1451", "the columns `from` and `to` are needed",
                       "the first line names the columns");
    }
    return !words_.failed();
  }

  [[nodiscard]] Word Cell(const std::vector<Word>& cells, std::size_t column) const {
    const std::size_t at = column_[column];
    return at < cells.size() ? cells[at] : Word{"", static_cast<int>(words_.text().size()) + 1};
  }

  std::optional<CableList::End> ReadEnd(const std::vector<Word>& cells, Column first) {
    const Word name = Cell(cells, first);
    const Word port = Cell(cells, first + 1U);
    const Word kind = Cell(cells, first + 2U);
    if (name.text.empty()) {
      words_.Error(name, "TL1451", "a cable without an end", "name both devices");
      return std::nullopt;
    }
    const bool is_switch = SameText(kind.text, "switch");
    const bool is_end =
        std::ranges::any_of(kEndKinds, [&](const char* word) { return SameText(kind.text, word); });
    if (!kind.text.empty() && !is_switch && !is_end) {
      words_.Error(kind, "TL1451", fmt::format("'{}' is no kind of device", kind.text),
                   fmt::format("switch, {}", fmt::join(kEndKinds, ", ")));
      return std::nullopt;
    }
    const std::uint32_t device =
        cables_.Device(is_end ? DeviceKind::kNic : DeviceKind::kSwitch, name.text,
                       Cell(cells, first + 3U).text, words_.line());
    if (kind.text.empty()) {
      unknown_.insert(device);
    } else if ((cables_.list.devices[device].kind == DeviceKind::kNic) != is_end) {
      words_.Error(kind, "TL1452",
                   fmt::format("{} is a {} here, but not in the rows before", name.text, kind.text),
                   "give a device the same kind in every row, or in none");
      return std::nullopt;
    }
    std::uint32_t number = 0;
    if (!port.text.empty()) {
      const auto value = port.AsInteger();
      if (!value || *value < 0 || *value > UINT16_MAX) {
        words_.Error(port, "TL1451", fmt::format("'{}' is no port", port.text), "such as 33");
        return std::nullopt;
      }
      number = static_cast<std::uint32_t>(*value);
    }
    if (number > 0 && !used_.insert({device, number}).second) {
      words_.Error(port, "TL1452", fmt::format("port {} of {} is cabled twice", number, name.text),
                   "a port takes one cable");
    }
    return CableList::End{device, number};
  }

  template <typename T>
  std::optional<T> Quantity(const Word& cell, UnitResult<T> (*parse)(std::string_view)) {
    if (cell.text.empty()) return std::nullopt;
    auto value = parse(cell.text);
    if (value) return *value;
    words_.Error(cell, "TL1453", value.error().message, value.error().hint);
    return std::nullopt;
  }

  // A quote that is not around a cell, such as one around a comma, makes cells of other columns.
  bool CheckQuotes(const std::vector<Word>& cells) {
    const auto quoted = std::ranges::find_if(
        cells, [](const Word& cell) { return cell.text.find('"') != std::string_view::npos; });
    if (quoted == cells.end()) return true;
    const auto offset = static_cast<int>(quoted->text.find('"'));
    words_.Error({quoted->text, quoted->column + offset}, "TL1451", "a quote without its like",
                 "quotes stand around a whole cell, which has no comma and no quote in it");
    return false;
  }

  void ReadRow() {
    const std::vector<Word> cells = Cells(words_.text());
    if (!CheckQuotes(cells)) return;
    const auto from = ReadEnd(cells, kFrom);
    const auto to = from ? ReadEnd(cells, kTo) : std::nullopt;
    if (!to) return;
    if (from->device == to->device) {
      words_.Error(Cell(cells, kTo), "TL1452", "a cable from a device to itself",
                   "remove the line");
      return;
    }
    cables_.list.cables.push_back({*from, *to, Quantity<Rate>(Cell(cells, kRate), ParseRate),
                                   Quantity<Time>(Cell(cells, kLatency), ParseTime),
                                   words_.line()});
  }

  // Of a device whose kind no row says.
  void FindKinds() {
    std::map<std::uint32_t, std::size_t> cables;
    for (const CableList::Cable& cable : cables_.list.cables) {
      ++cables[cable.a.device];
      ++cables[cable.b.device];
    }
    std::size_t taken = 0;
    for (std::uint32_t d : unknown_) {
      CableList::Device& device = cables_.list.devices[d];
      if (cables[d] > 1) continue;
      device.kind = DeviceKind::kNic;
      if (device.host.empty()) device.host = device.name;
      ++taken;
    }
    if (taken > 0) {
      cables_.list.notes.push_back(
          fmt::format("{} devices have one cable and no kind: taken as servers", taken));
    }
  }

  std::ispanstream stream_;
  WordReader words_;
  NamedCables cables_;
  std::array<std::size_t, kColumns> column_{};
  std::set<std::uint32_t> unknown_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> used_;
};

}  // namespace

const FabricFileReader& CsvReader() {
  static const FabricFileReader reader = {
      "csv", "a list of cables, with columns from, to and more",
      [](std::string_view text) {
        bool from = false;
        bool to = false;
        for (const Word& cell :
             Cells(text.substr(0, std::min<std::size_t>(text.find('\n'), 4096)))) {
          from |= SameText(cell.text, "from");
          to |= SameText(cell.text, "to");
        }
        return from && to;
      },
      [](std::string_view text, const std::string& file) { return CsvParser(text, file).Read(); }};
  return reader;
}

}  // namespace trunkline
