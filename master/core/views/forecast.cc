#include "master/core/views/forecast.h"

#include <algorithm>
#include <map>
#include <set>

#include "master/core/calls/new_trial.h"
#include "master/core/calls/study_calls.h"
#include "master/core/calls/trial_edits.h"
#include "master/core/origin.h"
#include "master/core/state/visibility.h"
#include "master/core/views/checkpoint_sizes.h"
#include "master/core/views/forecast_times.h"
#include "master/core/views/node_walk.h"
#include "master/core/views/training_costs.h"
#include "searchplan/plan/insert_trial.h"
#include "searchplan/plan/step_set.h"

namespace espalier::master {
namespace {

// How many plan nodes are looked up in one turn: a few milliseconds.
constexpr std::size_t kNodesATurn = 4'000;

std::string Indexed(const char* list, std::size_t index) { return list + ("[" + std::to_string(index) + "]"); }

// Of all trials together: some hundred bytes are held for each segment.
constexpr std::size_t kSegmentsMax = 1'000'000;

struct ForecastSize {
  std::int64_t horizons = 0;
  std::size_t segments = 0;
};

Result<void> CountTrial(const ResolvedTrial& trial, ForecastSize& size) {
  size.segments += trial.segments.size();
  if (size.segments > kSegmentsMax) {
    return MakeError(ErrorCode::kResourceExhausted,
                     "all trials of a forecast have at most " + std::to_string(kSegmentsMax) +
                         " joint segments together; ask for fewer at once",
                     "");
  }
  return CountHorizon(trial, size.horizons);
}

// A study as it would be created, and what is known of its kind of training.
struct PlannedStudy {
  Study study;
  std::optional<PlanId> existing;  // the plan that its trials would enter
  bool is_trained_known = false;   // what of it is trained
  CostSums costs;
};

// Whether it is known what is trained of the study: not if it would train on one of several device kinds.
bool IsTrainedKnown(const MasterState& state, const Study& study) {
  if (!study.device_kind.empty()) return true;
  return std::none_of(state.plans.begin(), state.plans.end(), [&](const auto& entry) {
    return entry.second.identity.training == study.training && MayKnow(state, entry.second, study.team);
  });
}

// A study or a trial of its own never has a plan before it exists.
std::optional<PlanId> ExistingPlan(const MasterState& state, const Study& study) {
  const Scope scope = ScopeOf(study);
  if (scope == Scope::kNobody || scope == Scope::kStudy) return std::nullopt;
  const auto plan = state.plan_by_identity.find(DigestOf(PlanIdentityOf(study, state.next.trial)));
  return plan == state.plan_by_identity.end() ? std::nullopt : std::optional(plan->second);
}

// What a forecast takes from the state at its beginning.
struct Basis {
  IdCounters next;
  std::vector<PlannedStudy> studies;
  CheckpointSizes checkpoint_sizes;
};

Result<Basis> TakeBasis(const MasterState& state, const std::vector<ForecastStudy>& studies, const std::string& team) {
  Basis basis{.next = state.next};
  for (std::size_t i = 0; i < studies.size(); ++i) {
    auto study = PlanForecast(state, studies[i].specification);
    if (!study.has_value()) return InField(Indexed("studies", i), study.error());
    study->team = team;
    study->id = StudyId{state.next.study.value + static_cast<std::int64_t>(i)};
    const auto reusable = CheckReuse(state, {.user = {}, .team = team}, *study);
    if (!reusable.has_value()) return InField(Indexed("studies", i), reusable.error());
    basis.studies.push_back(
        {.study = *study, .existing = ExistingPlan(state, *study), .is_trained_known = IsTrainedKnown(state, *study)});
  }
  return basis;
}

// What was measured and stored of such trainings, in any plan that the team may know.
Result<void> AddKnown(const StateReader& read, const std::string& team, Basis& basis) {
  std::vector<std::pair<TrainingKind, MeasuredNodes>> kinds;
  std::vector<std::size_t> kind_of_study;
  for (const PlannedStudy& study : basis.studies) {
    const TrainingKind kind{study.study.training, study.study.device_kind, team};
    auto known = std::find_if(kinds.begin(), kinds.end(), [&](const auto& entry) { return entry.first == kind; });
    if (known == kinds.end()) known = kinds.insert(kinds.end(), {kind, {}});
    kind_of_study.push_back(static_cast<std::size_t>(known - kinds.begin()));
  }
  std::vector<MeasuredNodes*> of_plan;  // of the one that is walked
  const auto is_wanted = [&](const MasterState& state, const SearchPlan& plan) {
    of_plan.clear();
    bool is_wanted_training = false;
    for (auto& [kind, nodes] : kinds) {
      if (IsOfKind(state, plan, kind)) of_plan.push_back(&nodes);
      is_wanted_training = is_wanted_training || kind.training == plan.identity.training;
    }
    return is_wanted_training && MayKnow(state, plan, team);
  };
  ESPALIER_RETURN_IF_ERROR(WalkNodes(read, is_wanted, [&](const SearchPlan& plan, const PlanNode& node) {
    for (MeasuredNodes* nodes : of_plan) nodes->Add(node);
    basis.checkpoint_sizes.Add(plan, node);
  }));
  std::vector<CostSums> sums;
  for (const auto& [kind, nodes] : kinds) sums.push_back(nodes.Sums());
  for (std::size_t i = 0; i < basis.studies.size(); ++i) basis.studies[i].costs = sums[kind_of_study[i]];
  return {};
}

// A trial as it would stand in its plan.
struct PlannedTrial {
  std::size_t study = 0;  // index
  const SearchPlan* plan = nullptr;
  PlanNodeId leaf;
  Step horizon;
  std::vector<Step> asked;  // where it is evaluated at the least: sorted, unique
};

// Plans that hold nothing but the lineages forecast. Lineages stand in one plan exactly when submitting them would put
// them there.
class ScratchPlans {
 public:
  explicit ScratchPlans(const IdCounters& next) : next_trial_(next.trial), next_node_(next.plan_node) {}

