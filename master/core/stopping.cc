#include "master/core/stopping.h"

#include <cmath>
#include <sstream>

#include "master/core/calls/trial_edits.h"
#include "master/core/state/claims.h"
#include "master/core/state/device_time.h"
#include "searchplan/sequence/value.h"

namespace espalier::master {
namespace {

bool MayStop(const Study& study) { return !study.cancelled && study.stopped.empty() && !study.finished_at; }

bool IsReached(double target, double value, Goal goal) {
  return goal == Goal::kMaximize ? value >= target : value <= target;
}

// In the largest unit of which it is a whole number.
std::string Duration(Seconds time) {
  const bool is_hours = std::fmod(time.count(), 3600) == 0;
  const bool is_minutes = std::fmod(time.count(), 60) == 0;
  std::ostringstream text;
  text << time.count() / (is_hours ? 3600 : is_minutes ? 60 : 1) << (is_hours ? " h" : is_minutes ? " min" : " s");
  return text.str();
}

// Empty: it may go on.
std::string TimeUp(const MasterState& state, const Study& study, Time now) {
  const StopRule& stop = study.specification.stop;
  if (stop.after && now - study.created_at >= *stop.after) return Duration(*stop.after) + " have passed";
  if (stop.device_time && DeviceTime(state, study.id, now) >= *stop.device_time) {
    return Duration(*stop.device_time) + " of devices are used";
  }
  return {};
}

void Stop(Draft& draft, StudyId id, const std::string& why) {
  const MasterState& state = draft.state();
  const std::vector<TrialId> trials = state.trials_by_study.at(id);
  for (const TrialId trial : trials) {
    const Trial& of_study = state.trials.at(trial);
    const bool waits = LastWaitingClaim(state.plans.at(of_study.plan), of_study) != nullptr;
    EndTrial(draft, trial, /*cancelled=*/waits);
  }
  draft.Log(LogLevel::kInfo, "study stopped", {{"study", id}, {"why", why}});
  draft.Do(CloseStudy{.study = id, .stopped = why});
}

}  // namespace

void NoteReached(Draft& draft, const Study& study, const ClaimSettled& settled) {
  const std::optional<double>& target = study.specification.stop.metric;
  if (!target || !MayStop(study)) return;
  const auto value = settled.metrics.find(study.specification.metric);
  if (value == settled.metrics.end() || !IsReached(*target, value->second, study.specification.goal)) return;
  draft.reached.try_emplace(study.id, "trial " + std::to_string(settled.trial.value) + " reached " +
                                          espalier::Print(Value(value->second)) + " at step " +
                                          std::to_string(settled.step.value));
}

void NoteTimesUp(Draft& draft) {
  for (const StudyId id : draft.state().index.timed_studies) {
    const Study& study = draft.state().studies.at(id);
    if (!MayStop(study)) continue;
    if (std::string why = TimeUp(draft.state(), study, draft.now); !why.empty()) {
      draft.reached.try_emplace(id, std::move(why));
    }
  }
}

void StopStudies(Draft& draft) {
  const std::map<StudyId, std::string> reached = draft.reached;
  for (const auto& [id, why] : reached) Stop(draft, id, why);
}

}  // namespace espalier::master
