// The port to what has left the master's memory with studies that are retired (master/core/state/retired_study.h).
// Nothing of it changes any more. Thread-safe; calls wait for the database, so the event loop makes none.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "base/result.h"
#include "master/core/state/master_state.h"

namespace espalier::master {

// Of one study. Each by id.
struct StudyHistory {
  std::vector<Trial> trials;  // without their claims
  std::vector<Claim> claims;
  std::vector<StudyEvent> events;  // of number i + 1 at index i
  std::vector<Time> event_times;   // likewise
  std::vector<Run> runs;           // that have served it
};

// How long what was answered is kept, of studies that are retired, and of calls that are about none.
inline constexpr std::chrono::days kRequestsKeptFor{30};

class HistoryStore {
 public:
  virtual ~HistoryStore() = default;

  // Nothing for a study that is not stored. O(the study), all of it in memory. Error: kUnavailable.
  virtual Result<StudyHistory> Read(StudyId study) = 0;

  // Of whatever study. None: no such trial is stored. Error: kUnavailable.
  virtual Result<std::optional<StudyId>> StudyOf(TrialId trial) = 0;

  // None: it was not answered, or so long ago that it is forgotten. Error: kUnavailable.
  virtual Result<std::optional<AnsweredRequest>> FindRequest(const RequestKey& key) = 0;

  // Forgets requests that were answered before, of studies that were retired before, and of none; some thousands of
  // them at most. How many. Error: kUnavailable.
  virtual Result<std::int64_t> ForgetRequests(Time before) = 0;
};

}  // namespace espalier::master
