#include "tests/unit/trainer/pieces.h"

#include <algorithm>

#include "base/check.h"

namespace espalier::trainer::test {
namespace {

void TrainSteps(Trainer& trainer, const Scenario& scenario, std::int64_t from, std::int64_t to, Trained& result) {
  for (std::int64_t step = from; step < to; ++step) {
    trainer.Setup(ChangesAt(scenario.schedule, step));
    result.metrics.push_back(trainer.Train());
  }
}

}  // namespace

std::unique_ptr<Trainer> MakeTrainer(const Subject& subject, const Scenario& scenario) {
  auto trainer = subject.kind.make(scenario.step);
  HyperParameterValues values = scenario.schedule(0);
  values.insert(subject.initial.begin(), subject.initial.end());
  for (const DeclaredHyperParameter& declared : subject.kind.hyper_parameters) {
    if (declared.initial) values.emplace(declared.name, declared.default_value);
  }
  trainer->Init(values);
  return trainer;
}

Trained TrainStraight(const Subject& subject, const Scenario& scenario) {
  Trained result;
  const auto trainer = MakeTrainer(subject, scenario);
  TrainSteps(*trainer, scenario, 0, scenario.step_count, result);
  result.evaluation = trainer->Evaluate();
  result.state_sha256 = Sha256Of(trainer->Save());
  return result;
}

Tamper WithoutPart(const std::string& prefix) {
  return [prefix](State& state, const State& fresh) {
    std::erase_if(state, [&](const auto& item) { return item.first.starts_with(prefix); });
    for (const auto& [name, array] : fresh) {
      if (name.starts_with(prefix)) state[name] = array;
    }
  };
}

Trained TrainInPieces(const Subject& subject, const Scenario& scenario, const Tamper& tamper) {
  Trained result;
  State state;
  std::unique_ptr<Trainer> other;
  for (std::int64_t from = 0; from < scenario.step_count; from += 2) {
    const bool reloads = subject.kind.reloads && !tamper && from % 4 == 2;
    const auto trainer = reloads ? std::move(other) : MakeTrainer(subject, scenario);
    if (from > 0) {
      trainer->Setup(scenario.schedule(from - 1));
      if (tamper) tamper(state, trainer->Save());
      trainer->Load(state);
    }
    TrainSteps(*trainer, scenario, from, std::min(from + 2, scenario.step_count), result);
    result.evaluation = trainer->Evaluate();
    state = trainer->Save();
    ESPALIER_CHECK(trainer->Save() == state);
    other = MakeTrainer(subject, scenario);
    other->Setup(scenario.schedule(0));
    other->Train();
  }
  result.state_sha256 = Sha256Of(state);
  return result;
}

}  // namespace espalier::trainer::test
