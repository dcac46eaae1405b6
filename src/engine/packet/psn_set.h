#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace trunkline {

// A set of packet numbers that lie close together: a window of bits that moves with them. Numbers
// are taken modulo the size of the window, so whoever moves on erases what falls behind.
class PsnSet {
 public:
  // Adds `psn`; false when it was there. REQUIRES: no member is before `base`, and psn is not.
  bool Insert(std::uint32_t base, std::uint32_t psn) {
    if (psn - base >= capacity()) Grow(base, psn - base);
    std::uint64_t& word = words_[WordOf(psn)];
    const std::uint64_t bit = BitOf(psn);
    const bool fresh = (word & bit) == 0;
    word |= bit;
    return fresh;
  }
  // Adds psn + i for every bit i. REQUIRES: `bits` != 0, no member is before `base`, psn is not.
  void InsertWord(std::uint32_t base, std::uint32_t psn, std::uint64_t bits) {
    const std::uint32_t last = psn + static_cast<std::uint32_t>(std::bit_width(bits)) - 1;
    if (last - base >= capacity()) Grow(base, last - base);
    words_[WordOf(psn)] |= bits << (psn % 64);
    if (psn % 64 != 0) words_[WordOf(psn + 64)] |= bits >> (64 - psn % 64);
  }
  // Removes `psn`; whether it was there. REQUIRES: psn is within the window.
  bool Erase(std::uint32_t psn) {
    if (words_.empty()) return false;
    std::uint64_t& word = words_[WordOf(psn)];
    const std::uint64_t bit = BitOf(psn);
    const bool found = (word & bit) != 0;
    word &= ~bit;
    return found;
  }
  // Removes psn + i for every bit i; how many there were. REQUIRES: as Word.
  std::uint32_t EraseWord(std::uint32_t base, std::uint32_t psn, std::uint64_t bits) {
    const std::uint64_t members = Word(base, psn) & bits;
    if (members == 0) return 0;
    words_[WordOf(psn)] &= ~(members << (psn % 64));
    if (psn % 64 != 0) words_[WordOf(psn + 64)] &= ~(members >> (64 - psn % 64));
    return static_cast<std::uint32_t>(std::popcount(members));
  }
  // Removes [from, to); how many there were. REQUIRES: no member is before `from`.
  std::uint32_t EraseRange(std::uint32_t from, std::uint32_t to) {
    std::uint32_t erased = 0;
    const std::uint32_t end = from + std::min(to - from, capacity());
    for (std::uint32_t psn = from; psn != end;) {
      const std::uint32_t count = std::min(64 - psn % 64, end - psn);
      std::uint64_t& word = words_[WordOf(psn)];
      const std::uint64_t mask = Ones(count) << (psn % 64);
      erased += static_cast<std::uint32_t>(std::popcount(word & mask));
      word &= ~mask;
      psn += count;
    }
    return erased;
  }
  // Bit i: psn + i is a member. REQUIRES: no member is before `base`, and psn is not.
  [[nodiscard]] std::uint64_t Word(std::uint32_t base, std::uint32_t psn) const {
    const std::uint32_t ahead = psn - base;
    if (ahead >= capacity()) return 0;
    std::uint64_t word = words_[WordOf(psn)] >> (psn % 64);
    if (psn % 64 != 0) word |= words_[WordOf(psn + 64 - psn % 64)] << (64 - psn % 64);
    // Beyond the window's end, the same bits are its beginning.
    return word & Ones(std::min<std::uint32_t>(64, capacity() - ahead));
  }
  // The first member in [base, end), or `end`. REQUIRES: no member is before `base`.
  [[nodiscard]] std::uint32_t First(std::uint32_t base, std::uint32_t end) const {
    for (std::uint32_t psn = base; psn - base < end - base && psn - base < capacity(); psn += 64) {
      const std::uint64_t word = Word(base, psn);
      if (word == 0) continue;
      const std::uint32_t found = psn + static_cast<std::uint32_t>(std::countr_zero(word));
      return found - base < end - base ? found : end;
    }
    return end;
  }

 private:
  static constexpr std::uint64_t Ones(std::uint32_t count) {
    return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }
  [[nodiscard]] std::uint32_t capacity() const {
    return static_cast<std::uint32_t>(words_.size()) * 64;
  }
  [[nodiscard]] std::size_t WordOf(std::uint32_t psn) const {
    return (psn / 64) & (words_.size() - 1);
  }
  static std::uint64_t BitOf(std::uint32_t psn) { return std::uint64_t{1} << (psn % 64); }

  void Grow(std::uint32_t base, std::uint32_t ahead) {
    PsnSet grown;
    std::size_t size = std::max<std::size_t>(words_.size(), 2);
    while (size * 64 <= ahead) size *= 2;
    grown.words_.resize(size);
    for (std::uint32_t i = 0; i < capacity(); ++i) {
      const std::uint32_t psn = base + i;
      if ((words_[WordOf(psn)] & BitOf(psn)) != 0) grown.words_[grown.WordOf(psn)] |= BitOf(psn);
    }
    words_ = std::move(grown.words_);
  }

  std::vector<std::uint64_t> words_;  // a power of two of them
};

}  // namespace trunkline
