#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "trace/goal_block.h"

namespace trunkline {
namespace {

constexpr std::size_t kLongestExcerpt = 1'000;

}  // namespace

int GoalProblems::LineOf(std::size_t place) const {
  return static_cast<int>(std::ranges::count(bytes_.substr(0, place), '\n')) + 1;
}

std::string GoalProblems::Name(std::size_t place) const {
  return text_ ? fmt::format("line {}", LineOf(place)) : fmt::format("byte {}", place);
}

void GoalProblems::Add(const char* code, std::size_t place, std::string message, std::string hint,
                       Severity severity) {
  if (full()) return;
  if (severity == Severity::kError) ++errors_;
  Diagnostic problem{.severity = severity,
                     .code = code,
                     .where = {.file = file_},
                     .message = std::move(message),
                     .hint = std::move(hint),
                     .excerpt = {}};
  if (text_) {
    const std::string_view before = bytes_.substr(0, place);
    const std::size_t newline = before.rfind('\n');
    const std::size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
    std::string_view line = bytes_.substr(line_begin, bytes_.find('\n', place) - line_begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    problem.where.line = LineOf(place);
    problem.where.column = static_cast<int>(place - line_begin) + 1;
    if (line.size() <= kLongestExcerpt) problem.excerpt = line;
  } else {
    problem.message += fmt::format(" (byte {})", place);
  }
  all_.push_back(std::move(problem));
}

Diagnostics GoalProblems::Take() {
  std::ranges::sort(all_, {}, [](const Diagnostic& problem) {
    return std::tuple(problem.where.line, problem.where.column, std::string_view(problem.message));
  });
  return std::move(all_);
}

}  // namespace trunkline