  PlannedTrial Add(const PlannedStudy& study, const ResolvedTrial& trial, const std::optional<Origin>& origin) {
    const PlanIdentity identity = PlanIdentityOf(study.study, next_trial_);
    ++next_trial_.value;
    SearchPlan& plan = plans_.try_emplace(DigestOf(identity), SearchPlan{.identity = identity}).first->second;
    if (study.existing) existing_[&plan] = *study.existing;
    const Insertion insertion = InsertTrial(plan, trial.segments, next_node_, origin);
    for (const PlanChange& change : insertion.edit) Apply(plan, change);
    next_node_.value += static_cast<std::int64_t>(insertion.edit.size());
    PlannedTrial planned{.plan = &plan, .leaf = insertion.leaf, .horizon = trial.horizon, .asked = {trial.horizon}};
    if (trial.trial->steps < trial.horizon) planned.asked.insert(planned.asked.begin(), trial.trial->steps);
    for (const Step step : planned.asked) {
      const Point point = PointOn(plan, insertion.leaf, step);
      asked_[point.node].insert({step, study.study.evaluation});
    }
    return planned;
  }

  // Takes over what was trained, measured and answered in the plans that exist.
  Result<void> CopyTrained(const StateReader& read) {
    for (const auto& entry : existing_) {
      SearchPlan& plan = *entry.first;
      const PlanId existing = entry.second;
      auto next = plan.nodes.begin();
      while (next != plan.nodes.end()) {
        ESPALIER_RETURN_IF_ERROR(read([&](const MasterState& state) {
          const SearchPlan& stored = state.plans.at(existing);
          for (std::size_t i = 0; i < kNodesATurn && next != plan.nodes.end(); ++i, ++next) {
            const PlanNode* node = stored.nodes.FindLineage(next->second.lineage);
            if (node != nullptr && !node->results->empty()) CopyKnown(stored, *node, next->second);
          }
        }));
      }
    }
    return {};
  }

  const std::map<Digest128, SearchPlan>& plans() const { return plans_; }
  // Where trials ask to be evaluated, and are already.
  const std::set<EvaluatedPoint>& answered() const { return answered_; }

 private:
  void CopyKnown(const SearchPlan& stored, const PlanNode& known, PlanNode& planned) {
    planned.results.Mutable().trained = known.results->trained;
    planned.results.Mutable().measurements = known.results->measurements;
    const auto asked = asked_.find(planned.id);
    if (asked == asked_.end()) return;
    for (const auto& [step, evaluation] : asked->second) {
      if (stored.FindMetrics({known.id, step}, evaluation) != nullptr)
        answered_.insert({{planned.id, step}, evaluation});
    }
  }

