#include "fabric/builders/galois_field.h"

#include <numbers>

namespace trunkline {

std::optional<GaloisField> GaloisField::Make(std::uint32_t q) {
  if (q < 2) return std::nullopt;
  GaloisField field;
  field.size_ = q;
  field.prime_ = 2;
  while (q % field.prime_ != 0) ++field.prime_;
  std::uint32_t power = q;
  while (power % field.prime_ == 0) power /= field.prime_;
  if (power != 1) return std::nullopt;
  for (std::uint32_t remainder = 1; remainder < q; ++remainder) {
    if (field.FillPowers(remainder)) return field;
  }
  return std::nullopt;  // never: every field has a primitive element
}

bool GaloisField::FillPowers(std::uint32_t remainder) {
  powers_.clear();
  logarithms_.assign(size_, size_);
  std::uint32_t element = 1;
  const std::uint32_t leading = size_ / prime_;
  for (std::uint32_t i = 0; i + 1 < size_; ++i) {
    if (element == 0 || logarithms_[element] != size_) return false;
    logarithms_[element] = i;
    powers_.push_back(element);
    // Times x: the leading coefficient brings in as many remainders.
    const std::uint32_t overflow = element / leading;
    element = element % leading * prime_;
    for (std::uint32_t times = 0; times < overflow; ++times) element = Add(element, remainder);
  }
  return true;
}

std::uint32_t GaloisField::Add(std::uint32_t a, std::uint32_t b) const {
  std::uint32_t sum = 0;
  for (std::uint32_t place = 1; place < size_; place *= prime_) {
    sum += (a / place + b / place) % prime_ * place;
  }
  return sum;
}

double GaloisField::Angle(std::uint32_t t, std::uint32_t element) const {
  std::uint32_t sum = 0;
  for (std::uint32_t place = 1; place < size_; place *= prime_) {
    sum += (t / place % prime_) * (element / place % prime_);
  }
  return 2 * std::numbers::pi * (sum % prime_) / prime_;
}

std::uint32_t GaloisField::Multiply(std::uint32_t a, std::uint32_t b) const {
  return a == 0 || b == 0 ? 0 : Power(logarithms_[a] + logarithms_[b]);
}

}  // namespace trunkline
