#include "worker/trainer/models/mlp.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/trainer/schedules.h"

namespace espalier::trainer {
namespace {

using test::ChangesAt;
using test::kInitialValues;
using test::Scenario;

struct Trained {
  std::vector<Metrics> metrics;  // of each step
  Metrics evaluation;            // at the end
  std::string state_sha256;
  friend bool operator==(const Trained&, const Trained&) = default;
};

std::unique_ptr<Trainer> MakeTrainer(const Scenario& scenario) {
  auto trainer = MlpOnDigits().make(scenario.step);
  trainer->Init(kInitialValues);
  return trainer;
}

void TrainSteps(Trainer& trainer, const Scenario& scenario, std::int64_t from, std::int64_t to, Trained& result) {
  for (std::int64_t step = from; step < to; ++step) {
    trainer.Setup(ChangesAt(scenario.schedule, step));
    result.metrics.push_back(trainer.Train());
  }
}

Trained TrainStraight(const Scenario& scenario) {
  Trained result;
  const auto trainer = MakeTrainer(scenario);
  TrainSteps(*trainer, scenario, 0, scenario.step_count, result);
  result.evaluation = trainer->Evaluate();
  result.state_sha256 = Sha256Of(trainer->Save());
  return result;
}

// What a test does to a loaded state: `fresh` is that of a training that just began.
using Tamper = std::function<void(State& state, const State& fresh)>;

// The same with a new object after every second step, evaluations before saves, and another training in between.
Trained TrainInPieces(const Scenario& scenario, const Tamper& tamper = {}) {
  Trained result;
  State state;
  for (std::int64_t from = 0; from < scenario.step_count; from += 2) {
    const auto trainer = MakeTrainer(scenario);
    if (from > 0) {
      trainer->Setup(scenario.schedule(from - 1));
      if (tamper) tamper(state, trainer->Save());
      trainer->Load(state);
    }
    TrainSteps(*trainer, scenario, from, std::min(from + 2, scenario.step_count), result);
    result.evaluation = trainer->Evaluate();
    state = trainer->Save();
    CHECK(trainer->Save() == state);
    const auto other = MakeTrainer(scenario);
    other->Setup(scenario.schedule(0));
    other->Train();
  }
  result.state_sha256 = Sha256Of(state);
  return result;
}

// Puts the fresh values in the place of all whose names begin so.
Tamper WithoutPart(const std::string& prefix) {
  return [prefix](State& state, const State& fresh) {
    std::erase_if(state, [&](const auto& item) { return item.first.starts_with(prefix); });
    for (const auto& [name, array] : fresh) {
      if (name.starts_with(prefix)) state[name] = array;
    }
  };
}

}  // namespace

TEST_CASE("a training in pieces is the same, bit for bit, as a straight one", "[torch]") {
  for (const Scenario& scenario : test::Scenarios()) {
    INFO(scenario.name);
    const Trained straight = TrainStraight(scenario);
    CHECK(TrainInPieces(scenario) == straight);
    CHECK(TrainStraight(scenario) == straight);
  }
}

TEST_CASE("a checkpoint without the optimizer, the random generator or the place in the data leads elsewhere",
          "[torch]") {
  for (const Scenario& scenario : test::Scenarios()) {
    const Trained straight = TrainStraight(scenario);
    for (const char* prefix : {"model.", "optimizer.", "random.", "data."}) {
      INFO(scenario.name << " without " << prefix);
      CHECK(TrainInPieces(scenario, WithoutPart(prefix)).state_sha256 != straight.state_sha256);
    }
  }
}

TEST_CASE("a state that lacks an array, or holds one of another form, is refused", "[torch]") {
  for (const char* optimizer : {"sgd", "adam"}) {
    const Scenario scenario{"", {3}, test::ChangingSchedule(optimizer), 1};
    const auto trainer = MakeTrainer(scenario);
    trainer->Setup(scenario.schedule(0));
    trainer->Train();
    const State state = trainer->Save();
    for (const auto& [name, array] : state) {
      INFO(name);
      const auto other = MakeTrainer(scenario);
      other->Setup(scenario.schedule(0));
      State damaged = state;
      damaged.erase(name);
      CHECK_THROWS(other->Load(damaged));
      damaged[name] = Text("x");
      CHECK_THROWS(other->Load(damaged));
    }
  }
}

TEST_CASE("the seed decides the training", "[torch]") {
  const Scenario scenario{"", {3}, test::ChangingSchedule("sgd"), 1};
  std::vector<std::string> digests;
  for (const std::int64_t seed : {1, 2, 1}) {
    const auto trainer = MlpOnDigits().make(scenario.step);
    trainer->Init({{"hidden", std::int64_t{24}}, {"seed", seed}});
    trainer->Setup(scenario.schedule(0));
    trainer->Train();
    digests.push_back(Sha256Of(trainer->Save()));
  }
  CHECK(digests[0] == digests[2]);
  CHECK(digests[0] != digests[1]);
}

TEST_CASE("a step is an epoch or so many updates, and the last, smaller batch of an epoch is kept", "[torch]") {
  const auto samples = [](StepMeaning step, std::int64_t batch_size) {
    const auto trainer = MlpOnDigits().make(step);
    trainer->Init(kInitialValues);
    HyperParameterValues values = test::ChangingSchedule("sgd")(0);
    values["bs"] = batch_size;
    trainer->Setup(values);
    return trainer->Train().at("samples");
  };
  CHECK(samples({}, 32) == 1438);
  CHECK(samples({}, 5000) == 1438);
  CHECK(samples({3}, 32) == 96);
  CHECK(samples({3}, 1000) == 1000 + 438 + 1000);
}

TEST_CASE("the mlp learns the digits", "[torch]") {
  for (const char* optimizer : {"sgd", "adam"}) {
    const auto trainer = MlpOnDigits().make({});
    trainer->Init({{"hidden", std::int64_t{128}}, {"seed", std::int64_t{1}}});
    trainer->Setup({{"lr", optimizer == std::string("sgd") ? 0.1 : 0.001},
                    {"bs", std::int64_t{32}},
                    {"momentum", 0.9},
                    {"weight_decay", 0.0},
                    {"dropout", 0.1},
                    {"optimizer", std::string(optimizer)}});
    for (int i = 0; i < 15; ++i) trainer->Train();
    const Metrics metrics = trainer->Evaluate();
    INFO(optimizer);
    CHECK(metrics.at("test_acc") > 0.95);
    CHECK(metrics.at("test_loss") < 0.3);
  }
}

TEST_CASE("a training that diverges says so in its metrics", "[torch]") {
  const Scenario scenario{"", {}, test::ChangingSchedule("sgd"), 1};
  const auto trainer = MakeTrainer(scenario);
  HyperParameterValues values = scenario.schedule(0);
  values["lr"] = 1e30;
  trainer->Setup(values);
  const Metrics metrics = trainer->Train();
  CHECK_FALSE(std::isfinite(metrics.at("loss")));
  CHECK(metrics.at("samples") == 1438);
}

TEST_CASE("a value that cannot be is refused, naming the hyper-parameter", "[torch]") {
  const HyperParameterValues wrong{{"bs", std::int64_t{0}}, {"dropout", 1.0},       {"lr", -0.1},
                                   {"momentum", -0.5},      {"weight_decay", -1.0}, {"optimizer", std::string("lion")}};
  for (const auto& [name, value] : wrong) {
    const auto trainer = MlpOnDigits().make({});
    trainer->Init(kInitialValues);
    HyperParameterValues values = test::ChangingSchedule("sgd")(0);
    values[name] = value;
    CHECK_THROWS_WITH(trainer->Setup(values), Catch::StartsWith(name + ": expected "));
  }
  CHECK_THROWS_WITH(MlpOnDigits().make({})->Init({{"hidden", std::int64_t{0}}, {"seed", std::int64_t{1}}}),
                    Catch::StartsWith("hidden: expected "));
}

}  // namespace espalier::trainer
