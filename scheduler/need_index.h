// The index of needs of one plan: what is to be trained, from where, and for whom; kept up to date by edits, derived
// from them alone, never stored (design section 5). BuildStageTree is its oracle.
//
// A *place* is a point where something stands or is wanted: a state (a checkpoint, open promises of it, or Init at step
// 0 of a root), waiting claims, or a branch whose training has to begin there. On a node the places follow each other;
// the first one of a node follows the place of its parent where the node starts. So the places are a forest that hangs
// from the states, and each place without a state that is wanted is the end of a stage that begins at the place above
// it. What a stage and all below it amount to (its totals) is kept with the place above, up to the next state: a change
// walks up as long as something changes, O(depth log places) at most, and touches nothing beside or below.
//
// A claim whose metrics an open promise covers wants no training; it only keeps the state at its place wanted. A claim
// to a state alone is never evaluated.
//
// A value. Not thread-safe; owned by the event loop. Changes only by NeedEditor.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/point.h"
#include "base/wide_count.h"
#include "searchplan/plan/search_plan.h"

namespace espalier {

// How many waiting claims of each study: sorted, none is 0. Most places are of one study, which takes no memory of its
// own.
class StudyTally {
 public:
  using Counts = boost::container::small_vector<std::pair<StudyId, std::int64_t>, 1>;
  void Add(StudyId study, std::int64_t count);
  void Add(const StudyTally& other, std::int64_t sign);
  const Counts& counts() const { return counts_; }
  std::int64_t Of(StudyId study) const;
  friend bool operator==(const StudyTally&, const StudyTally&) = default;

 private:
  Counts counts_;
};

// Of a stage and of all that hangs below it without a state between.
struct StageTotals {
  WideCount longest = 0;  // microseconds, estimated: the longest way down
  WideCount work = 0;     // microseconds, estimated: all of it
  std::int64_t stages = 0;
  std::int64_t children = 0;  // of the stage alone: those that begin where it ends
  std::int64_t claims = 0;    // waiting, not covered by a promise
  StudyTally studies;         // whose claims these are
  friend bool operator==(const StageTotals&, const StageTotals&) = default;
};

// By what stages that hang from one place, and the states that they hang from, are put in order; more comes first.
enum class Ranking {
  kLongest,       // the longest way down (TreeML 4.3)
  kBreadthFirst,  // the earliest step (TreeML 6.3)
  kMostBelow,     // stages below, then claims
  kMostChildren,  // stages that begin where the stage ends (TreeML 6.3)
};
using Rank = std::pair<WideCount, std::int64_t>;

// Names a place's successor by its node: the next place on the same node, or the first one of a child.
struct RankedSuccessor {
  Rank rank;
  PlanNodeId node;
  // The best first; of equals the smaller id.
  friend bool operator<(const RankedSuccessor& a, const RankedSuccessor& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.node < b.node;
  }
  friend bool operator==(const RankedSuccessor&, const RankedSuccessor&) = default;
};

struct Place {
  // What stands here.
  bool stored = false;          // a checkpoint; or Init, unless the lineage begins with a state of another plan
  std::vector<RunId> promised;  // open promises of the state, in order of making
  // Who wants what, by evaluation identity, or kStateAlone.
  struct Waiting {
    std::set<ClaimId> claims;
    std::set<RunId> covered_by;  // open promises of these metrics here
  };
  std::map<std::string, Waiting> waiting;
  StudyTally studies;  // of the claims that are not covered

  // Stages that begin here. Not empty: they want the state here.
  std::map<PlanNodeId, StageTotals> successors;
  std::set<RankedSuccessor> order;
  StageTotals below;                 // sums over the successors, and the largest of `longest`
  std::multiset<WideCount> longest;  // of the successors, where `order` is by something else

  bool hangs = false;  // is itself the end of a stage: named among the successors of the place above

