#include "worker/trainer/models/resnet.h"

#include <catch2/catch.hpp>

#include "tests/unit/trainer/pieces.h"
#include "worker/trainer/data/digits.h"

namespace espalier::trainer {
namespace {

const test::Subject kResNet{Classifier(ResNet(), Digits()), {{"depth", std::int64_t{8}}, {"seed", std::int64_t{7}}}};

test::Schedule ChangingResNet(const std::string& optimizer) {
  return [optimizer](std::int64_t step) {
    HyperParameterValues values = test::ChangingOptimizer(optimizer, step);
    values["bs"] = std::int64_t{step < 2 ? 16 : 24};
    return values;
  };
}

}  // namespace

TEST_CASE("resnet: a training in pieces is the same, bit for bit, as a straight one", "[torch]") {
  for (const char* optimizer : {"sgd", "rmsprop"}) {
    INFO(optimizer);
    const test::Scenario scenario{"", {2}, ChangingResNet(optimizer), 5};
    const test::Trained straight = TrainStraight(kResNet, scenario);
    CHECK(TrainInPieces(kResNet, scenario) == straight);
    for (const char* prefix : {"model.bn1.running_mean", "optimizer.", "data."}) {
      INFO("without " << prefix);
      CHECK(TrainInPieces(kResNet, scenario, test::WithoutPart(prefix)).state_sha256 != straight.state_sha256);
    }
  }
}

TEST_CASE("resnet: a depth that is not 6n + 2 is refused", "[torch]") {
  for (const std::int64_t depth : {2, 9, 21}) {
    CHECK_THROWS_WITH(kResNet.kind.make({})->Init({{"depth", depth}, {"seed", std::int64_t{1}}}),
                      Catch::StartsWith("depth: expected 6n + 2"));
  }
}

}  // namespace espalier::trainer
