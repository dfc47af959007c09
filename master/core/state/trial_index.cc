#include "master/core/state/trial_index.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace espalier::master {
namespace {

std::size_t IndexOf(TrialStanding standing) { return static_cast<std::size_t>(standing); }

// The less, the better. None if there is no such metric, or it is NaN.
std::optional<double> RankOf(const Metrics& metrics, const StudySpecification& study) {
  const auto metric = metrics.find(study.metric);
  if (metric == metrics.end() || std::isnan(metric->second)) return std::nullopt;
  const double value = metric->second == 0 ? 0.0 : metric->second;
  return study.goal == Goal::kMaximize ? -value : value;
}

TrialPlace PlaceAt(TrialId trial, std::optional<double> rank) {
  return {.unranked = !rank, .value = rank.value_or(0), .id = trial};
}

}  // namespace

struct TrialIndex::Taker {
  TrialIndex& index;
  const Study& study;

  void operator()(const TrialSubmitted& event) const {
    index.Update(event.trial, [](Entry&) {});
  }
  void operator()(const ClaimMade& event) const {
    index.Update(event.trial, [&](Entry& entry) {
      index.CountWaiting(entry, 1);
      std::erase(entry.failed, event.step);  // made again at its point: its stage is retried
      entry.claimed_to = std::max(entry.claimed_to, event.step);
    });
  }
  void operator()(const ClaimSettled& event) const {
    index.Update(event.trial, [&](Entry& entry) {
      index.CountWaiting(entry, -1);
      if (event.state == ClaimState::kFailed) entry.failed.push_back(event.step);
      entry.cancelled |= event.state == ClaimState::kCancelled;
      if (event.state == ClaimState::kDone) index.TakeDone(event, entry, study.specification);
    });
  }
  void operator()(const TrialClosed& event) const {
    index.Update(event.trial, [&](Entry& entry) {
      entry.closed = true;
      entry.cancelled |= event.cancelled;
    });
  }
  void operator()(const BatchTaken&) const {}
  void operator()(const SlotIdle&) const {}
  void operator()(const StudyFinished&) const {}
};

void TrialIndex::Take(const StudyEvent& event, const Study& study) { std::visit(Taker{*this, study}, event); }

void TrialIndex::CountWaiting(Entry& entry, std::int64_t sign) {
  if (entry.waiting_count > 1) --several_waiting_;
  entry.waiting_count += sign;
  if (entry.waiting_count > 1) ++several_waiting_;
}

void TrialIndex::StateClaimed(TrialId trial, std::int64_t sign) {
  Update(trial, [&](Entry& entry) { CountWaiting(entry, sign); });
}

void TrialIndex::TakeDone(const ClaimSettled& event, Entry& entry, const StudySpecification& study) {
  const std::optional<double> rank = RankOf(event.metrics, study);
  if (event.step >= entry.measured_at) {
    claimed_steps_ += event.step - entry.measured_at;
    entry.measured_at = event.step;
    entry.by_metric = PlaceAt(event.trial, rank);
  }
  if (!rank) return;
  const auto order = [](double rank_of, TrialId trial, Step step) { return std::tuple(rank_of, trial, -step.value); };
  const bool maximize = study.goal == Goal::kMaximize;
  if (best_ && order(maximize ? -best_->value : best_->value, best_->trial, best_->step) <=
                   order(*rank, event.trial, event.step)) {
    return;
  }
  best_ = BestTrial{event.trial, maximize ? -*rank : *rank, event.step};
}

TrialStanding TrialIndex::StandingOf(const Entry& entry) {
  if (entry.cancelled) return TrialStanding::kCancelled;
  if (entry.waiting_count > 0) return TrialStanding::kWaiting;
  if (!entry.failed.empty()) return TrialStanding::kFailed;
  return entry.closed ? TrialStanding::kDone : TrialStanding::kIdle;
}

template <class Change>
void TrialIndex::Update(TrialId trial, const Change& change) {
  const auto [it, is_new] = entries_.try_emplace(trial, Entry{.by_metric = PlaceAt(trial, std::nullopt)});
  Entry& entry = it->second;
  const std::size_t before = IndexOf(StandingOf(entry));
  const TrialPlace place_before = entry.by_metric;
  change(entry);
  const std::size_t after = IndexOf(StandingOf(entry));
  if (!is_new && before == after && place_before == entry.by_metric) return;
  if (!is_new) {
    by_submission_[before].erase({.id = trial});
    by_metric_[before].erase(place_before);
  }
  by_submission_[after].insert({.id = trial});
  by_metric_[after].insert(entry.by_metric);
}

void TrialIndex::Each(TrialOrder order, const Standings& standings, const std::optional<TrialPlace>& after,
                      const std::function<bool(const TrialPlace&)>& take) const {
  const Places& places = order == TrialOrder::kMetric ? by_metric_ : by_submission_;
  struct Reading {
    std::set<TrialPlace>::const_iterator next;
    std::set<TrialPlace>::const_iterator end;
  };
  std::vector<Reading> readings;
  for (const TrialStanding standing : standings) {
    const std::set<TrialPlace>& of_standing = places[IndexOf(standing)];
    readings.push_back({after ? of_standing.upper_bound(*after) : of_standing.begin(), of_standing.end()});
  }
  while (true) {
    Reading* first = nullptr;
    for (Reading& reading : readings) {
      if (reading.next == reading.end) continue;
      if (first == nullptr || *reading.next < *first->next) first = &reading;
    }
    if (first == nullptr || !take(*first->next)) return;
    ++first->next;
  }
}

std::int64_t TrialIndex::Count(TrialStanding standing) const {
  return static_cast<std::int64_t>(by_submission_[IndexOf(standing)].size()) + forgotten_[IndexOf(standing)];
}

void TrialIndex::Forget(TrialId trial) {
  const auto entry = entries_.extract(trial);
  if (!entry) return;
  const std::size_t standing = IndexOf(StandingOf(entry.mapped()));
  by_submission_[standing].erase({.id = trial});
  by_metric_[standing].erase(entry.mapped().by_metric);
  ++forgotten_[standing];
}

TrialIndex TrialIndex::Retired(const std::array<std::int64_t, kTrialStandingCount>& counts, std::int64_t claimed_steps,
                               const std::optional<BestTrial>& best) {
  TrialIndex index;
  index.forgotten_ = counts;
  index.claimed_steps_ = claimed_steps;
  index.best_ = best;
  return index;
}

Step TrialIndex::MeasuredAt(TrialId trial) const {
  const auto entry = entries_.find(trial);
  return entry == entries_.end() ? Step{0} : entry->second.measured_at;
}

}  // namespace espalier::master