  bool has_state() const { return stored || !promised.empty(); }
  // Whether somebody wants the state here.
  bool wants_state() const {
    return !successors.empty() ||
           std::any_of(waiting.begin(), waiting.end(), [](const auto& each) { return !each.second.claims.empty(); });
  }
};

// A stage path that can be ordered now, or an evaluation.
struct ReadyPath {
  Rank rank;
  Point source;  // where the state stands; step 0 of a root: Init
  friend bool operator<(const ReadyPath& a, const ReadyPath& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.source < b.source;
  }
  friend bool operator==(const ReadyPath&, const ReadyPath&) = default;
};

// A stage that can be ordered now, once for each study that a claim below it is of.
struct ReadyStage {
  StudyId study;
  Rank rank;
  Point source;      // where the state stands; step 0 of a root: Init
  PlanNodeId first;  // names the stage, as RankedSuccessor does
  // By study, the best first.
  friend bool operator<(const ReadyStage& a, const ReadyStage& b) {
    if (a.study != b.study) return a.study < b.study;
    if (a.rank != b.rank) return a.rank > b.rank;
    return std::tie(a.source, a.first) < std::tie(b.source, b.first);
  }
  friend bool operator==(const ReadyStage&, const ReadyStage&) = default;
};

// A stage by where it begins; whether it can be ordered now is another question.
struct StageAt {
  Point source;
  PlanNodeId first;
  friend auto operator<=>(const StageAt&, const StageAt&) = default;
};

// A claim to evaluate a state that stands.
struct ReadyEvaluation {
  std::string evaluation;
  Point point;
  friend auto operator<=>(const ReadyEvaluation&, const ReadyEvaluation&) = default;
};

class NeedIndex {
 public:
  // Null if nothing stands or is wanted there. O(log places).
  const Place* Find(Point point) const;

  // The place that this one follows; none: it is Init. REQUIRES: the place exists. O(log places).
  std::optional<Point> Above(const SearchPlan& plan, Point point) const;

  // The path that begins at a source with its successor `first` and goes on with the best each time, up to the next
  // state; `one_stage`: its first stage alone. O(length log). REQUIRES: `first` is a successor.
  std::vector<PathStage> BestPath(const SearchPlan& plan, Point source, PlanNodeId first, bool one_stage = false) const;

  // The state from which the waiting claim at `point` will be served: the nearest place above it, or itself, that has
  // one. None: no such place. O(depth).
  std::optional<Point> StateFor(const SearchPlan& plan, Point point) const;

  // All that hangs from some state, and the longest way down from one; microseconds, estimated. And how many claims
  // have still to be evaluated, there or where a state stands or is promised. O(1).
  WideCount work_left() const { return work_left_; }
  std::int64_t claims_left() const { return claims_left_; }
  WideCount longest_left() const { return longest_left_.empty() ? 0 : *longest_left_.rbegin(); }

  // Of one step; 0 where nothing is needed. O(1).
  std::int64_t StepTimeOf(PlanNodeId node) const;

  // Roots below which something waits that nothing can be trained from: their lineages begin with a state of another
  // plan (SearchPlan::origins), and this plan does not have it.
  const std::set<PlanNodeId>& rootless() const { return rootless_; }

  const std::set<ReadyPath>& ready_paths() const { return ready_paths_; }
  const std::set<ReadyEvaluation>& ready_evaluations() const { return ready_evaluations_; }

  // Those of one study follow each other; its first one. O(log).
  const std::set<ReadyStage>& ready_stages() const { return ready_stages_; }
  std::set<ReadyStage>::const_iterator FirstReadyFor(StudyId study) const;

  // Studies whose ready stages may have changed since it was last taken.
  std::set<StudyId> TakeReadyChanged() { return std::exchange(ready_changed_, {}); }

  // Stages that can be ordered now, or could before, and that may have changed since it was last taken.
  std::set<StageAt> TakeWorkChanged() { return std::exchange(work_changed_, {}); }
  // Of all that can be ordered now for the study, too. O(that x log).
  void LookAgainAt(StudyId study);
  // Whether it can be ordered now. O(log).
  bool IsReady(const StageAt& stage) const;

  // The first of the claims that wait at the end of the stage, or nearest behind that without a state between, along
  // the best stages. None: it is no stage. O(depth).
  std::optional<ClaimId> WaitingBelow(const StageAt& stage) const;
  // The same at a place, or behind it. None: nobody.
  std::optional<ClaimId> WaitingAt(Point point) const;

  // The claims that wait at the point or beyond it, on descendants too, and where each does. O(plan nodes below).
  std::map<ClaimId, Point> WaitingFrom(const SearchPlan& plan, Point point) const;

  // What changed since it was last taken, for the engine to act on.
  struct News {
    std::set<Point> needed;    // ends of stages that were not needed before: a run that passes may serve them
    std::set<Point> unneeded;  // promised states or metrics that nobody wants any more
    std::set<RunId> served;    // whose promises serve others now
  };
  News TakeNews() { return std::exchange(news_, {}); }

