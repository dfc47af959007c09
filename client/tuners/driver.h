// The driver: joins a tuner to its study's events. Events in, batches out; pure, so that whoever is given the same
// events makes the same batches: a second driver of a study, one that was started again, a tuner host that carries on
// where a notebook was killed, the simulator. The n-th batch, from 0, is known by its number. What the events say is
// stored (BatchTaken) is not submitted again: only what follows from it is new.
//
//   Driver driver(tuner, "test_acc", Goal::kMaximize);
//   loop: for each event of the study, from the first: driver.OnEvent(event);
//         while (auto batch = driver.Next()) submit it, under its number
//
// REQUIRES: no trial enters the study but by its batches. Not thread-safe. Each event costs what the tuner does with
// it, and O(log unsettled claims).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/study_choices.h"
#include "base/study_event.h"
#include "client/tuners/batch.h"
#include "client/tuners/tuner.h"

namespace espalier::tuners {

struct NumberedBatch {
  std::int64_t number = 0;
  Batch batch;
};

class Driver {
 public:
  // Starts the tuner. `metric`: which one it compares; a settled claim without it counts as NaN. REQUIRES: the tuner
  // was not started, and outlives this.
  Driver(Tuner& tuner, std::string metric, Goal goal);

  // The study's next event, from the first on. A claim that is settled again (its stage was retried) is no news.
  void OnEvent(const StudyEvent& event);

  // The next batch that is neither stored nor was given before; none: nothing follows from what has been seen yet.
  std::optional<NumberedBatch> Next();

  // The study's last event was seen.
  bool finished() const { return finished_; }
  // The tuner has decided all that it will decide.
  bool tuner_finished() const { return tuner_finished_; }
  // No event that could come would make the tuner go on, though it has not finished: a mistake of the tuner's.
  bool WaitsForNothing() const;

  std::int64_t batch_count() const { return batch_count_; }   // that the tuner has made
  std::size_t trial_count() const { return started_count_; }  // that it has started
  std::optional<std::size_t> IndexOf(TrialId trial) const;    // of submission

 private:
  struct Asked {
    std::int64_t number = 0;
    std::vector<Action> actions;
  };

  void Ask(std::vector<Action> actions);
  void Count(const Action& action);
  void OnSettled(const ClaimSettled& settled);
  // Empty: it names a trial that has not been heard of yet.
  std::optional<Batch> InIds(const std::vector<Action>& actions) const;
  Outcome OutcomeOf(const ClaimSettled& settled) const;

  Tuner& tuner_;
  const std::string metric_;
  const Goal goal_;
  std::vector<TrialId> trials_;  // by index of submission
  std::unordered_map<TrialId, std::size_t> index_of_;
  std::set<std::pair<std::size_t, Step>> unsettled_;  // claims, by trial
  std::deque<Asked> asked_;                           // not given yet, in order
  std::int64_t stored_count_ = 0;
  std::int64_t batch_count_ = 0;
  std::size_t started_count_ = 0;
  bool tuner_finished_ = false;
  bool finished_ = false;
};

}  // namespace espalier::tuners
