// The rows of an edit's changes of search plans. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "master/store/row_set.h"
#include "searchplan/plan/plan_edit.h"

namespace espalier::master {

class PlanRows {
 public:
  void Take(PlanId plan, const PlanChange& change);

  // Each adds its row sets, in order, to `sets`. Error: kAborted when two configurations have one digest.
  Result<void> TakeNodes(std::vector<RowSet>& sets) const;
  // Those that claims and points name and `stored` does not; it does from then on.
  void TakeEvaluations(std::vector<RowSet>& sets, std::set<std::string>& stored) const;
  void TakeClaims(std::vector<RowSet>& sets) const;
  void TakePoints(std::vector<RowSet>& sets) const;  // and attempts

 private:
  struct PointRows {
    std::optional<StateDigest> state;
    std::optional<Checkpoint> checkpoint;
    std::set<std::string> dropped;                  // files
    std::optional<std::optional<Failure>> failure;  // set to none: cleared
    std::map<std::string, Metrics> metrics;
    std::map<std::string, std::optional<std::string>> evaluation_failures;  // none: cleared
  };
  struct Taker;

  void TakeAttempts(std::vector<RowSet>& sets) const;

  std::vector<std::pair<PlanId, AddPlanNode>> nodes_;
  std::map<ClaimId, Claim> added_claims_;
  std::map<ClaimId, ClaimState> settled_claims_;
  std::map<Point, PointRows> points_;
  std::map<std::pair<PlanNodeId, AttemptKey>, std::optional<Attempts>> attempts_;  // none: cleared
  std::map<std::pair<PlanNodeId, CostKind>, Measurement> measurements_;
  std::vector<std::pair<PlanNodeId, TrainedRange>> ranges_;  // in order of arrival, at most one a plan node and run
  std::map<std::pair<PlanNodeId, RunId>, std::size_t> range_index_;
};

}  // namespace espalier::master
