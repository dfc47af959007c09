#include "bench/lineages.h"

#include "bench/service.h"
#include "searchplan/plan/insert_trial.h"

namespace espalier::bench {

Digest128 LineageOf(const Offer& offer, const std::string& device_kind, Shape shape, std::int64_t number) {
  const tuners::StartTrial trial = TrialOf(shape, number);
  std::map<std::string, Expression> sequences;
  for (const auto& [name, text] : trial.sequences) sequences.emplace(name, Need(ParseExpression(text)));
  SearchPlan plan{.identity = {.training = TrainingOf(offer, StepMeaning{}),
                               .device_kind = device_kind,
                               .sharing = {.scope = Scope::kTeam, .team = "local"}}};
  const auto segments = Need(ResolveTrial(offer.schema, sequences, trial.horizon));
  const Insertion insertion = InsertTrial(plan, segments, PlanNodeId{1});
  for (const PlanChange& change : insertion.edit) Apply(plan, change);
  return plan.Node(insertion.leaf).lineage;
}

}  // namespace espalier::bench
