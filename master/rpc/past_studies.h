// Studies that are retired, for who asks about them: states of them, made of what the database has and of plan nodes in
// the master's memory (CopyRetiredStudy), in which views find all that they look at; the newest few are kept for a
// while. Beside that it sees to it that requests are forgotten that were answered long ago. Thread-safe.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/result.h"
#include "base/units.h"
#include "master/core/history_store.h"
#include "master/core/state/visibility.h"
#include "master/rpc/reading.h"

namespace espalier::master {

using PastStudy = std::shared_ptr<const MasterState>;

class PastStudies {
 public:
  // Both outlive this.
  PastStudies(MasterPort& master, HistoryStore& histories);
  ~PastStudies();
  PastStudies(const PastStudies&) = delete;
  PastStudies& operator=(const PastStudies&) = delete;

  // Looks at the study that `find` finds: in the master's memory, or, where it is retired, in a state of it. Waits.
  // Error: `find`'s, `look`'s, kUnavailable.
  using Find = std::function<Result<const Study*>(const MasterState& state)>;
  Result<void> LookAtStudy(const Find& find, const Look& look);

  // The same for a trial's study; where the caller may see no such trial, in the master's memory, where `look` finds
  // none either.
  Result<void> LookAtTrial(TrialId trial, const Caller& caller, const Look& look);

  // Of a study that may be retired: its part of the state, as CopyStudy has it. Waits.
  Result<PastStudy> Copy(StudyId study);

  // The state of a retired study, for `done`, on another thread. What is asked for is made one after the other.
  void Ask(StudyId study, std::function<void(Result<PastStudy>)> done);

  // Looks up what the call needs of a retired study, and puts it into the call. Waits. Error: kUnavailable.
  Result<void> Recall(ClientCall& call);

  // Who waits is told kUnavailable, and who asks from now on. No thread is left.
  void Stop();

 private:
  struct Kept {
    StudyId study;
    PastStudy past;
    Seconds made_at{0};
  };
  struct Asked {
    StudyId study;
    std::function<void(Result<PastStudy>)> done;
  };

  Result<bool> IsRetiredNow(StudyId study);
  Result<PastStudy> StateOf(StudyId study);
  // Of a trial that memory lacks. Null: the caller may see no such trial.
  Result<PastStudy> StateWith(TrialId trial, const Caller& caller);
  void Work();
  // Until there are none.
  void ForgetRequests();

  MasterPort& master_;
  HistoryStore& histories_;

  std::mutex making_;  // one at a time: each takes memory
  std::deque<Kept> kept_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Asked> asked_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace espalier::master
