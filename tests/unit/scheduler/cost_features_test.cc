#include "scheduler/cost_features.h"

#include <catch2/catch.hpp>
#include <limits>

namespace espalier {
namespace {

constexpr std::int64_t kOne = 1 << 20;

// At step 10, where the functions have their origin.
Features FeaturesOf(std::vector<Primitive> primitives, std::vector<std::string> undeclared = {}) {
  Configuration configuration{{}, std::move(undeclared)};
  for (Primitive& each : primitives) {
    const bool constant = std::holds_alternative<Constant>(each);
    configuration.functions.push_back({std::move(each), Step{constant ? 0 : 10}});
  }
  PlanNode node;
  node.start = Step{10};
  node.configuration = configuration;
  return FeaturesOf(node);
}

Features FeaturesOfValue(Value value) { return FeaturesOf({Constant{std::move(value)}}); }

CostFeature Declared(std::size_t index) { return {index}; }

}  // namespace

TEST_CASE("numbers and booleans are features by their values, and 0 is left out") {
  CHECK(FeaturesOf({Constant{std::int64_t{32}}, Constant{0.5}, Constant{true}, Constant{false}, Constant{0.0}}) ==
        Features{{Declared(0), 32 * kOne}, {Declared(1), kOne / 2}, {Declared(2), kOne}});
}

TEST_CASE("each text is a feature of its own, and the empty one is none") {
  CHECK(FeaturesOfValue(std::string("adam")) == Features{{{std::size_t{0}, "adam"}, kOne}});
  CHECK(FeaturesOfValue(std::string()).empty());
}

TEST_CASE("a feature is its value at the node's start") {
  CHECK(FeaturesOf({Linear{8, 2}, Exponential{4, 0.5}}) == Features{{Declared(0), 8 * kOne}, {Declared(1), 4 * kOne}});
}

TEST_CASE("undeclared hyper-parameters are features by name, behind the declared ones") {
  CHECK(FeaturesOf({Constant{0.5}, Constant{std::int64_t{3}}, Constant{std::string("x")}}, {"a", "b"}) ==
        Features{{Declared(0), kOne / 2}, {{"a"}, 3 * kOne}, {{"b", "x"}, kOne}});
}

TEST_CASE("features are rounded to a millionth and cut to sixteen million") {
  const double unit = 1.0 / kOne;
  CHECK(FeaturesOfValue(1.5 * unit)[0].value == 2);
  CHECK(FeaturesOfValue(-1.4 * unit)[0].value == -1);
  CHECK(FeaturesOfValue(0.4 * unit).empty());
  CHECK(FeaturesOfValue(1e300)[0].value == kFeatureMax);
  CHECK(FeaturesOfValue(std::numeric_limits<std::int64_t>::min())[0].value == -kFeatureMax);
}

}  // namespace espalier
