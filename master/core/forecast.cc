#include <algorithm>
#include <set>

#include "master/core/checkpoint_sizes.h"
#include "master/core/near_misses.h"
#include "master/core/new_trial.h"
#include "master/core/step_times.h"
#include "master/core/study_calls.h"
#include "master/core/summary.h"
#include "master/core/trial_edits.h"
#include "master/core/visibility.h"
#include "searchplan/plan/insert_trial.h"
#include "searchplan/plan/step_set.h"

namespace espalier {
namespace {

// A trial as it would stand in its plan.
struct PlannedTrial {
  std::size_t study = 0;  // index
  const SearchPlan* plan = nullptr;
  PlanNodeId leaf;
  Step horizon;
};

// Plans that hold nothing but the lineages forecast, with what was trained of them in the plans that exist. Lineages
// stand in one plan exactly when submitting them would put them there.
class ScratchPlans {
 public:
  explicit ScratchPlans(const MasterState& state)
      : state_(state), next_trial_(state.next.trial), next_node_(state.next.plan_node) {}

  PlannedTrial Add(const Study& study, const ResolvedTrial& trial) {
    const PlanIdentity identity = PlanIdentityOf(study, next_trial_);
    ++next_trial_.value;
    const Digest128 digest = DigestOf(identity);
    SearchPlan& plan = plans_.try_emplace(digest, SearchPlan{.identity = identity}).first->second;
    const Insertion insertion = InsertTrial(plan, trial.segments, next_node_);
    for (const PlanChange& change : insertion.edit) Apply(plan, change);
    next_node_.value += static_cast<std::int64_t>(insertion.edit.size());
    if (const auto existing = state_.plan_by_identity.find(digest); existing != state_.plan_by_identity.end()) {
      CopyTrained(state_.plans.at(existing->second), trial, plan, insertion.leaf);
    }
    return {.plan = &plan, .leaf = insertion.leaf, .horizon = trial.horizon};
  }

  const std::map<Digest128, SearchPlan>& plans() const { return plans_; }

 private:
  // The nodes of the lineage that the existing plan has are its first ones.
  void CopyTrained(const SearchPlan& existing, const ResolvedTrial& trial, SearchPlan& plan, PlanNodeId leaf) const {
    const Insertion missing = InsertTrial(existing, trial.segments, next_node_);
    std::optional<PlanNodeId> last = missing.leaf;
    if (!missing.edit.empty()) last = std::get<AddPlanNode>(missing.edit.front()).parent;
    if (!last) return;
    const std::vector<PlanNodeId> known = LineageTo(existing, *last);
    const std::vector<PlanNodeId> lineage = LineageTo(plan, leaf);
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (!plan.Node(lineage[i]).trained.empty()) continue;
      for (const TrainedRange& range : existing.Node(known[i]).trained) Apply(plan, SetTrainedRange{lineage[i], range});
    }
  }

  const MasterState& state_;
  TrialId next_trial_;
  PlanNodeId next_node_;
  std::map<Digest128, SearchPlan> plans_;
};

// Points where lineages of the plan part: children start there, and another child, or the node itself, goes on.
void AddBranchPoints(const SearchPlan& plan, const StepSet& unique, std::set<Point>& points) {
  std::set<Point> left;  // by one child at least
  for (const auto& [id, node] : plan.nodes) {
    if (!node.parent) continue;
    const Point point{*node.parent, node.start};
    const bool is_second = !left.insert(point).second;
    if (is_second || unique.Contains(point.node, point.step + 1)) points.insert(point);
  }
}

// A checkpoint at each end and each branch point.
std::optional<std::int64_t> CheckpointBytes(const MasterState& state, const ScratchPlans& scratch,
                                            const std::vector<PlannedTrial>& trials, const StepSet& unique,
                                            const std::string& team) {
  std::map<const SearchPlan*, std::set<Point>> points;
  for (const PlannedTrial& trial : trials) points[trial.plan].insert({trial.leaf, trial.horizon});
  const CheckpointSizes sizes(state, team);
  double bytes = 0;
  for (const auto& [digest, plan] : scratch.plans()) {
    AddBranchPoints(plan, unique, points[&plan]);
    for (const Point& point : points[&plan]) {
      const std::optional<double> size = sizes.MeanUnder(plan, point.node);
      if (!size) return std::nullopt;
      bytes += *size;
    }
  }
  return static_cast<std::int64_t>(bytes);
}

// Times of what is not trained, lineage by lineage.
class TimeSum {
 public:
  TimeSum(const MasterState& state, const std::vector<Study>& studies, const StepSet& trained)
      : trained_(trained), paid_(trained) {
    for (const Study& study : studies) {
      times_.emplace_back(state, study.training, study.device_kind, study.team);
      measured_.push_back(times_.back().IsAnyMeasured());
    }
  }

