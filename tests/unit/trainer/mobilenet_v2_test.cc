#include "worker/trainer/models/mobilenet_v2.h"

#include <catch2/catch.hpp>

#include "tests/unit/trainer/pieces.h"
#include "worker/trainer/data/digits.h"

namespace espalier::trainer {
namespace {

const test::Subject kMobileNetV2{Classifier(MobileNetV2(), Digits()), {{"seed", std::int64_t{7}}, {"width", 0.1}}};

HyperParameterValues ChangingMobileNet(std::int64_t step) {
  HyperParameterValues values = test::ChangingOptimizer("sgd", step);
  values["bs"] = std::int64_t{step < 2 ? 16 : 24};
  values["cutout"] = std::int64_t{step < 1 ? 0 : 3};
  values["dropout"] = step < 2 ? 0.0 : 0.2;
  return values;
}

}  // namespace

TEST_CASE("mobilenet_v2: a training in pieces is the same, bit for bit, as a straight one", "[torch]") {
  const test::Scenario scenario{"", {2}, ChangingMobileNet, 5};
  const test::Trained straight = TrainStraight(kMobileNetV2, scenario);
  CHECK(TrainInPieces(kMobileNetV2, scenario) == straight);
  for (const char* prefix : {"model.features.0.norm.running_mean", "optimizer.", "random.", "data."}) {
    INFO("without " << prefix);
    CHECK(TrainInPieces(kMobileNetV2, scenario, test::WithoutPart(prefix)).state_sha256 != straight.state_sha256);
  }
}

TEST_CASE("mobilenet_v2: it has the paper's number of parameters", "[torch]") {
  const test::Scenario scenario{"", {1}, ChangingMobileNet, 1};
  const auto trainer = MakeTrainer({kMobileNetV2.kind, {{"seed", std::int64_t{7}}, {"width", 1.0}}}, scenario);
  trainer->Setup(ChangingMobileNet(0));
  std::size_t numbers = 0;
  for (const auto& [name, array] : trainer->Save()) {
    if (name.starts_with("model.") && !name.ends_with(".running_mean") && !name.ends_with(".running_var") &&
        !name.ends_with(".num_batches_tracked")) {
      numbers += array.bytes.size() / sizeof(float);
    }
  }
  // torchvision's for ImageNet has 3,504,872, of which 1,281,000 in a last layer of 1,000 classes. Here are ten, and
  // one colour in place of three.
  CHECK(numbers == 3'504'872 - 1'281'000 + 1280 * 10 + 10 - 2 * 9 * 32);
}

TEST_CASE("mobilenet_v2: a width that is none is refused", "[torch]") {
  for (const double width : {0.0, -1.0, 100.0}) {
    CHECK_THROWS_WITH(kMobileNetV2.kind.make({})->Init({{"seed", std::int64_t{1}}, {"width", width}}),
                      Catch::StartsWith("width: expected"));
  }
}

}  // namespace espalier::trainer
