// A run's path with all that each step of it needs: where points lie in the plan, and the hyper-parameters' values.
// A value: derived from an order, whose path never changes.
#pragma once

#include <vector>

#include "protocol/order.h"
#include "worker/node/core/worker_words.h"

namespace espalier::node {

// Whether a server with these devices can carry out the order, whatever its workers train. Error: kInvalidArgument with
// the field.
Result<void> CheckOrder(const Order& order, const std::vector<Device>& devices);

// The same of a check.
Result<void> CheckWanted(const WantedCheck& wanted, const std::vector<Device>& devices);

class RunPath {
 public:
  // REQUIRES: CheckOrder has found nothing.
  explicit RunPath(const Order& order);

  // Where training starts and where the path ends.
  Step start() const { return start_; }
  Step end() const { return stages_.empty() ? start_ : stages_.back().stage.to; }
  // Nothing is trained: the start's state is evaluated.
  bool empty() const { return stages_.empty(); }
  // Without configurations.
  std::vector<PathStage> stages() const;

  // The point at `step`, and the lineage of its plan node. REQUIRES: start() <= step <= end(), and 0 < step.
  Point PointAt(Step step) const;
  Digest128 LineageAt(Step step) const;

  // The values of all hyper-parameters at step 0, wherever the path begins; undeclared ones that are neutral there are
  // left out.
  Values ValuesAtInit() const;

  // The values of all others in force for the call of Train that leads from `step` to step + 1; undeclared ones that
  // are neutral there are left out. REQUIRES: start() - 1 <= step < end(), and 0 <= step.
  Values SequenceValues(Step step) const;

  // What of these changes at the steps from `from` on and before `to`, in their order. REQUIRES: start() < from,
  // to <= end().
  std::vector<ValuesAtStep> ChangesBetween(Step from, Step to) const;

 private:
  struct Stage {
    PathStage stage;
    Configuration configuration;
    Digest128 lineage;
  };

  const Stage* StageThatReaches(Step step) const;

  Schema schema_;
  Step start_;
  // Of the start, if there is one: its point, and what is in force before it.
  Point start_point_;
  Digest128 start_lineage_;
  Configuration before_start_;
  Configuration root_;
  bool from_init_ = false;
  std::vector<Stage> stages_;
};

// Of all hyper-parameters, with which every training begins that has this root.
Values ValuesAtStart(const Schema& schema, const Configuration& root);

// Those of `wanted` that `in_force` does not have, or has otherwise; and those that only `in_force` has: neutral now.
Values Changed(const Values& wanted, const Values& in_force);

}  // namespace espalier::node
