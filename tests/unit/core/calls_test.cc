#include <catch2/catch.hpp>

#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

ClientCall CallOf(const std::string& request, decltype(ClientCall::what) what, const Caller& caller = kAnn) {
  return {CallId{1}, caller, request, std::move(what)};
}

ClientCall TrialCall(StudyId study, const std::string& request, std::map<std::string, std::string> sequences,
                     std::int64_t steps = 10) {
  return CallOf(request, SubmitBatch{.study = study, .new_trials = {{std::move(sequences), Step{steps}, Step{0}}}});
}

ClientCall CreateCall(const std::string& request, const StudySpecification& specification) {
  return CallOf(request, CreateStudy{specification});
}

Error RefusalOfEvent(MasterByHand& master, const Event& event) {
  const MasterState before = master.state();
  master.Handle(event);
  CHECK(master.state() == before);  // an event that is refused changes nothing
  REQUIRE(std::holds_alternative<Error>(master.last_reply.answer));
  return std::get<Error>(master.last_reply.answer);
}

}  // namespace

TEST_CASE("the same request again gets the first answer and changes nothing") {
  MasterByHand master;
  const StudyId study = master.CreateStudy("same");
  master.Handle(TrialCall(study, "a", {{"lr", "0.1"}}));
  const auto first = std::get<Submitted>(master.last_reply.answer);
  const MasterState before = master.state();
  master.Handle(TrialCall(study, "a", {{"lr", "0.1"}}));
  const auto second = std::get<Submitted>(master.last_reply.answer);
  CHECK(first.trials == second.trials);
  CHECK(first.claims == second.claims);
  CHECK(master.state() == before);
}

TEST_CASE("the same request id with other content is refused") {
  MasterByHand master;
  const StudyId study = master.CreateStudy("other");
  master.Handle(TrialCall(study, "a", {{"lr", "0.1"}}));
  CHECK(RefusalOfEvent(master, TrialCall(study, "a", {{"lr", "0.2"}})).code == ErrorCode::kAlreadyExists);
}

TEST_CASE("bad trials are refused with the field") {
  MasterByHand master;
  const StudyId study = master.CreateStudy("bad");
  CHECK(RefusalOfEvent(master, TrialCall(study, "a", {{"lr", "Cosin(0.1, 0, 5)"}})).field == "trials[0].lr");
  CHECK(RefusalOfEvent(master, TrialCall(study, "a", {{"learning_rate", "0.1"}})).code == ErrorCode::kInvalidArgument);
  CHECK(RefusalOfEvent(master, TrialCall(study, "a", {{"bs", "12.5"}})).field == "trials[0].bs");
  CHECK(RefusalOfEvent(master, TrialCall(study, "a", {{"seed", "Piecewise([1, 2], [5])"}})).field == "trials[0].seed");
  CHECK(RefusalOfEvent(master, TrialCall(study, "a", {{"lr", "0.1"}}, -5)).field == "trials[0].steps");
}

TEST_CASE("text that the database would refuse is refused before, with the field") {
  MasterByHand master;
  const std::string zero("a\0b", 3);
  const std::string not_utf8 = "a\xff";
  const auto create = [](StudySpecification specification) {
    specification.trainer = "simulated";
    return CreateCall("1", specification);
  };
  for (const std::string& bad : {zero, not_utf8}) {
    CHECK(RefusalOfEvent(master, create({.name = bad, .metric = "score"})).field == "study");
    CHECK(RefusalOfEvent(master, create({.name = "s", .data = bad, .metric = "score"})).field == "data");
    CHECK(RefusalOfEvent(master, create({.name = "s", .metric = bad})).field == "metric.name");
    CHECK(RefusalOfEvent(master, create({.name = "s", .metric = "score", .definition = bad})).field == "definition");
    ClientCall call = create({.name = "s", .metric = "score"});
    call.request_id = bad;
    CHECK(RefusalOfEvent(master, call).field == "request_id");
    call = create({.name = "s", .metric = "score"});
    call.caller.team = bad;
    CHECK(RefusalOfEvent(master, call).field == "team");
  }
  const StudyId study = master.CreateStudy("texts");
  for (const std::string& bad : {zero, not_utf8}) {
    CHECK(RefusalOfEvent(master, TrialCall(study, bad, {{"lr", "0.1"}})).field == "request_id");
    CHECK(RefusalOfEvent(master, TrialCall(study, "a", {{"lr", bad}})).field == "trials[0].lr");
    CHECK(RefusalOfEvent(master, TrialCall(study, "a", {{bad, "0.1"}})).code == ErrorCode::kInvalidArgument);
  }
  CHECK(RefusalOfEvent(master, TrialCall(study, "a", {{zero, "0.1"}})).field == "trials[0].a?b");
}

