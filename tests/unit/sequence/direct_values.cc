#include "tests/unit/sequence/direct_values.h"

#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "base/check.h"
#include "searchplan/sequence/exact_math.h"

namespace espalier {
namespace {

// A call's arguments by place or name.
class Given {
 public:
  explicit Given(const Call& call) : call_(call) {}

  const Argument* Find(std::size_t place, std::string_view name) const {
    if (place < call_.arguments.size() && call_.arguments[place].name.empty()) return &call_.arguments[place];
    for (const Argument& argument : call_.arguments) {
      if (argument.name == name) return &argument;
    }
    return nullptr;
  }
  const Expression& Single(std::size_t place, std::string_view name) const {
    return std::get<Expression>(Find(place, name)->value);
  }
  const std::vector<Expression>& List(std::size_t place, std::string_view name) const {
    return std::get<std::vector<Expression>>(Find(place, name)->value);
  }
  Value Plain(std::size_t place, std::string_view name, std::optional<Value> otherwise = std::nullopt) const {
    const Argument* argument = Find(place, name);
    return argument == nullptr ? *otherwise : std::get<Value>(std::get<Expression>(argument->value).form);
  }
  double Number(std::size_t place, std::string_view name, std::optional<Value> otherwise = std::nullopt) const {
    return std::get<double>(*Convert(Plain(place, name, std::move(otherwise)), ValueType::kFloating));
  }
  std::int64_t Whole(std::size_t place, std::string_view name, std::optional<Value> otherwise = std::nullopt) const {
    return static_cast<std::int64_t>(Number(place, name, std::move(otherwise)));
  }
  std::vector<std::int64_t> Milestones(std::size_t place) const {
    std::vector<std::int64_t> milestones;
    for (const Expression& each : List(place, "milestones")) {
      milestones.push_back(
          static_cast<std::int64_t>(std::get<double>(*Convert(std::get<Value>(each.form), ValueType::kFloating))));
    }
    return milestones;
  }

