// Two studies side by side: what each cost, and whether the trials that they share came out the same, bit for bit.
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "espalier/v1/inspect.pb.h"

namespace espalier {

struct MetricDifference {
  std::int64_t trial_a = 0;
  std::int64_t trial_b = 0;
  std::int64_t step = 0;
  std::string metric;  // "state_sha256" for the final training state
  std::string value_a;
  std::string value_b;
};

struct StudyComparison {
  // Trials are matched by their sequences; equal ones in order of submission.
  std::int64_t trials_matched = 0;
  std::int64_t trials_only_in_a = 0;
  std::int64_t trials_only_in_b = 0;
  std::int64_t evaluations_compared = 0;  // at the steps that both have
  std::int64_t states_compared = 0;       // of trials that ended at the same step, where both are known
  bool metrics_identical = false;         // false too if nothing could be compared
  bool states_identical = false;
  std::vector<MetricDifference> differences;  // the first few

  // Slot-seconds of the study that shares less over those of the one that shares more, and that ratio over the latter's
  // time-weighted merge rate: 1 is all that sharing can save. 0: not known.
  double slot_seconds_ratio = 0;
  double share_of_merge_rate = 0;
};

StudyComparison Compare(const v1::StudySummary& a, const std::vector<v1::Trial>& trials_a, const v1::StudySummary& b,
                        const std::vector<v1::Trial>& trials_b);

}  // namespace espalier
