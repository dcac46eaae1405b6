#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace trunkline {

// The finite field of q elements, numbered so that 0 and 1 are themselves: an element is a
// polynomial over the integers modulo p whose coefficients are the digits of its number to base p.
class GaloisField {
 public:
  // Nothing when q is no power of a prime. REQUIRES: q <= 65,536.
  [[nodiscard]] static std::optional<GaloisField> Make(std::uint32_t q);

  [[nodiscard]] std::uint32_t size() const { return size_; }
  // The i-th power of a primitive element.
  [[nodiscard]] std::uint32_t Power(std::uint32_t i) const { return powers_[i % (size_ - 1)]; }
  [[nodiscard]] std::uint32_t Add(std::uint32_t a, std::uint32_t b) const;
  // Of the t-th character of the field's addition: each digit times that of `t`, over p.
  [[nodiscard]] double Angle(std::uint32_t t, std::uint32_t element) const;
  [[nodiscard]] std::uint32_t Multiply(std::uint32_t a, std::uint32_t b) const;

 private:
  // Fills powers_ with those of x modulo x^n - remainder; false when x is not primitive.
  bool FillPowers(std::uint32_t remainder);

  std::uint32_t size_ = 0;
  std::uint32_t prime_ = 0;
  std::vector<std::uint32_t> powers_;
  std::vector<std::uint32_t> logarithms_;  // of 1, 2, …
};

}  // namespace trunkline
