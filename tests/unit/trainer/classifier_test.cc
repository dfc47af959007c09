// What every classifier does, shown by the smallest.
#include "worker/trainer/models/classifier.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "tests/unit/trainer/pieces.h"
#include "worker/trainer/data/digits.h"
#include "worker/trainer/models/mlp.h"

namespace espalier::trainer {
namespace {

using test::kInitialValues;
using test::Scenario;
using test::Trained;

const test::Subject kMlp{Classifier(Mlp(), Digits()), kInitialValues};

// With every hyper-parameter at its default but those given, before its first step.
std::unique_ptr<Trainer> Begun(const HyperParameterValues& given, StepMeaning step = {}) {
  HyperParameterValues values;
  for (const DeclaredHyperParameter& declared : kMlp.kind.hyper_parameters) {
    values[declared.name] = declared.default_value;
  }
  for (const auto& [name, value] : given) values[name] = value;
  auto trainer = kMlp.kind.make(step);
  trainer->Init(values);
  trainer->Setup(values);
  return trainer;
}

}  // namespace

TEST_CASE("a training in pieces is the same, bit for bit, as a straight one", "[torch]") {
  for (const Scenario& scenario : test::Scenarios()) {
    INFO(scenario.name);
    const Trained straight = TrainStraight(kMlp, scenario);
    CHECK(TrainInPieces(kMlp, scenario) == straight);
    CHECK(TrainStraight(kMlp, scenario) == straight);
  }
}

TEST_CASE("a training in pieces is the same in every precision, which decides its bits", "[torch]") {
  std::set<std::string> states;
  for (const char* precision : {"float32", "float64", "mixed"}) {
    INFO(precision);
    test::Subject subject = kMlp;
    subject.initial["precision"] = std::string(precision);
    const Scenario scenario{"", {7}, test::ChangingSchedule(""), 12};
    const Trained straight = TrainStraight(subject, scenario);
    CHECK(TrainInPieces(subject, scenario) == straight);
    states.insert(straight.state_sha256);
    const auto trainer = MakeTrainer(subject, scenario);
    trainer->Setup(scenario.schedule(0));
    CHECK(trainer->Save().at("model.last.weight").type == (precision == std::string("float64") ? "F64" : "F32"));
  }
  CHECK(states.size() == 3);
}

TEST_CASE("a checkpoint without the optimizer, the random generator or the place in the data leads elsewhere",
          "[torch]") {
  for (const Scenario& scenario : test::Scenarios()) {
    if (scenario.step.updates == 0) continue;  // they take longer
    const Trained straight = TrainStraight(kMlp, scenario);
    for (const char* prefix : {"model.", "optimizer.", "random.", "data."}) {
      INFO(scenario.name << " without " << prefix);
      CHECK(TrainInPieces(kMlp, scenario, test::WithoutPart(prefix)).state_sha256 != straight.state_sha256);
    }
  }
}

TEST_CASE("a state that lacks an array, or holds one of another form, is refused", "[torch]") {
  for (const char* optimizer : {"sgd", "adam", "adamw", "rmsprop"}) {
    const Scenario scenario{"", {3}, test::ChangingSchedule(optimizer), 1};
    const auto begun = [&] {
      auto trainer = MakeTrainer(kMlp, scenario);
      trainer->Setup(scenario.schedule(0));
      return trainer;
    };
    const auto trainer = begun();
    trainer->Train();
    const State state = trainer->Save();
    for (const auto& [name, array] : state) {
      INFO(optimizer << " " << name);
      State damaged = state;
      damaged.erase(name);
      CHECK_THROWS(begun()->Load(damaged));
      damaged[name] = Text("x");
      CHECK_THROWS(begun()->Load(damaged));
    }
  }
}

TEST_CASE("the seed decides the training", "[torch]") {
  std::vector<std::string> digests;
  for (const std::int64_t seed : {1, 2, 1}) {
    const auto trainer = Begun({{"seed", seed}}, {3});
    trainer->Train();
    digests.push_back(Sha256Of(trainer->Save()));
  }
  CHECK(digests[0] == digests[2]);
  CHECK(digests[0] != digests[1]);
}

TEST_CASE("a step is an epoch or so many updates, and the last, smaller batch of an epoch is kept", "[torch]") {
  const auto samples = [](StepMeaning step, std::int64_t batch_size) {
    return Begun({{"bs", batch_size}}, step)->Train().at("samples");
  };
  CHECK(samples({}, 32) == 1438);
  CHECK(samples({}, 5000) == 1438);
  CHECK(samples({3}, 32) == 96);
  CHECK(samples({3}, 1000) == 1000 + 438 + 1000);
}

TEST_CASE("each optimizer learns the digits", "[torch]") {
  for (const char* optimizer : {"sgd", "adam", "adamw", "rmsprop"}) {
    const auto trainer = Begun({{"lr", optimizer == std::string("sgd") ? 0.1 : 0.001},
                                {"momentum", optimizer == std::string("rmsprop") ? 0.0 : 0.9},
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
  const Metrics metrics = Begun({{"lr", 1e30}})->Train();
  CHECK_FALSE(std::isfinite(metrics.at("loss")));
  CHECK(metrics.at("samples") == 1438);
}

TEST_CASE("a value that cannot be is refused, naming the hyper-parameter", "[torch]") {
  const HyperParameterValues wrong{{"alpha", 1.0},
                                   {"beta1", -0.1},
                                   {"beta2", 1.0},
                                   {"bs", std::int64_t{0}},
                                   {"dropout", 1.0},
                                   {"eps", -1e-8},
                                   {"hidden", std::int64_t{0}},
                                   {"lr", -0.1},
                                   {"momentum", -0.5},
                                   {"optimizer", std::string("lion")},
                                   {"precision", std::string("float16")},
                                   {"weight_decay", -1.0}};
  for (const auto& [name, value] : wrong) {
    CHECK_THROWS_WITH(Begun({{name, value}}), Catch::StartsWith(name + ": expected "));
  }
}

}  // namespace espalier::trainer
