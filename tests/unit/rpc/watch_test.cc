// What a watcher is sent, of a large study too.
#include <filesystem>
#include <limits>

#include "espalier/v1/study.pb.h"
#include "tests/support/toy_node.h"
#include "tests/unit/rpc/cancelled_study.h"
#include "tests/unit/rpc/service.h"

namespace espalier::master::testing {
namespace {

std::ptrdiff_t ThreadCount() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

std::unique_ptr<RawCall> BeginToWatch(const std::shared_ptr<grpc::Channel>& channel, const std::string& token,
                                      std::int64_t study) {
  v1::WatchRequest watch;
  watch.set_study_id(study);
  auto call = std::make_unique<RawCall>(channel, "/espalier.v1.StudyService/Watch", watch, "Bearer " + token);
  call->WritesDone();
  return call;
}

}  // namespace

TEST_CASE("a watcher is sent every event of a large study once, in order, from where it asks to its end") {
  constexpr int kTrials = 900;
  Service service;
  const std::string user = service.AddUser("ann", "vision");
  const ToyNode node(service.channel, service.AddUser("node", "", v1::ROLE_NODE), 0.5);
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
  const ToyNode node(service.channel, service.AddUser("node", "", v1::ROLE_NODE), 0.5);
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

TEST_CASE("watchers hold no threads, and are all told how far the study is by a few questions to the event loop") {
  constexpr int kWatchers = 250;
  Service service;
  const std::string user = service.AddUser("ann", "vision");
  const ToyNode node(service.channel, service.AddUser("node", "", v1::ROLE_NODE), 0.5);
  v1::CreateStudyRequest create;
  create.set_request_id("create");
  create.mutable_study()->set_name("watched");
  create.mutable_study()->set_trainer("toy");
  create.mutable_study()->set_metric("score");
  const auto study = service.Get<v1::CreateStudyResponse>(user, "StudyService/CreateStudy", create).study_id();
  std::vector<std::unique_ptr<RawCall>> calls;
  calls.push_back(BeginToWatch(service.channel, user, study));
  REQUIRE(calls.back()->Read().has_value());
  const std::ptrdiff_t threads = ThreadCount();
  while (calls.size() < kWatchers) {
    calls.push_back(BeginToWatch(service.channel, user, study));
    REQUIRE(calls.back()->Read().has_value());
  }
  CHECK(ThreadCount() < threads + 10);
  v1::CancelStudyRequest cancel;
  cancel.set_request_id("cancel");
  cancel.set_study_id(study);
  service.Get<v1::CancelStudyResponse>(user, "StudyService/CancelStudy", cancel);
  for (const auto& call : calls) {
    const Outcome outcome = call->Finish();
    CHECK(outcome.code == grpc::StatusCode::OK);
    v1::WatchResponse last;
    REQUIRE(last.ParseFromString(outcome.responses.back()));
    CHECK(last.events().rbegin()->has_study_finished());
  }
}

}  // namespace espalier::master::testing
