#include "master/core/retiring.h"

#include <algorithm>
#include <chrono>

#include "master/core/history_store.h"
#include "master/core/views/study_summary.h"

namespace espalier::master {
namespace {

constexpr Seconds kRetirementPutOffFor{60};
constexpr Time::duration kLeavingPutOffFor = std::chrono::hours(1);
constexpr Time::duration kServerAwayMax = std::chrono::days(7);
constexpr std::size_t kCostOfAStudy = 100;  // more than of the trials and the rest that it has

bool IsServed(const MasterState& state, StudyId study) {
  return std::ranges::any_of(state.active_runs, [&](RunId run) { return state.runs.at(run).charges.contains(study); });
}

std::int64_t MicrosecondsOf(const std::map<StudyId, std::int64_t>& times, StudyId study) {
  const auto time = times.find(study);
  return time == times.end() ? 0 : time->second;
}

}  // namespace

RetiredStudy RetiredNow(const MasterState& state, StudyId study, Time now) {
  const TrialIndex& trials = state.trial_index.at(study);
  RetiredStudy retired{.at = now,
                       .trials = {},
                       .claimed_steps = trials.claimed_steps(),
                       .best = BestOf(state, study),
                       .steps = state.index.steps.Of(state, study),
                       .device_time = MicrosecondsOf(state.device_time, study),
                       .shared_time = MicrosecondsOf(state.shared_time, study),
                       .kept = state.index.retiring.value().kept};
  for (std::size_t i = 0; i < kTrialStandingCount; ++i) {
    retired.trials[i] = trials.Count(static_cast<TrialStanding>(i));
  }
  return retired;
}

namespace {

// What is done next, if anything is to be done now: its cost, as RetireSome counts. 0: nothing is.
class Retirement {
 public:
  explicit Retirement(Draft& draft) : draft_(draft), state_(draft.state()) {}

  std::size_t Forget(std::size_t left) {
    if (state_.index.forgetting.empty()) return 0;
    const StudyId study = *state_.index.forgetting.begin();
    const std::size_t has =
        std::max({state_.trials_by_study.at(study).size(), state_.events.at(study).size(), std::size_t{1}});
    draft_.Do(ForgetSome{study, std::min(left, has)});
    return std::min(left, has) + kCostOfAStudy;
  }

  std::size_t ForgetAnswers(std::size_t left) {
    const auto oldest = state_.index.own_requests.begin();
    const Time before = draft_.now - kRequestsKeptFor;
    if (oldest == state_.index.own_requests.end() || oldest->first >= before) return 0;
    draft_.Do(ForgetRequests{before, left});
    return left;
  }

  std::size_t Leave(std::size_t left) {
    std::vector<RunId> due;
    for (const auto& [from, run] : state_.index.to_leave) {
      if (from > draft_.now || due.size() == left) break;
      due.push_back(run);
    }
    RetireRuns leaving;
    for (const RunId run : due) {
      if (MayReportYet(state_.runs.at(run))) {
        draft_.Do(PutOffLeaving{run, draft_.now + kLeavingPutOffFor});
      } else {
        leaving.runs.push_back(run);
      }
    }
    if (!leaving.runs.empty()) draft_.Do(std::move(leaving));
    return due.size();
  }

  std::size_t Retire(std::size_t left) {
    const auto next = state_.index.to_retire.begin();
    if (next == state_.index.to_retire.end() || next->first + *draft_.settings.retire_after > draft_.now) return 0;
    const StudyId study = next->second;
    if (IsServed(state_, study)) {
      const auto again = draft_.now + kRetirementPutOffFor - *draft_.settings.retire_after;
      draft_.Do(PutOffRetirement{study, std::chrono::ceil<Time::duration>(again)});
      return kCostOfAStudy;
    }
    const std::optional<Retiring>& retiring = state_.index.retiring;
    const std::size_t seen = retiring && retiring->study == study ? retiring->seen : 0;
    const std::size_t all = CountOfKeepers(state_.studies.at(study));
    const std::size_t count = std::min(left, all - std::min(seen, all));
    draft_.Do(ListKept{study, count});
    if (seen + count < all) return count;
    draft_.Do(RetireStudy{study, RetiredNow(state_, study, draft_.now)});
    draft_.Log(LogLevel::kInfo, "study retired", {{"study", study}});
    return count + kCostOfAStudy;
  }

 private:
  // By what the study keeps states: KeptBy.
  std::size_t CountOfKeepers(const Study& study) const {
    switch (study.keep) {
      case Keep::kNone:
        return 0;
      case Keep::kBest:
        return 1;
      case Keep::kAll:
        return state_.trials_by_study.at(study.id).size();
      case Keep::kClaimed:
        return state_.events.at(study.id).size();
    }
    return 0;
  }

  // What it has to say of the run it has said, once it is there.
  bool MayReportYet(const Run& run) const {
    const auto server = state_.servers.find(run.slot.server);
    const bool is_there = server != state_.servers.end() && server->second.session.has_value();
    return !is_there && draft_.now - run.charged_to < kServerAwayMax;
  }

  Draft& draft_;
  const MasterState& state_;
};

}  // namespace

void RetireSome(Draft& draft) {
  if (!draft.settings.retire_after) return;
  Retirement retirement(draft);
  for (std::size_t left = kRetiredATick; left > 0;) {
    std::size_t cost = retirement.Forget(left);
    if (cost == 0) cost = retirement.Leave(left);
    if (cost == 0) cost = retirement.ForgetAnswers(left);
    if (cost == 0) cost = retirement.Retire(left);
    if (cost == 0) return;
    left -= std::min(left, cost);
  }
}

}  // namespace espalier::master
