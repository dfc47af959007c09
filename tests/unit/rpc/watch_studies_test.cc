// The events of many studies on one stream: whose they are, whose turn it is, and what ends.
#include <map>

#include "espalier/v1/study.pb.h"
#include "tests/support/toy_node.h"
#include "tests/unit/rpc/service.h"

namespace espalier::master::testing {
namespace {

// Studies of ann's, by number; bob is of another team.
struct Studies {
  // A study of so many trials, cancelled at once where it shall end.
  std::int64_t Make(int trials, bool cancelled) {
    const std::string name = std::to_string(++count);
    v1::CreateStudyRequest create;
    create.set_request_id("create " + name);
    create.mutable_study()->set_name(name);
    create.mutable_study()->set_trainer("toy");
    create.mutable_study()->set_metric("score");
    const auto id = service.Get<v1::CreateStudyResponse>(ann, "StudyService/CreateStudy", create).study_id();
    if (trials > 0) Submit(id, trials);
    if (cancelled) Cancel(id);
    return id;
  }
  void Submit(std::int64_t id, int trials) {
    v1::SubmitRequest submit;
    submit.set_request_id("submit " + std::to_string(++count));
    submit.set_study_id(id);
    for (int i = 1; i <= trials; ++i) {
      v1::NewTrial& trial = *submit.add_new_trials();
      (*trial.mutable_sequences())["lr"] = std::to_string(i);
      trial.set_steps(1000);  // more than the toy ever ends
    }
    service.Get<v1::SubmitResponse>(ann, "StudyService/Submit", submit);
  }
  void Cancel(std::int64_t id) {
    v1::CancelStudyRequest cancel;
    cancel.set_request_id("cancel " + std::to_string(++count));
    cancel.set_study_id(id);
    service.Get<v1::CancelStudyResponse>(ann, "StudyService/CancelStudy", cancel);
  }

  Service service;
  const std::string ann = service.AddUser("ann", "vision");
  const std::string bob = service.AddUser("bob", "speech");
  ToyNode node{service.channel, service.AddUser("node", "", v1::ROLE_NODE), 0.5};
  int count = 0;
};

// One stream, as its caller reads it; checks that each watch's events come once and in order.
class Stream {
 public:
  Stream(Studies& studies, const std::string& token)
      : call_(studies.service.channel, "/espalier.v1.StudyService/WatchStudies", "Bearer " + token,
              std::chrono::minutes(2)) {}

  void Begin(std::int64_t watch_id, std::int64_t study, std::int64_t from = 0) {
    v1::WatchStudiesRequest request;
    request.set_watch_id(watch_id);
    request.mutable_begin()->set_study_id(study);
    request.mutable_begin()->set_from_event(from);
    next[watch_id] = std::max<std::int64_t>(1, from);
    call_.Write(request);
  }
  void End(std::int64_t watch_id) {
    v1::WatchStudiesRequest request;
    request.set_watch_id(watch_id);
    request.mutable_end();
    call_.Write(request);
  }
  v1::WatchStudiesResponse Read() {
    const auto bytes = call_.Read();
    REQUIRE(bytes.has_value());
    v1::WatchStudiesResponse response;
    REQUIRE(response.ParseFromString(*bytes));
    for (const v1::StudyEvent& event : response.events()) {
      INFO("watch " << response.watch_id());
      REQUIRE(event.number() == next[response.watch_id()]++);
    }
    return response;
  }
  // The responses up to the end of a watch.
  std::vector<v1::WatchStudiesResponse> ReadToEndOf(std::int64_t watch_id) {
    std::vector<v1::WatchStudiesResponse> responses;
    do {
      responses.push_back(Read());
    } while (responses.back().watch_id() != watch_id || !responses.back().has_ended());
    return responses;
  }
  RawCall& call() { return call_; }

  std::map<std::int64_t, std::int64_t> next;  // the number of each watch's next event

