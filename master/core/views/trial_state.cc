#include "master/core/views/trial_state.h"

#include <algorithm>
#include <set>

#include "master/core/state/claims.h"
#include "searchplan/plan/record_result.h"

namespace espalier::master {
namespace {

// The study's waiting claims that runs which train serve, each once.
class ServedClaims {
 public:
  ServedClaims(const MasterState& state, StudyId study) : state_(state), study_(study) {}

  void Add(const Run& run) {
    const auto needs = state_.index.needs.find(run.plan);
    if (needs == state_.index.needs.end()) return;
    for (const auto& [id, promise] : run.promises) {
      if (promise.state != PromiseState::kOpen) continue;
      const Point point = PointOf(run, promise.step);
      const Place* place = needs->second.Find(point);
      if (place == nullptr) continue;
      if (promise.owed == Owed::kMetrics) {
        if (evaluated_.insert({point, run.evaluation}).second) AddCovered(run, *place);
      } else if (!place->stored && trained_.insert(point).second) {
        count_ += place->studies.Of(study_) + place->below.studies.Of(study_);
      }
    }
  }

  std::int64_t count() const { return count_; }

 private:
  void AddCovered(const Run& run, const Place& place) {
    const auto waiting = place.waiting.find(run.evaluation);
    if (waiting == place.waiting.end()) return;
    const SearchPlan& plan = state_.plans.at(run.plan);
    for (const ClaimId claim : waiting->second.claims) {
      count_ += state_.trials.at(plan.claims.at(claim).trial).study == study_ ? 1 : 0;
    }
  }

  const MasterState& state_;
  const StudyId study_;
  std::set<Point> trained_;
  std::set<std::pair<Point, std::string>> evaluated_;
  std::int64_t count_ = 0;
};

std::int64_t CountRunning(const MasterState& state, StudyId study) {
  const TrialIndex& trials = state.trial_index.at(study);
  if (trials.HasSeveralWaiting()) {
    std::int64_t count = 0;
    trials.Each(TrialOrder::kSubmission, {TrialStanding::kWaiting}, std::nullopt, [&](const TrialPlace& place) {
      count += TrialState(state, state.trials.at(place.id)) == "running" ? 1 : 0;
      return true;
    });
    return count;
  }
  ServedClaims served(state, study);
  for (const RunId id : state.active_runs) {
    const Run& run = state.runs.at(id);
    if (run.training() && std::binary_search(run.serves.begin(), run.serves.end(), study)) served.Add(run);
  }
  return served.count();
}

}  // namespace

bool IsServedByTraining(const MasterState& state, ClaimId id) {
  const SearchPlan& plan = state.plans.at(state.plan_by_claim.at(id));
  const auto needs = state.index.needs.find(plan.id);
  if (needs == state.index.needs.end()) return false;
  const Claim& claim = plan.claims.at(id);
  const auto trains = [&](RunId run) { return state.runs.at(run).training(); };
  const Point point = WaitsAt(plan, claim);
  if (const Place* place = needs->second.Find(point)) {
    const auto waiting = place->waiting.find(claim.evaluation);
    if (waiting != place->waiting.end() && !waiting->second.covered_by.empty()) {
      return std::any_of(waiting->second.covered_by.begin(), waiting->second.covered_by.end(), trains);
    }
  }
  const std::optional<Point> served_from = needs->second.StateFor(plan, point);
  if (!served_from) return false;
  const Place& place = *needs->second.Find(*served_from);
  return !place.stored && std::any_of(place.promised.begin(), place.promised.end(), trains);
}

std::string TrialState(const MasterState& state, const Trial& trial) {
  if (trial.cancelled) return "cancelled";
  const SearchPlan& plan = state.plans.at(trial.plan);
  bool waits = false;
  std::set<Step> failed;  // and not claimed again
  for (const ClaimId id : trial.claims) {
    const Claim& claim = plan.claims.at(id);
    if (claim.state == ClaimState::kCancelled) return "cancelled";
    claim.state == ClaimState::kFailed ? (void)failed.insert(claim.point.step) : (void)failed.erase(claim.point.step);
    if (claim.state != ClaimState::kWaiting) continue;
    waits = true;
    if (IsServedByTraining(state, id)) return "running";
  }
  for (const ClaimId id : StateClaimsOf(state, trial.id)) {
    waits = true;
    if (IsServedByTraining(state, id)) return "running";
  }
  if (waits) return "waiting";
  if (!failed.empty()) return "failed";
  return trial.closed ? "done" : "idle";
}

std::map<std::string, std::int64_t> CountTrialStates(const MasterState& state, StudyId study) {
  const TrialIndex& trials = state.trial_index.at(study);
  const std::int64_t running = CountRunning(state, study);
  std::map<std::string, std::int64_t> counts{{"running", running},
                                             {"waiting", trials.Count(TrialStanding::kWaiting) - running},
                                             {"idle", trials.Count(TrialStanding::kIdle)},
                                             {"done", trials.Count(TrialStanding::kDone)},
                                             {"failed", trials.Count(TrialStanding::kFailed)},
                                             {"cancelled", trials.Count(TrialStanding::kCancelled)}};
  std::erase_if(counts, [](const auto& entry) { return entry.second == 0; });
  return counts;
}

}  // namespace espalier::master
