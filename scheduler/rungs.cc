#include "scheduler/rungs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier {

std::size_t Rungs::CountUpTo(Step step) const {
  std::size_t count = 0;
  for (std::int64_t at = first_.value; at <= step.value; at *= reduction_) {
    ++count;
    if (at > step.value / reduction_) break;
  }
  return count;
}

double Rungs::LossOf(double score) const {
  if (std::isnan(score)) return std::numeric_limits<double>::infinity();
  return goal_ == Goal::kMaximize ? -score : score;
}

bool Rungs::IsBetter(double a, double b) const { return LossOf(a) < LossOf(b); }

void Rungs::Record(std::size_t rung, TrialId trial, double score) {
  if (rungs_.size() <= rung) rungs_.resize(rung + 1);
  Rung& at = rungs_[rung];
  const Scored scored{LossOf(score), trial};
  at.losses.emplace(trial, scored.loss);
  at.rest.insert(scored);
  Balance(at);
}

void Rungs::Erase(std::size_t rung, TrialId trial) {
  Rung& at = rungs_[rung];
  const Scored scored{at.losses.at(trial), trial};
  for (std::set<Scored>* set : {&at.best, &at.rest, &at.held}) set->erase(scored);
  at.losses.erase(trial);
  Balance(at);
}

// So that the best are as many as they should be, after one has come or gone.
void Rungs::Balance(Rung& rung) const {
  const std::size_t all = rung.losses.size();
  const std::size_t wanted = all == 0 ? 0 : std::max<std::size_t>(1, all / static_cast<std::size_t>(reduction_));
  while (rung.best.size() < wanted) rung.best.insert(rung.rest.extract(rung.rest.begin()));
  while (rung.best.size() > wanted) rung.rest.insert(rung.best.extract(std::prev(rung.best.end())));
  if (rung.rest.empty() || rung.best.empty() || *rung.best.rbegin() < *rung.rest.begin()) return;
  rung.best.insert(rung.rest.extract(rung.rest.begin()));
  rung.rest.insert(rung.best.extract(std::prev(rung.best.end())));
}

bool Rungs::IsBelow(std::size_t rung, TrialId trial) const {
  const Rung& at = rungs_[rung];
  return at.losses.at(trial) > at.best.rbegin()->loss;
}

void Rungs::SetHeld(std::size_t rung, TrialId trial, bool held) {
  Rung& at = rungs_[rung];
  const Scored scored{at.losses.at(trial), trial};
  held ? void(at.held.insert(scored)) : void(at.held.erase(scored));
}

std::optional<TrialId> Rungs::BestHeld() const {
  for (std::size_t rung = rungs_.size(); rung-- > 0;) {
    const Rung& at = rungs_[rung];
    for (const Scored& held : at.held) {
      if (*at.best.rbegin() < held) break;
      bool is_behind = false;
      for (std::size_t lower = 0; lower < rung; ++lower) is_behind |= IsBelow(lower, held.trial);
      if (!is_behind) return held.trial;
    }
  }
  return std::nullopt;
}

}  // namespace espalier
