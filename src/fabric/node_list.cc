#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "trunkline/fabric/placement.h"

// Slurm's hostlists: names with bracketed sets of numbers, `r[1-2]n[01-04,7]`.
namespace trunkline {
namespace {

constexpr std::size_t kMostNames = 262'144;
constexpr std::size_t kLongestName = 255;
constexpr std::size_t kMostDigits = 9;

class NodeListReader {
 public:
  explicit NodeListReader(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> Read() {
    std::vector<std::string> names;
    do {
      if (!ReadElement(names)) return std::unexpected(std::move(problems_));
    } while (Accept(','));
    if (at_ < text_.size()) {
      Refuse(fmt::format("'{}' between names", text_[at_]), "separate names by commas");
      return std::unexpected(std::move(problems_));
    }
    return names;
  }

 private:
  // One name with its brackets multiplied out.
  bool ReadElement(std::vector<std::string>& names) {
    std::vector<std::string> element = {""};
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',') {
      if (!(Accept('[') ? ReadBrackets(element) : ReadLetters(element))) return false;
    }
    if (at_ == begin) return Refuse("a name is missing", "write node[001-016,020]");
    if (names.size() + element.size() > kMostNames) return TooMany();
    names.insert(names.end(), element.begin(), element.end());
    return true;
  }

  bool ReadLetters(std::vector<std::string>& element) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '[') {
      const char c = text_[at_];
      if (c == ']' || static_cast<unsigned char>(c) <= ' ' || c == 0x7f) {
        return Refuse("a character that no name has", "write node[001-016,020]");
      }
      ++at_;
    }
    for (std::string& name : element) {
      name += text_.substr(begin, at_ - begin);
      if (name.size() > kLongestName)
        return Refuse("a name of more than 255 letters", "shorten it");
    }
    return true;
  }

  bool ReadBrackets(std::vector<std::string>& element) {
    std::vector<std::string> numbers;
    do {
      if (!ReadRange(numbers)) return false;
    } while (Accept(','));
    if (!Accept(']')) return Refuse("']' is missing", "write node[001-016,020]");
    if (numbers.size() * element.size() > kMostNames) return TooMany();
    std::vector<std::string> products;
    for (const std::string& name : element) {
      for (const std::string& number : numbers) products.push_back(name + number);
    }
    element = std::move(products);
    return true;
  }

  // 7 or 001-016: as wide as its first number is written.
  bool ReadRange(std::vector<std::string>& numbers) {
    std::size_t width = 0;
    std::size_t last_width = 0;
    std::uint32_t first = 0;
    if (!ReadNumber(first, width)) return false;
    std::uint32_t last = first;
    if (Accept('-') && !ReadNumber(last, last_width)) return false;
    if (last < first) {
      return Refuse(fmt::format("the range runs from {} down to {}", first, last),
                    "write the smaller number first");
    }
    if (numbers.size() + (last - first) >= kMostNames) return TooMany();
    for (std::uint32_t n = first; n <= last; ++n) {
      numbers.push_back(fmt::format("{:0{}}", n, width));
    }
    return true;
  }

  bool ReadNumber(std::uint32_t& number, std::size_t& width) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    width = at_ - begin;
    if (width == 0 || width > kMostDigits) {
      return Refuse("no number of up to nine digits", "write node[001-016,020]");
    }
    std::from_chars(text_.data() + begin, text_.data() + at_, number);
    return true;
  }

  bool Accept(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool TooMany() { return Refuse(fmt::format("more than {} names", kMostNames), "name fewer"); }

  bool Refuse(const std::string& message, const std::string& hint) {
    problems_ =
        Error("TL1422", fmt::format("node list, at letter {}: {}", at_ + 1, message), hint).error();
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Diagnostics problems_;
};

}  // namespace

Result<std::vector<std::string>> ParseNodeList(std::string_view text) {
  return NodeListReader(text).Read();
}

}  // namespace trunkline
