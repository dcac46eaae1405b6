#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/word_reader.h"
#include "fabric/import/cable_list.h"

namespace trunkline {

// What `4xNDR`, the width and speed of a port, carries of data: "4x" and "NDR" apart. Nothing for
// a speed of no InfiniBand generation, "???" among them.
[[nodiscard]] std::optional<Rate> InfinibandRate(std::string_view width, std::string_view speed);

// Gathers what the tools of an InfiniBand subnet say port by port, each cable from both its ends,
// and makes cables of it.
class Subnet {
 public:
  // Whether every device lists its ports, so that a cable that only one end knows is a mistake.
  enum class Listing : std::uint8_t { kWhole, kPartial };

  Subnet(WordReader& reader, Listing listing) : reader_(reader), listing_(listing) {}

  // The device of that id, which is new or known by the same kind and description.
  std::uint32_t Declare(DeviceKind kind, std::string_view id, std::string_view description);
  [[nodiscard]] std::optional<std::uint32_t> Find(std::string_view id) const;
  // One end's view of a cable; `column` is where the line names the remote end.
  void Connect(CableList::End from, std::string_view remote, std::uint32_t remote_port,
               std::optional<Rate> rate, int column);

  // REQUIRES: the reader has reached its end.
  [[nodiscard]] Result<CableList> Finish();

 private:
  struct Node {
    DeviceKind kind = DeviceKind::kSwitch;
    std::string id;
    std::string description;
    int line = 0;
  };
  struct View {
    CableList::End from;
    std::string remote;
    std::uint32_t remote_port = 0;
    std::optional<Rate> rate;
    int line = 0;
    int column = 0;
    bool used = false;
  };

  void NameDevices(CableList& list) const;
  void JoinViews(CableList& list);
  bool CheckView(const View& view);
  [[nodiscard]] bool ToAggregation(const View& view) const;
  void Problem(const View& view, const std::string& message, const std::string& hint);
  static void SetAggregationAside(CableList& list, const std::vector<bool>& aside);

  WordReader& reader_;
  Listing listing_;
  std::vector<Node> nodes_;
  std::map<std::string, std::uint32_t, std::less<>> node_of_id_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, View> views_;  // by device and port
};

}  // namespace trunkline
