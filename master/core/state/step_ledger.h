// What each study has claimed, and what was trained of that: counted as edits come, so that nobody walks trials, nodes
// or runs to answer a call. This is the audit of the scheduler (law 3): it folds claims, checkpoints, promises and the
// workers' own step logs as they are stored, and never reads the index of needs.
//
// For each plan node and study that has claimed steps there it keeps where the lineages of the study's trials end on
// the node; what the node adds to the study's totals follows from these ends, from the runs that trained there, and
// from whom they served. Before one of these changes the node is touched: its part is taken out of the totals. A few
// nodes stay touched, as the same ones change again soon, and are worked out by who asks; then all parts are put back.
//
// Not thread-safe; owned by the event loop; changed by Apply alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/point.h"
#include "base/units.h"
#include "base/wide_count.h"
#include "master/core/state/run.h"
#include "searchplan/plan/step_set.h"

namespace espalier::master {

struct MasterState;
struct Trial;

// Of a study, in steps. `done`: up to the last claim of each trial that was done; `wanted`: that was done or waits.
struct StepTotals {
  std::int64_t unique = 0;       // done, those that trials share counted once
  std::int64_t trained = 0;      // by runs that serve or served the study, up to any claim; each time
  std::int64_t re_derived = 0;   // of those: trained by a run of smaller id, too
  std::int64_t wasted = 0;       // of those: served already by a checkpoint or another run's promise when ordered
  std::int64_t reused = 0;       // of unique: trained by runs ordered before the study was created, and not by its own;
                                 // or by other code, before the state that the lineage begins with
  std::int64_t wanted = 0;       // over the trials
  std::int64_t wanted_once = 0;  // those that trials share counted once
  std::int64_t wanted_trained = 0;  // of those, by whomever
  // In measured time of a step under each node, nanoseconds; a node where nothing was trained counts nothing.
  WideCount claimed_time = 0;  // done, over the trials
  WideCount unique_time = 0;

  StepTotals& operator+=(const StepTotals& other);
  StepTotals& operator-=(const StepTotals& other);
  friend bool operator==(const StepTotals&, const StepTotals&) = default;
};

class StepLedger {
 public:
  // All zero for a study without claims. O(log studies), and for each node that is touched, of which there are at most
  // some dozens, O(runs that trained there x studies that they serve).
  StepTotals Of(const MasterState& state, StudyId study) const;
  // Summed over all studies. O(studies), and for each node that is touched as above.
  StepTotals OfAll(const MasterState& state) const;

  // The trial's claims were added to or settled. Touches the plan nodes between its old ends and its new ones.
  void ClaimsChanged(const MasterState& state, const Trial& trial);

  // What was trained under the node, or under those of the run's path, or whom runs that trained there serve, is about
  // to change. O(1) for a node that is touched; for others, and for those before them at times, O(studies on the node +
  // runs that trained there x studies that they serve).
  void Touch(const MasterState& state, PlanId plan, PlanNodeId node);
  void Touch(const MasterState& state, const Run& run);

  // The study is retired: its totals stay as they are given. O(log studies).
  void Freeze(StudyId study, const StepTotals& totals);
  // What is kept of a trial of such a study, and of a run that served such studies alone. A run that was ordered before
  // it ended, and is loaded again after that, may count fewer steps as wasted: those that this one had promised.
  // O(depth x studies there); O(path x promises ever made on it).
  void Forget(const MasterState& state, const Trial& trial);
  void Forget(const Run& run);

  // Each after the change. O(path x promises ever made on it) for a run; O(1) for a promise.
  void RunAdded(const MasterState& state, const Run& run);
  void PromiseMade(const Run& run, const Promise& promise);

 private:
  // How many trials of the study have a lineage that ends here, or goes on beyond the node.
  struct End {
    Step at;
    std::int64_t done = 0;
    std::int64_t wanted = 0;
    std::int64_t claimed = 0;  // by any claim
  };
  struct Share {
    StudyId study;
    std::vector<End> ends;  // by step; none is of nobody
  };
  // Of a trial: how far each kind of claim reaches.
  struct Reach {
    Step done;
    Step wanted;
    Step claimed;
  };
  struct Promised {
    RunId run;
    PromiseId promise;
  };

  class NodeCount;

  static Reach ReachOf(const SearchPlan& plan, const Trial& trial);
  // What the node adds to the totals of studies that are not retired; if given, of the one alone.
  template <class Take>
  void EachPart(const MasterState& state, PlanId plan, PlanNodeId node, std::optional<StudyId> only,
                const Take& take) const;
  void TakeOut(const MasterState& state, PlanId plan, PlanNodeId node);
  // Called before the first of the nodes that one change touches: the parts of the others are as they are then.
  void PutBackIfMany(const MasterState& state);
  void Move(Share& share, const PlanNode& node, Step node_end, const Reach& reach, std::int64_t sign) const;
  // What of the run's path was served when it was ordered.
  std::vector<StepRange> ServedWhenOrdered(const MasterState& state, const Run& run) const;
  Step DeepestServed(const MasterState& state, const Run& run, const PathStage& stage) const;

  std::map<StudyId, StepTotals> totals_;  // without the parts of nodes that are touched
  std::unordered_map<PlanNodeId, PlanId> touched_;
  std::set<StudyId> frozen_;
  std::unordered_map<PlanNodeId, std::vector<Share>> shares_;
  std::unordered_map<TrialId, Reach> reach_;
  std::unordered_map<PlanNodeId, std::vector<Promised>> promised_;  // of states, all ever made
  std::map<RunId, std::vector<StepRange>> needless_;                // only runs that have some
};

}  // namespace espalier::master
