#include "tests/support/called_master.h"

#include <utility>

namespace espalier::master {

void CalledMaster::Call(decltype(ClientCall::what) what, const std::string& request_id) {
  const std::string id = request_id.empty() ? "request-" + std::to_string(next_request_++) : request_id;
  Ask({.call = CallId{1}, .caller = kAnn, .request_id = id, .what = std::move(what)});
}

StudyId CalledMaster::CreateStudy(const std::string& name, Scope scope) {
  return AddStudy(StudySpecification{.name = name, .scope = scope});
}

StudyId CalledMaster::AddStudy(StudySpecification specification) {
  specification.trainer = kSimulated.trainer;
  specification.metric = kSimulated.metrics.front();
  Call(master::CreateStudy{std::move(specification)});
  return std::get<StudyCreated>(last_reply.answer).study;
}

TrialId CalledMaster::Submit(StudyId study, std::map<std::string, std::string> sequences, std::int64_t steps,
                             std::int64_t horizon) {
  Call(SubmitBatch{.study = study, .new_trials = {{std::move(sequences), Step{steps}, Step{horizon}}}});
  return std::get<Submitted>(last_reply.answer).trials.at(0);
}

void CalledMaster::Claim(TrialId trial, std::int64_t steps) {
  Call(SubmitBatch{.study = state().trials.at(trial).study, .claims = {{trial, Step{steps}}}});
}

void CalledMaster::Cancel(TrialId trial) {
  Call(SubmitBatch{.study = state().trials.at(trial).study, .cancel = {trial}});
}

void CalledMaster::Finish(StudyId study) { Call(SubmitBatch{.study = study, .finish = true}); }

const espalier::Claim& CalledMaster::LastClaim(TrialId trial) const {
  const Trial& its = state().trials.at(trial);
  return state().plans.at(its.plan).claims.at(its.claims.back());
}

}  // namespace espalier::master
