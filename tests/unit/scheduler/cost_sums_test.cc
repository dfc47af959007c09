#include "scheduler/cost_sums.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace espalier {
namespace {

constexpr CostKind kAllKinds[] = {CostKind::kStep,     CostKind::kSetUp,  CostKind::kLoad,      CostKind::kSave,
                                  CostKind::kEvaluate, CostKind::kMemory, CostKind::kStateBytes};

Value Whole(std::int64_t value) { return value; }
Value TextOf(const char* text) { return std::string(text); }

Features Undeclared(const std::vector<std::pair<std::string, Value>>& values) {
  Configuration configuration;
  for (const auto& [name, value] : values) {
    configuration.functions.push_back({Constant{value}, Step{0}});
    configuration.undeclared.push_back(name);
  }
  PlanNode node;
  node.configuration = configuration;
  return FeaturesOf(node);
}

Features Declared(const std::vector<Value>& values) {
  Configuration configuration;
  for (const Value& value : values) configuration.functions.push_back({Constant{value}, Step{0}});
  PlanNode node;
  node.configuration = configuration;
  return FeaturesOf(node);
}

// Step times alone, in seconds.
struct Steps : CostSums {
  Steps& Took(const Features& features, std::int64_t count, double seconds) {
    const auto total = static_cast<std::int64_t>(std::llround(seconds * 1e6));
    Replace(CostKind::kStep, features, {}, {count, total});
    return *this;
  }
  double Of(const Features& features, Measurement own = {}) const {
    return Time(CostKind::kStep, features, own).count();
  }
};

}  // namespace

TEST_CASE("before anything is measured a time is a second, and a size is not known") {
  const CostSums sums;
  for (const CostKind kind : kAllKinds) {
    CHECK_FALSE(sums.IsMeasured(kind));
    CHECK_FALSE(sums.Estimate(kind, Declared({Whole(1)})));
    if (IsTime(kind)) CHECK(sums.Time(kind, Declared({Whole(1)})) == Seconds{1});
  }
}

