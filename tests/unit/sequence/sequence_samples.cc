#include "tests/unit/sequence/sequence_samples.h"

#include <cmath>
#include <functional>
#include <map>

#include "searchplan/sequence/families.h"

namespace espalier {
namespace {

template <class T>
const T& OneOf(const std::vector<T>& all, std::int64_t index) {
  return all[static_cast<std::size_t>(index)];
}

Expression Text(std::string_view text) { return {Value{std::string(text)}}; }

}  // namespace

const std::vector<std::string>& SampleFamilies() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Family& family : Families()) all.emplace_back(family.name);
    return all;
  }();
  return names;
}

Expression Called(std::string family, std::vector<std::variant<Expression, std::vector<Expression>>> arguments) {
  Call call{std::move(family), {}};
  for (auto& argument : arguments) call.arguments.push_back({"", std::move(argument)});
  return {std::move(call)};
}

Expression Written(double number) { return {Value{number}}; }

std::vector<Expression> WrittenAll(const std::vector<std::int64_t>& numbers) {
  std::vector<Expression> all;
  for (const std::int64_t number : numbers) all.push_back({Value{number}});
  return all;
}

double Samples::Number() {
  static const std::vector<double> kNumbers = {0, 1, 0.1, 0.5, -0.25, 3, 0.3};
  return OneOf(kNumbers, Below(7));
}

double Samples::Gamma() {
  static const std::vector<double> kGammas = {1, 0.5, 0.1, 0.95, 1.01};
  return OneOf(kGammas, Below(5));
}

std::vector<std::int64_t> Samples::Milestones(std::int64_t count) {
  std::vector<std::int64_t> milestones;
  for (std::int64_t i = 0, last = 0; i < count; ++i) milestones.push_back(last += 1 + Below(12));
  return milestones;
}

Expression Samples::Next(int depth) {
  while (true) {
    const std::string& family = OneOf(SampleFamilies(), Below(static_cast<std::int64_t>(SampleFamilies().size())));
    const bool combines = family == "Warmup" || family == "Piecewise" || family == "Scale" || family == "Every";
    if (depth > 0 || !combines) return NextOf(family, depth - 1);
  }
}

Expression Samples::NextOneCycle() {
  const std::vector<double> divisors = {25, 4, 1};
  const double pct_start = OneOf<double>({0.3, 0.25, 0.4}, Below(3));
  return Called("OneCycle", {Written(Number()), Written(static_cast<double>(9 + Below(30))), Written(pct_start),
                             Text(Below(2) == 0 ? "cos" : "linear"), Written(OneOf(divisors, Below(3))),
                             Written(OneOf<double>({1e4, 10}, Below(2))), Expression{Value{Below(2) == 0}}});
}

Expression Samples::NextPhase() {
  const double start = OneOf<double>({0, 1.5, 0.1, 7}, Below(4));
  return Called("OneCyclePhase",
                {Written(Number()), Written(Number()), Written(start),
                 Written(start + 1 + static_cast<double>(Below(40)) / 2), Text(Below(2) == 0 ? "cos" : "linear")});
}

Expression Samples::NextWsd() {
  const std::int64_t decay = Below(15);
  const std::int64_t warmup = Below(6);
  const auto count = [](std::int64_t steps) { return Written(static_cast<double>(steps)); };
  return Called("WSD", {Written(Number()), count(1 + warmup + decay + Below(9)), count(decay), count(warmup),
                        Written(Number()), Written(Number()), NextShape()});
}

Expression Samples::NextShape() {
  return Text(OneOf<std::string_view>({"linear", "cosine", "sqrt", "square", "mirror_cosine"}, Below(5)));
}

