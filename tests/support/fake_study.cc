#include "tests/support/fake_study.h"

#include <algorithm>
#include <random>

namespace espalier::testing {

grpc::Status Refuse(grpc::StatusCode code, const std::string& message, const std::string& field) {
  v1::ErrorDetail detail;
  detail.set_field(field);
  return {code, message, detail.SerializeAsString()};
}

std::string FakeStudy::StateOf(const FakeTrial& trial) const {
  if (trial.failed) return "failed";
  if (trial.cancelled) return "cancelled";
  const bool waiting = std::any_of(claims_.begin(), claims_.end(),
                                   [&](const FakeClaim& claim) { return claim.waiting && claim.trial_id == trial.id; });
  if (waiting) return "waiting";
  return trial.open ? "idle" : "done";
}

std::vector<FakeClaim*> FakeStudy::WaitingClaims() {
  std::vector<FakeClaim*> waiting;
  for (FakeClaim& claim : claims_) {
    if (claim.waiting) waiting.push_back(&claim);
  }
  return waiting;
}

FakeTrial* FakeStudy::Find(std::int64_t trial_id) {
  const auto found =
      std::find_if(trials_.begin(), trials_.end(), [&](const FakeTrial& trial) { return trial.id == trial_id; });
  return found == trials_.end() ? nullptr : &*found;
}

v1::StudyEvent& FakeStudy::AddEvent() {
  v1::StudyEvent& event = events_.emplace_back();
  event.set_number(static_cast<std::int64_t>(events_.size()));
  event.mutable_happened_at()->set_seconds(1000 + event.number());
  return event;
}

grpc::Status FakeStudy::Submit(const v1::SubmitRequest& request, std::int64_t& next_id, v1::SubmitResponse& response) {
  const std::string content = request.ShortDebugString();
  if (const auto answer = answers_.find(request.request_id()); answer != answers_.end()) {
    response = answer->second.second;
    return answer->second.first == content
               ? grpc::Status::OK
               : Refuse(grpc::StatusCode::ALREADY_EXISTS, "this request id had other content", "request_id");
  }
  if (grpc::Status status = Check(request); !status.ok()) return status;
  Apply(request, next_id, response);
  answers_[request.request_id()] = {content, response};
  return grpc::Status::OK;
}

grpc::Status FakeStudy::CheckOpen(std::int64_t trial_id, const std::string& field) {
  const FakeTrial* trial = Find(trial_id);
  const std::string name = "trial " + std::to_string(trial_id);
  if (trial == nullptr) return Refuse(grpc::StatusCode::NOT_FOUND, "the study has no " + name, field);
  if (!trial->open) return Refuse(grpc::StatusCode::FAILED_PRECONDITION, name + " is closed", field);
  return grpc::Status::OK;
}

grpc::Status FakeStudy::Check(const v1::SubmitRequest& request) {
  const auto indexed = [](const char* list, int index) { return list + ("[" + std::to_string(index) + "]"); };
  if (closing_ || finished_) return Refuse(grpc::StatusCode::FAILED_PRECONDITION, "the study is finished");
  for (int i = 0; i < request.new_trials_size(); ++i) {
    const v1::NewTrial& trial = request.new_trials(i);
    const std::string field = indexed("trials", i);
    if (trial.steps() < 1) return Refuse(grpc::StatusCode::INVALID_ARGUMENT, "expected 1 or more", field + ".steps");
    if (trial.horizon_steps() != 0 && trial.horizon_steps() < trial.steps()) {
      return Refuse(grpc::StatusCode::INVALID_ARGUMENT, "expected at least the steps", field + ".horizon_steps");
    }
  }
  for (int i = 0; i < request.claims_size(); ++i) {
    const v1::FurtherClaim& claim = request.claims(i);
    if (grpc::Status open = CheckOpen(claim.trial_id(), indexed("claims", i)); !open.ok()) return open;
    const FakeTrial& trial = *Find(claim.trial_id());
    if (claim.steps() > trial.last_claim && claim.steps() <= trial.horizon) continue;
    return Refuse(grpc::StatusCode::INVALID_ARGUMENT, "expected past the last claim", indexed("claims", i) + ".steps");
  }
  for (int i = 0; i < request.close_trial_ids_size(); ++i) {
    grpc::Status open = CheckOpen(request.close_trial_ids(i), indexed("close_trial_ids", i));
    if (!open.ok()) return open;
  }
  for (int i = 0; i < request.cancel_trial_ids_size(); ++i) {
    if (Find(request.cancel_trial_ids(i)) != nullptr) continue;
    return Refuse(grpc::StatusCode::NOT_FOUND, "the study has no trial " + std::to_string(request.cancel_trial_ids(i)),
                  indexed("cancel_trial_ids", i));
  }
  return grpc::Status::OK;
}

void FakeStudy::Apply(const v1::SubmitRequest& request, std::int64_t& next_id, v1::SubmitResponse& response) {
  for (const v1::NewTrial& wanted : request.new_trials()) {
    FakeTrial& trial = trials_.emplace_back();
    trial.id = next_id++;
    trial.sequences = {wanted.sequences().begin(), wanted.sequences().end()};
    trial.horizon = wanted.horizon_steps() == 0 ? wanted.steps() : wanted.horizon_steps();
    response.add_trial_ids(trial.id);
    AddEvent().mutable_trial_submitted()->set_trial_id(trial.id);
    response.add_claim_ids(AddClaim(trial, wanted.steps(), next_id));
    for (const std::int64_t more : wanted.more_steps()) response.add_claim_ids(AddClaim(trial, more, next_id));
  }
  for (const v1::FurtherClaim& claim : request.claims()) {
    response.add_claim_ids(AddClaim(*Find(claim.trial_id()), claim.steps(), next_id));
  }
  for (const std::int64_t id : request.close_trial_ids()) Close(*Find(id), false);
  for (const std::int64_t id : request.cancel_trial_ids()) Close(*Find(id), true);
  if (request.has_tuner_batch()) AddEvent().mutable_batch_taken()->set_number(request.tuner_batch());
  if (!request.finish()) return;
  closing_ = true;
  for (FakeTrial& trial : trials_) Close(trial, false);
}

std::int64_t FakeStudy::AddClaim(FakeTrial& trial, std::int64_t step, std::int64_t& next_id) {
  trial.last_claim = step;
  const FakeClaim& claim = claims_.emplace_back(FakeClaim{next_id++, trial.id, step, true});
  v1::ClaimMade& made = *AddEvent().mutable_claim_made();
  made.set_claim_id(claim.id);
  made.set_trial_id(trial.id);
  made.set_step(step);
  return claim.id;
}

void FakeStudy::Close(FakeTrial& trial, bool cancel) {
  if (!trial.open) return;
  trial.open = false;
  trial.cancelled = cancel;
  if (cancel) {
    for (FakeClaim& claim : claims_) {
      if (claim.waiting && claim.trial_id == trial.id) AddSettled(claim, v1::ClaimSettled::STATE_CANCELLED);
    }
  }
  v1::TrialClosed& closed = *AddEvent().mutable_trial_closed();
  closed.set_trial_id(trial.id);
  closed.set_cancelled(cancel);
}

v1::ClaimSettled& FakeStudy::AddSettled(FakeClaim& claim, v1::ClaimSettled::State state) {
  claim.waiting = false;
  v1::ClaimSettled& settled = *AddEvent().mutable_claim_settled();
  settled.set_claim_id(claim.id);
  settled.set_trial_id(claim.trial_id);
  settled.set_step(claim.step);
  settled.set_state(state);
  return settled;
}

void FakeStudy::Cancel() {
  for (FakeTrial& trial : trials_) Close(trial, true);
  if (finished_) return;
  finished_ = cancelled_ = true;
  AddEvent().mutable_study_finished();
}

void FakeStudy::Settle(FakeClaim& claim, const TrainFunction& train) {
  FakeTrial& trial = *Find(claim.trial_id);
  const std::optional<Metrics> metrics = train(trial.sequences, claim.step);
  if (!metrics.has_value()) {
    trial.failed = true;
    AddSettled(claim, v1::ClaimSettled::STATE_FAILED).set_message("the training failed");
    return;
  }
  trial.evaluations[claim.step] = *metrics;
  AddSettled(claim, v1::ClaimSettled::STATE_DONE).mutable_metrics()->insert(metrics->begin(), metrics->end());
}

void FakeStudy::SettleAll(const TrainFunction& train, std::uint64_t seed) {
  std::vector<FakeClaim*> waiting = WaitingClaims();
  std::mt19937_64 generator(seed + events_.size());
  std::shuffle(waiting.begin(), waiting.end(), generator);
  for (FakeClaim* claim : waiting) Settle(*claim, train);
}

void FakeStudy::FinishIfDone() {
  if (finished_ || !closing_) return;
  for (const FakeTrial& trial : trials_) {
    if (trial.open) return;
  }
  for (const FakeClaim& claim : claims_) {
    if (claim.waiting) return;
  }
  finished_ = true;
  AddEvent().mutable_study_finished();
}

}  // namespace espalier::testing
