#include "master/core/trial_index.h"

#include <cmath>

namespace espalier {
namespace {

std::size_t IndexOf(TrialStanding standing) { return static_cast<std::size_t>(standing); }

TrialPlace PlaceOf(TrialId trial, const Metrics& metrics, const StudySpecification& study) {
  const auto metric = metrics.find(study.metric);
  if (metric == metrics.end() || std::isnan(metric->second)) return {.unranked = true, .trial = trial};
  const double value = metric->second == 0 ? 0.0 : metric->second;
  return {.value = study.goal == Goal::kMaximize ? -value : value, .trial = trial};
}

}  // namespace

struct TrialIndex::Taker {
  TrialIndex& index;
  const Study& study;

  void operator()(const TrialSubmitted& event) const {
    index.Update(event.trial, [](Entry&) {});
  }
  void operator()(const ClaimMade& event) const {
    index.Update(event.trial, [](Entry& entry) { ++entry.waiting_count; });
  }
  void operator()(const ClaimSettled& event) const {
    index.Update(event.trial, [&](Entry& entry) {
      --entry.waiting_count;
      entry.failed |= event.state == ClaimState::kFailed;
      entry.cancelled |= event.state == ClaimState::kCancelled;
      if (event.state != ClaimState::kDone || event.step < entry.measured_at) return;
      entry.measured_at = event.step;
      entry.by_metric = PlaceOf(event.trial, event.metrics, study.specification);
    });
  }
  void operator()(const TrialClosed& event) const {
    index.Update(event.trial, [&](Entry& entry) {
      entry.closed = true;
      entry.cancelled |= event.cancelled;
    });
  }
  void operator()(const StudyFinished&) const {}
};

void TrialIndex::Take(const StudyEvent& event, const Study& study) { std::visit(Taker{*this, study}, event); }

TrialStanding TrialIndex::StandingOf(const Entry& entry) {
  if (entry.cancelled) return TrialStanding::kCancelled;
  if (entry.waiting_count > 0) return TrialStanding::kWaiting;
  if (entry.failed) return TrialStanding::kFailed;
  return entry.closed ? TrialStanding::kDone : TrialStanding::kIdle;
}

template <class Change>
void TrialIndex::Update(TrialId trial, const Change& change) {
  const auto [it, is_new] = entries_.try_emplace(trial, Entry{.by_metric = {.unranked = true, .trial = trial}});
  Entry& entry = it->second;
  const std::size_t before = IndexOf(StandingOf(entry));
  const TrialPlace place_before = entry.by_metric;
  change(entry);
  const std::size_t after = IndexOf(StandingOf(entry));
  if (!is_new && before == after && place_before == entry.by_metric) return;
  if (!is_new) {
    by_submission_[before].erase({.trial = trial});
    by_metric_[before].erase(place_before);
  }
  by_submission_[after].insert({.trial = trial});
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

std::size_t TrialIndex::Count(TrialStanding standing) const { return by_submission_[IndexOf(standing)].size(); }

}  // namespace espalier