TEST_CASE("each kind of cost is estimated by itself") {
  CostSums sums;
  sums.Replace(CostKind::kMemory, Declared({Whole(32)}), {}, {2, 600});
  sums.Replace(CostKind::kLoad, Declared({Whole(32)}), {}, {1, 40'000});
  CHECK(sums.Estimate(CostKind::kMemory, Declared({Whole(64)})) == 300);
  CHECK(sums.Time(CostKind::kLoad, Declared({Whole(64)})).count() == Approx(0.04));
  CHECK(sums.IsMeasured(CostKind::kMemory));
  CHECK_FALSE(sums.IsMeasured(CostKind::kSave));
}

TEST_CASE("where a node was measured its mean is the estimate") {
  const Features features = Declared({Whole(32)});
  const Steps steps = Steps{}.Took(features, 30, 30).Took(Declared({Whole(64)}), 10, 500);
  CHECK(steps.Of(features, {50, 100'000'000}) == 2);
}

TEST_CASE("where a clock saw no time pass an estimate is still positive") {
  const Steps steps = Steps{}.Took(Declared({Whole(32)}), 30, 0);
  CHECK(steps.Of(Declared({Whole(32)}), {30, 0}) > 0);
  CHECK(steps.Of(Declared({Whole(64)})) > 0);
}

TEST_CASE("a time that is linear in the batch size is found between the measured ones") {
  Steps steps;
  for (const std::int64_t batch : {16, 64, 256}) {
    const double lr = batch == 64 ? 0.1 : 0.01;
    steps.Took(Declared({Whole(batch), lr}), 10, 10 * (0.1 + 0.01 * static_cast<double>(batch)));
  }
  for (const std::int64_t batch : {16, 32, 100, 128, 200, 256}) {
    const double truth = 0.1 + 0.01 * static_cast<double>(batch);
    CHECK(steps.Of(Declared({Whole(batch), 0.02})) == Approx(truth).epsilon(0.01));
  }
}

TEST_CASE("a small change beside a large value is told apart") {
  Steps steps;
  for (const std::int64_t more : {0, 1, 3}) {
    steps.Took(Declared({Whole(16'000'000 + more)}), 1000, 1000 * (1.0 + static_cast<double>(more)));
  }
  CHECK(steps.Of(Declared({Whole(16'000'002)})) == Approx(3).epsilon(0.001));
}

TEST_CASE("beyond what was measured the nearest measured value counts") {
  const Steps steps = Steps{}.Took(Declared({Whole(10)}), 10, 10).Took(Declared({Whole(20)}), 10, 20);
  CHECK(steps.Of(Declared({Whole(1)})) == Approx(1).epsilon(0.001));
  CHECK(steps.Of(Declared({Whole(1'000'000)})) == Approx(2).epsilon(0.001));
}

TEST_CASE("texts and booleans are estimated from by their values") {
  Steps steps;
  steps.Took(Declared({TextOf("sgd"), false}), 10, 10).Took(Declared({TextOf("adam"), false}), 10, 20);
  steps.Took(Declared({TextOf("sgd"), true}), 10, 30);
  CHECK(steps.Of(Declared({TextOf("adam"), true})) == Approx(4).epsilon(0.001));
  CHECK(steps.Of(Declared({TextOf("lion"), false})) > 0.5);
  CHECK(steps.Of(Declared({TextOf("lion"), false})) < 4);
}

TEST_CASE("undeclared hyper-parameters are estimated from by their names") {
  Steps steps;  // 1 s, 0.1 s for each of bs, 2 s if slow, 0.5 s for each of other
  steps.Took(Undeclared({{"bs", Whole(32)}}), 10, 42).Took(Undeclared({{"bs", Whole(64)}}), 10, 74);
  steps.Took(Undeclared({{"bs", Whole(32)}, {"name", TextOf("slow")}}), 10, 62);
  steps.Took(Undeclared({{"bs", Whole(32)}, {"other", Whole(4)}}), 10, 62);
  CHECK(steps.Of(Undeclared({{"bs", Whole(64)}, {"name", TextOf("slow")}, {"other", Whole(4)}})) ==
        Approx(11.4).epsilon(0.001));
  CHECK(steps.Of(Undeclared({{"bs", Whole(64)}, {"name", TextOf("else")}, {"unmeasured", Whole(4)}})) ==
        Approx(7.4).epsilon(0.001));
}

TEST_CASE("of thousands of hyper-parameters those are estimated from that differ among the measured nodes") {
  std::vector<Value> values(10'000, Value{0.5});
  const auto with = [&](double telling) {
    values.back() = telling;
    return Declared(values);
  };
  const Steps steps = Steps{}.Took(with(1), 10, 10).Took(with(2), 10, 20).Took(with(5), 10, 50);
  CHECK(steps.Of(with(4)) == Approx(4).epsilon(0.001));
}

TEST_CASE("of thousands of undeclared names the first that differ are estimated from, whatever the order") {
  std::vector<Features> nodes;
  for (int i = 0; i < 300; ++i) {
    std::vector<std::pair<std::string, Value>> values{{"batch", Whole(i % 7)}};
    for (int k = 0; k < 30; ++k) values.push_back({"name" + std::to_string(1000 + 10 * i + k), Whole(i + k)});
    nodes.push_back(Undeclared(values));
  }
  const auto steps_in = [&](bool reversed) {
    Steps steps;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::size_t index = reversed ? nodes.size() - 1 - i : i;
      steps.Took(nodes[index], 10, 10 * (1 + static_cast<double>(index % 7)));
    }
    return steps;
  };
  const Steps steps = steps_in(false);
  CHECK(steps.Of(Undeclared({{"batch", Whole(3)}})) == Approx(4).epsilon(0.01));
  CHECK(steps == steps_in(true));
}

TEST_CASE("what was measured longer counts more, up to a thousand times") {
  const Features features = Declared({Whole(32)});
  CHECK(Steps{}.Took(features, 30, 30).Took(features, 10, 50).Of(features) == Approx(2));
  CHECK(Steps{}.Took(features, 1 << 20, 1 << 20).Took(features, 1 << 10, 3 << 10).Of(features) == Approx(2));
}

TEST_CASE("a measurement that replaces another leaves nothing of it") {
  const Features a = Declared({Whole(32), TextOf("sgd")});
  const Features b = Declared({Whole(64), TextOf("adam")});
  CostSums replaced;
  replaced.Replace(CostKind::kSave, a, {}, {7, 900});
  replaced.Replace(CostKind::kSave, b, {}, {1, 5});
  replaced.Replace(CostKind::kSave, a, {7, 900}, {9, 1000});
  CostSums direct;
  direct.Replace(CostKind::kSave, b, {}, {1, 5});
  direct.Replace(CostKind::kSave, a, {}, {9, 1000});
  CHECK(replaced == direct);
  CHECK_FALSE(replaced == CostSums{});
}

TEST_CASE("sums at every limit do not overflow") {
  CostSums sums;
  std::vector<Value> high(20, Value{1e9});
  std::vector<Value> low(20, Value{-1e9});
  constexpr std::int64_t kCount = std::int64_t{1} << 18;
  sums.Replace(CostKind::kStep, Declared(high), {}, {kCount, kMeasuredTotalMax});
  sums.Replace(CostKind::kStep, Declared(low), {}, {kCount, 0});
  for (int i = 0; i < 26; ++i) sums += CostSums(sums);  // 2^27 nodes
  CHECK(*sums.Estimate(CostKind::kStep, Declared(high)) == Approx(std::ldexp(1.0, 44)).epsilon(1e-4));
  CHECK(*sums.Estimate(CostKind::kStep, Declared(std::vector<Value>(20, Value{0.0}))) ==
        Approx(std::ldexp(1.0, 43)).epsilon(1e-4));
}

TEST_CASE("a report is stored as it is where it fits what stands, and brought near where it does not") {
  const Features features = Declared({Whole(32)});
  CostSums sums;
  CHECK(Clipped(sums.Estimate(CostKind::kLoad, features), {}, {5, 1'000'000'000}) == Measurement{5, 1'000'000'000});
  sums.Replace(CostKind::kLoad, features, {}, {10, 1000});
  const auto clipped = [&](Measurement own, Measurement reported) {
    return Clipped(sums.Estimate(CostKind::kLoad, features, own), own, reported);
  };
  CHECK(clipped({10, 1000}, {20, 16'000}) == Measurement{20, 16'000});
  CHECK(clipped({10, 1000}, {20, 16'001}) == Measurement{10, 8000});
  CHECK(clipped({10, 1000}, {20, 250}) == Measurement{20, 250});
  CHECK(clipped({10, 1000}, {5, 62}) == Measurement{5, 63});
  CHECK(clipped({}, {20, 16'001}) == Measurement{1, 800});
  CHECK(clipped({10, 0}, {3, 1000}) == Measurement{3, 24});
}

TEST_CASE("a first measurement a thousand times too large is outlived in ten reports") {
  const Features features = Declared({Whole(32)});
  CostSums sums;
  Measurement own;
  const auto report = [&](Measurement reported) {
    const Measurement sum = Sum(own, Clipped(sums.Estimate(CostKind::kStep, features, own), own, reported));
    sums.Replace(CostKind::kStep, features, own, sum);
    own = sum;
  };
  report({1, 100'000'000});
  for (int i = 0; i < 10; ++i) report({1000, 100'000'000});
  CHECK(Mean(own) < 400'000);
  for (int i = 0; i < 10; ++i) report({1000, 100'000'000});
  CHECK(Mean(own) < 150'000);
  CHECK(Mean(own) >= 100'000);
}

}  // namespace espalier
