#include "master/rpc/past_studies.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "master/core/state/cache_keeper.h"
#include "master/core/views/study_part.h"

namespace espalier::master {
namespace {

constexpr std::size_t kKeptMax = 4;
constexpr std::size_t kKeptTrialsMax = 100'000;  // of all but the newest
constexpr Seconds kKeptFor{30};
constexpr std::chrono::hours kForgetEvery{1};

Error Stopping() { return {ErrorCode::kUnavailable, "the master is stopping; try again", {}}; }

std::vector<KeptState> AllKeptBy(const MasterState& past, StudyId id, Keep keep) {
  Study study = past.studies.at(id);
  study.keep = keep;
  return KeptBy(past, study, 0, std::max(past.trials_by_study.at(id).size(), past.events.at(id).size()));
}

}  // namespace

PastStudies::PastStudies(MasterPort& master, HistoryStore& histories)
    : master_(master), histories_(histories), thread_([this] { Work(); }) {}

PastStudies::~PastStudies() { Stop(); }

void PastStudies::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

Result<void> PastStudies::LookAtStudy(const Find& find, const Look& look) {
  std::optional<StudyId> retired;
  ESPALIER_RETURN_IF_ERROR(LookAtState(master_, [&](const MasterState& state) -> Result<void> {
    ESPALIER_ASSIGN(const Study* study, find(state));
    if (!IsRetired(state, study->id)) return look(state);
    retired = study->id;
    return {};
  }));
  if (!retired) return {};
  ESPALIER_ASSIGN(const PastStudy past, StateOf(*retired));
  return look(*past);
}

Result<void> PastStudies::LookAtTrial(TrialId trial, const Caller& caller, const Look& look) {
  bool is_past = false;
  const Look look_at_present = [&](const MasterState& state) -> Result<void> {
    const auto known = state.trials.find(trial);
    is_past = known == state.trials.end() ? !state.retired.empty() && trial < state.next.trial
                                          : IsRetired(state, known->second.study);
    return is_past ? Result<void>() : look(state);
  };
  ESPALIER_RETURN_IF_ERROR(LookAtState(master_, look_at_present));
  if (!is_past) return {};
  ESPALIER_ASSIGN(const PastStudy past, StateWith(trial, caller));
  return past == nullptr ? LookAtState(master_, look) : look(*past);
}

Result<PastStudy> PastStudies::StateWith(TrialId trial, const Caller& caller) {
  ESPALIER_ASSIGN(const std::optional<StudyId> study, histories_.StudyOf(trial));
  bool may_see = false;
  const Look look = [&](const MasterState& state) -> Result<void> {
    may_see = study && FindStudy(state, *study, caller).has_value() && IsRetired(state, *study);
    return {};
  };
  ESPALIER_RETURN_IF_ERROR(LookAtState(master_, look));
  return may_see ? StateOf(*study) : Result<PastStudy>(nullptr);
}

Result<PastStudy> PastStudies::Copy(StudyId study) {
  ESPALIER_ASSIGN(const bool was_retired, IsRetiredNow(study));
  if (was_retired) return StateOf(study);
  Result<MasterState> part = CopyStudy([this](const auto& look) { return master_.Read(look); }, study);
  ESPALIER_ASSIGN(const bool is_retired, IsRetiredNow(study));  // meanwhile: memory may have forgotten the rest of it
  if (is_retired) return StateOf(study);
  ESPALIER_RETURN_IF_ERROR(part);
  return std::make_shared<const MasterState>(*std::move(part));
}

Result<bool> PastStudies::IsRetiredNow(StudyId study) {
  bool is_retired = false;
  const Look look = [&](const MasterState& state) -> Result<void> {
    is_retired = IsRetired(state, study);
    return {};
  };
  ESPALIER_RETURN_IF_ERROR(LookAtState(master_, look));
  return is_retired;
}

Result<PastStudy> PastStudies::StateOf(StudyId study) {
  const std::lock_guard lock(making_);
  const Seconds now = MonotonicNow();
  std::erase_if(kept_, [&](const Kept& kept) { return now - kept.made_at > kKeptFor; });
  const auto known = std::ranges::find(kept_, study, &Kept::study);
  if (known != kept_.end()) return known->past;
  ESPALIER_ASSIGN(StudyHistory history, histories_.Read(study));
  ESPALIER_ASSIGN(MasterState state,
                  CopyRetiredStudy([this](const auto& look) { return master_.Read(look); }, study, std::move(history)));
  std::size_t trials = 0;
  for (const Kept& kept : kept_) trials += kept.past->trials.size();
  for (; kept_.size() >= kKeptMax || trials > kKeptTrialsMax; kept_.pop_front()) {
    trials -= kept_.front().past->trials.size();
  }
  kept_.push_back({study, std::make_shared<const MasterState>(std::move(state)), now});
  return kept_.back().past;
}

void PastStudies::Ask(StudyId study, std::function<void(Result<PastStudy>)> done) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      asked_.push_back({study, std::move(done)});
      changed_.notify_one();
      return;
    }
  }
  done(tl::unexpected<Error>(Stopping()));
}

void PastStudies::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (!changed_.wait_for(lock, kForgetEvery, [this] { return stopping_ || !asked_.empty(); })) {
      lock.unlock();
      ForgetRequests();
      lock.lock();
      continue;
    }
    std::deque<Asked> left;
    if (stopping_) left.swap(asked_);
    for (const Asked& asked : left) asked.done(tl::unexpected<Error>(Stopping()));
    if (stopping_) return;
    const Asked asked = std::move(asked_.front());
    asked_.pop_front();
    lock.unlock();
    asked.done(StateOf(asked.study));
    lock.lock();
  }
}

void PastStudies::ForgetRequests() {
  for (bool is_more = true; is_more;) {
    const auto forgotten = histories_.ForgetRequests(Now() - kRequestsKeptFor);
    const std::lock_guard lock(mutex_);
    is_more = forgotten.has_value() && *forgotten > 0 && asked_.empty() && !stopping_;
  }
}

Result<void> PastStudies::Recall(ClientCall& call) {
  Recalled recalled;
  const auto recall = [&](auto& what) -> Result<void> {
    if constexpr (requires { what.study; }) {
      ESPALIER_ASSIGN(recalled.answer, histories_.FindRequest({what.study, call.request_id}));
    } else if constexpr (requires { what.trial; }) {
      ESPALIER_ASSIGN(const PastStudy past, StateWith(what.trial, call.caller));
      if (past != nullptr) what.recalled = past->trials.at(what.trial);
    }
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(what)>, PinStudy>) {
      ESPALIER_ASSIGN(const PastStudy past, StateOf(what.study));
      what.recalled = AllKeptBy(*past, what.study, what.keep);
    }
    return {};
  };
  ESPALIER_RETURN_IF_ERROR(std::visit(recall, call.what));
  call.recalled = std::move(recalled);
  return {};
}

}  // namespace espalier::master
