// What a trial's steps returned as they were trained, as its team reads it.
#include "espalier/v1/inspect.pb.h"
#include "espalier/v1/study.pb.h"
#include "tests/support/toy_node.h"
#include "tests/unit/rpc/service.h"

namespace espalier::master::testing {
namespace {

std::int64_t NewStudy(Service& service, const std::string& user) {
  v1::CreateStudyRequest create;
  create.set_request_id("create");
  create.mutable_study()->set_name("short");
  create.mutable_study()->set_trainer("toy");
  create.mutable_study()->set_metric("score");
  return service.Get<v1::CreateStudyResponse>(user, "StudyService/CreateStudy", create).study_id();
}

// Of two trials that begin alike; their ids.
v1::SubmitResponse SubmitTwo(Service& service, const std::string& user, std::int64_t study) {
  v1::SubmitRequest submit;
  submit.set_request_id("submit");
  submit.set_study_id(study);
  for (const auto& [lr, steps] : {std::pair("MultiStep(0.2, [10], 0.5)", 20), std::pair("0.2", 15)}) {
    v1::NewTrial& trial = *submit.add_new_trials();
    (*trial.mutable_sequences())["lr"] = lr;
    trial.set_steps(steps);
  }
  return service.Get<v1::SubmitResponse>(user, "StudyService/Submit", submit);
}

void AwaitSettled(Service& service, const std::string& user, std::int64_t study, int claims) {
  v1::WatchRequest watch;
  watch.set_study_id(study);
  RawCall call(service.channel, "/espalier.v1.StudyService/Watch", "Bearer " + user);
  call.Write(watch);
  call.WritesDone();
  while (claims > 0) {
    const auto bytes = call.Read();
    REQUIRE(bytes.has_value());
    v1::WatchResponse response;
    REQUIRE(response.ParseFromString(*bytes));
    for (const v1::StudyEvent& event : response.events()) claims -= event.has_claim_settled() ? 1 : 0;
  }
  call.Cancel();
}

TEST_CASE("a trial's training metrics are those of its own lineage up to its last claim, whoever trained it") {
  Service service;
  const std::string ann = service.AddUser("ann", "vision");
  const ToyNode node(service.channel, service.AddUser("node", "", v1::ROLE_NODE), 0.5);
  const std::int64_t study = NewStudy(service, ann);
  const v1::SubmitResponse trials = SubmitTwo(service, ann, study);
  AwaitSettled(service, ann, study, 2);
  for (const auto& [trial, steps] : {std::pair(trials.trial_ids(0), 20), std::pair(trials.trial_ids(1), 15)}) {
    v1::GetTrainingMetricsRequest get;
    get.set_trial_id(trial);
    std::map<std::int64_t, double> losses;
    while (true) {
      const auto part = service.Get<v1::GetTrainingMetricsResponse>(ann, "InspectService/GetTrainingMetrics", get);
      if (part.series().empty()) break;
      get.set_after(part.next());
      for (const v1::MetricSeries& series : part.series()) {
        CHECK(series.name() == "loss");
        REQUIRE(series.steps_size() == series.values_size());
        for (int at = 0; at < series.steps_size(); ++at) losses.emplace(series.steps(at), series.values(at));
      }
    }
    CHECK(std::ssize(losses) == steps);
    CHECK(losses.begin()->first == 1);
    CHECK(losses.rbegin()->first == steps);
    for (const auto& [step, loss] : losses) CHECK(loss == 1.0 / static_cast<double>(step));
  }
}

}  // namespace
}  // namespace espalier::master::testing
