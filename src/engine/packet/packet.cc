#include "engine/packet/packet.h"

#include <sys/mman.h>

#include <memory>
#include <new>

namespace trunkline {
namespace {

constexpr std::size_t kStep = 2 << 20;  // bytes that are taken at once: a huge page

}  // namespace

PacketPool::PacketPool(bool many) : many_(many) {
  // 268 million packets, or as many as a limit on addresses leaves room for.
  reserved_bytes_ = std::size_t{16} << 30;
  do {
    reserved_ = mmap(nullptr, reserved_bytes_, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved_ == MAP_FAILED) reserved_bytes_ /= 2;
  } while (reserved_ == MAP_FAILED && reserved_bytes_ > kStep);
  if (reserved_ == MAP_FAILED) throw std::bad_alloc();
  void* first = reserved_;
  std::size_t room = reserved_bytes_;
  std::align(kStep, kStep, first, room);
  packets_ = static_cast<Packet*>(first);
}

PacketPool::~PacketPool() { munmap(reserved_, reserved_bytes_); }

std::uint32_t PacketPool::Grow() {
  if (std::size_t{count_} * sizeof(Packet) % kStep == 0) {
    Packet* const step = packets_ + count_;
    const auto before = static_cast<std::size_t>(reinterpret_cast<std::byte*>(step) -
                                                 static_cast<std::byte*>(reserved_));
    if (before + kStep > reserved_bytes_ || mprotect(step, kStep, PROT_READ | PROT_WRITE) != 0) {
      throw std::bad_alloc();
    }
    if (many_ || count_ != 0) madvise(step, kStep, MADV_HUGEPAGE);
  }
  std::construct_at(&packets_[count_]);
  return count_++;
}

}  // namespace trunkline
