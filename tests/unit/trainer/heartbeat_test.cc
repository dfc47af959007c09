#include "worker/trainer/heartbeat.h"

#include <catch2/catch.hpp>

#include "worker/trainer/registry.h"

namespace espalier::trainer {

TEST_CASE("words that a training gets on go out as seldom as was asked for, and nowhere where nobody listens") {
  int heard = 0;
  Heartbeat();
  {
    const HeartbeatListener listener([&] { ++heard; }, Seconds(3600));
    for (int i = 0; i < 3; ++i) Heartbeat();
    CHECK(heard == 0);
  }
  {
    const HeartbeatListener listener([&] { ++heard; }, Seconds(0));
    for (int i = 0; i < 3; ++i) Heartbeat();
    CHECK(heard == 3);
  }
  Heartbeat();
  CHECK(heard == 3);
}

TEST_CASE("the built-in trainers say that they get on while they train and while they evaluate", "[torch]") {
  int heard = 0;
  const HeartbeatListener listener([&] { ++heard; }, Seconds(0));
  const auto kinds = ChooseTrainers({.trainers = {"mlp"}, .data = {"digits"}, .digest_memory = {}}).value();
  HyperParameterValues values;
  HyperParameterValues sequences;
  for (const DeclaredHyperParameter& each : kinds[0].hyper_parameters) {
    values[each.name] = each.default_value;
    if (!each.initial) sequences[each.name] = each.default_value;
  }
  const auto trainer = kinds[0].make({.updates = 5});
  trainer->Init(values);
  trainer->Setup(sequences);
  trainer->Train();
  CHECK(heard >= 5);
  const int before = heard;
  trainer->Evaluate();
  CHECK(heard > before);
}

}  // namespace espalier::trainer
