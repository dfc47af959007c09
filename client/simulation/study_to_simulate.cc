#include "client/simulation/study_to_simulate.h"

namespace espalier {

Result<sim::StudyToSimulate> StudyToSimulateFrom(const StudyFile& file) {
  ESPALIER_ASSIGN(ValueTypes types, GuessTypes(file, Schema{}));
  const StudySpecification& written = file.specification;
  return sim::StudyToSimulate{.specification = {.name = written.name,
                                                .trainer = written.trainer,
                                                .data = written.data,
                                                .step = written.step,
                                                .evaluate_every = written.evaluate_every_steps,
                                                .hang_after = written.hang_after,
                                                .stop = written.stop,
                                                .metric = written.metric,
                                                .goal = written.goal,
                                                .scope = written.scope,
                                                .undeclared = std::move(types),
                                                .tuner = written.tuner,
                                                .asks_for_idle_slots = written.asks_for_idle_slots,
                                                .policy = written.policy,
                                                .priority = written.priority},
                              .make_tuner = [file] { return MakeTunerOf(file); }};
}

}  // namespace espalier