  void Add(const PlannedTrial& trial, const std::vector<StepRange>& lineage) {
    Seconds lineage_time{0};
    for (const StepRange& range : lineage) {
      const std::int64_t left = range.to - range.from - trained_.CountIn(range);
      if (left == 0) continue;
      known_ = known_ && measured_[trial.study];
      if (!known_) return;
      const Seconds step_time = times_[trial.study].Of(trial.plan->Node(range.node));
      lineage_time += step_time * static_cast<double>(left);
      slot_time_ += step_time * static_cast<double>(range.to - range.from - paid_.CountIn(range));
      paid_.Add(range);
    }
    critical_path_ = std::max(critical_path_, lineage_time);
  }

  std::optional<Seconds> slot_time() const { return known_ ? std::optional(slot_time_) : std::nullopt; }
  std::optional<Seconds> critical_path() const { return known_ ? std::optional(critical_path_) : std::nullopt; }

 private:
  std::vector<StepTimes> times_;  // by study
  std::vector<bool> measured_;
  const StepSet& trained_;
  StepSet paid_;  // trained, or counted into the slot time already
  bool known_ = true;
  Seconds slot_time_{0};
  Seconds critical_path_{0};
};

// Whether it is known what is trained of the study: not if it would train on one of several device kinds.
bool IsTrainedKnown(const MasterState& state, const Study& study) {
  if (!study.device_kind.empty()) return true;
  return std::none_of(state.plans.begin(), state.plans.end(), [&](const auto& entry) {
    return entry.second.identity.training == study.training && MayKnow(state, entry.second, study.team);
  });
}

Forecast Count(const MasterState& state, const std::vector<Study>& studies, const std::vector<PlannedTrial>& trials,
               const ScratchPlans& scratch, const std::string& team) {
  StepSet trained;
  for (const auto& [digest, plan] : scratch.plans()) {
    for (const auto& [id, node] : plan.nodes) trained.AddTrained(node);
  }
  Forecast forecast;
  for (const Study& study : studies) forecast.studies.push_back({.name = study.specification.name});
  std::vector<StepSet> unique_by_study(studies.size());
  StepSet unique;
  TimeSum times(state, studies, trained);
  for (const PlannedTrial& trial : trials) {
    StudyForecast& study = forecast.studies[trial.study];
    ++study.trials;
    study.total_steps += trial.horizon.value;
    const std::vector<StepRange> lineage = LineageRanges(*trial.plan, trial.leaf, trial.horizon);
    for (const StepRange& range : lineage) {
      unique.Add(range);
      unique_by_study[trial.study].Add(range);
    }
    times.Add(trial, lineage);
    forecast.total_steps += trial.horizon.value;
  }
  for (std::size_t i = 0; i < studies.size(); ++i) forecast.studies[i].unique_steps = unique_by_study[i].Count();
  forecast.unique_steps = unique.Count();
  forecast.checkpoint_bytes = CheckpointBytes(state, scratch, trials, unique, team);
  const auto is_known = [&](const Study& study) { return IsTrainedKnown(state, study); };
  if (!std::all_of(studies.begin(), studies.end(), is_known)) return forecast;
  forecast.trained_steps = Intersection(unique, trained).Count();
  forecast.slot_time = times.slot_time();
  forecast.critical_path = times.critical_path();
  return forecast;
}

std::string Indexed(const char* list, std::size_t index) { return list + ("[" + std::to_string(index) + "]"); }

}  // namespace

Result<Forecast> ForecastStudies(const MasterState& state, const std::vector<ForecastStudy>& studies,
                                 const std::string& team) {
  std::vector<Study> planned_studies;
  std::vector<PlannedTrial> planned_trials;
  ScratchPlans scratch(state);
  NearMissCollector near_misses;
  for (std::size_t i = 0; i < studies.size(); ++i) {
    auto study = PlanForecast(state, studies[i].specification);
    if (!study.has_value()) return InField(Indexed("studies", i), study.error());
    study->team = team;
    study->id = StudyId{state.next.study.value + static_cast<std::int64_t>(i)};
    for (std::size_t j = 0; j < studies[i].trials.size(); ++j) {
      const auto trial = Resolve(*study, studies[i].trials[j]);
      if (!trial.has_value()) {
        return InField(Indexed("studies", i), InField(Indexed("trials", j), trial.error()).value());
      }
      near_misses.Add(*study, *trial);
      PlannedTrial planned = scratch.Add(*study, *trial);
      planned.study = i;
      planned_trials.push_back(planned);
    }
    planned_studies.push_back(std::move(*study));
  }
  Forecast forecast = Count(state, planned_studies, planned_trials, scratch, team);
  forecast.near_misses = near_misses.Find();
  return forecast;
}

}  // namespace espalier
