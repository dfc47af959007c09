// A study's trials in the orders in which they are listed, and what lists of studies say of them, kept up to date by
// the study's events, and by claims to states alone: so that a page of a list costs what the page holds. Invariant:
// each trial stands once in each order, under its state.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "master/core/state/list_place.h"
#include "master/core/state/study.h"

namespace espalier::master {

enum class TrialOrder { kSubmission, kMetric };

// What a trial's own events say of it; a trial that waits may also be running.
enum class TrialStanding { kWaiting, kIdle, kDone, kFailed, kCancelled };
inline constexpr std::size_t kTrialStandingCount = 5;

using TrialPlace = ListPlace<TrialId>;

struct BestTrial {
  TrialId trial;
  double value = 0;
  Step step;
  friend bool operator==(const BestTrial&, const BestTrial&) = default;
};

class TrialIndex {
 public:
  using Standings = std::set<TrialStanding>;

  // `study`: whose event it is.
  void Take(const StudyEvent& event, const Study& study);

  // A claim to a state alone is made (1) or settled (-1), of which no event tells: the trial waits meanwhile.
  void StateClaimed(TrialId trial, std::int64_t sign);

  // Calls `take` with each trial of these standings, in order, those after `after` if it is given, until it says false.
  void Each(TrialOrder order, const Standings& standings, const std::optional<TrialPlace>& after,
            const std::function<bool(const TrialPlace&)>& take) const;

  std::int64_t Count(TrialStanding standing) const;

  // Lists it no more; it still counts. O(log trials).
  void Forget(TrialId trial);

  // Of a study whose trials are all forgotten.
  static TrialIndex Retired(const std::array<std::int64_t, kTrialStandingCount>& counts, std::int64_t claimed_steps,
                            const std::optional<BestTrial>& best);

  // Whether some trial has more than one claim that waits.
  bool HasSeveralWaiting() const { return several_waiting_ > 0; }

  // The last step whose claim is done; Step{0}: none is.
  Step MeasuredAt(TrialId trial) const;

  // Over the trials: up to the last claim that was done.
  std::int64_t claimed_steps() const { return claimed_steps_; }

  // Of all claims that were done, by the study's metric and goal; of equal values the earliest trial, then the latest
  // step. None: no claim was done with a value.
  const std::optional<BestTrial>& best() const { return best_; }

  friend bool operator==(const TrialIndex&, const TrialIndex&) = default;

 private:
  struct Entry {
    std::int64_t waiting_count = 0;  // claims
    bool closed = false;
    std::vector<Step> failed;  // of claims that were not made again
    Step claimed_to;           // of the furthest claim
    bool cancelled = false;
    Step measured_at;  // the last step whose claim is done
    TrialPlace by_metric;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  struct Taker;
  using Places = std::array<std::set<TrialPlace>, kTrialStandingCount>;

  static TrialStanding StandingOf(const Entry& entry);
  void CountWaiting(Entry& entry, std::int64_t sign);
  void TakeDone(const ClaimSettled& event, Entry& entry, const StudySpecification& study);
  template <class Change>
  void Update(TrialId trial, const Change& change);

  std::map<TrialId, Entry> entries_;
  Places by_submission_;
  Places by_metric_;
  std::array<std::int64_t, kTrialStandingCount> forgotten_{};
  std::int64_t several_waiting_ = 0;  // trials
  std::int64_t claimed_steps_ = 0;
  std::optional<BestTrial> best_;
};

}  // namespace espalier::master
