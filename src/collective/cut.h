#pragma once

#include <algorithm>
#include <cstdint>

namespace trunkline {

// A half-open range of bytes.
struct ByteRange {
  std::int64_t offset = 0;
  std::int64_t size = 0;
};

// Divides [0, bytes) into `parts` consecutive ranges that begin at multiples of `element` and
// differ by at most one element, the longer ones first. Ranges may be empty.
class EvenCut {
 public:
  EvenCut() = default;
  // REQUIRES: element > 0, parts > 0, bytes is a non-negative multiple of element.
  EvenCut(std::int64_t bytes, std::int64_t element, std::int64_t parts)
      : element_(element),
        quotient_(bytes / element / parts),
        remainder_(bytes / element % parts) {}

  // Where part `i` begins; offset(parts) is the end.
  [[nodiscard]] std::int64_t offset(std::int64_t i) const {
    return (i * quotient_ + std::min(i, remainder_)) * element_;
  }
  [[nodiscard]] std::int64_t size(std::int64_t i) const {
    return (quotient_ + (i < remainder_ ? 1 : 0)) * element_;
  }
  [[nodiscard]] ByteRange range(std::int64_t i) const { return {offset(i), size(i)}; }
  [[nodiscard]] bool even() const { return remainder_ == 0; }
  [[nodiscard]] bool is_long(std::int64_t i) const { return i < remainder_; }
  [[nodiscard]] std::int64_t long_size() const { return (quotient_ + 1) * element_; }
  [[nodiscard]] std::int64_t short_size() const { return quotient_ * element_; }
  [[nodiscard]] std::int64_t longest() const { return even() ? short_size() : long_size(); }

 private:
  std::int64_t element_ = 1;
  std::int64_t quotient_ = 0;
  std::int64_t remainder_ = 0;
};

// A cut whose every part is cut again into `inner` parts: chunk by rank, then piece by channel.
class NestedCut {
 public:
  NestedCut() = default;
  NestedCut(std::int64_t bytes, std::int64_t element, std::int64_t outer, std::int64_t inner)
      : outer_(bytes, element, outer),
        short_(outer_.short_size(), element, inner),
        long_(outer_.long_size(), element, inner) {}

  [[nodiscard]] const EvenCut& outer() const { return outer_; }
  // Of all pieces. They, too, differ by at most one element: parts of q and q + 1 elements have
  // pieces from floor(q / inner) to ceil((q + 1) / inner).
  [[nodiscard]] std::int64_t longest() const { return (outer_.even() ? short_ : long_).longest(); }
  // Piece `j` of part `i`, from the beginning of part `i`.
  [[nodiscard]] ByteRange piece(std::int64_t i, std::int64_t j) const {
    return (outer_.is_long(i) ? long_ : short_).range(j);
  }
  // Piece `j` of part `i`, from the beginning of the whole.
  [[nodiscard]] ByteRange range(std::int64_t i, std::int64_t j) const {
    const ByteRange in_part = piece(i, j);
    return {outer_.offset(i) + in_part.offset, in_part.size};
  }

 private:
  EvenCut outer_;
  EvenCut short_;
  EvenCut long_;
};

}  // namespace trunkline
