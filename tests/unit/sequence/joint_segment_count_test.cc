#include "searchplan/sequence/joint_segment_count.h"

#include "searchplan/sequence/configuration.h"
#include "tests/support/random_seed.h"
#include "tests/unit/sequence/sequence_samples.h"
#include "tests/unit/sequence/sequence_testing.h"

namespace espalier {
namespace {

std::string Milestones(int count) {
  std::string steps;
  for (int i = 1; i <= count; ++i) steps += (i > 1 ? ", " : "") + std::to_string(i);
  return "MultiStep(0.1, [" + steps + "], 0.99)";
}

}  // namespace

TEST_CASE("a trial has as many joint segments as it is counted to have, whatever its hyper-parameters' types") {
  Samples samples(RandomSeed("joint segments"));
  const Schema schema{.hyper_parameters = {{"bs", ValueType::kInteger, Value{std::int64_t{8}}, false},
                                           {"kind", ValueType::kText, Value{std::string("a")}, false},
                                           {"lr", ValueType::kFloating, Value{0.1}, false},
                                           {"momentum", ValueType::kFloating, Value{0.0}, false},
                                           {"on", ValueType::kBoolean, Value{true}, false}}};
  JointSegmentCounter counter;
  int compared = 0;
  for (int i = 0; i < 300; ++i) {
    const Step horizon{1 + samples.Below(99)};
    const std::map<std::string, Expression> expressions = {{"lr", samples.Next()},
                                                           {"momentum", samples.Next()},
                                                           {"bs", samples.NextWhole()},
                                                           {"kind", samples.NextText()},
                                                           {"on", samples.NextBoolean()}};
    const auto resolved = ResolveTrial(schema, expressions, horizon);
    if (!resolved.has_value()) continue;  // whole numbers may be refused
    ++compared;
    std::map<std::string, std::string> texts;
    for (const auto& [name, expression] : expressions) texts[name] = Print(expression);
    INFO("trial " << i);
    REQUIRE(counter.Count(texts, horizon) == resolved->size());
  }
  CHECK(compared > 50);
}

TEST_CASE("joint segments count up to the horizon, and break points in common once") {
  JointSegmentCounter counter;
  CHECK(counter.Count({}, Step{10}) == 1);
  CHECK(counter.Count({{"lr", Milestones(5)}}, Step{100}) == 6);
  CHECK(counter.Count({{"lr", Milestones(5)}}, Step{4}) == 4);
  CHECK(counter.Count({{"lr", Milestones(5)}, {"bs", "MultiStep(8, [3, 7], 2)"}}, Step{100}) == 7);
}

TEST_CASE("a text that means nothing counts as one segment, and one with too many as too many") {
  JointSegmentCounter counter;
  CHECK(counter.Count({{"lr", "Nonsense("}, {"bs", "Nonsense(1)"}}, Step{10}) == 1);
  CHECK(counter.Count({{"lr", "0.1"}}, Step{0}) == 1);
  CHECK(counter.Count({{"lr", Milestones(19'999)}}, kStepMax) == kBatchSegmentsMax);
  CHECK(counter.Count({{"lr", Milestones(20'000)}}, kStepMax) == kBatchSegmentsMax + 1);
  CHECK(counter.Count({{"lr", "CyclicLR(0.01, 0.1, 1, 1)"}}, Step{10'000'000}) == kBatchSegmentsMax + 1);
}

}  // namespace espalier
