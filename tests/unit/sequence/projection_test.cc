#include "searchplan/sequence/projection.h"

#include <catch2/catch.hpp>

namespace espalier {
namespace {

HyperParameter Floating(const std::string& name, double value) {
  return {.name = name, .type = ValueType::kFloating, .default_value = value};
}

std::vector<JointSegment> Resolved(const Schema& schema, const std::map<std::string, std::string>& texts,
                                   const ValueTypes& undeclared = {}) {
  std::map<std::string, Expression> sequences;
  for (const auto& [name, text] : texts) sequences.emplace(name, ParseExpression(text).value());
  return ResolveTrial(schema, sequences, Step{40}, undeclared).value();
}

const Schema kOld{.hyper_parameters = {Floating("lr", 0.1), Floating("momentum", 0.9)}};

}  // namespace

TEST_CASE("a trial is the same under a schema that knows less, whatever the new hyper-parameters do") {
  const Schema now{.hyper_parameters = {Floating("clip", 0), Floating("lr", 0.3), Floating("momentum", 0.9)}};
  const std::string lr = "MultiStep(0.1, [10, 30], gamma=0.1)";
  const auto segments = Resolved(now, {{"lr", lr}, {"clip", "MultiStep(1.0, [5, 10, 20], gamma=0.5)"}});
  CHECK(segments.size() == 5);
  CHECK(Projected(segments, now, kOld) == Resolved(kOld, {{"lr", lr}}));
  // What is left out is what the new trainer takes it for.
  CHECK(Projected(Resolved(now, {}), now, kOld) == Resolved(kOld, {{"lr", "0.3"}}));
}

TEST_CASE("what a trainer that takes any is not told of is neutral, as it is for the trial itself") {
  const Schema any{.hyper_parameters = {Floating("lr", 0.1)}, .takes_any = true};
  const ValueTypes types{{"momentum", ValueType::kFloating}, {"size", ValueType::kInteger}};
  CHECK(Projected(Resolved(any, {{"size", "3"}}, types), any, kOld) == Resolved(kOld, {{"momentum", "0.0"}}));
  CHECK(Projected(Resolved(any, {{"momentum", "0.5"}}, types), any, kOld) == Resolved(kOld, {{"momentum", "0.5"}}));
  const Schema less{.hyper_parameters = {}, .takes_any = true};
  const ValueTypes all{{"lr", ValueType::kFloating}, {"momentum", ValueType::kFloating}};
  CHECK(Projected(Resolved(kOld, {{"momentum", "0.0"}}), kOld, less) == Resolved(less, {{"lr", "0.1"}}, all));
}

}  // namespace espalier
