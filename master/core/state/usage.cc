#include "master/core/state/usage.h"

#include <algorithm>

#include "master/core/state/device_time.h"

namespace espalier::master {
namespace {

Day DayOf(Time time) { return std::chrono::floor<std::chrono::days>(time); }

// Of what was charged evenly for the time from `from` to `to`, the day's part.
std::int64_t PartOfDay(std::int64_t charge, Time from, Time to, Day day) {
  if (DayOf(from) == DayOf(to) || from >= to) return DayOf(to) == day ? charge : 0;
  const Time begin = std::max<Time>(from, day);
  const Time end = std::min<Time>(to, day + std::chrono::days(1));
  if (begin >= end) return 0;
  return static_cast<std::int64_t>(static_cast<WideCount>(charge) * (end - begin).count() / (to - from).count());
}

}  // namespace

std::array<Party, 2> PartiesOf(const Study& study) {
  return {Party{Party::Kind::kTeam, study.team}, Party{Party::Kind::kUser, study.user}};
}

bool CountsFor(const Study& study, const Party& party) {
  return party.name == (party.kind == Party::Kind::kTeam ? study.team : study.user);
}

void UsageKeeper::Count(StudyId id, std::int64_t Usage::*what, std::int64_t more) {
  const auto study = state_.studies.find(id);
  if (study == state_.studies.end()) return;
  for (const Party& party : PartiesOf(study->second)) state_.usage[party].*what += more;
}

void UsageKeeper::Around(const Run& run, const std::function<void()>& charge) {
  CountCharges(run, -1);
  charge();
  CountCharges(run, 1);
}

void UsageKeeper::CountCharges(const Run& run, std::int64_t sign) {
  const Day last = DayOf(run.charged_to);
  for (const auto& [id, microseconds] : run.charges) {
    const auto study = state_.studies.find(id);
    if (microseconds == 0 || study == state_.studies.end()) continue;
    for (const Party& party : PartiesOf(study->second)) {
      Usage& usage = state_.usage[party];
      if (usage.day < last) {
        usage.day = last;
        usage.device_time = 0;
      }
      usage.device_time += sign * PartOfDay(microseconds, run.ordered_at, run.charged_to, usage.day);
    }
  }
}

Usage UsageOf(const MasterState& state, const Party& party) {
  const auto usage = state.usage.find(party);
  return usage == state.usage.end() ? Usage{} : usage->second;
}

std::int64_t OpenTrialsOf(const MasterState& state, const Party& party) {
  std::int64_t count = 0;
  for (const StudyId study : state.running_studies) {
    if (!CountsFor(state.studies.at(study), party)) continue;
    const TrialIndex& trials = state.trial_index.at(study);
    count += trials.Count(TrialStanding::kWaiting) + trials.Count(TrialStanding::kIdle);
  }
  return count;
}

std::map<Party, Seconds> DeviceTimeToday(const MasterState& state, Time now) {
  const Day today = DayOf(now);
  std::map<Party, Seconds> used;
  for (const auto& [party, usage] : state.usage) {
    if (usage.day == today) used[party] = std::chrono::microseconds(usage.device_time);
  }
  for (const RunId id : state.active_runs) {
    const Run& run = state.runs.at(id);
    if (!run.training()) continue;
    const Seconds since_midnight(now - std::max<Time>(run.charged_to, today));
    const Seconds part = run.slots * std::max(Seconds(0), since_midnight) / static_cast<double>(run.serves.size());
    for (const StudyId study : run.serves) {
      for (const Party& party : PartiesOf(state.studies.at(study))) used[party] += part;
    }
  }
  return used;
}

std::int64_t NeededBytes(const MasterState& state, const Party& party) {
  const CheckpointCache& cache = state.index.limited_caches.at(party);
  return cache.bytes() - cache.BytesThatGoBefore(Standing::kOpenTrial);
}

bool IsStopped(const MasterState& state, const Study& study) {
  if (state.stopped.empty()) return false;
  return std::ranges::any_of(PartiesOf(study), [&](const Party& party) { return state.stopped.contains(party); });
}

bool IsStopped(const MasterState& state, StudyId study) {
  return !state.stopped.empty() && IsStopped(state, state.studies.at(study));
}

bool IsHeldBack(const MasterState& state, const NeedIndex& needs, const StageAt& stage) {
  if (state.stopped.empty()) return false;
  const StudyTally& studies = needs.Find(stage.source)->successors.at(stage.first).studies;
  return !studies.counts().empty() &&
         std::ranges::all_of(studies.counts(), [&](const auto& entry) { return IsStopped(state, entry.first); });
}

bool IsHeldBack(const MasterState& state, const SearchPlan& plan, const ReadyEvaluation& evaluation) {
  if (state.stopped.empty()) return false;
  const Place& place = *state.index.needs.at(plan.id).Find(evaluation.point);
  return std::ranges::all_of(place.waiting.at(evaluation.evaluation).claims, [&](ClaimId claim) {
    return IsStopped(state, state.trials.at(plan.claims.at(claim).trial).study);
  });
}

}  // namespace espalier::master
