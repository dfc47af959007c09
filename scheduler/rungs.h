// Rungs of successive halving without a fixed number of trials: at each, a trial is compared with all that came there
// so far, also before it (L. Li et al., ASHA; R. Liaw et al., HyperSched, SoCC 2019, algorithm 1). A value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/study_choices.h"
#include "base/units.h"

namespace espalier {

class Rungs {
 public:
  // Rung 0 is at `first` steps, and each of the others at `reduction` times as many as the one before. REQUIRES: first
  // >= 1, reduction >= 2.
  Rungs(Step first, std::int64_t reduction, Goal goal) : first_(first), reduction_(reduction), goal_(goal) {}

  // How many rungs there are up to the step.
  std::size_t CountUpTo(Step step) const;

  // The trial has come to the rung. The best of a rung are one in `reduction` of those that have, at least one; of
  // equal scores the smaller id is before. NaN is the worst. O(log trials). REQUIRES: it is not recorded there.
  void Record(std::size_t rung, TrialId trial, double score);

  // As if it had never come there. O(log trials). REQUIRES: it is recorded there.
  void Erase(std::size_t rung, TrialId trial);

  // Whether the trial is worse than all of the best of the rung. O(1). REQUIRES: it is recorded there.
  bool IsBelow(std::size_t rung, TrialId trial) const;

  // The trial is held where it came to last, or is not any more. O(log trials). REQUIRES: it is recorded there.
  void SetHeld(std::size_t rung, TrialId trial, bool held);
  // Of those that are held, among the best of their rung and behind at no lower one: of the highest rung the first.
  // None: there is none. O(rungs x those among the best of theirs).
  std::optional<TrialId> BestHeld() const;

  // Whether score a is better than b.
  bool IsBetter(double a, double b) const;

 private:
  struct Scored {
    double loss = 0;  // the less the better; infinity for NaN
    TrialId trial;
    friend auto operator<=>(const Scored&, const Scored&) = default;
  };
  struct Rung {
    std::set<Scored> best;
    std::set<Scored> rest;
    std::set<Scored> held;
    std::unordered_map<TrialId, double> losses;
  };
  double LossOf(double score) const;
  void Balance(Rung& rung) const;

  Step first_;
  std::int64_t reduction_;
  Goal goal_;
  std::vector<Rung> rungs_;  // as far as any trial has come
};

}  // namespace espalier
