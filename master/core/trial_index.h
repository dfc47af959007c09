// A study's trials in the orders in which they are listed, kept up to date by the study's events alone: so that a page
// of a list costs what the page holds. Invariant: each trial stands once in each order, under its state.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "master/core/study.h"

namespace espalier {

enum class TrialOrder { kSubmission, kMetric };

// What a trial's own events say of it; a trial that waits may also be running.
enum class TrialStanding { kWaiting, kIdle, kDone, kFailed, kCancelled };
inline constexpr std::size_t kTrialStandingCount = 5;

// A trial's place in an order; places compare as the order goes.
struct TrialPlace {
  bool unranked = false;  // by metric: it has none, or NaN
  double value = 0;       // by metric: the less, the better
  TrialId trial;
  friend auto operator<=>(const TrialPlace&, const TrialPlace&) = default;
};

class TrialIndex {
 public:
  using Standings = std::set<TrialStanding>;

  // `study`: whose event it is.
  void Take(const StudyEvent& event, const Study& study);

  // Calls `take` with each trial of these standings, in order, those after `after` if it is given, until it says false.
  void Each(TrialOrder order, const Standings& standings, const std::optional<TrialPlace>& after,
            const std::function<bool(const TrialPlace&)>& take) const;

  std::size_t Count(TrialStanding standing) const;

  friend bool operator==(const TrialIndex&, const TrialIndex&) = default;

 private:
  struct Entry {
    std::int64_t waiting_count = 0;  // claims
    bool closed = false;
    bool failed = false;
    bool cancelled = false;
    Step measured_at;  // the last step whose claim is done
    TrialPlace by_metric;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  struct Taker;
  using Places = std::array<std::set<TrialPlace>, kTrialStandingCount>;

  static TrialStanding StandingOf(const Entry& entry);
  template <class Change>
  void Update(TrialId trial, const Change& change);

  std::map<TrialId, Entry> entries_;
  Places by_submission_;
  Places by_metric_;
};

}  // namespace espalier
