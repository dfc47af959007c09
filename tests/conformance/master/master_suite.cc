// What clients rely on of StudyService: requests that come again, batches that are taken whole, numbered events, and
// which errors name which field. Run on the real master and on the fake one that tests of clients call.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <vector>

#include "espalier/v1/inspect.pb.h"
#include "espalier/v1/study.pb.h"
#include "tests/conformance/master/backend.h"
#include "tests/support/raw_call.h"

namespace espalier::testing {
namespace {

using master::testing::CallOnce;
using master::testing::Outcome;
using master::testing::RawCall;
using Words = std::vector<std::string>;

// What an event says; trials by their order in the study.
class Teller {
 public:
  std::string Tell(const v1::StudyEvent& event) {
    switch (event.kind_case()) {
      case v1::StudyEvent::kTrialSubmitted:
        return "submitted " + Trial(event.trial_submitted().trial_id());
      case v1::StudyEvent::kClaimMade:
        return "claim " + Trial(event.claim_made().trial_id()) + "@" + std::to_string(event.claim_made().step());
      case v1::StudyEvent::kClaimSettled:
        return Tell(event.claim_settled());
      case v1::StudyEvent::kTrialClosed:
        return std::string(event.trial_closed().cancelled() ? "cancelled " : "closed ") +
               Trial(event.trial_closed().trial_id());
      case v1::StudyEvent::kStudyFinished:
        return "finished";
      case v1::StudyEvent::kBatchTaken:
        return "batch " + std::to_string(event.batch_taken().number());
      default:
        return "something else";
    }
  }

 private:
  std::string Trial(std::int64_t id) {
    const auto at = std::ranges::find(trials_, id);
    const auto place = at - trials_.begin();
    if (at == trials_.end()) trials_.push_back(id);
    return std::string(1, static_cast<char>('a' + place));
  }
  std::string Tell(const v1::ClaimSettled& settled) {
    const std::string what = Trial(settled.trial_id()) + "@" + std::to_string(settled.step());
    if (settled.state() == v1::ClaimSettled::STATE_CANCELLED) return "withdrawn " + what;
    if (settled.state() != v1::ClaimSettled::STATE_DONE) return "failed " + what;
    return "done " + what + " score " + std::to_string(settled.metrics().at("score")).substr(0, 3);
  }

  std::vector<std::int64_t> trials_;
};

struct Client {
  std::unique_ptr<Backend> backend = MakeBackend();
  const std::shared_ptr<grpc::Channel> channel = backend->channel();
  const std::string authorization = "Bearer " + backend->token();
  int requests = 0;

  Outcome Call(const std::string& method, const google::protobuf::Message& request) {
    return CallOnce(channel, "/espalier.v1.StudyService/" + method, request, authorization);
  }
  template <class Response>
  Response Get(const std::string& method, const google::protobuf::Message& request) {
    const Outcome outcome = Call(method, request);
    INFO(method << ": " << outcome.message);
    REQUIRE(outcome.code == grpc::StatusCode::OK);
    Response response;
    REQUIRE(response.ParseFromString(outcome.responses.at(0)));
    return response;
  }

  static v1::CreateStudyRequest Creation(const std::string& request_id, const std::string& name) {
    v1::CreateStudyRequest request;
    request.set_request_id(request_id);
    v1::StudySpecification& study = *request.mutable_study();
    study.set_name(name);
    study.set_trainer("toy");
    study.mutable_step()->set_updates(1);
    study.set_metric("score");
    study.set_goal(v1::GOAL_MAXIMIZE);
    study.set_scope(v1::SCOPE_STUDY);
    study.set_definition("{}");
    return request;
  }
  std::int64_t Create(const std::string& name) {
    return Get<v1::CreateStudyResponse>("CreateStudy", Creation("create " + name, name)).study_id();
  }
  v1::SubmitRequest Batch(std::int64_t study) {
    v1::SubmitRequest request;
    request.set_request_id("request " + std::to_string(++requests));
    request.set_study_id(study);
    return request;
  }
  static void AddTrial(v1::SubmitRequest& batch, const std::string& lr, std::int64_t steps, std::int64_t horizon) {
    v1::NewTrial& trial = *batch.add_new_trials();
    (*trial.mutable_sequences())["lr"] = lr;
    trial.set_steps(steps);
    trial.set_horizon_steps(horizon);
  }
  v1::SubmitResponse Submit(const v1::SubmitRequest& batch) { return Get<v1::SubmitResponse>("Submit", batch); }
  // The new trial's id.
  std::int64_t SubmitOne(std::int64_t study, std::int64_t steps, std::int64_t horizon) {
    v1::SubmitRequest batch = Batch(study);
    AddTrial(batch, "0.1", steps, horizon);
    return Submit(batch).trial_ids(0);
  }

