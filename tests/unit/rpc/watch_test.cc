// What a watcher is sent, of a large study too.
#include <limits>

#include "espalier/v1/study.pb.h"
#include "tests/unit/rpc/service.h"
#include "tests/unit/rpc/toy_node.h"

namespace espalier::master::testing {
namespace {

// A study of many trials, cancelled, so that it has three events and more a trial, and an end.
std::int64_t CancelledStudy(Service& service, const std::string& user, int trials) {
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
    (*trial.mutable_sequences())["lr"] = std::to_string(i);
    trial.set_steps(1000);  // more than the toy ever ends
  }
  service.Get<v1::SubmitResponse>(user, "StudyService/Submit", submit);
  v1::CancelStudyRequest cancel;
  cancel.set_request_id("cancel");
  cancel.set_study_id(id);
  service.Get<v1::CancelStudyResponse>(user, "StudyService/CancelStudy", cancel);
  return id;
}

}  // namespace

TEST_CASE("a watcher is sent every event of a large study once, in order, from where it asks to its end") {
  constexpr int kTrials = 900;
  Service service;
  const std::string user = service.AddUser("ann", "vision");
  const ToyNode node(service, service.AddUser("node", "", v1::ROLE_NODE), 0.5);
  const std::int64_t study = CancelledStudy(service, user, kTrials);
  for (const std::int64_t from : {0, 1, 1500, 2400}) {
    v1::WatchRequest watch;
    watch.set_study_id(study);
    watch.set_from_event(from);
    const Outcome outcome = service.Call(user, "StudyService/Watch", watch);
    REQUIRE(outcome.code == grpc::StatusCode::OK);
    std::int64_t next = std::max<std::int64_t>(1, from);
    v1::StudyEvent last;
    for (const std::string& bytes : outcome.responses) {
      v1::WatchResponse response;
      REQUIRE(response.ParseFromString(bytes));
      for (const v1::StudyEvent& event : response.events()) {
        REQUIRE(event.number() == next++);
        last = event;
      }
    }
    CHECK(last.has_study_finished());
    CHECK(next == 4 * kTrials + 2);  // submitted, claimed, settled, closed; finished
  }
}

TEST_CASE("a watcher who is ahead of the study is told so, whatever the number, and nobody else notices") {
  Service service;
  const std::string user = service.AddUser("ann", "vision");
  const ToyNode node(service, service.AddUser("node", "", v1::ROLE_NODE), 0.5);
  const std::int64_t study = CancelledStudy(service, user, 1);
  constexpr std::int64_t kLast = 5;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  v1::WatchRequest watch;
  watch.set_study_id(study);
  for (const auto& [from, code] :
       {std::pair(kLast + 1, grpc::StatusCode::OK), std::pair(kLast + 2, grpc::StatusCode::FAILED_PRECONDITION),
        std::pair(kMost - 1000, grpc::StatusCode::FAILED_PRECONDITION),
        std::pair(kMost, grpc::StatusCode::FAILED_PRECONDITION),
        std::pair(std::int64_t{-1}, grpc::StatusCode::INVALID_ARGUMENT),
        std::pair(-kMost - 1, grpc::StatusCode::INVALID_ARGUMENT)}) {
    INFO(from);
    watch.set_from_event(from);
    const Outcome outcome = service.Call(user, "StudyService/Watch", watch);
    CHECK(outcome.code == code);
    v1::ErrorDetail detail;
    REQUIRE(detail.ParseFromString(outcome.details));
    CHECK(detail.field() == (code == grpc::StatusCode::OK ? "" : "from_event"));
    CHECK(outcome.responses.empty());
  }
}

}  // namespace espalier::master::testing
