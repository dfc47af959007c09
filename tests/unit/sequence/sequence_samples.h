// Random expressions of every family, with few different arguments, so that different forms often coincide.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "searchplan/sequence/expression.h"

namespace espalier {

// Every family's name.
const std::vector<std::string>& SampleFamilies();

// `Name(arguments)`, all by position.
Expression Called(std::string family, std::vector<std::variant<Expression, std::vector<Expression>>> arguments);
Expression Written(double number);
std::vector<Expression> WrittenAll(const std::vector<std::int64_t>& numbers);

class Samples {
 public:
  explicit Samples(std::uint64_t seed) : random_(seed) {}

  // From 0 up to, not including, the bound.
  std::int64_t Below(std::int64_t bound) { return static_cast<std::int64_t>(random_() % bound); }

  // Floating. Compiles up to any horizon below 100. Calls nest `depth` deep inside it.
  Expression Next(int depth = 3);
  Expression NextOf(std::string_view family, int depth = 2);

  // Of whole numbers, text or booleans; one of whole numbers may be refused for values that are not whole.
  Expression NextWhole(int depth = 2);
  Expression NextText(int depth = 2);
  Expression NextBoolean(int depth = 2);

  double Number();
  double Gamma();
  std::int64_t Period() { return 1 + Below(20); }
  std::vector<std::int64_t> Milestones(std::int64_t count);

  // The same call with arguments from some place on given by name, and whole numbers written with or without a point.
  Expression Rewritten(const Expression& expression);
  Expression NextShape();  // of a Cooldown

 private:
  Expression NextOneCycle();
  Expression NextPhase();
  Expression NextWsd();
  // Constant, Table or Piecewise of what `next` gives.
  template <class NextPlain>
  Expression NextPlateaus(int depth, const NextPlain& next_plain);

  std::mt19937_64 random_;
};

}  // namespace espalier
