#include <catch2/catch.hpp>

#include "tests/support/toy_cluster.h"

namespace espalier::master {
namespace {

SubmitCall TrialCall(StudyId study, const std::string& request, std::map<std::string, std::string> sequences,
                     std::int64_t steps = 10) {
  return {.call = CallId{1},
          .user = "ann",
          .request_id = request,
          .study = study,
          .new_trials = {{std::move(sequences), Step{steps}, Step{0}}}};
}

Error RefusalOf(ToyCluster& cluster, const Event& event) {
  const MasterState before = cluster.state;
  cluster.Handle(event);
  CHECK(cluster.state == before);  // an event that is refused changes nothing
  REQUIRE(std::holds_alternative<Error>(cluster.last_reply.answer));
  return std::get<Error>(cluster.last_reply.answer);
}

}  // namespace

TEST_CASE("the same request again gets the first answer and changes nothing") {
  ToyCluster cluster(1);
  const StudyId study = cluster.CreateStudy("same");
  cluster.Handle(TrialCall(study, "a", {{"lr", "0.1"}}));
  const auto first = std::get<Submitted>(cluster.last_reply.answer);
  const MasterState before = cluster.state;
  cluster.Handle(TrialCall(study, "a", {{"lr", "0.1"}}));
  const auto second = std::get<Submitted>(cluster.last_reply.answer);
  CHECK(first.trials == second.trials);
  CHECK(first.claims == second.claims);
  CHECK(cluster.state == before);
}

TEST_CASE("the same request id with other content is refused") {
  ToyCluster cluster(1);
  const StudyId study = cluster.CreateStudy("other");
  cluster.Handle(TrialCall(study, "a", {{"lr", "0.1"}}));
  CHECK(RefusalOf(cluster, TrialCall(study, "a", {{"lr", "0.2"}})).code == ErrorCode::kAlreadyExists);
}

TEST_CASE("bad trials are refused with the field") {
  ToyCluster cluster(1);
  const StudyId study = cluster.CreateStudy("bad");
  CHECK(RefusalOf(cluster, TrialCall(study, "a", {{"lr", "Cosin(0.1, 0, 5)"}})).field == "trials[0].lr");
  CHECK(RefusalOf(cluster, TrialCall(study, "a", {{"learning_rate", "0.1"}})).code == ErrorCode::kInvalidArgument);
  CHECK(RefusalOf(cluster, TrialCall(study, "a", {{"bs", "12.5"}})).field == "trials[0].bs");
  CHECK(RefusalOf(cluster, TrialCall(study, "a", {{"seed", "Piecewise([1, 2], [5])"}})).field == "trials[0].seed");
  CHECK(RefusalOf(cluster, TrialCall(study, "a", {{"lr", "0.1"}}, -5)).field == "trials[0].steps");
}

TEST_CASE("text that the database would refuse is refused before, with the field") {
  ToyCluster cluster(1);
  const std::string zero("a\0b", 3);
  const std::string not_utf8 = "a\xff";
  const auto create = [](StudySpecification specification) {
    specification.trainer = "toy";
    return CreateStudyCall{
        .call = CallId{1}, .user = "ann", .team = "team", .request_id = "1", .specification = specification};
  };
  for (const std::string& bad : {zero, not_utf8}) {
    CHECK(RefusalOf(cluster, create({.name = bad, .metric = "score"})).field == "study");
    CHECK(RefusalOf(cluster, create({.name = "s", .data = bad, .metric = "score"})).field == "data");
    CHECK(RefusalOf(cluster, create({.name = "s", .metric = bad})).field == "metric.name");
    CHECK(RefusalOf(cluster, create({.name = "s", .metric = "score", .definition = bad})).field == "definition");
    CreateStudyCall call = create({.name = "s", .metric = "score"});
    call.request_id = bad;
    CHECK(RefusalOf(cluster, call).field == "request_id");
    call = create({.name = "s", .metric = "score"});
    call.team = bad;
    CHECK(RefusalOf(cluster, call).field == "team");
  }
  const StudyId study = cluster.CreateStudy("texts");
  for (const std::string& bad : {zero, not_utf8}) {
    CHECK(RefusalOf(cluster, TrialCall(study, bad, {{"lr", "0.1"}})).field == "request_id");
    CHECK(RefusalOf(cluster, TrialCall(study, "a", {{"lr", bad}})).field == "trials[0].lr");
    CHECK(RefusalOf(cluster, TrialCall(study, "a", {{bad, "0.1"}})).code == ErrorCode::kInvalidArgument);
  }
  CHECK(RefusalOf(cluster, TrialCall(study, "a", {{zero, "0.1"}})).field == "trials[0].a?b");
}

TEST_CASE("what is too long or too much is refused with the field") {
  ToyCluster cluster(1);
  CreateStudyCall call{.call = CallId{1}, .user = "ann", .team = "team", .request_id = "1"};
  call.specification = {.name = std::string(201, 'n'), .trainer = "toy", .metric = "score"};
  CHECK(RefusalOf(cluster, call).field == "study");
  call.specification.name = "s";
  call.specification.definition.assign((16u << 20) + 1, ' ');
  CHECK(RefusalOf(cluster, call).field == "definition");
  const StudyId study = cluster.CreateStudy("long");
  CHECK(RefusalOf(cluster, TrialCall(study, std::string(101, 'r'), {{"lr", "0.1"}})).field == "request_id");
  CHECK(RefusalOf(cluster, TrialCall(study, "a", {{"lr", std::string((1u << 20) + 1, ' ')}})).field == "trials[0].lr");
  SubmitCall batch = TrialCall(study, "a", {{"lr", "0.1"}});
  batch.new_trials.resize(100'001, batch.new_trials[0]);
  CHECK(RefusalOf(cluster, batch).code == ErrorCode::kResourceExhausted);
  CHECK(RefusalOf(cluster, batch).field == "trials");
  batch.new_trials.clear();
  batch.claims.resize(100'001);
  CHECK(RefusalOf(cluster, batch).code == ErrorCode::kResourceExhausted);
  CHECK(RefusalOf(cluster, batch).field == "claims");
}

TEST_CASE("a study of the same name and content is attached to while it runs, and is new once it is finished") {
  ToyCluster cluster(1);
  CreateStudyCall call{.call = CallId{1},
                       .user = "ann",
                       .team = "team",
                       .request_id = "1",
                       .specification = {.name = "s", .trainer = "toy", .metric = "score", .definition = "{}"}};
  cluster.Handle(call);
  const auto first = std::get<StudyCreated>(cluster.last_reply.answer);
  call.request_id = "2";
  cluster.Handle(call);
  const auto second = std::get<StudyCreated>(cluster.last_reply.answer);
  CHECK(second.study == first.study);
  CHECK(second.attached);
  call.request_id = "3";
  call.specification.definition = "{\"other\": 1}";
  CHECK(RefusalOf(cluster, call).code == ErrorCode::kAlreadyExists);
  cluster.Finish(first.study);
  call.request_id = "4";
  cluster.Handle(call);
  CHECK(std::get<StudyCreated>(cluster.last_reply.answer).study != first.study);
}

TEST_CASE("an unknown trainer, data or metric is refused with what there is") {
  ToyCluster cluster(1);
  CreateStudyCall call{.call = CallId{1}, .user = "ann", .team = "team", .request_id = "1"};
  call.specification = {.name = "s", .trainer = "mpl", .metric = "score"};
  CHECK(RefusalOf(cluster, call).message == "unknown trainer 'mpl'; expected one of: toy");
  call.specification = {.name = "s", .trainer = "toy", .data = "digits", .metric = "score"};
  CHECK(RefusalOf(cluster, call).field == "data");
  call.specification = {.name = "s", .trainer = "toy", .metric = "accuracy"};
  CHECK(RefusalOf(cluster, call).message == "trainer toy has no metric 'accuracy'; expected one of: score");
}

TEST_CASE("without a server, creating a study is to be tried again") {
  ToyCluster cluster(1, 0);
  CreateStudyCall call{.call = CallId{1}, .user = "ann", .team = "team", .request_id = "1"};
  call.specification = {.name = "s", .trainer = "toy", .metric = "score"};
  CHECK(RefusalOf(cluster, call).code == ErrorCode::kUnavailable);
}

TEST_CASE("another user's study is not found") {
  ToyCluster cluster(1);
  const StudyId study = cluster.CreateStudy("mine");
  SubmitCall call = TrialCall(study, "a", {{"lr", "0.1"}});
  call.user = "bob";
  CHECK(RefusalOf(cluster, call).code == ErrorCode::kNotFound);
}

}  // namespace espalier::master
