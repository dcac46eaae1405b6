#include "fabric/import/infiniband.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <utility>

#include "fabric/import/scanner.h"

namespace trunkline {
namespace {

struct Speed {
  std::string_view name;
  std::int64_t lane_bits;  // of data per second and lane, after line coding
};

// InfiniBand Architecture Specification, volume 2: signalling rates of 2.5, 5 and 10 GBd with
// 8b/10b coding, then 10.3125, 14.0625 and 25.78125 GBd with 64b/66b; from HDR on the rate is of
// data.
constexpr std::array kSpeeds = {
    Speed{"SDR", 2'000'000'000},    Speed{"DDR", 4'000'000'000},   Speed{"QDR", 8'000'000'000},
    Speed{"FDR10", 10'000'000'000}, Speed{"FDR", 13'636'363'636},  Speed{"EDR", 25'000'000'000},
    Speed{"HDR", 50'000'000'000},   Speed{"NDR", 100'000'000'000}, Speed{"XDR", 200'000'000'000}};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// "MF0;A09-P1-IBLEAF-04-04:MQM9701/U1", as managed switches of NVIDIA describe themselves, is
// A09-P1-IBLEAF-04-04.
std::string_view SwitchName(std::string_view description) {
  const std::size_t semicolon = description.find(';');
  const std::size_t colon = description.rfind(':');
  if (semicolon == std::string_view::npos || colon == std::string_view::npos ||
      colon <= semicolon + 1) {
    return description;
  }
  return description.substr(semicolon + 1, colon - semicolon - 1);
}

// The host and the HCA of "a08-p1-dgx-04-c17 mlx5_5": two words, the second ending in a number.
// Both empty for what an unnamed HCA says of itself.
std::pair<std::string_view, std::string_view> HostAndHca(std::string_view description) {
  const std::size_t space = description.find(' ');
  if (space == std::string_view::npos || description.rfind(' ') != space) return {};
  if (std::isdigit(static_cast<unsigned char>(description.back())) == 0) return {};
  return {description.substr(0, space), description.substr(space + 1)};
}

// What reduces inside a switch (SHARP) shows as one more HCA on it.
bool IsAggregation(std::string_view description) {
  return description.find("Aggregation Node") != std::string_view::npos;
}

}  // namespace

std::optional<Rate> InfinibandRate(std::string_view width, std::string_view speed) {
  if (width.empty() || (width.back() != 'x' && width.back() != 'X')) return std::nullopt;
  const Word lanes{width.substr(0, width.size() - 1), 0};
  const auto count = lanes.AsInteger();
  constexpr std::array<std::int64_t, 5> kWidths = {1, 2, 4, 8, 12};  // of the specification
  if (!count || std::ranges::find(kWidths, *count) == kWidths.end()) return std::nullopt;
  for (const Speed& known : kSpeeds) {
    if (SameText(known.name, speed)) return Rate::BitsPerSecond(known.lane_bits * *count);
  }
  return std::nullopt;
}

std::uint32_t Subnet::Declare(DeviceKind kind, std::string_view id, std::string_view description) {
  const auto next = static_cast<std::uint32_t>(nodes_.size());
  const auto [known, added] = node_of_id_.try_emplace(std::string(id), next);
  if (added) {
    nodes_.push_back({kind, std::string(id), std::string(Trim(description)), reader_.line()});
  }
  return known->second;
}

std::optional<std::uint32_t> Subnet::Find(std::string_view id) const {
  const auto known = node_of_id_.find(id);
  if (known == node_of_id_.end()) return std::nullopt;
  return known->second;
}

void Subnet::Problem(const View& view, const std::string& message, const std::string& hint) {
  reader_.LineError(view.line, view.column, "TL1452", message, hint);
}

void Subnet::Connect(CableList::End from, std::string_view remote, std::uint32_t remote_port,
                     std::optional<Rate> rate, int column) {
  View view{from, std::string(remote), remote_port, rate, reader_.line(), column};
  if (from.port == 0 || remote_port == 0) {
    return Problem(view, "a cable in port 0", "ports are counted from 1; 0 is a switch itself");
  }
  const auto [known, added] = views_.try_emplace({from.device, from.port}, view);
  if (!added) {
    Problem(view,
            fmt::format("port {} of {} is cabled twice, before in line {}", from.port,
                        nodes_[from.device].id, known->second.line),
            "a port takes one cable; remove one of the lines");
  }
}

// Whether both ends of the cable agree.
bool Subnet::CheckView(const View& view) {
  const auto remote = Find(view.remote);
  if (!remote) {
    Problem(view, fmt::format("a cable to {}, which the file does not describe", view.remote),
            "is the file complete?");
    return false;
  }
  if (*remote == view.from.device) {
    Problem(view, fmt::format("a cable from {} to itself", view.remote),
            "a loopback plug is no part of a fabric; remove the line");
    return false;
  }
  const auto back = views_.find({*remote, view.remote_port});
  if (back == views_.end()) {
    if (listing_ == Listing::kPartial) return true;
    Problem(view,
            fmt::format("a cable to port {} of {}, which does not list it", view.remote_port,
                        view.remote),
            "is the file complete? Both ends list a cable");
    return false;
  }
  const bool mutual =
      Find(back->second.remote) == view.from.device && back->second.remote_port == view.from.port;
  if (!mutual) {
    Problem(view,
            fmt::format("a cable to port {} of {}, which leads elsewhere by line {}",
                        view.remote_port, view.remote, back->second.line),
            "both ends of a cable name each other");
  }
  return mutual;
}

bool Subnet::ToAggregation(const View& view) const {
  const auto remote = Find(view.remote);
  return IsAggregation(nodes_[view.from.device].description) ||
         (remote && IsAggregation(nodes_[*remote].description));
}

void Subnet::JoinViews(CableList& list) {
  std::size_t one_sided = 0;
  for (auto& [end, view] : views_) {
    if (view.used || ToAggregation(view) || !CheckView(view)) continue;
    const CableList::End to{*Find(view.remote), view.remote_port};
    const auto back = views_.find({to.device, to.port});
    if (back == views_.end()) {
      ++one_sided;
    } else {
      back->second.used = true;
      if (view.rate && back->second.rate && *view.rate != *back->second.rate) {
        Problem(view,
                fmt::format("a cable of {}, and of {} by line {}", ToString(*view.rate),
                            ToString(*back->second.rate), back->second.line),
                "both ends of a cable have one speed");
      }
      if (!view.rate) view.rate = back->second.rate;
    }
    list.cables.push_back({view.from, to, view.rate, std::nullopt, view.line});
  }
  if (one_sided > 0) {
    list.notes.push_back(one_sided == 1
                             ? "a cable is listed from one end alone"
                             : fmt::format("{} cables are listed from one end alone", one_sided));
  }
}

void Subnet::NameDevices(CableList& list) const {
  std::map<std::string, int, std::less<>> uses;  // of descriptions
  for (const Node& node : nodes_) ++uses[node.description];
  // A host name is good for grouping only where its HCAs differ.
  std::map<std::string, bool, std::less<>> clash;
  for (const Node& node : nodes_) {
    const auto [host, hca] = HostAndHca(node.description);
    if (!host.empty() && uses[node.description] > 1) clash[std::string(host)] = true;
  }
  std::size_t unnamed = 0;
  for (const Node& node : nodes_) {
    CableList::Device device{.kind = node.kind, .name = {}, .line = node.line};
    const auto [host, hca] = HostAndHca(node.description);
    if (node.kind == DeviceKind::kSwitch) {
      device.name = SwitchName(node.description);
      if (device.name.empty()) device.name = node.id;
      if (uses[node.description] > 1) device.name += fmt::format(" ({})", node.id);
    } else if (!host.empty() && !clash.contains(host)) {
      device.host = host;
      device.name = fmt::format("{}/{}", host, hca);
    } else {
      // The one HCA of a server of its own.
      unnamed += IsAggregation(node.description) ? 0 : 1;
      const bool telling = !node.description.empty() && uses[node.description] == 1;
      device.name = telling ? node.description : node.id;
      device.host = device.name;
    }
    list.devices.push_back(std::move(device));
  }
  if (unnamed > 0) {
    list.notes.push_back(fmt::format(
        "{} HCAs do not say which server they sit in; each counts as a server of its own",
        unnamed));
  }
  for (const auto& [host, clashes] : clash) {
    list.notes.push_back(fmt::format("several servers are called '{}'", host));
  }
}

void Subnet::SetAggregationAside(CableList& list, const std::vector<bool>& aside) {
  std::vector<std::uint32_t> moved(list.devices.size());
  std::vector<CableList::Device> kept;
  for (std::size_t i = 0; i < list.devices.size(); ++i) {
    moved[i] = static_cast<std::uint32_t>(kept.size());
    if (!aside[i]) kept.push_back(std::move(list.devices[i]));
  }
  for (CableList::Cable& cable : list.cables) {
    cable.a.device = moved[cable.a.device];
    cable.b.device = moved[cable.b.device];
  }
  list.notes.push_back(
      fmt::format("{} SHARP aggregation nodes inside switches are no ends and are set aside",
                  list.devices.size() - kept.size()));
  list.devices = std::move(kept);
}

Result<CableList> Subnet::Finish() {
  CableList list;
  NameDevices(list);
  JoinViews(list);
  if (reader_.failed()) return std::unexpected(reader_.TakeDiagnostics());
  std::vector<bool> aside(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    aside[i] = nodes_[i].kind != DeviceKind::kSwitch && IsAggregation(nodes_[i].description);
  }
  if (std::ranges::find(aside, true) != aside.end()) SetAggregationAside(list, aside);
  return list;
}

}  // namespace trunkline