 private:
  RawCall call_;
};

}  // namespace

TEST_CASE("one stream brings the events of many studies, of each once, in order, from where it is asked to its end") {
  Studies studies;
  const std::int64_t small = studies.Make(1, true);
  const std::int64_t large = studies.Make(900, true);
  Stream stream(studies, studies.ann);
  stream.Begin(1, large);
  stream.Begin(2, small, 3);
  stream.Begin(3, large, 2400);
  stream.call().WritesDone();
  std::map<std::int64_t, int> ends;
  while (ends.size() < 3) {
    const v1::WatchStudiesResponse response = stream.Read();
    if (!response.has_ended()) continue;
    CHECK(response.ended().status() == 0);
    ++ends[response.watch_id()];
  }
  CHECK(stream.next == std::map<std::int64_t, std::int64_t>{{1, 4 * 900 + 2}, {2, 4 + 2}, {3, 4 * 900 + 2}});
  const Outcome outcome = stream.call().Finish();
  CHECK(outcome.responses.empty());
  CHECK(outcome.code == grpc::StatusCode::OK);
}

TEST_CASE("a study that is added to a stream, and its events as they happen, come beside those of the others") {
  Studies studies;
  const std::int64_t first = studies.Make(0, false);
  Stream stream(studies, studies.ann);
  stream.Begin(1, first);
  CHECK(stream.Read().events().empty());  // at once, though there is none
  const std::int64_t second = studies.Make(1, false);
  stream.Begin(2, second);
  CHECK(stream.Read().watch_id() == 2);
  studies.Submit(first, 1);
  CHECK(stream.Read().watch_id() == 1);
  studies.Cancel(second);
  CHECK(stream.ReadToEndOf(2).back().ended().status() == 0);
  studies.Cancel(first);
  CHECK(stream.ReadToEndOf(1).back().ended().status() == 0);
}

TEST_CASE("a study with a long history does not hold up another's events") {
  Studies studies;
  const std::int64_t large = studies.Make(3000, true);
  const std::int64_t small = studies.Make(1, true);
  Stream stream(studies, studies.ann);
  stream.Begin(1, large);
  stream.Begin(2, small);
  CHECK(stream.ReadToEndOf(2).size() <= 4);  // a turn or two of the other's twelve
  CHECK(stream.next[1] < std::int64_t{4} * 3000);
  CHECK(stream.ReadToEndOf(1).back().ended().status() == 0);
}

TEST_CASE("what ends one watch leaves the others alone, and another team's study ends it as one that is not there") {
  Studies studies;
  const std::int64_t hidden = studies.Make(1, false);
  Stream bobs(studies, studies.bob);
  bobs.Begin(1, hidden);
  bobs.Begin(2, 4711);
  const v1::WatchEnded existing = bobs.ReadToEndOf(1).back().ended();
  const v1::WatchEnded absent = bobs.ReadToEndOf(2).back().ended();
  CHECK(existing.status() == grpc::StatusCode::NOT_FOUND);
  CHECK(existing.field() == absent.field());
  CHECK(existing.message() == "no study " + std::to_string(hidden) + "; see: espalier study list");
  CHECK(absent.message() == "no study 4711; see: espalier study list");

  Stream anns(studies, studies.ann);
  anns.Begin(1, hidden, 99);
  CHECK(anns.ReadToEndOf(1).back().ended().status() == grpc::StatusCode::FAILED_PRECONDITION);
  anns.Begin(2, hidden, -1);
  CHECK(anns.ReadToEndOf(2).back().ended().field() == "from_event");
  anns.Begin(3, hidden);
  CHECK(anns.Read().events_size() > 0);
}

TEST_CASE("of a watch that was ended nothing more comes, and its number may be used again") {
  Studies studies;
  const std::int64_t first = studies.Make(0, false);
  const std::int64_t second = studies.Make(0, false);
  Stream stream(studies, studies.ann);
  stream.Begin(1, first);
  stream.Begin(2, second);
  stream.Read();
  stream.Read();
  stream.End(1);
  stream.Begin(3, 4711);  // once this is answered, the end was heard
  CHECK(stream.ReadToEndOf(3).size() == 1);
  studies.Submit(first, 1);
  studies.Submit(second, 1);
  CHECK(stream.Read().watch_id() == 2);
  stream.Begin(1, first);
  CHECK(stream.Read().watch_id() == 1);
}

TEST_CASE("a revoked token ends the stream of several studies, and a request that is none is refused") {
  Studies studies;
  const std::int64_t id = studies.Make(0, false);
  Stream stream(studies, studies.ann);
  stream.Begin(1, id);
  stream.Read();
  studies.service.RemoveUser("ann");
  const Outcome outcome = stream.call().Finish();
  CHECK(outcome.code == grpc::StatusCode::UNAUTHENTICATED);
  CHECK(outcome.responses.empty());
  Stream garbled(studies, studies.bob);
  garbled.call().WriteBytes("\xff\xff");
  CHECK(garbled.call().Finish().code == grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_CASE("when the master stops, a stream of several studies ends") {
  auto studies = std::make_unique<Studies>();
  const std::int64_t id = studies->Make(0, false);
  Stream stream(*studies, studies->ann);
  stream.Begin(1, id);
  stream.Read();
  studies.reset();
  const grpc::StatusCode code = stream.call().Finish().code;
  CHECK((code == grpc::StatusCode::CANCELLED || code == grpc::StatusCode::UNAVAILABLE));
}

}  // namespace espalier::master::testing
