#pragma once

#include <cstdint>
#include <vector>

#include "trunkline/base/units.h"

namespace trunkline {

// Moves the messages of some connections in the interpreter's place, by other means than fluid
// flows: as packets.
//
// It has a clock of its own, which never passes that of anything that could still send: the
// interpreter lets it run until the next thing that happens elsewhere, and it stops by itself when
// it has news, since those may lead to messages at once.
class MessageCarrier {
 public:
  // What became of the oldest message of a connection.
  struct News {
    enum class Kind : std::uint8_t {
      kSent,      // its last byte leaves at `time`, which may lie ahead
      kDelivered  // it is whole at the far end at `time`; the connection's latency comes on top
    };
    Kind kind = Kind::kSent;
    std::uint32_t connection = 0;
    Time time;
    Time begin;  // as it was sent
  };

  virtual ~MessageCarrier() = default;
  [[nodiscard]] virtual bool Carries(std::uint32_t connection) const = 0;
  // A message begins to leave at `begin`. REQUIRES: Carries(connection), the message before has
  // left, and `begin` is not before what Run has reached.
  virtual void Send(std::uint32_t connection, Bytes bytes, Time begin) = 0;
  // Moves on, at most until `limit`, to the next news or a while towards it; false: nothing happens
  // before `limit`.
  virtual bool Run(Time limit) = 0;
  // To be taken by the caller.
  [[nodiscard]] std::vector<News>& news() { return news_; }

 protected:
  std::vector<News> news_;
};

}  // namespace trunkline
