// What a watcher is sent, of a large study too.
#include <limits>

#include "espalier/v1/study.pb.h"
#include "tests/unit/rpc/cancelled_study.h"
#include "tests/unit/rpc/service.h"
#include "tests/unit/rpc/toy_node.h"

namespace espalier::master::testing {

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
