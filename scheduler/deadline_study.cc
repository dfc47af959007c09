#include "scheduler/deadline_study.h"

#include <algorithm>
#include <array>
#include <limits>

#include "scheduler/label_text.h"

namespace espalier {
namespace {

constexpr std::int64_t kReduction = 4;  // HyperSched, 6.3
constexpr std::array<std::string_view, 4> kStandings{"fresh", "live", "resizing", "held"};

std::string_view Name(DeadlineStanding standing) { return kStandings[static_cast<std::size_t>(standing)]; }

void Put(std::set<TrialId>& set, TrialId trial, bool in) {
  in ? static_cast<void>(set.insert(trial)) : static_cast<void>(set.erase(trial));
}

// Where trials are compared first.
Step FirstRungOf(const PolicyStudy& study) {
  if (study.choices.min_steps > 0) return Step{study.choices.min_steps};
  return Step{std::max<std::int64_t>(1, study.evaluate_every)};
}

}  // namespace

std::string Print(const StandingMark& mark) {
  std::string text(Name(mark.standing));
  AppendNumber(text += ", ", mark.trained.value);
  AppendNumber(text += " steps in ", mark.took.count());
  return text + " s";
}

std::optional<StandingMark> ParseStandingMark(std::string_view text) {
  for (std::size_t i = 0; i < kStandings.size(); ++i) {
    StandingMark mark{.standing = static_cast<DeadlineStanding>(i)};
    double took = 0;
    LabelReader reader(text);
    reader.Skip(kStandings[i]).Skip(", ").Take(mark.trained.value).Skip(" steps in ").Take(took).Skip(" s");
    mark.took = Seconds(took);
    if (reader.is_done()) return mark;
  }
  return std::nullopt;
}

DeadlineStudy::DeadlineStudy(const PolicyStudy& study)
    : study_(study),
      deadline_(study.created_at + std::chrono::duration_cast<Time::duration>(study.choices.deadline.value())),
      rungs_(FirstRungOf(study), kReduction, study.goal) {}

std::int64_t DeadlineStudy::reduction() const { return kReduction; }

void DeadlineStudy::Set(const PolicyTrial& trial, const StandingMark& mark) {
  const auto [known, is_new] = trials_.try_emplace(trial.id, OneTrial{.trial = trial});
  OneTrial& one = known->second;
  if (is_new) one.score = std::numeric_limits<double>::quiet_NaN();
  if (!is_new) Count(one.mark, false);
  one.trial = trial;
  one.mark = mark;
  one.has_left = false;
  Count(mark, true);
  Enlist(one);
}

std::vector<TrialId> DeadlineStudy::Trials() const {
  std::vector<TrialId> ids;
  for (const auto& [id, trial] : trials_) ids.push_back(id);
  std::ranges::sort(ids);
  return ids;
}

void DeadlineStudy::Measure(TrialId id, Step step, double score) {
  OneTrial& trial = trials_.at(id);
  trial.score = score;
  trial.measured_to = step;
  const std::size_t reached = rungs_.CountUpTo(step);
  if (reached <= trial.rungs) return;
  if (trial.rungs > 0) rungs_.SetHeld(trial.rungs - 1, id, false);
  for (; trial.rungs < reached; ++trial.rungs) rungs_.Record(trial.rungs, id, score);
  Enlist(trial);
}

void DeadlineStudy::MeasureAgain(TrialId id, const std::vector<MeasuredAt>& curve) {
  OneTrial& trial = trials_.at(id);
  while (trial.rungs > 0) rungs_.Erase(--trial.rungs, id);
  trial.score = std::numeric_limits<double>::quiet_NaN();
  trial.measured_to = Step{0};
  for (const MeasuredAt& measured : curve) Measure(id, measured.point.step, measured.value);
}

bool DeadlineStudy::IsBehind(TrialId id) const {
  for (std::size_t rung = 0; rung < trials_.at(id).rungs; ++rung) {
    if (rungs_.IsBelow(rung, id)) return true;
  }
  return false;
}

bool DeadlineStudy::IsBetter(TrialId a, TrialId b) const {
  return rungs_.IsBetter(trials_.at(a).score, trials_.at(b).score);
}

void DeadlineStudy::SortByScore(std::vector<TrialId>& trials) const {
  std::ranges::stable_sort(trials, [this](TrialId a, TrialId b) { return IsBetter(a, b); });
}

void DeadlineStudy::SetStanding(TrialId id, DeadlineStanding standing) {
  OneTrial& trial = trials_.at(id);
  trial.mark.standing = standing;
  Enlist(trial);
}

void DeadlineStudy::SetTrained(TrialId id, Step step, Seconds took) {
  OneTrial& trial = trials_.at(id);
  Count(trial.mark, false);
  trial.mark.trained = step;
  trial.mark.took = took;
  Count(trial.mark, true);
}

void DeadlineStudy::Leave(TrialId id) {
  OneTrial& trial = trials_.at(id);
  trial.has_left = true;
  Enlist(trial);
}

void DeadlineStudy::Enlist(const OneTrial& trial) {
  const TrialId id = trial.trial.id;
  const auto stands = [&](DeadlineStanding standing) { return !trial.has_left && trial.mark.standing == standing; };
  Put(fresh_, id, stands(DeadlineStanding::kFresh));
  Put(going_, id, stands(DeadlineStanding::kLive) || stands(DeadlineStanding::kResizing));
  Put(resizing_, id, stands(DeadlineStanding::kResizing));
  if (trial.rungs > 0) rungs_.SetHeld(trial.rungs - 1, id, stands(DeadlineStanding::kHeld));
}

void DeadlineStudy::Count(const StandingMark& mark, bool in) {
  if (mark.trained == Step{0}) return;
  const Seconds mean = mark.took / static_cast<double>(mark.trained.value);
  if (in) {
    took_.insert(mark.took);
    means_.insert(mean);
  } else {
    took_.erase(took_.find(mark.took));
    means_.erase(means_.find(mean));
  }
}

}  // namespace espalier
