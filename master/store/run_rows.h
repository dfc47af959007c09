// The rows of an edit's changes of runs: what is made and changed in one edit is written as it ends. Pure.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "master/core/state/state_edit.h"
#include "master/store/row_set.h"

namespace espalier::master {

class RunRows {
 public:
  void Take(const AddRun& change);
  void Take(const MakePromise& change);
  void Take(const SettlePromise& change);
  void Take(const SetTerms& change);
  void Take(const SetRunFailed& change);
  void Take(const ChargeRun& change);
  void Take(const SetRunState& change);
  void Take(const RetireRuns& change);

  // Adds the row sets, in order, to `sets`.
  void TakeRows(std::vector<RowSet>& sets);

 private:
  // Of a run that is stored; what is not set stays as it is.
  struct Changed {
    std::optional<std::int64_t> generation;
    std::optional<bool> preempt;
    bool failed = false;
    std::optional<RunState> state;
    std::optional<Time> charged_to;
    std::map<StudyId, std::int64_t> microseconds;  // added
    std::vector<StudyId> serves;
  };

  Run* Added(RunId run);
  void AddRunRows(RowSet& run, RowSet& stage, RowSet& study, RowSet& promise) const;

  std::map<RunId, Run> added_;
  std::map<RunId, Changed> changed_;
  std::map<PromiseId, std::pair<RunId, Promise>> made_;  // by runs that are stored
  std::map<PromiseId, SettlePromise> settled_;           // that are stored
  RowSet retired_{"run/retire"};
};

}  // namespace espalier::master
