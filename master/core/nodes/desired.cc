#include "master/core/nodes/ordering.h"
#include "scheduler/cost_model.h"

namespace espalier::master {
namespace {

// A step that takes this many times what is expected, and at least the minimum, is a hang (design section 7).
constexpr double kHangFactor = 10;
constexpr Seconds kHangMinimum{600};

DesiredRun Describe(const Draft& draft, const Run& run) {
  const MasterState& state = draft.state();
  const SearchPlan& plan = state.plans.at(run.plan);
  DesiredRun desired{.run = run.id,
                     .generation = run.generation,
                     .slot = run.slot.index,
                     .plan = run.plan,
                     .training = plan.identity.training,
                     .targets = OpenTargets(run),
                     .preempt = run.preempt,
                     .save_every = draft.settings.save_every,
                     .hang_after = kHangMinimum};
  if (run.start) {
    const PointRecord* record = plan.FindPoint(*run.start);
    desired.start = DesiredStart{.point = *run.start,
                                 .file = record->checkpoint ? record->checkpoint->file : "",
                                 .state_sha256 = record->state_sha256,
                                 .configuration = plan.Node(run.start->node).configuration};
  }
  const CostModel costs = CostModel::FromPlan(plan);
  for (const PathStage& stage : run.path) {
    const PlanNode& node = plan.Node(stage.node);
    desired.path.push_back({stage, node.configuration, node.lineage});
    desired.hang_after = std::max(desired.hang_after, kHangFactor * costs.StepTime(node));
  }
  std::set<std::int64_t> every;
  for (const StudyId study : run.studies) {
    const std::int64_t steps = state.studies.at(study).specification.evaluate_every;
    if (steps > 0) every.insert(steps);
  }
  desired.evaluate_every.assign(every.begin(), every.end());
  const auto trainer = state.trainers.find({desired.training.trainer, desired.training.data});
  if (trainer != state.trainers.end()) desired.evaluation = trainer->second.evaluation_digest;
  return desired;
}

}  // namespace

void TellServers(Draft& draft) {
  for (const std::string& name : draft.touched_servers) {
    const auto it = draft.state().servers.find(name);
    if (it == draft.state().servers.end() || !it->second.session) continue;
    const Server& server = it->second;
    SendDesired desired{.session = *server.session, .acknowledged_report = server.acknowledged_report};
    for (const RunId id : draft.state().active_runs) {
      const Run& run = draft.state().runs.at(id);
      if (run.slot.server != name || run.incarnation != server.incarnation) continue;
      desired.runs.push_back(Describe(draft, run));
    }
    desired.superseded_files.assign(draft.superseded_files.begin(), draft.superseded_files.end());
    draft.Emit(std::move(desired));
  }
}

}  // namespace espalier::master
