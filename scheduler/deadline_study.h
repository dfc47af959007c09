// The trials of a study with a deadline, as meet_deadlines.h sees them: who trains, who is held, who has not begun, and
// how they compare. A value.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scheduler/policy_trial.h"
#include "scheduler/rungs.h"

namespace espalier {

enum class DeadlineStanding {
  kFresh,     // it has not begun
  kLive,      // it trains, or should
  kResizing,  // it trains on with more slots, once it has left those that it had
  kHeld,
};

// What is written on a trial.
struct StandingMark {
  DeadlineStanding standing = DeadlineStanding::kFresh;
  Step trained{0};  // when it was looked at last
  Seconds took{0};  // what these steps took
  friend bool operator==(const StandingMark&, const StandingMark&) = default;
};
// "live, 40 steps in 12.5 s"
std::string Print(const StandingMark& mark);
// None: it is no such text.
std::optional<StandingMark> ParseStandingMark(std::string_view text);

class DeadlineStudy {
 public:
  // REQUIRES: it has a deadline.
  explicit DeadlineStudy(const PolicyStudy& study);

  const PolicyStudy& study() const { return study_; }
  Time deadline() const { return deadline_; }
  std::int64_t reduction() const;

  // The trial asks for steps, or for further ones. `mark`: as it was written on it. O(log).
  void Set(const PolicyTrial& trial, const StandingMark& mark);
  bool Has(TrialId trial) const { return trials_.contains(trial); }
  const PolicyTrial& Trial(TrialId trial) const { return trials_.at(trial).trial; }
  const StandingMark& MarkOf(TrialId trial) const { return trials_.at(trial).mark; }
  std::vector<TrialId> Trials() const;  // sorted

  // Its metric at the step, the last on its way so far, counts at all rungs up to there at which it has none yet.
  // O(rungs x log). REQUIRES: step > MeasuredTo.
  void Measure(TrialId trial, Step step, double score);
  Step MeasuredTo(TrialId trial) const { return trials_.at(trial).measured_to; }
  // Instead of all that it measured before: what is measured on its way, by step. O(that + rungs x log).
  void MeasureAgain(TrialId trial, const std::vector<MeasuredAt>& curve);
  // Whether it is not among the best of some rung any more. O(rungs).
  bool IsBehind(TrialId trial) const;
  // By their last scores; of equals, neither.
  bool IsBetter(TrialId a, TrialId b) const;
  void SortByScore(std::vector<TrialId>& trials) const;  // the best first, equals as they are

  // O(log).
  void SetStanding(TrialId trial, DeadlineStanding standing);
  void SetTrained(TrialId trial, Step step, Seconds took);
  // The trial wants nothing any more.
  void Leave(TrialId trial);

  const std::set<TrialId>& fresh() const { return fresh_; }
  const std::set<TrialId>& going() const { return going_; }  // live or resizing
  bool HasResizing() const { return !resizing_.empty(); }
  // The best one that may go on, of the highest rung. O(rungs).
  std::optional<TrialId> BestHeld() const { return rungs_.BestHeld(); }

  // Over its trials, as far as they were looked at: the longest time that one has trained, and that one has taken for a
  // step in the mean. 0: none was.
  Seconds furthest() const { return took_.empty() ? Seconds(0) : *took_.rbegin(); }
  Seconds step() const { return means_.empty() ? Seconds(0) : *means_.rbegin(); }

 private:
  struct OneTrial {
    PolicyTrial trial;
    StandingMark mark;
    std::size_t rungs = 0;  // at which it was compared
    double score = 0;       // the last; NaN: none
    Step measured_to{0};
    bool has_left = false;
  };
  void Enlist(const OneTrial& trial);
  void Count(const StandingMark& mark, bool in);

  PolicyStudy study_;
  Time deadline_{};
  Rungs rungs_;
  std::unordered_map<TrialId, OneTrial> trials_;
  std::set<TrialId> fresh_;
  std::set<TrialId> going_;
  std::set<TrialId> resizing_;
  std::multiset<Seconds> took_;
  std::multiset<Seconds> means_;
};

}  // namespace espalier