Expression Samples::NextOf(std::string_view family, int depth) {
  const auto number = [&] { return Written(Number()); };
  const auto period = [&] { return Written(static_cast<double>(Period())); };
  const std::string name(family);
  if (family == "Constant") return Called(name, {number()});
  if (family == "Linear") return Called(name, {number(), number()});
  if (family == "LinearTo") return Called(name, {number(), number(), period()});
  if (family == "Exponential") return Called(name, {number(), Written(Gamma())});
  if (family == "Step") return Called(name, {number(), period(), Written(Gamma())});
  if (family == "MultiStep") return Called(name, {number(), WrittenAll(Milestones(Below(4))), Written(Gamma())});
  if (family == "Polynomial") {
    const double power = OneOf<double>({1, 2, 0.5, 0.9, 2.5}, Below(5));
    return Called(name, {number(), period(), Written(power), number()});
  }
  if (family == "Cosine") {
    return Called(name, {number(), number(), period(), Written(static_cast<double>(1 + Below(3)))});
  }
  if (family == "Sinusoid") {
    return Called(name, {number(), period(), Written(OneOf<double>({0, 0.5, -2}, Below(3))), number()});
  }
  if (family == "CyclicLR") return Called(name, {number(), number(), period(), period()});
  if (family == "OneCycle") return NextOneCycle();
  if (family == "OneCyclePhase") return NextPhase();
  if (family == "Cooldown") return Called(name, {number(), number(), period(), NextShape()});
  if (family == "WSD") return NextWsd();
  if (family == "InverseSqrt") return Called(name, {number(), Written(OneOf<double>({1, 10, 0.5}, Below(3)))});
  if (family == "Table") {
    std::vector<Expression> values;
    for (std::int64_t i = 0, count = 1 + Below(6); i < count; ++i) values.push_back(number());
    return Called(name, {values});
  }
  if (family == "Warmup") return Called(name, {number(), period(), Next(depth)});
  if (family == "Scale") return Called(name, {number(), Next(depth)});
  if (family == "Every") return Called(name, {Written(static_cast<double>(1 + Below(4))), Next(depth)});
  std::vector<Expression> pieces;
  for (std::int64_t i = 0, count = 1 + Below(4); i < count; ++i) pieces.push_back(Next(depth));
  const auto milestones = WrittenAll(Milestones(static_cast<std::int64_t>(pieces.size()) - 1));
  return Called(name, {pieces, milestones});
}

template <class NextPlain>
Expression Samples::NextPlateaus(int depth, const NextPlain& next_plain) {
  const std::int64_t kind = Below(depth > 0 ? 4 : 3);
  if (kind == 0) return next_plain();
  if (kind == 1) return Called("Constant", {next_plain()});
  std::vector<Expression> pieces;
  for (std::int64_t i = 0, count = 1 + Below(4); i < count; ++i) {
    pieces.push_back(kind == 2 ? next_plain() : NextPlateaus(depth - 1, next_plain));
  }
  if (kind == 2) return Called("Table", {pieces});
  const auto milestones = WrittenAll(Milestones(static_cast<std::int64_t>(pieces.size()) - 1));
  return Called("Piecewise", {pieces, milestones});
}

Expression Samples::NextWhole(int depth) {
  const auto number = [&] { return Written(OneOf<double>({0, 1, 2, 16, 64, -8, 0.5}, Below(7))); };
  const auto gamma = [&] { return Written(OneOf<double>({1, 2, 0.5, 0.25}, Below(4))); };
  switch (Below(depth > 0 ? 5 : 3)) {
    case 0:
      return NextPlateaus(depth, number);
    case 1:
      return Called("Step", {number(), Written(static_cast<double>(8 + Period())), gamma()});
    case 2:
      return Called("MultiStep", {number(), WrittenAll(Milestones(Below(4))), gamma()});
    case 3:
      return Called("Scale", {number(), NextWhole(depth - 1)});
    default:
      return Called("Every", {Written(static_cast<double>(1 + Below(4))), NextWhole(depth - 1)});
  }
}

Expression Samples::NextText(int depth) {
  return NextPlateaus(depth, [&] { return Text(OneOf<std::string_view>({"sgd", "adam", ""}, Below(3))); });
}

Expression Samples::NextBoolean(int depth) {
  return NextPlateaus(depth, [&] { return Expression{Value{Below(2) == 0}}; });
}

Expression Samples::Rewritten(const Expression& expression) {
  if (const auto* value = std::get_if<Value>(&expression.form)) {
    const auto* number = std::get_if<double>(value);
    if (number == nullptr || *number != std::floor(*number) || Below(2) == 0) return expression;
    return {Value{static_cast<std::int64_t>(*number)}};
  }
  Call call = std::get<Call>(expression.form);
  const auto family =
      std::find_if(Families().begin(), Families().end(), [&](const Family& each) { return each.name == call.family; });
  const std::int64_t named_from = Below(static_cast<std::int64_t>(call.arguments.size()) + 1);
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    Argument& argument = call.arguments[i];
    if (static_cast<std::int64_t>(i) >= named_from) argument.name = std::string(family->parameters[i].name);
    if (auto* single = std::get_if<Expression>(&argument.value)) {
      *single = Rewritten(*single);
    } else {
      for (Expression& each : std::get<std::vector<Expression>>(argument.value)) each = Rewritten(each);
    }
  }
  return {std::move(call)};
}

}  // namespace espalier
