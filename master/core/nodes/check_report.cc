#include "master/core/nodes/check_report.h"

#include <string>

#include "master/core/state/stored_text.h"
#include "protocol/store_name.h"

namespace espalier::master {
namespace {

constexpr Seconds kTimeMax{1e9};  // some thirty years

tl::unexpected<Error> Unfit(std::string why) { return MakeError(ErrorCode::kInvalidArgument, std::move(why)); }

Result<void> CheckTime(Seconds time) {
  if (IsPossible(time)) return {};
  return Unfit("it took no time that there is");
}

struct Checker {
  const MasterState& state;
  const Run& run;

  Result<void> OfPlan(PlanId plan) const {
    if (plan == run.plan) return {};
    return Unfit("the run is of plan " + std::to_string(run.plan.value) + ", not " + std::to_string(plan.value));
  }
  Result<void> OfLineage(PlanNodeId node, const Digest128& lineage) const {
    if (state.plans.at(run.plan).Node(node).lineage == lineage) return {};
    return Unfit("node " + std::to_string(node.value) + " has another lineage");
  }
  Result<void> OfEvaluation(const std::string& evaluation) const {
    if (evaluation == run.evaluation) return {};
    return Unfit("the run measures another evaluation");
  }
  Result<void> OnPath(Point point) const {
    if (Passes(run, point)) return {};
    return Unfit("the run does not pass step " + std::to_string(point.step.value) + " of node " +
                 std::to_string(point.node.value));
  }
  // All steps of (from, to], within one stage.
  Result<void> OnPath(PlanNodeId node, Step from, Step to) const {
    const PathStage* stage = FindStage(run, to);
    if (stage != nullptr && stage->node == node && stage->from <= from && from < to) return {};
    return Unfit("the run does not train steps " + std::to_string(from.value) + " to " + std::to_string(to.value) +
                 " of node " + std::to_string(node.value));
  }

  Result<void> operator()(const MetricsMeasured& measured) const {
    ESPALIER_RETURN_IF_ERROR(OfPlan(measured.plan));
    ESPALIER_RETURN_IF_ERROR(OnPath(measured.point));
    ESPALIER_RETURN_IF_ERROR(OfLineage(measured.point.node, measured.lineage));
    ESPALIER_RETURN_IF_ERROR(OfEvaluation(measured.evaluation));
    return CheckTime(measured.time);
  }
  Result<void> operator()(const TrainingMetrics& trained) const {
    ESPALIER_RETURN_IF_ERROR(CheckSeries(trained.series));
    ESPALIER_RETURN_IF_ERROR(OfPlan(trained.plan));
    ESPALIER_RETURN_IF_ERROR(OnPath(trained.node, trained.series.steps.front() - 1, trained.series.steps.back()));
    return OfLineage(trained.node, trained.lineage);
  }
  Result<void> operator()(const StateStored& stored) const {
    ESPALIER_RETURN_IF_ERROR(OfPlan(stored.plan));
    ESPALIER_RETURN_IF_ERROR(OnPath(stored.point));
    ESPALIER_RETURN_IF_ERROR(OfLineage(stored.point.node, stored.lineage));
    const StoredPoint own{stored.plan, stored.point, {run.leadership, run.id}};
    if (ParseStoreName(stored.file).value_or(own) != own) return Unfit("its file is another state's");
    return CheckTime(stored.time);
  }
  Result<void> operator()(const StepsTrained& trained) const {
    ESPALIER_RETURN_IF_ERROR(OnPath(trained.node, trained.from, trained.to));
    return CheckTime(trained.time);
  }
  Result<void> operator()(const RunFailed& failed) const { return OnPath(failed.point); }
  Result<void> operator()(const EvaluationFailed& failed) const {
    ESPALIER_RETURN_IF_ERROR(OnPath(failed.point));
    return OfEvaluation(failed.evaluation);
  }
  Result<void> operator()(const StartUnusable& start) const {
    if (run.start == start.point && run.start_file == start.file) return {};
    return Unfit("the run did not start from this file");
  }
  // Of what these say only the run's own is taken.
  Result<void> operator()(const PromiseLost&) const { return {}; }
  Result<void> operator()(const StoreFull&) const { return {}; }
  Result<void> operator()(const RunEnded&) const { return {}; }
};

}  // namespace

Result<const Run*> CheckReport(const MasterState& state, const Server& server, const Report& report) {
  const auto known = state.runs.find(report.run.run);
  if (known == state.runs.end() || known->second.leadership != report.run.leadership) {
    return Unfit("this service has ordered no such run");
  }
  const Run& run = known->second;
  if (run.slot.server != server.name) return Unfit("the run was given to the server '" + run.slot.server + "'");
  if (WorkDirectoryIdOf(run.incarnation) != WorkDirectoryIdOf(server.incarnation)) {
    return Unfit("the run was given to this server when it had another work directory");
  }
  ESPALIER_RETURN_IF_ERROR(std::visit(Checker{state, run}, report.kind));
  return &run;
}

bool IsPossible(Seconds time) { return time >= Seconds(0) && time <= kTimeMax; }

}  // namespace espalier::master