 private:
  const Call& call_;
};

double NumberAt(const Expression& expression, std::int64_t x);

double LinearTo(double init, double end, std::int64_t period, std::int64_t x) {
  if (x >= period) return end;
  return init + static_cast<double>(x) * ((end - init) / static_cast<double>(period));
}

double Polynomial(const Given& given, std::int64_t x) {
  const double init = given.Number(0, "init");
  const double end = given.Number(3, "end", Value{0.0});
  const std::int64_t period = given.Whole(1, "period");
  if (x >= period) return end;
  return end + (init - end) * PowerOfRatio(period - x, period, given.Number(2, "power"));
}

double Cosine(const Given& given, std::int64_t x) {
  const double init = given.Number(0, "init");
  const double min_y = given.Number(1, "min_y");
  const std::int64_t gamma = given.Whole(3, "gamma", Value{1.0});
  std::int64_t length = given.Whole(2, "period");
  for (; x >= length; length *= gamma) x -= length;
  return init - (init - min_y) * ((1 - CosineOfPi(x, length)) / 2);
}

double Sinusoid(const Given& given, std::int64_t x) {
  const std::int64_t period = given.Whole(1, "period");
  const double cosine = CosineOfTurn(x % period, period, given.Number(2, "phase", Value{0.0}));
  return given.Number(3, "offset", Value{0.0}) + given.Number(0, "magnitude") * cosine;
}

double CyclicLR(const Given& given, std::int64_t x) {
  const double init = given.Number(0, "init");
  const double max_y = given.Number(1, "max_y");
  const std::int64_t up = given.Whole(2, "period1");
  const std::int64_t down = given.Whole(3, "period2");
  const std::int64_t place = x % (up + down);
  return place < up ? LinearTo(init, max_y, up, place) : LinearTo(max_y, init, down, place - up);
}

double PhaseValue(double a, double b, double start, double end, bool cosine, double x) {
  if (cosine) return b + (a - b) * ((1 + CosineOfPiBetween(x, start, end)) / 2);
  return a + (b - a) * ((x - start) / (end - start));
}

bool IsCosine(const Given& given, std::size_t place) {
  return given.Plain(place, "anneal", Value{std::string("cos")}) == Value{std::string("cos")};
}

double OneCycle(const Given& given, std::int64_t step) {
  const double max_y = given.Number(0, "max_y");
  const double total = given.Number(1, "total_steps");
  const double pct_start = given.Number(2, "pct_start", Value{0.3});
  const bool cosine = IsCosine(given, 3);
  const double low = max_y / given.Number(4, "div_factor", Value{25.0});
  const double least = low / given.Number(5, "final_div_factor", Value{1e4});
  const bool three = std::get<bool>(given.Plain(6, "three_phase", Value{false}));
  const double x = std::min(static_cast<double>(step), total - 1);
  const double first_end = pct_start * total - 1;
  const double second_end = 2 * pct_start * total - 2;
  if (x <= first_end) return PhaseValue(low, max_y, 0, first_end, cosine, x);
  if (!three) return PhaseValue(max_y, least, first_end, total - 1, cosine, x);
  if (x <= second_end) return PhaseValue(max_y, low, first_end, second_end, cosine, x);
  return PhaseValue(low, least, second_end, total - 1, cosine, x);
}

double OneCyclePhase(const Given& given, std::int64_t step) {
  const double start = given.Number(2, "start");
  const double end = given.Number(3, "end");
  const double first = start == 0 ? 0 : std::floor(start) + 1;
  const double x = std::min(first + static_cast<double>(step), std::floor(end));
  return PhaseValue(given.Number(0, "from"), given.Number(1, "to"), start, end, IsCosine(given, 4), x);
}

double Decay(double init, double min_y, std::int64_t period, const std::string& shape, std::int64_t x) {
  if (x >= period) return min_y;
  if (shape == "linear") return LinearTo(init, min_y, period, x);
  const double u = static_cast<double>(x) / static_cast<double>(period);
  const double cosine = (1 - CosineOfPi(x, period)) / 2;
  if (shape == "cosine") return init - (init - min_y) * cosine;
  if (shape == "sqrt") return init - (init - min_y) * std::sqrt(u);
  if (shape == "square") return init - (init - min_y) * (u * u);
  return init - (init - min_y) * (2 * u - cosine);
}

std::string Shape(const Given& given, std::size_t place, const char* otherwise) {
  return std::get<std::string>(given.Plain(place, "shape", Value{std::string(otherwise)}));
}

double Cooldown(const Given& given, std::int64_t x) {
  return Decay(given.Number(0, "init"), given.Number(1, "min_y"), given.Whole(2, "period"), Shape(given, 3, "linear"),
               x);
}

double Wsd(const Given& given, std::int64_t x) {
  const double max_y = given.Number(0, "max_y");
  const std::int64_t decay = given.Whole(2, "decay_steps");
  const std::int64_t warmup = given.Whole(3, "warmup_steps", Value{0.0});
  const std::int64_t stable_end = given.Whole(1, "total_steps") - decay;
  if (x < warmup) return LinearTo(given.Number(4, "start_y", Value{0.0}), max_y, warmup, x);
  if (x < stable_end || decay == 0) return max_y;
  return Decay(max_y, given.Number(5, "min_y", Value{0.0}), decay, Shape(given, 6, "sqrt"), x - stable_end);
}

double InverseSqrt(const Given& given, std::int64_t x) {
  const double timescale = given.Number(1, "timescale", Value{1.0});
  return given.Number(0, "init") / std::sqrt((static_cast<double>(x) + timescale) / timescale);
}

double Warmup(const Given& given, std::int64_t x) {
  const std::int64_t period = given.Whole(1, "period");
  const Expression& then = given.Single(2, "then");
  if (x >= period) return NumberAt(then, x - period);
  return LinearTo(given.Number(0, "init"), NumberAt(then, 0), period, x);
}

using Family = std::function<double(const Given&, std::int64_t)>;

const std::map<std::string, Family>& NumberFamilies() {
  static const std::map<std::string, Family> families = {
      {"Linear",
       [](const Given& given, std::int64_t x) {
         return given.Number(0, "init") + given.Number(1, "slope") * static_cast<double>(x);
       }},
      {"LinearTo",
       [](const Given& given, std::int64_t x) {
         return LinearTo(given.Number(0, "init"), given.Number(1, "end"), given.Whole(2, "period"), x);
       }},
      {"Step",
       [](const Given& given, std::int64_t x) {
         return given.Number(0, "init") * WholePower(given.Number(2, "gamma"), x / given.Whole(1, "every"));
       }},
      {"MultiStep",
       [](const Given& given, std::int64_t x) {
         std::int64_t passed = 0;
         for (const std::int64_t milestone : given.Milestones(1)) passed += milestone <= x ? 1 : 0;
         return given.Number(0, "init") * WholePower(given.Number(2, "gamma"), passed);
       }},
      {"Exponential", [](const Given& given,
                         std::int64_t x) { return given.Number(0, "init") * WholePower(given.Number(1, "gamma"), x); }},
      {"Polynomial", Polynomial},
      {"Cosine", Cosine},
      {"Sinusoid", Sinusoid},
      {"CyclicLR", CyclicLR},
      {"OneCycle", OneCycle},
      {"OneCyclePhase", OneCyclePhase},
      {"InverseSqrt", InverseSqrt},
      {"Cooldown", Cooldown},
      {"WSD", Wsd},
      {"Warmup", Warmup},
      {"Scale", [](const Given& given,
                   std::int64_t x) { return given.Number(0, "factor") * NumberAt(given.Single(1, "f"), x); }},
  };
  return families;
}

// The plain value or number that the expression has at x, not yet of its type.
Value ValueAt(const Expression& expression, std::int64_t x) {
  if (const auto* value = std::get_if<Value>(&expression.form)) return *value;
  const auto& call = std::get<Call>(expression.form);
  const Given given(call);
  if (call.family == "Constant") return given.Plain(0, "init");
  if (call.family == "Table") {
    const auto& values = given.List(0, "values");
    return std::get<Value>(values[std::min<std::size_t>(x, values.size() - 1)].form);
  }
  if (call.family == "Every") return ValueAt(given.Single(1, "f"), x / given.Whole(0, "k"));
  if (call.family == "Piecewise") {
    std::size_t piece = 0;
    std::int64_t start = 0;
    for (const std::int64_t milestone : given.Milestones(1)) {
      if (milestone > x) break;
      ++piece;
      start = milestone;
    }
    return ValueAt(given.List(0, "pieces")[piece], x - start);
  }
  const double number = NumberFamilies().at(call.family)(given, x);
  return number == 0 ? 0.0 : number;
}

double NumberAt(const Expression& expression, std::int64_t x) {
  return std::get<double>(*Convert(ValueAt(expression, x), ValueType::kFloating));
}

}  // namespace

Value DirectValue(const Expression& expression, ValueType type, std::int64_t x) {
  const auto value = Convert(ValueAt(expression, x), type);
  ESPALIER_CHECK(value.has_value()) << value.error().message;
  return *value;
}

}  // namespace espalier
