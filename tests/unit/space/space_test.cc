#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "client/space/ranges.h"
#include "client/space/sampling.h"

namespace espalier {
namespace {

Expression Read(const std::string& text) { return ParseExpression(text).value(); }

std::string DrawnAt(const std::string& text, std::vector<double> numbers) {
  std::size_t taken = 0;
  std::string drawn = Print(Drawn(Read(text), [&] { return numbers.at(taken++); }));
  CHECK(taken == numbers.size());
  CHECK(taken == RangesOf(Read(text)).size());
  return drawn;
}

// The numbers that a hyper-parameter, a range, has in trials of this space.
std::vector<double> Values(const std::vector<TrialText>& trials, const std::string& name) {
  std::vector<double> values;
  std::ranges::transform(trials, std::back_inserter(values), [&](const auto& t) { return std::stod(t.at(name)); });
  return values;
}

constexpr double kLast = 1 - 0x1p-53;  // the largest number that is drawn

const SearchSpace kMixed = {{{"lr", {"Exponential(loguniform(0.001, 1), uniform(0.9, 1))"}},
                             {"optimizer", {"\"sgd\"", "\"adam\""}},
                             {"momentum", {"choice(0.5, uniform(0.8, 0.99))"}}},
                            {{"seed", "1"}},
                            {{"momentum", {{"optimizer", true, "\"sgd\""}}}}};

}  // namespace

TEST_CASE("a range gives its bounds at the ends, and six significant digits between them") {
  CHECK(DrawnAt("uniform(1, 2)", {0}) == "1.0");
  CHECK(DrawnAt("uniform(1, 2)", {kLast}) == "2.0");
  CHECK(DrawnAt("uniform(0, 3)", {1.0 / 9}) == "0.333333");
  CHECK(DrawnAt("loguniform(0.01, 1)", {0.5}) == "0.1");
  CHECK(DrawnAt("uniform(1.00000001, 1.00000002)", {0.5}) == "1.00000001");
  CHECK(DrawnAt("integer(-1, 2)", {0}) == "-1");
  CHECK(DrawnAt("integer(-1, 2)", {0.49}) == "0");
  CHECK(DrawnAt("integer(-1, 2)", {kLast}) == "2");
  CHECK(DrawnAt("uniform(-1e300, 1e300)", {0.75}) == "5e+299");
}

TEST_CASE("ranges stand in the place of any argument, in each other, and take the same numbers whatever is chosen") {
  CHECK(DrawnAt("Exponential(uniform(0, 1), 0.9)", {0.25}) == "Exponential(0.25, 0.9)");
  CHECK(DrawnAt("MultiStep(0.1, [integer(1, 4), 60], gamma=choice(0.1, 0.5))", {0.3, 0.5}) ==
        "MultiStep(0.1, [2, 60], gamma=0.5)");
  const std::string nested = "choice(Constant(uniform(0, 1)), Linear(uniform(2, 4), 0, 10), \"text\")";
  CHECK(DrawnAt(nested, {0.1, 0.5, 0.5}) == "Constant(0.5)");
  CHECK(DrawnAt(nested, {0.5, 0.5, 0.5}) == "Linear(3.0, 0, 10)");
  CHECK(DrawnAt(nested, {kLast, 0.5, 0.5}) == "\"text\"");
}

TEST_CASE("a range that says nothing sensible is refused") {
  const auto mistake = [](const std::string& text) { return CheckRanges(Read(text)).error().message; };
  CHECK(mistake("uniform(2, 1)") == "got uniform(2, 1); expected low to be at most high");
  CHECK(mistake("Exponential(loguniform(0, 1), 0.9)") == "got loguniform(0, 1); expected low to be greater than 0");
  CHECK(mistake("MultiStep(0.1, [integer(1, 2.5)], 0.1)") ==
        "got integer(1, 2.5); expected whole numbers of at most 2^53");
  CHECK(mistake("uniform(1)") == "got uniform(1); expected uniform(low, high) with two numbers");
  CHECK(mistake("uniform(low=1, max=2)") == "got uniform(low=1, max=2); expected uniform(low, high) with two numbers");
  CHECK(mistake("uniform(\"a\", uniform(1, 2))").starts_with("got uniform("));
  CHECK(mistake("uniform(-1.7e308, 1.7e308)").starts_with("got uniform("));
  CHECK(mistake("choice()") == "got choice(); expected at least one value to choose from");
  CHECK(mistake("choice(1, x=2)").starts_with("got choice("));
  CHECK(mistake("choice(1, uniform(2, 1))") == "got uniform(2, 1); expected low to be at most high");
  CHECK(CheckRanges(Read("choice(uniform(low=1, high=2), integer(1, 1))")).has_value());
}

TEST_CASE("trial i of a seed is the same however many are drawn; another seed draws others") {
  for (const SamplingMethod method : {SamplingMethod::kRandom, SamplingMethod::kSobol}) {
    const auto few = Sample(kMixed, {.trials = 10, .seed = 7, .method = method});
    const auto many = Sample(kMixed, {.trials = 100, .seed = 7, .method = method});
    CHECK(std::equal(few.begin(), few.end(), many.begin()));
    CHECK(few != Sample(kMixed, {.trials = 10, .seed = 8, .method = method}));
    CHECK(std::set<TrialText>(many.begin(), many.end()).size() == 100);
  }
}

TEST_CASE("the trials of a seed stay what they are, in every release and on every machine") {
  const auto trials = Sample(kMixed, {.trials = 2, .seed = 1});
  const auto text = [](const TrialText& trial) {
    std::string all;
    for (const auto& [name, value] : trial) all += name + "=" + value + " ";
    return all;
  };
  CHECK(text(trials[0]) == R"(lr=Exponential(0.0114979, 0.924887) momentum=0.5 optimizer="sgd" seed=1 )");
  CHECK(text(trials[1]) == R"(lr=Exponential(0.00462148, 0.963213) optimizer="adam" seed=1 )");
}

TEST_CASE("a hyper-parameter whose condition does not hold is left out, and what depends on it in turn") {
  for (const TrialText& trial : Sample(kMixed, {.trials = 50})) {
    CHECK(trial.contains("momentum") == (trial.at("optimizer") == "\"sgd\""));
    CHECK(trial.at("seed") == "1");
  }
  SearchSpace space{{{"a", {"1", "2"}}, {"b", {"1", "2"}}, {"c", {"1", "2"}}}, {}};
  space.conditions = {ParseCondition("c", "b != 1").value(), ParseCondition("b", "a == 1").value()};
  const std::vector<TrialText> expected = {{{"a", "1"}, {"b", "1"}},
                                           {{"a", "1"}, {"b", "2"}, {"c", "1"}},
                                           {{"a", "1"}, {"b", "2"}, {"c", "2"}},
                                           {{"a", "2"}}};
  CHECK(space.Grid() == expected);
}

TEST_CASE("conditions compare with values as they are written, several joined by and") {
  const Condition condition = ParseCondition("x", "optimizer == sgd and  lr != 0.10 and on == true").value();
  CHECK(Print(condition) == "optimizer == \"sgd\" and lr != 0.1 and on == true");
  CHECK(condition.Holds({{"optimizer", "\"sgd\""}, {"lr", "0.2"}, {"on", "true"}}));
  CHECK_FALSE(condition.Holds({{"optimizer", "\"sgd\""}, {"lr", "0.1"}, {"on", "true"}}));
  CHECK_FALSE(condition.Holds({{"optimizer", "\"sgd\""}, {"on", "true"}}));
  CHECK(Print(ParseCondition("x", Print(condition)).value()) == Print(condition));
  for (const char* text : {"", "optimizer", "optimizer = sgd", "== sgd", "optimizer ==", "a == 1 and b"}) {
    CHECK_FALSE(ParseCondition("x", text).has_value());
  }
}

TEST_CASE("random draws are as likely everywhere, and a Sobol sequence is even") {
  const SearchSpace space{{{"x", {"uniform(0, 1)"}}, {"y", {"loguniform(0.001, 1)"}}}, {}};
  constexpr std::size_t kCount = 1024;
  const auto cells = [&](SamplingMethod method, std::int64_t seed) {
    const auto trials = Sample(space, {.trials = kCount, .seed = seed, .method = method});
    const std::vector<double> x = Values(trials, "x");
    const std::vector<double> y = Values(trials, "y");
    std::vector<int> counts(64);
    for (std::size_t i = 0; i < kCount; ++i) {
      const auto column = std::min(7, static_cast<int>(x[i] * 8));
      const auto row = std::min(7, static_cast<int>((1 + std::log10(y[i]) / 3) * 8));
      ++counts[static_cast<std::size_t>(8 * column + std::max(0, row))];
    }
    return counts;
  };
  const std::vector<int> random = cells(SamplingMethod::kRandom, 3);
  CHECK(*std::ranges::min_element(random) >= 4);  // of 16 expected
  CHECK(*std::ranges::max_element(random) <= 32);
  for (const int count : cells(SamplingMethod::kSobol, 3)) CHECK(std::abs(count - 16) <= 2);
}

}  // namespace espalier