  // The first so many events of the study, from that number on; their numbers are checked.
  Words Events(std::int64_t study, std::size_t count, std::int64_t from = 1, Teller teller = {}) {
    v1::WatchRequest request;
    request.set_study_id(study);
    request.set_from_event(from);
    RawCall watch(channel, "/espalier.v1.StudyService/Watch", request, authorization);
    watch.WritesDone();
    Words words;
    while (words.size() < count) {
      const auto bytes = watch.Read();
      REQUIRE(bytes.has_value());
      v1::WatchResponse response;
      REQUIRE(response.ParseFromString(*bytes));
      for (const v1::StudyEvent& event : response.events()) {
        CHECK(event.number() == from + static_cast<std::int64_t>(words.size()));
        words.push_back(teller.Tell(event));
      }
    }
    watch.Cancel();
    words.resize(count);  // more may have come in the same response
    return words;
  }

  // What the call is refused for.
  struct Refusal {
    grpc::StatusCode code = grpc::StatusCode::OK;
    std::string field;
    friend bool operator==(const Refusal&, const Refusal&) = default;
  };
  Refusal RefusalOf(const std::string& method, const google::protobuf::Message& request) {
    const Outcome outcome = Call(method, request);
    INFO(method << ": " << outcome.message);
    v1::ErrorDetail detail;
    CHECK(detail.ParseFromString(outcome.details));
    return {outcome.code, detail.field()};
  }
};

std::ostream& operator<<(std::ostream& out, const Client::Refusal& refusal) {
  return out << refusal.code << " of '" << refusal.field << "'";
}

}  // namespace

TEST_CASE("what becomes of a study is told in order, and ends with the study") {
  Client client;
  const std::int64_t study = client.Create("study");
  const std::int64_t trial = client.SubmitOne(study, 5, 10);
  client.backend->Train();
  CHECK(client.Events(study, 3) == Words{"submitted a", "claim a@5", "done a@5 score 0.5"});
  v1::SubmitRequest more = client.Batch(study);
  more.add_claims()->set_trial_id(trial);
  more.mutable_claims(0)->set_steps(10);
  more.set_finish(true);
  client.Submit(more);
  client.backend->Train();
  CHECK(client.Events(study, 7) == Words{"submitted a", "claim a@5", "done a@5 score 0.5", "claim a@10", "closed a",
                                         "done a@10 score 0.5", "finished"});
  CHECK(client.Events(study, 3, 5) == Words{"closed a", "done a@10 score 0.5", "finished"});
  v1::WatchRequest whole;
  whole.set_study_id(study);
  CHECK(client.Call("Watch", whole).code == grpc::StatusCode::OK);  // it ends by itself
  CHECK(client.RefusalOf("Submit", more).code == grpc::StatusCode::OK);
  CHECK(client.RefusalOf("Submit", client.Batch(study)).code == grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_CASE("a trial may be asked for several steps at once, each with a claim of its own") {
  Client client;
  const std::int64_t study = client.Create("study");
  v1::SubmitRequest batch = client.Batch(study);
  Client::AddTrial(batch, "0.1", 5, 30);
  batch.mutable_new_trials(0)->add_more_steps(10);
  batch.mutable_new_trials(0)->add_more_steps(20);
  Client::AddTrial(batch, "0.2", 7, 0);
  const v1::SubmitResponse response = client.Submit(batch);
  CHECK(response.trial_ids_size() == 2);
  CHECK(response.claim_ids_size() == 4);
  CHECK(client.Events(study, 6) ==
        Words{"submitted a", "claim a@5", "claim a@10", "claim a@20", "submitted b", "claim b@7"});
}

TEST_CASE("a request that comes again is answered the same, does nothing more, and is refused with other content") {
  Client client;
  const v1::CreateStudyRequest create = Client::Creation("create", "study");
  const auto created = client.Get<v1::CreateStudyResponse>("CreateStudy", create);
  const auto again = client.Get<v1::CreateStudyResponse>("CreateStudy", create);
  CHECK(again.study_id() == created.study_id());
  CHECK(again.attached() == created.attached());
  CHECK(client.RefusalOf("CreateStudy", Client::Creation("create", "another")) ==
        Client::Refusal{grpc::StatusCode::ALREADY_EXISTS, "request_id"});
  v1::SubmitRequest batch = client.Batch(created.study_id());
  Client::AddTrial(batch, "0.1", 500, 0);
  const v1::SubmitResponse submitted = client.Submit(batch);
  CHECK(client.Submit(batch).SerializeAsString() == submitted.SerializeAsString());
  v1::SubmitRequest other = batch;
  other.mutable_new_trials(0)->set_steps(600);
  CHECK(client.RefusalOf("Submit", other) == Client::Refusal{grpc::StatusCode::ALREADY_EXISTS, "request_id"});
  client.SubmitOne(created.study_id(), 700, 0);
  CHECK(client.Events(created.study_id(), 4) == Words{"submitted a", "claim a@500", "submitted b", "claim b@700"});
}

TEST_CASE("who creates a running study of equal content is attached to it, and of other content is refused") {
  Client client;
  const std::int64_t study = client.Create("study");
  const auto attached = client.Get<v1::CreateStudyResponse>("CreateStudy", Client::Creation("another", "study"));
  CHECK(attached.study_id() == study);
  CHECK(attached.attached());
  v1::CreateStudyRequest other = Client::Creation("a third", "study");
  other.mutable_study()->set_goal(v1::GOAL_MINIMIZE);
  CHECK(client.RefusalOf("CreateStudy", other).code == grpc::StatusCode::ALREADY_EXISTS);
}

TEST_CASE("a batch is taken whole or not at all, and the field at fault is named") {
  Client client;
  const std::int64_t study = client.Create("study");
  const std::int64_t trial = client.SubmitOne(study, 500, 600);
  const auto refused = [&](const std::function<void(v1::SubmitRequest&)>& wrong) {
    v1::SubmitRequest batch = client.Batch(study);
    Client::AddTrial(batch, "0.1", 5, 10);
    wrong(batch);
    return client.RefusalOf("Submit", batch);
  };
  const auto claim = [&](std::int64_t of, std::int64_t steps) {
    return [=](v1::SubmitRequest& batch) {
      batch.add_claims()->set_trial_id(of);
      batch.mutable_claims(0)->set_steps(steps);
    };
  };
  using Refusal = Client::Refusal;
  CHECK(refused([](auto& batch) { Client::AddTrial(batch, "0.2", 0, 0); }) ==
        Refusal{grpc::StatusCode::INVALID_ARGUMENT, "trials[1].steps"});
  CHECK(refused([](auto& batch) { Client::AddTrial(batch, "0.2", 5, 4); }) ==
        Refusal{grpc::StatusCode::INVALID_ARGUMENT, "trials[1].horizon_steps"});
  CHECK(refused(claim(trial, 500)) == Refusal{grpc::StatusCode::INVALID_ARGUMENT, "claims[0].steps"});
  CHECK(refused(claim(trial, 601)) == Refusal{grpc::StatusCode::INVALID_ARGUMENT, "claims[0].steps"});
  CHECK(refused(claim(999, 1)) == Refusal{grpc::StatusCode::NOT_FOUND, "claims[0]"});
  CHECK(refused([](auto& batch) { batch.add_close_trial_ids(999); }) ==
        Refusal{grpc::StatusCode::NOT_FOUND, "close_trial_ids[0]"});
  CHECK(refused([](auto& batch) { batch.add_cancel_trial_ids(999); }) ==
        Refusal{grpc::StatusCode::NOT_FOUND, "cancel_trial_ids[0]"});
  v1::SubmitRequest close = client.Batch(study);
  close.add_close_trial_ids(trial);
  client.Submit(close);
  CHECK(refused(claim(trial, 550)) == Refusal{grpc::StatusCode::FAILED_PRECONDITION, "claims[0]"});
  CHECK(refused([&](auto& batch) { batch.add_close_trial_ids(trial); }) ==
        Refusal{grpc::StatusCode::FAILED_PRECONDITION, "close_trial_ids[0]"});
  CHECK(client.RefusalOf("Submit", client.Batch(study + 1000)).code == grpc::StatusCode::NOT_FOUND);
  client.SubmitOne(study, 700, 0);
  CHECK(client.Events(study, 5) == Words{"submitted a", "claim a@500", "closed a", "submitted b", "claim b@700"});
}

TEST_CASE("a trial that is cancelled has its claims withdrawn, and so has each of a study that is") {
  Client client;
  const std::int64_t study = client.Create("study");
  const std::int64_t first = client.SubmitOne(study, 500, 600);
  client.SubmitOne(study, 700, 0);
  v1::SubmitRequest cancel = client.Batch(study);
  cancel.add_cancel_trial_ids(first);
  client.Submit(cancel);
  v1::CancelStudyRequest whole;
  whole.set_request_id("cancel");
  whole.set_study_id(study);
  client.Get<v1::CancelStudyResponse>("CancelStudy", whole);
  CHECK(client.Events(study, 9) == Words{"submitted a", "claim a@500", "submitted b", "claim b@700", "withdrawn a@500",
                                         "cancelled a", "withdrawn b@700", "cancelled b", "finished"});
  client.Get<v1::CancelStudyResponse>("CancelStudy", whole);
  CHECK(client.RefusalOf("Submit", client.Batch(study)).code == grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_CASE("a watch of events that cannot be is refused, and says why") {
  Client client;
  const std::int64_t study = client.Create("study");
  const auto refused = [&](std::int64_t of, std::int64_t from) {
    v1::WatchRequest request;
    request.set_study_id(of);
    request.set_from_event(from);
    return client.RefusalOf("Watch", request).code;
  };
  CHECK(refused(study + 1000, 1) == grpc::StatusCode::NOT_FOUND);
  CHECK(refused(study, -1) == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(refused(study, 1000) == grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_CASE("who knows another event than the study has there is told so: the database was restored") {
  Client client;
  const std::int64_t study = client.Create("study");
  v1::SubmitRequest batch = client.Batch(study);
  Client::AddTrial(batch, "0.1", 2, 0);
  batch.set_finish(true);
  client.Submit(batch);
  client.backend->Train();
  v1::WatchRequest watch;
  watch.set_study_id(study);
  RawCall first(client.channel, "/espalier.v1.StudyService/Watch", watch, client.authorization);
  v1::WatchResponse response;
  REQUIRE(response.ParseFromString(first.Read().value()));
  *watch.mutable_previous_happened_at() = response.events(0).happened_at();
  REQUIRE(watch.previous_happened_at().seconds() > 0);
  watch.set_from_event(2);
  v1::WatchStudiesRequest one_of_many;
  *one_of_many.mutable_begin()->mutable_previous_happened_at() = watch.previous_happened_at();
  one_of_many.set_watch_id(1);
  one_of_many.mutable_begin()->set_study_id(study);
  one_of_many.mutable_begin()->set_from_event(2);
  const auto ended = [&] {
    RawCall stream(client.channel, "/espalier.v1.StudyService/WatchStudies", one_of_many, client.authorization);
    v1::WatchStudiesResponse said;
    while (!said.has_ended()) REQUIRE(said.ParseFromString(stream.Read().value()));
    return static_cast<grpc::StatusCode>(said.ended().status());
  };
  CHECK(client.Call("Watch", watch).code == grpc::StatusCode::OK);
  CHECK(ended() == grpc::StatusCode::OK);
  watch.mutable_previous_happened_at()->set_seconds(watch.previous_happened_at().seconds() - 1);
  *one_of_many.mutable_begin()->mutable_previous_happened_at() = watch.previous_happened_at();
  CHECK(client.RefusalOf("Watch", watch).code == grpc::StatusCode::FAILED_PRECONDITION);
  CHECK(ended() == grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_CASE("one stream brings the events of many studies, each in order, and says where one ends") {
  Client client;
  std::map<std::int64_t, std::int64_t> study_of;  // by the watch's id
  for (const std::int64_t watch_id : {7, 8}) study_of[watch_id] = client.Create("study " + std::to_string(watch_id));
  const auto begin = [](std::int64_t watch_id, std::int64_t study) {
    v1::WatchStudiesRequest request;
    request.set_watch_id(watch_id);
    request.mutable_begin()->set_study_id(study);
    return request;
  };
  RawCall stream(client.channel, "/espalier.v1.StudyService/WatchStudies", begin(7, study_of[7]), client.authorization);
  stream.Write(begin(8, study_of[8]));
  stream.Write(begin(9, 12345));
  for (const auto& [watch_id, study] : study_of) {
    v1::SubmitRequest batch = client.Batch(study);
    Client::AddTrial(batch, "0.1", watch_id, 0);
    batch.set_finish(true);
    client.Submit(batch);
  }
  client.backend->Train();
  std::map<std::int64_t, Words> told;
  std::map<std::int64_t, Teller> tellers;
  std::map<std::int64_t, int> ended;
  while (ended.size() < 3) {
    const auto bytes = stream.Read();
    REQUIRE(bytes.has_value());
    v1::WatchStudiesResponse response;
    REQUIRE(response.ParseFromString(*bytes));
    Words& words = told[response.watch_id()];
    for (const v1::StudyEvent& event : response.events()) {
      words.push_back(tellers[response.watch_id()].Tell(event));
      CHECK(event.number() == static_cast<std::int64_t>(words.size()));
    }
    if (response.has_ended()) ended[response.watch_id()] = response.ended().status();
  }
  CHECK(told[7] == Words{"submitted a", "claim a@7", "closed a", "done a@7 score 0.5", "finished"});
  CHECK(told[8] == Words{"submitted a", "claim a@8", "closed a", "done a@8 score 0.5", "finished"});
  CHECK(ended == std::map<std::int64_t, int>{{7, 0}, {8, 0}, {9, grpc::StatusCode::NOT_FOUND}});
}

}  // namespace espalier::testing
