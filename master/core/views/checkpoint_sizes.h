// How large checkpoints are, for forecasts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "searchplan/plan/search_plan.h"

namespace espalier::master {

// Mean sizes of checkpoints, by training and by the values of the
// hyper-parameters that are fixed at step 0 (they decide a model's size).
class CheckpointSizes {
 public:
  // Those under a node of the plan. O(depth + checkpoints), where there are some.
  void Add(const SearchPlan& plan, const PlanNode& node);

  // Of checkpoints under this node, in bytes; nothing if none is known of such a training.
  std::optional<double> MeanUnder(const SearchPlan& plan, PlanNodeId node) const;

 private:
  struct Sum {
    double bytes = 0;
    std::int64_t count = 0;
  };
  using Key = std::pair<Digest128, std::string>;
  static Key KeyOf(const SearchPlan& plan, PlanNodeId root);

  std::map<Key, Sum> sums_;
  std::map<PlanNodeId, Key> key_of_root_;  // of the nodes that were added
};

}  // namespace espalier::master
