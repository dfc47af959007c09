#include "master/rpc/batch_size.h"

#include "searchplan/sequence/joint_segment_count.h"

namespace espalier::master {

Result<void> CheckBatchSize(const SubmitBatch& batch) {
  if (batch.new_trials.size() < 2) return {};
  JointSegmentCounter counter;
  std::size_t segments = 0;
  for (const NewTrial& trial : batch.new_trials) {
    segments += counter.Count(trial.sequences, trial.horizon == Step{0} ? trial.steps : trial.horizon);
    if (segments <= kBatchSegmentsMax) continue;
    return MakeError(ErrorCode::kResourceExhausted,
                     "the new trials of one batch have at most " + std::to_string(kBatchSegmentsMax) +
                         " joint segments together, unless there is one alone; submit these in several batches",
                     "trials");
  }
  return {};
}

}  // namespace espalier::master
