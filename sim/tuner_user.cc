#include "sim/tuner_user.h"

#include <optional>

#include "client/tuners/batch_cut.h"

namespace espalier::sim {

std::string TunerCalls::RequestId(std::size_t part) const {
  return std::to_string(number) + (parts.size() == 1 ? "" : "/" + std::to_string(part));
}

master::SubmitBatch TunerCalls::CallOf(std::size_t part) const {
  const Batch& batch = parts[part];
  master::SubmitBatch call;
  for (const tuners::StartTrial& trial : batch.new_trials) {
    call.new_trials.push_back({trial.sequences, trial.steps, trial.horizon, trial.more});
  }
  for (const FurtherClaim& claim : batch.claims) call.claims.push_back({claim.trial, claim.steps});
  call.close = batch.close;
  call.cancel = batch.cancel;
  call.finish = batch.finish;
  if (part + 1 == parts.size()) call.tuner_batch = number;
  return call;
}

TunerCalls NextCalls(tuners::Driver& driver) {
  const std::optional<tuners::NumberedBatch> next = driver.Next();
  return next ? TunerCalls{CutBatch(next->batch), next->number} : TunerCalls{};
}

}  // namespace espalier::sim