TEST_CASE("what is too long or too much is refused with the field") {
  MasterByHand master;
  StudySpecification specification{.name = std::string(201, 'n'), .trainer = "simulated", .metric = "score"};
  CHECK(RefusalOfEvent(master, CreateCall("1", specification)).field == "study");
  specification.name = "s";
  specification.definition.assign((16u << 20) + 1, ' ');
  CHECK(RefusalOfEvent(master, CreateCall("1", specification)).field == "definition");
  const StudyId study = master.CreateStudy("long");
  CHECK(RefusalOfEvent(master, TrialCall(study, std::string(101, 'r'), {{"lr", "0.1"}})).field == "request_id");
  CHECK(RefusalOfEvent(master, TrialCall(study, "a", {{"lr", std::string((1u << 20) + 1, ' ')}})).field ==
        "trials[0].lr");
  SubmitBatch batch{.study = study, .new_trials = {20'001, NewTrial{.sequences = {{"lr", "0.1"}}, .steps = Step{1}}}};
  Error refused = RefusalOfEvent(master, CallOf("a", batch));
  CHECK(refused.code == ErrorCode::kResourceExhausted);
  CHECK(refused.field == "trials");
  batch.new_trials.clear();
  batch.claims.resize(20'001);
  refused = RefusalOfEvent(master, CallOf("a", batch));
  CHECK(refused.code == ErrorCode::kResourceExhausted);
  CHECK(refused.field == "claims");
  CHECK(RefusalOfEvent(master, CallOf("a", SubmitBatch{.study = study, .close = std::vector<TrialId>(20'001)})).field ==
        "close_trial_ids");
  CHECK(
      RefusalOfEvent(master, CallOf("a", SubmitBatch{.study = study, .cancel = std::vector<TrialId>(20'001)})).field ==
      "cancel_trial_ids");
}

TEST_CASE("a study of the same name and content is attached to while it runs, and is new once it is finished") {
  MasterByHand master;
  StudySpecification specification{.name = "s", .trainer = "simulated", .metric = "score", .definition = "{}"};
  master.Handle(CreateCall("1", specification));
  const auto first = std::get<StudyCreated>(master.last_reply.answer);
  master.Handle(CreateCall("2", specification));
  const auto second = std::get<StudyCreated>(master.last_reply.answer);
  CHECK(second.study == first.study);
  CHECK(second.attached);
  specification.definition = "{\"other\": 1}";
  CHECK(RefusalOfEvent(master, CreateCall("3", specification)).code == ErrorCode::kAlreadyExists);
  master.Finish(first.study);
  master.Handle(CreateCall("4", specification));
  CHECK(std::get<StudyCreated>(master.last_reply.answer).study != first.study);
}

TEST_CASE("an unknown trainer, data or metric is refused with what there is") {
  MasterByHand master;
  const auto refusal = [&](const StudySpecification& specification) {
    return RefusalOfEvent(master, CreateCall("1", specification));
  };
  CHECK(refusal({.name = "s", .trainer = "mpl", .metric = "score"}).message ==
        "unknown trainer 'mpl'; expected one of: simulated");
  CHECK(refusal({.name = "s", .trainer = "simulated", .data = "digits", .metric = "score"}).field == "data");
  CHECK(refusal({.name = "s", .trainer = "simulated", .metric = "accuracy"}).message ==
        "trainer simulated has no metric 'accuracy'; expected one of: score");
}

TEST_CASE("without a server, creating a study is to be tried again") {
  MasterByHand master(0);
  const ClientCall call = CreateCall("1", {.name = "s", .trainer = "simulated", .metric = "score"});
  CHECK(RefusalOfEvent(master, call).code == ErrorCode::kUnavailable);
}

TEST_CASE("another team's study is not found, and a team mate's is not for changing") {
  MasterByHand master;
  ClientCall call = TrialCall(master.CreateStudy("mine"), "a", {{"lr", "0.1"}});
  call.caller = {.user = "bob", .team = "others"};
  CHECK(RefusalOfEvent(master, call).code == ErrorCode::kNotFound);
  call.caller = {.user = "bob", .team = "team"};
  CHECK(RefusalOfEvent(master, call).code == ErrorCode::kFailedPrecondition);
}

TEST_CASE("a study is cancelled once a request, and a request id serves one call") {
  MasterByHand master;
  const StudyId study = master.CreateStudy("cancelled");
  CHECK(RefusalOfEvent(master, CallOf("", CancelStudy{study})).field == "request_id");
  master.Handle(TrialCall(study, "a", {{"lr", "0.1"}}));
  const Error refused = RefusalOfEvent(master, CallOf("a", CancelStudy{study}));
  CHECK(refused.code == ErrorCode::kAlreadyExists);
  CHECK(refused.field == "request_id");
  for (int i = 0; i < 2; ++i) {
    master.Call(CancelStudy{study}, "cancel");
    CHECK(std::holds_alternative<StudyCancelled>(master.last_reply.answer));
    CHECK(master.state().studies.at(study).finished_at.has_value());
    CHECK(master.state().requests.contains({study, "cancel"}));
  }
}

TEST_CASE("every kind of call is answered the same again, and refused under an id that another had") {
  ServerByHand master;
  const StudyId study = master.study;
  const TrialId trial = master.Submit(study, {{"lr", "0.1"}}, 5);
  const Point failed{master.state().trials.at(trial).leaf, Step{1}};
  master.Report(master.Last(), RunFailed{RunFailed::Kind::kTrainer, failed, "bad data"});
  REQUIRE(master.state().plans.begin()->second.FindFailure(failed) != nullptr);
  const User bob{.name = "bob", .team = "team", .role = Role::kMember, .token_sha256 = std::string(64, 'b')};
  const std::vector<decltype(ClientCall::what)> calls = {
      CreateStudy{{.name = "t", .trainer = "simulated", .metric = "score"}},
      SubmitBatch{.study = study, .new_trials = {{{{"lr", "0.2"}}, Step{5}, Step{0}}}},
      ContinueTrial{.trial = trial, .name = "more", .continuations = {{.steps = Step{9}}}},
      RetryStage{failed},
      AddUser{bob},
      RemoveUser{"bob"},
      DrainServer{.server = "server-0"},
      ChoosePolicy{"throughput"},
      WeighTeam{"team", 2},
      WeighStudy{study, 2},
      LimitParty{{Party::Kind::kTeam, "team"}, {.open_trials = 1000}},
      PinStudy{study, Keep::kAll},
      CancelStudy{study},
      PutArchive{"code"},
      DescribeTrainer{{.entry = "train.py:Digits",
                       .archive = Sha256Hex("code"),
                       .python = {},
                       .client = {},
                       .folder = "/home/ann",
                       .data = {},
                       .data_seen = {},
                       .environment = {},
                       .user = "ann",
                       .team = "team"}},
  };
  REQUIRE(calls.size() == std::variant_size_v<decltype(ClientCall::what)>);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    INFO(i);
    const std::string request = "call " + std::to_string(i);
    master.Call(calls[i], request);
    REQUIRE_FALSE(std::holds_alternative<Error>(master.last_reply.answer));
    const std::size_t kind = master.last_reply.answer.index();
    const MasterState before = master.state();
    master.Call(calls[i], request);
    CHECK(master.last_reply.answer.index() == kind);
    CHECK(master.state() == before);
    // Under the same key: another call of the study, or another of the user.
    const bool of_study = master.state().requests.contains({study, request});
    const decltype(ClientCall::what) other =
        of_study ? decltype(ClientCall::what)(SubmitBatch{.study = study, .close = {trial}})
                 : decltype(ClientCall::what)(CreateStudy{{.name = "u", .trainer = "simulated", .metric = "score"}});
    CHECK(RefusalOfEvent(master, CallOf(request, other)).code == ErrorCode::kAlreadyExists);
  }
}

}  // namespace espalier::master
