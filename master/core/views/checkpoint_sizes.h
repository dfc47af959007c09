// How large checkpoints are, for forecasts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "master/core/state/master_state.h"

namespace espalier::master {

// Mean sizes of the checkpoints that are stored and that a team may know of, by training and by the values of the
// hyper-parameters that are fixed at step 0 (they decide a model's size).
class CheckpointSizes {
 public:
  CheckpointSizes() = default;  // none is known
  CheckpointSizes(const MasterState& state, const std::vector<TrainingIdentity>& trainings, const std::string& team);

  // Of checkpoints under this node, in bytes; nothing if none is known of such a training.
  std::optional<double> MeanUnder(const SearchPlan& plan, PlanNodeId node) const;

 private:
  struct Sum {
    double bytes = 0;
    std::int64_t count = 0;
  };
  using Key = std::pair<Digest128, std::string>;
  static Key KeyOf(const SearchPlan& plan, const Digest128& training, PlanNodeId node);

  std::map<Key, Sum> sums_;
};

}  // namespace espalier::master
