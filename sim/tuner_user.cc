#include "sim/tuner_user.h"

namespace espalier::sim {

std::optional<master::SubmitBatch> NextCall(tuners::Driver& driver) {
  const std::optional<tuners::NumberedBatch> next = driver.Next();
  if (!next) return std::nullopt;
  const Batch& batch = next->batch;
  master::SubmitBatch call;
  for (const tuners::StartTrial& trial : batch.new_trials) {
    call.new_trials.push_back({trial.sequences, trial.steps, trial.horizon, trial.more});
  }
  for (const FurtherClaim& claim : batch.claims) call.claims.push_back({claim.trial, claim.steps});
  call.close = batch.close;
  call.cancel = batch.cancel;
  call.finish = batch.finish;
  call.tuner_batch = next->number;
  return call;
}

}  // namespace espalier::sim