  TrialId next_trial_;
  PlanNodeId next_node_;
  std::map<Digest128, SearchPlan> plans_;
  std::map<SearchPlan*, PlanId> existing_;
  std::map<PlanNodeId, std::set<std::pair<Step, std::string>>> asked_;  // with the evaluation
  std::set<EvaluatedPoint> answered_;
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
std::optional<std::int64_t> CheckpointBytes(const CheckpointSizes& sizes, const ScratchPlans& scratch,
                                            const std::vector<PlannedTrial>& trials, const StepSet& unique) {
  std::map<const SearchPlan*, std::set<Point>> points;
  for (const PlannedTrial& trial : trials) points[trial.plan].insert({trial.leaf, trial.horizon});
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

std::optional<TimesToTrain> TimesOf(const Basis& basis, const std::vector<PlannedTrial>& trials,
                                    const ScratchPlans& scratch, const StepSet& trained) {
  std::vector<LineageToTrain> lineages;
  for (const PlannedTrial& trial : trials) {
    const PlannedStudy& study = basis.studies[trial.study];
    lineages.push_back({.plan = trial.plan,
                        .leaf = trial.leaf,
                        .horizon = trial.horizon,
                        .asked = trial.asked,
                        .evaluate_every = study.study.specification.evaluate_every,
                        .evaluation = study.study.evaluation,
                        .costs = &study.costs});
  }
  return TimesOf(std::move(lineages), trained, scratch.answered());
}

Forecast Count(const Basis& basis, const std::vector<PlannedTrial>& trials, const ScratchPlans& scratch) {
  StepSet trained;
  StepSet taken_over;
  for (const auto& [digest, plan] : scratch.plans()) {
    for (const auto& [id, node] : plan.nodes) {
      trained.AddTrained(node);
      trained.AddTakenOver(plan, node);
      taken_over.AddTakenOver(plan, node);
    }
  }
  Forecast forecast;
  for (const PlannedStudy& study : basis.studies) {
    forecast.studies.push_back({.name = study.study.specification.name,
                                .is_kept_to_itself = ScopeOf(study.study) != study.study.specification.scope});
  }
  std::vector<StepSet> unique_by_study(basis.studies.size());
  StepSet unique;
  for (const PlannedTrial& trial : trials) {
    StudyForecast& study = forecast.studies[trial.study];
    ++study.trials;
    study.total_steps += trial.horizon.value;
    for (const StepRange& range : LineageRanges(*trial.plan, trial.leaf, trial.horizon)) {
      unique.Add(range);
      unique_by_study[trial.study].Add(range);
    }
    forecast.total_steps += trial.horizon.value;
  }
  for (std::size_t i = 0; i < basis.studies.size(); ++i) {
    forecast.studies[i].unique_steps = unique_by_study[i].Count();
  }
  forecast.unique_steps = unique.Count();
  forecast.reused_steps = Intersection(unique, taken_over).Count();
  forecast.checkpoint_bytes = CheckpointBytes(basis.checkpoint_sizes, scratch, trials, unique);
  const bool is_trained_known = std::all_of(basis.studies.begin(), basis.studies.end(),
                                            [](const PlannedStudy& study) { return study.is_trained_known; });
  if (!is_trained_known) return forecast;
  forecast.trained_steps = Intersection(unique, trained).Count();
  if (const std::optional<TimesToTrain> times = TimesOf(basis, trials, scratch, trained)) {
    forecast.slot_time = times->slot_time;
    forecast.critical_path = times->critical_path;
  }
  return forecast;
}

}  // namespace

Result<Forecast> ForecastStudies(const StateReader& read, const std::vector<ForecastStudy>& studies,
                                 const std::string& team) {
  Result<Basis> basis;
  ESPALIER_RETURN_IF_ERROR(read([&](const MasterState& state) { basis = TakeBasis(state, studies, team); }));
  if (!basis.has_value()) return tl::unexpected(basis.error());
  ESPALIER_RETURN_IF_ERROR(AddKnown(read, team, *basis));
  std::vector<PlannedTrial> planned_trials;
  ScratchPlans scratch(basis->next);
  SequenceCollector sequences;
  ForecastSize size;
  for (std::size_t i = 0; i < studies.size(); ++i) {
    const PlannedStudy& study = basis->studies[i];
    for (std::size_t j = 0; j < studies[i].trials.size(); ++j) {
      const auto trial = Resolve(study.study, studies[i].trials[j]);
      if (!trial.has_value()) {
        return InField(Indexed("studies", i), InField(Indexed("trials", j), trial.error()).value());
      }
      if (const auto fits = CountTrial(*trial, size); !fits.has_value()) {
        return InField(Indexed("studies", i), InField(Indexed("trials", j), fits.error()).value());
      }
      sequences.Add(study.study, *trial);
      std::optional<Origin> origin;
      if (study.study.specification.reuse) {
        ESPALIER_RETURN_IF_ERROR(read([&](const MasterState& state) {
          origin = FindOrigin(state, study.study, *trial, study.existing, Time::max());
        }));
      }
      PlannedTrial planned = scratch.Add(study, *trial, origin);
      planned.study = i;
      planned_trials.push_back(planned);
    }
  }
  ESPALIER_RETURN_IF_ERROR(scratch.CopyTrained(read));
  Forecast forecast = Count(*basis, planned_trials, scratch);
  forecast.hints = sequences.Find();
  return forecast;
}

}  // namespace espalier::master