  // Places with a checkpoint whose wanting may have changed since it was last taken.
  std::set<Point> TakeLookedAt() { return std::exchange(looked_at_, {}); }

  std::size_t node_count() const { return nodes_.size(); }
  // In no order.
  const auto& nodes() const { return nodes_; }

 private:
  friend class NeedEditor;
  // Where the stage ends. REQUIRES: it is one.
  Point EndOf(const StageAt& stage) const;
  struct NodeNeeds {
    std::map<Step, Place> places;
    std::int64_t step_time = 0;  // microseconds, as estimated when it was first needed
  };

  std::unordered_map<PlanNodeId, NodeNeeds> nodes_;
  std::set<PlanNodeId> rootless_;
  std::set<ReadyPath> ready_paths_;
  std::map<Point, ReadyPath> ready_of_source_;
  struct WorkBelow {
    WideCount work = 0;
    WideCount longest = 0;
    std::int64_t claims = 0;
    friend bool operator==(const WorkBelow&, const WorkBelow&) = default;
  };
  std::map<Point, WorkBelow> work_below_;  // of places with a state, but for those without work
  WideCount work_left_ = 0;
  std::int64_t claims_left_ = 0;
  std::multiset<WideCount> longest_left_;
  std::set<ReadyEvaluation> ready_evaluations_;
  std::set<ReadyStage> ready_stages_;
  std::set<StudyId> ready_changed_;
  std::set<StageAt> work_changed_;
  News news_;
  std::set<Point> looked_at_;
};

// Applies edits of one plan to its index. Short-lived.
class NeedEditor {
 public:
  using StepTime = std::function<std::int64_t(const PlanNode&)>;  // microseconds, >= 1

  // REQUIRES: `plan` is as it is after the edit, but for claims, which may still wait.
  NeedEditor(NeedIndex& index, const SearchPlan& plan, Ranking ranking, const StepTime& step_time)
      : index_(index), plan_(plan), ranking_(ranking), step_time_(step_time) {}

  // Each O(depth log places); where a checkpoint comes or goes, and for each stage that begins there, O(its studies). A
  // claim waits at `point` (WaitsAt).
  void AddClaim(const Claim& claim, Point point, StudyId study);
  void RemoveClaim(const Claim& claim, Point point, StudyId study);
  void AddCheckpoint(Point point);
  void RemoveCheckpoint(Point point);
  void AddPromise(Point point, RunId run);
  void RemovePromise(Point point, RunId run);
  // The node's steps take otherwise than was thought. A change of less than a sixteenth is none.
  void Reestimate(PlanNodeId node);
  // Of metrics. O(claims of the point + depth log places). `study_of` says whose a claim is.
  using StudyOf = std::function<StudyId(ClaimId)>;
  void Cover(Point point, const std::string& evaluation, RunId run, const StudyOf& study_of);
  void Uncover(Point point, const std::string& evaluation, RunId run, const StudyOf& study_of);

 private:
  NeedIndex::NodeNeeds& Node(PlanNodeId node);
  Place& Ensure(Point point);
  Place* Get(Point point);
  std::int64_t UncoveredClaims(const Place& place) const;
  StageTotals TotalsOf(Point point, const Place& place) const;
  Rank RankOf(const StageTotals& totals, Step from) const;
  WideCount LongestOf(const Place& place) const;
  void EraseIfEmpty(Point point, const Place& place);
  void NoteNews(Point point, const Place& place);
  Point Dissolve(Point point, Point above);
  // What has changed at the place changes what is above it.
  void Refresh(Point point);
  // One place; returns the place above if that must be looked at next.
  std::optional<Point> RefreshOne(Point point);
  void SetSuccessor(Point above, PlanNodeId node, std::optional<StageTotals> totals);
  void SetStored(Point point, Place& place, bool stored);
  // The stage can be ordered now, or no more.
  void ListReady(Point source, PlanNodeId first, const StageTotals& totals, bool is_ready);
  void RegisterReady(Point point, const Place& place);
  void RegisterWork(Point point, const Place& place);

  NeedIndex& index_;
  const SearchPlan& plan_;
  const Ranking ranking_;
  const StepTime& step_time_;
};

}  // namespace espalier
