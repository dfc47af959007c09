// A study with many events, all of which have happened.
#pragma once

#include <string>

#include "espalier/v1/study.pb.h"
#include "tests/unit/rpc/service.h"

namespace espalier::master::testing {

// Of so many trials, which part one after the other; cancelled before the toy has trained one to its end.
inline std::int64_t CancelledStudy(Service& service, const std::string& user, int trials) {
  v1::CreateStudyRequest create;
  create.set_request_id("create");
  create.mutable_study()->set_name("large");
  create.mutable_study()->set_trainer("toy");
  create.mutable_study()->set_metric("score");
  const auto id = service.Get<v1::CreateStudyResponse>(user, "StudyService/CreateStudy", create).study_id();
  v1::SubmitRequest submit;
  submit.set_request_id("submit");
  submit.set_study_id(id);
  for (int i = 1; i <= trials; ++i) {
    v1::NewTrial& trial = *submit.add_new_trials();
    (*trial.mutable_sequences())["lr"] = "MultiStep(0.1, [" + std::to_string(i) + "], gamma=0.5)";
    trial.set_steps(2000);
  }
  service.Get<v1::SubmitResponse>(user, "StudyService/Submit", submit);
  v1::CancelStudyRequest cancel;
  cancel.set_request_id("cancel");
  cancel.set_study_id(id);
  service.Get<v1::CancelStudyResponse>(user, "StudyService/CancelStudy", cancel);
  return id;
}

}  // namespace espalier::master::testing
