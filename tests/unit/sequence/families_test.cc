// Each family's values against its formula, what is refused, and the laziness of compiling.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "tests/unit/sequence/sequence_testing.h"

namespace espalier {
namespace {

constexpr long double kPi = 3.14159265358979323846264338327950288L;

using Formula = std::function<long double(std::int64_t)>;

void CheckAgainst(std::string_view text, std::int64_t horizon, const Formula& formula, long double range = 1) {
  CAPTURE(text);
  const Sequence sequence = Compiled(text, horizon);
  for (std::int64_t x = 0; x < horizon; ++x) {
    CAPTURE(x);
    CHECK(std::abs(FloatingAt(sequence, x) - formula(x)) <= 1e-12L * range);
  }
}

long double Cosine(long double init, long double min_y, std::int64_t place, std::int64_t length) {
  return init - (init - min_y) * (1 - std::cos(kPi * place / length)) / 2;
}

// Up to the furthest horizon that it can have of some.
Sequence LongestCompiled(const std::string& text) {
  for (const std::int64_t horizon : {kStepMax.value, std::int64_t{2'000'000}}) {
    auto sequence = Compile(Parsed(text), ValueType::kFloating, Step{horizon});
    if (sequence.has_value()) return *std::move(sequence);
  }
  return Compiled(text, 1'000);
}

}  // namespace

TEST_CASE("families have the values of their formulas") {
  CheckAgainst("0.1", 10, [](auto) { return 0.1L; });
  CheckAgainst("Constant(init=0.1)", 10, [](auto) { return 0.1L; });
  CheckAgainst("Linear(0.1, -0.001)", 300, [](auto x) { return 0.1L - 0.001L * x; });
  CheckAgainst("LinearTo(0.01, 0.1, 50)", 100, [](auto x) { return x < 50 ? 0.01L + 0.09L * x / 50 : 0.1L; });
  CheckAgainst("Exponential(0.1, 0.95)", 1000, [](auto x) { return 0.1L * std::pow(0.95L, x); });
  CheckAgainst(
      "Exponential(0.1, gamma=1.01)", 500, [](auto x) { return 0.1L * std::pow(1.01L, x); }, 14);
  CheckAgainst("MultiStep(0.1, [40, 60], gamma=0.1)", 100, [](auto x) {
    return x < 40 ? 0.1L : x < 60 ? 0.01L : 0.001L;
  });
  CheckAgainst("Step(0.1, 30, 0.5)", 200, [](auto x) { return 0.1L * std::pow(0.5L, x / 30); });
  CheckAgainst("Table([0.1, 0.2, 0.2, 0.4])", 8, [](auto x) { return x == 0 ? 0.1L : x < 3 ? 0.2L : 0.4L; });
  CheckAgainst("Cosine(0.1, 0.001, 75)", 200, [](auto x) { return Cosine(0.1L, 0.001L, x % 75, 75); });
  CheckAgainst("Cosine(0.1, 0, 10, gamma=2)", 70, [](auto x) {
    return x < 10 ? Cosine(0.1L, 0, x, 10) : x < 30 ? Cosine(0.1L, 0, x - 10, 20) : Cosine(0.1L, 0, x - 30, 40);
  });
  CheckAgainst("Warmup(0.01, 5, Cosine(0.1, 0, 75))", 80,
               [](auto x) { return x < 5 ? 0.01L + 0.09L * x / 5 : Cosine(0.1L, 0, x - 5, 75); });
  CheckAgainst("Piecewise([Constant(0.1), Exponential(0.05, 0.9)], [40])", 80,
               [](auto x) { return x < 40 ? 0.1L : 0.05L * std::pow(0.9L, x - 40); });
}

TEST_CASE("families have the values of their closed forms, within 1e-12 of the range") {
  std::ifstream file(ESPALIER_SOURCE_DIR "/tests/golden/closed_forms.txt");
  REQUIRE(file.is_open());
  std::map<std::string, Sequence> sequences;
  int value_count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t separator = line.find("; ");
    const std::string text = line.substr(0, separator);
    std::string rest = line.substr(separator);
    std::replace(rest.begin(), rest.end(), ';', ' ');
    std::istringstream numbers(rest);
    std::int64_t step = 0;
    std::string value;
    long double range = 0;
    REQUIRE(static_cast<bool>(numbers >> step >> value >> range));
    auto known = sequences.find(text);
    if (known == sequences.end()) known = sequences.emplace(text, LongestCompiled(text)).first;
    CAPTURE(line);
    CHECK(std::abs(FloatingAt(known->second, step) - std::stold(value)) <= 1e-12L * range);
    ++value_count;
  }
  CHECK(value_count > 2500);
}

TEST_CASE("a long exponential keeps its last digits") {
  const Sequence sequence = Compiled("Exponential(1, 0.9999)", 200'000);
  CHECK(FloatingAt(sequence, 100'000) == 0x1.7ca6de2fe7407p-15);
}

TEST_CASE("a restart of a cosine has exactly its first value, and a milestone's step has the new one") {
  const Sequence cosine = Compiled("Cosine(0.1, 0.03, 7)", 100);
  for (std::int64_t x = 0; x < 100; x += 7) CHECK(FloatingAt(cosine, x) == 0.1);
  const Sequence multi_step = Compiled("MultiStep(0.1, [40], 0.1)", 100);
  CHECK(FloatingAt(multi_step, 39) == 0.1);
  CHECK(FloatingAt(multi_step, 40) == 0.010000000000000002);
}

TEST_CASE("held ends are exactly what was written") {
  CHECK(FloatingAt(Compiled("LinearTo(0.3, 0.1, 7)", 100), 7) == 0.1);
  CHECK(FloatingAt(Compiled("Warmup(0.3, 7, 0.1)", 100), 7) == 0.1);
}

TEST_CASE("there is no negative zero") {
  for (const auto* text : {"-0.0", "Linear(-0.0, 1)", "MultiStep(-1, [1, 2], 1e-200)", "Step(-1, 1, 1e-200)",
                           "Exponential(-1, 1e-300)", "LinearTo(1, -0.0, 3)", "Table([-0.0])", "Linear(-1, 1)"}) {
    CAPTURE(text);
    const Sequence sequence = Compiled(text, 10);
    for (std::int64_t x = 0; x < 10; ++x) {
      if (FloatingAt(sequence, x) == 0) CHECK_FALSE(std::signbit(FloatingAt(sequence, x)));
    }
  }
}

TEST_CASE("whole-number hyper-parameters take exact whole results up to the horizon") {
  const auto integer = ValueType::kInteger;
  CHECK(Canonical("32.0", 100, integer) == "32");
  CHECK(Canonical("MultiStep(32, [50], gamma=2)", 100, integer) == "Piecewise([32, 64], [50])");
  CHECK(Canonical("MultiStep(3, [50], gamma=0.5)", 50, integer) == "3");
  CHECK(Canonical("Piecewise([MultiStep(8, [2, 4], 0.5), Table([1, 2, 2])], [6])", 100, integer) ==
        "Piecewise([8, 4, 2, 1, 2], [2, 4, 6, 7])");
  CHECK(Canonical("Scale(32, Step(1, 10, 0.5))", 25, integer) == "Piecewise([32, 16, 8], [10, 20])");
  CHECK(Canonical("Scale(0.5, Table([8, 4, 6]))", 25, integer) == "Piecewise([4, 2, 3], [1, 2])");
  CHECK(Canonical("Every(5, Table([8, 4, 6]))", 25, integer) == "Piecewise([8, 4, 6], [5, 10])");
  CHECK(Canonical("Scale(1, 9007199254740993)", 25, integer) == "9007199254740993");
  CHECK(Refused("Scale(0.5, Table([8, 4, 7]))", 25, integer).message ==
        "Scale: at step 2: expected a whole number, got 3.5");
  CHECK(Refused("Scale(1e10, Table([1, 1000000]))", 25, integer).message ==
        "Scale: at step 1: expected whole numbers up to 2^53, got 1e+16");
  CHECK(Refused("Every(2, Linear(1, 1))", 25, integer).message.find("Every: Linear: gives floating numbers") == 0);
  CHECK(Refused("MultiStep(3, [50], gamma=0.5)", 51, integer).message ==
        "MultiStep: at step 50: expected a whole number, got 1.5");
  CHECK(Refused("12.5", 100, integer).message == "at step 0: expected a whole number, got 12.5");
  CHECK(Refused("MultiStep(1, [1, 2], 1e10)", 100, integer).message ==
        "MultiStep: at step 2: expected whole numbers up to 2^53, got 1e+20");
  CHECK(Refused("Exponential(1, 2)", 100, integer).message.find("Exponential: gives floating numbers") == 0);
  CHECK(Refused("Piecewise([1, Linear(1, 1)], [500])", 100, integer).code == ErrorCode::kInvalidArgument);
  CHECK(Refused("true", 100, integer).message == "expected a whole number, got true");
}

TEST_CASE("text and booleans take Constant, Piecewise and Table") {
  CHECK(Canonical("Piecewise([\"sgd\", \"adam\"], [3])", 100, ValueType::kText) ==
        "Piecewise([\"sgd\", \"adam\"], [3])");
  CHECK(Canonical("Table([true, true, false])", 100, ValueType::kBoolean) == "Piecewise([true, false], [2])");
  CHECK(Refused("MultiStep(1, [2], 2)", 100, ValueType::kBoolean).message.find("MultiStep: ") == 0);
  CHECK(Refused("Every(2, \"sgd\")", 100, ValueType::kText).message ==
        "Every: gives numbers, the hyper-parameter is of type text, expected one of Constant, Table, Piecewise");
  CHECK(Refused("3", 100, ValueType::kText).message == "expected text in double quotes, got 3");
  CHECK(Refused("Piecewise([true, 1], [50])", 10, ValueType::kBoolean).message ==
        "Piecewise: expected true or false, got 1");
}

TEST_CASE("nonsense is refused with the family, the argument, what is wrong and what is expected") {
  const auto message = [](std::string_view text) { return Refused(text).message; };
  CHECK(message("MultiStep(0.1, [80, 60], 0.1)") ==
        "MultiStep: milestones must be strictly increasing, got 60 after 80");
  CHECK(message("MultiStep(0.1, [0, 60], 0.1)") ==
        "MultiStep: milestones[0] must be a whole number from 1 to 2^53, got 0");
  CHECK(message("Cosin(0.1, 0, 5)") == "Cosin: no such function, did you mean Cosine?");
  CHECK(message("multistep(0.1)") == "multistep: no such function, did you mean MultiStep?");
  CHECK(message("Cosine(0.1, 0, 2.5)") == "Cosine: period must be a whole number from 1 to 2^53, got 2.5");
  CHECK(message("Cosine(0.1, 0, -5)") == "Cosine: period must be a whole number from 1 to 2^53, got -5");
  CHECK(message("Cosine(0.1, 0, 5, 1.5)") == "Cosine: gamma must be a whole number from 1 to 2^53, got 1.5");
  CHECK(message("Exponential(0.1, 0)") == "Exponential: gamma must be greater than 0, got 0.0");
  CHECK(message("MultiStep(0.1, [4], -1)") == "MultiStep: gamma must be greater than 0, got -1.0");
  CHECK(message("Step(0.1, 4, -1)") == "Step: gamma must be greater than 0, got -1.0");
  CHECK(message("Exponential(\"x\", 0.5)") == "Exponential: init: expected a number, got \"x\"");
  CHECK(message("Exponential([1], 0.5)") == "Exponential: init must be a single value, got a list");
  CHECK(message("Exponential(Linear(1, 2), 0.5)") == "Exponential: init must be a plain value, got Linear(...)");
  CHECK(message("Exponential(0.1)") == "Exponential: gamma is missing, expected Exponential(init, gamma)");
  CHECK(message("Exponential(0.1, 0.5, 3)") ==
        "Exponential: too many arguments (3), expected Exponential(init, gamma)");
  CHECK(message("Exponential(0.1, 0.5, init=3)") == "Exponential: init is given twice");
  CHECK(message("Exponential(gamma=0.1, 0.5)") ==
        "Exponential: arguments by position must come before those by name, expected Exponential(init, gamma)");
  CHECK(message("Cosine(0.1, 0, per=3)") ==
        "Cosine: no argument per, did you mean period? Expected Cosine(init, min_y, period, gamma = 1)");
  CHECK(message("Piecewise([1, 2], [])") == "Piecewise: milestones must be one fewer than the 2 pieces, got 0");
  CHECK(message("Piecewise([], [])") == "Piecewise: pieces must have at least one function, got []");
  CHECK(message("Piecewise([1, Exponential(1, -1)], [9000])") ==
        "Piecewise: Exponential: gamma must be greater than 0, got -1.0");
  CHECK(message("Piecewise(1, 2)") == "Piecewise: pieces must be a list in [ ], got 1");
  CHECK(message("Table([])") == "Table: values must have at least one value, got []");
  CHECK(message("Constant(9007199254740993)") ==
        "Constant: init: expected a number that floating point holds exactly, got 9007199254740993");
  CHECK(Refused("0.1", 0).message == "the horizon must be from 1 to 2^53 steps, got 0");
}

TEST_CASE("nonsense in the other families is refused as clearly") {
  const auto message = [](std::string_view text) { return Refused(text).message; };
  const std::string count = " must be a whole number from 1 to 2^53, got ";
  CHECK(message("Polynomial(0.1, 0, 2)") == "Polynomial: period" + count + "0");
  CHECK(message("Polynomial(0.1, 10, 0)") == "Polynomial: power must be greater than 0, got 0.0");
  CHECK(message("Polynomial(0.1, 10)") ==
        "Polynomial: power is missing, expected Polynomial(init, period, power, end = 0.0)");
  CHECK(message("Sinusoid(1, 2.5)") == "Sinusoid: period" + count + "2.5");
  CHECK(message("Sinusoid(1, 5, 1e20)") == "Sinusoid: phase must be from -2^53 to 2^53 radians, got 1e+20");
  CHECK(message("CyclicLR(0, 1, 5, 0)") == "CyclicLR: period2" + count + "0");
  CHECK(message("InverseSqrt(1, 0)") == "InverseSqrt: timescale must be greater than 0, got 0.0");
  CHECK(message("Every(0, 1)") == "Every: k" + count + "0");
  CHECK(message("Every(2, Cosine(1, 0, -1))") == "Every: Cosine: period" + count + "-1");
  CHECK(message("Scale(\"a\", 1)") == "Scale: factor: expected a number, got \"a\"");
  CHECK(message("Scale(2, [1])") == "Scale: f must be a single value, got a list");
  CHECK(message("OneCycle(1, 10, anneal=\"cosine\")") ==
        "OneCycle: anneal must be \"cos\" or \"linear\", got \"cosine\"");
  CHECK(message("OneCycle(1, 10, three_phase=1)") == "OneCycle: three_phase must be true or false, got 1");
  CHECK(message("OneCycle(1, 10, 1)") == "OneCycle: pct_start must be less than 1, got 1.0");
  CHECK(message("OneCycle(1, 10, 0)") == "OneCycle: pct_start must be greater than 0, got 0.0");
  CHECK(message("OneCycle(1, 10, div_factor=0)") == "OneCycle: div_factor must be greater than 0, got 0.0");
  CHECK(message("OneCycle(1, 2, 0.5)") ==
        "OneCycle: the phase to 1.0 would go from place 0.0 to 0.0, expected more total_steps or another pct_start");
  CHECK(
      message("OneCycle(1, 20, 0.6, three_phase=true)") ==
      "OneCycle: the phase to 4e-06 would go from place 22.0 to 19.0, expected more total_steps or another pct_start");
  CHECK(message("Cooldown(1, 0, 0)") == "Cooldown: period" + count + "0");
  CHECK(message("Cooldown(1, 0, 9, \"exp\")") ==
        "Cooldown: shape must be \"linear\" or \"cosine\" or \"sqrt\" or \"square\" or \"mirror_cosine\", got \"exp\"");
  CHECK(message("WSD(1, 10, -1)") == "WSD: decay_steps must be a whole number from 0 to 2^53, got -1");
  CHECK(message("WSD(1, 10, 6, 5)") ==
        "WSD: warmup_steps and decay_steps must be at most the 10 of total_steps together, got 5 and 6");
  CHECK(message("OneCyclePhase(1, 2, 5.25, 5.5)") ==
        "OneCyclePhase: expected a whole place from start to end, both from 0 to 2^53");
  CHECK(message("OneCyclePhase(1, 2, 0, 0)") ==
        "OneCyclePhase: expected a whole place from start to end, both from 0 to 2^53");
}

TEST_CASE("a restart, a phase's end and a held end are where PyTorch has them") {
  const Sequence one_cycle = Compiled("OneCycle(0.1, 100)", 200);
  CHECK(FloatingAt(one_cycle, 0) == 0.0040000000000000036);  // 0.1 + (0.004 - 0.1)
  CHECK(FloatingAt(one_cycle, 29) == 0.1);
  CHECK(FloatingAt(one_cycle, 99) == 4e-7);
  CHECK(FloatingAt(one_cycle, 100) == FloatingAt(one_cycle, 99));
  CHECK(one_cycle.segments.size() == 3);
  CHECK(one_cycle.segments[1].start == Step{30});
  CHECK(Compiled("OneCycle(0.1, 5, three_phase=true)", 200).segments[1].start == Step{1});
  const Sequence cyclic = Compiled("CyclicLR(0.1, 0.3, 7, 4)", 200);
  for (std::int64_t x = 0; x < 200; x += 11) CHECK(FloatingAt(cyclic, x) == 0.1);
  for (std::int64_t x = 7; x < 200; x += 11) CHECK(FloatingAt(cyclic, x) == 0.3);
  const Sequence polynomial = Compiled("Polynomial(0.3, 7, 0.9, 0.1)", 200);
  CHECK(FloatingAt(polynomial, 7) == 0.1);
  CHECK(FloatingAt(Compiled("Sinusoid(0.5, 4)", 200), 101) == 0);
}

TEST_CASE("every value up to the horizon must be finite") {
  const std::int64_t far = kStepMax.value;
  CHECK(Refused("Exponential(0.1, 1.1)", far).message ==
        "Exponential: the value at step 7448 is too large, expected finite values");
  Compiled("Exponential(0.1, 1.1)", 7448);
  CHECK(Refused("Linear(0, 1e300)", far).message ==
        "Linear: the value at step 179769314 is too large, expected finite values");
  CHECK(Refused("Cosine(1e308, -1e308, 5)").message ==
        "Cosine: the value at step 0 is too large, expected finite values");
  Compiled("LinearTo(0, 1e308, 2)", 100);
  CHECK(Refused("LinearTo(1e308, -1e308, 5)").message ==
        "LinearTo: the value at step 0 is too large, expected finite values");
  CHECK(Refused("Sinusoid(1e308, 5, 0, 1e308)").message ==
        "Sinusoid: the value at step 0 is too large, expected finite values");
  CHECK(Refused("Scale(1e10, Exponential(1, 10))", far).message ==
        "Scale: Exponential: the value at step 309 is too large, expected finite values");
  CHECK(Refused("Scale(1e10, Exponential(1, 10))", 309).message ==
        "Scale: the value at step 299 is too large, expected finite values");
  CHECK(Refused("Every(5, Exponential(1, 10))", far).message ==
        "Every: f, on its own clock: Exponential: the value at step 309 is too large, expected finite values");
  CHECK(Refused("Scale(1e10, Cosine(1e300, 0, 5))").message ==
        "Scale: the value at step 0 is too large, expected finite values");
  CHECK(Refused("Polynomial(1e308, 5, 1, -1e308)").message ==
        "Polynomial: the value at step 0 is too large, expected finite values");
  CHECK(Refused("OneCycle(1e308, 50, div_factor=1e-10)").message ==
        "OneCycle: the value at step 0 is too large, expected finite values");
  CHECK(Refused("MultiStep(1, [7, 8], 1e300)").message == "MultiStep: at step 8: expected a finite number, got inf");
}

TEST_CASE("compiling generates only what is below the horizon") {
  const std::int64_t far = kStepMax.value;
  CHECK(Compiled("Exponential(0.1, 0.95)", far).segments.size() == 1);
  CHECK(Compiled("Cosine(0.1, 0, 10)", 25).segments.size() == 3);
  CHECK(Compiled("Cosine(0.1, 0, 1, gamma=2)", far).segments.size() == 54);
  CHECK(Compiled("Piecewise([1, Cosine(0.1, 0, 2)], [9007199254740992])", far).segments.size() == 1);
  CHECK(Refused("Cosine(0.1, 0, 2)", 20'000'000).code == ErrorCode::kResourceExhausted);
  CHECK(Refused("Cosine(0.1, 0, 2)", far).message ==
        "Cosine: expected at most 1000000 segments up to the horizon, step 2000000 begins another");
  CHECK(Compiled("Cosine(0.1, 0, 2)", 2'000'000).segments.size() == kSegmentCountMax);
  CHECK(Compiled("Cosine(0.1, 0, 1)", far).segments.size() == 1);
  CHECK(Compiled("Sinusoid(0.1, 1)", far).segments.size() == 1);
  CHECK(Compiled("Sinusoid(0, 7)", far).segments.size() == 1);
  CHECK(Compiled("CyclicLR(1, 1, 1, 1)", far).segments.size() == 1);
  CHECK(Compiled("Every(1000000000000, Exponential(1, 0.5))", far).segments.size() == 1076);
  CHECK(Compiled("Every(2, Exponential(1, 0.5))", far).segments.size() == 1076);
  CHECK(Refused("Every(2, Linear(0, 1))", far).code == ErrorCode::kResourceExhausted);
  CHECK(Refused("Every(2, Sinusoid(1e-300, 9007199254740992, 0, 1))", far).message ==
        "Every: expected at most 1000000 steps of a Sinusoid or a mirror_cosine up to the horizon");
  CHECK(Refused("CyclicLR(0, 1, 1, 1)", far).code == ErrorCode::kResourceExhausted);
  CHECK(Refused("Cosine(0.1, 0, 1073741824, gamma=1073741824)", far).message ==
        "Cosine: the period from step 1073741824 on is over 2^53 steps, expected a smaller gamma");
}

TEST_CASE("plateaus of powers that underflow stop to be many") {
  CHECK(Canonical("Step(5e-324, 1, 0.9999999999999999)", kStepMax.value) ==
        "Piecewise([5e-324, 0.0], [6243314768165358])");
  CHECK(Compiled("Step(0.1, 3, 0.5)", kStepMax.value).segments.size() == 1073);
}

}  // namespace espalier
