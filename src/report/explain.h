#pragma once

#include <string>
#include <vector>

#include "trunkline/scenario/result.h"

namespace trunkline {

// Digits of the numbers put into formulas: enough to redo them by hand.
inline constexpr int kFigureDigits = 6;

// A number with the way it comes about: "ring steps", "2(p - 1)", "2 x (16 - 1)", "30".
struct Figure {
  std::string name;
  std::string formula;
  std::string numbers;  // the formula with this run's values put in
  std::string value;
};

// One link of the causal chain parallelism -> … -> system-level optimisation.
struct Question {
  std::string layer;
  std::string question;
  std::string answer;  // for this run
  std::vector<Figure> figures;
};

// The seven questions, in causal order, answered for this run.
[[nodiscard]] std::vector<Question> Explain(const RunResult& result);

}  // namespace trunkline
