// Of a study that has left the master's memory everything is as it was, for who may see it.
#include "espalier/v1/checkpoint.pb.h"
#include "espalier/v1/inspect.pb.h"
#include "espalier/v1/study.pb.h"
#include "tests/support/toy_node.h"
#include "tests/unit/rpc/service.h"

namespace espalier::master::testing {
namespace {

using Requests = std::vector<std::pair<std::string, std::unique_ptr<google::protobuf::Message>>>;

v1::SubmitRequest Batch(std::int64_t study) {
  v1::SubmitRequest submit;
  submit.set_study_id(study);
  submit.set_request_id("batch");
  for (const char* rate :
       {"0.1", "0.2", "MultiStep(0.1, [2], 0.1)", "MultiStep(0.1, [3], 0.1)", "Exponential(0.1, 0.9)"}) {
    v1::NewTrial& trial = *submit.add_new_trials();
    (*trial.mutable_sequences())["lr"] = rate;
    trial.set_steps(4);
  }
  submit.set_finish(true);
  return submit;
}

// A study that is finished, with five trials.
std::int64_t FinishedStudy(Service& service, const std::string& token, const std::string& name) {
  v1::CreateStudyRequest create;
  create.set_request_id("create " + name);
  create.mutable_study()->set_name(name);
  create.mutable_study()->set_trainer("toy");
  create.mutable_study()->set_metric("score");
  create.mutable_study()->set_goal(v1::GOAL_MAXIMIZE);
  const auto created = service.Get<v1::CreateStudyResponse>(token, "StudyService/CreateStudy", create);
  service.Get<v1::SubmitResponse>(token, "StudyService/Submit", Batch(created.study_id()));
  v1::WatchRequest watch;
  watch.set_study_id(created.study_id());
  REQUIRE(service.Call(token, "StudyService/Watch", watch).code == grpc::StatusCode::OK);
  return created.study_id();
}

template <class Request>
void Ask(Requests& requests, const std::string& method, Request request) {
  requests.emplace_back(method, std::make_unique<Request>(std::move(request)));
}

// All that can be asked about it.
Requests AllAbout(std::int64_t study) {
  Requests all;
  const auto of_study = [study](auto request) { return request.set_study_id(study), request; };
  Ask(all, "InspectService/ListStudies", v1::ListStudiesRequest());
  Ask(all, "InspectService/GetStudy", of_study(v1::GetStudyRequest()));
  auto trials = of_study(v1::ListTrialsRequest());
  trials.set_page_size(2);
  Ask(all, "InspectService/ListTrials", trials);
  trials.set_page_size(0);
  trials.add_states("done");
  trials.set_order(v1::TRIAL_ORDER_METRIC);
  Ask(all, "InspectService/ListTrials", trials);
  for (const std::int64_t id : {1, 2, 3, 4, 5}) {
    const auto of_trial = [id](auto request) { return request.set_trial_id(id), request; };
    Ask(all, "InspectService/GetTrial", of_trial(v1::GetTrialRequest()));
    Ask(all, "InspectService/GetTrialOutput", of_trial(v1::GetTrialOutputRequest()));
    Ask(all, "InspectService/GetTrainingMetrics", of_trial(v1::GetTrainingMetricsRequest()));
    Ask(all, "CheckpointService/ListCheckpoints", of_trial(v1::ListCheckpointsRequest()));
  }
  Ask(all, "InspectService/ListRuns", of_study(v1::ListRunsRequest()));
  Ask(all, "InspectService/ListEvents", of_study(v1::ListEventsRequest()));
  Ask(all, "InspectService/GetPlan", of_study(v1::GetPlanRequest()));
  Ask(all, "CheckpointService/ListCheckpoints", of_study(v1::ListCheckpointsRequest()));
  auto watch = of_study(v1::WatchRequest());
  Ask(all, "StudyService/Watch", watch);
  watch.set_from_event(7);
  Ask(all, "StudyService/Watch", watch);
  return all;
}

// In words: maps have no order on the wire.
std::vector<std::string> TextOf(const std::string& method, const std::vector<std::string>& responses) {
  std::string name = "espalier.v1." + method;
  std::ranges::replace(name, '/', '.');
  const auto* descriptor = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name);
  REQUIRE(descriptor != nullptr);
  const auto* prototype =
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor->output_type());
  std::vector<std::string> texts;
  for (const std::string& bytes : responses) {
    const std::unique_ptr<google::protobuf::Message> message(prototype->New());
    REQUIRE(message->ParseFromString(bytes));
    texts.push_back(message->DebugString());
  }
  return texts;
}

}  // namespace

TEST_CASE("whatever is asked about a retired study is answered as before") {
  Service service;
  const std::string user = service.AddUser("ann", "vision");
  const std::string mate = service.AddUser("bob", "vision");
  const std::string stranger = service.AddUser("eve", "speech");
  const ToyNode node(service.channel, service.AddUser("node", "", v1::ROLE_NODE), 0.5);
  const Requests all = AllAbout(FinishedStudy(service, user, "first"));
  const auto ask_all = [&](const std::string& token) {
    std::vector<Outcome> outcomes;
    for (const auto& [method, request] : all) outcomes.push_back(service.Call(token, method, *request));
    return outcomes;
  };
  const std::vector<std::string> callers = {user, mate, stranger};
  std::vector<std::vector<Outcome>> before;
  for (const std::string& token : callers) before.push_back(ask_all(token));
  service.RetireFinished();
  for (std::size_t i = 0; i < callers.size(); ++i) {
    const std::vector<Outcome> after = ask_all(callers[i]);
    for (std::size_t k = 0; k < all.size(); ++k) {
      INFO("caller " << i << " " << all[k].first << " " << all[k].second->ShortDebugString());
      CHECK(after[k].code == before[i][k].code);
      CHECK(after[k].message == before[i][k].message);
      CHECK(TextOf(all[k].first, after[k].responses) == TextOf(all[k].first, before[i][k].responses));
    }
  }
}

TEST_CASE("a request to a retired study is answered again as it was, and one of other content is refused") {
  Service service;
  const std::string user = service.AddUser("ann", "vision");
  const ToyNode node(service.channel, service.AddUser("node", "", v1::ROLE_NODE), 0.5);
  const std::int64_t study = FinishedStudy(service, user, "first");
  v1::SubmitRequest again = Batch(study);
  const auto first = service.Get<v1::SubmitResponse>(user, "StudyService/Submit", again);
  service.RetireFinished();
  const auto second = service.Get<v1::SubmitResponse>(user, "StudyService/Submit", again);
  CHECK(second.SerializeAsString() == first.SerializeAsString());
  CHECK(second.trial_ids_size() == 5);
  again.set_finish(false);
  CHECK(service.Call(user, "StudyService/Submit", again).code == grpc::StatusCode::ALREADY_EXISTS);
  again.set_request_id("another");
  CHECK(service.Call(user, "StudyService/Submit", again).code == grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_CASE("a retired trial can be gone on from") {
  Service service;
  const std::string user = service.AddUser("ann", "vision");
  const std::string stranger = service.AddUser("eve", "speech");
  const ToyNode node(service.channel, service.AddUser("node", "", v1::ROLE_NODE), 0.5);
  FinishedStudy(service, user, "first");
  service.RetireFinished();
  v1::ContinueTrialRequest extend;
  extend.set_request_id("extend");
  extend.set_trial_id(3);
  extend.set_name("further");
  extend.add_continuations()->set_steps(8);
  CHECK(service.Call(stranger, "StudyService/ContinueTrial", extend).code == grpc::StatusCode::NOT_FOUND);
  const auto extended = service.Get<v1::ContinueTrialResponse>(user, "StudyService/ContinueTrial", extend);
  v1::WatchRequest watch;
  watch.set_study_id(extended.study_id());
  REQUIRE(service.Call(user, "StudyService/Watch", watch).code == grpc::StatusCode::OK);
  v1::GetStudyRequest get;
  get.set_study_id(extended.study_id());
  const auto shown = service.Get<v1::GetStudyResponse>(user, "InspectService/GetStudy", get);
  CHECK(shown.study().steps().unique() == 8);
  CHECK(shown.study().steps().reused() == 4);  // of the first study's
  v1::GetTrialRequest none;
  none.set_trial_id(1000);
  CHECK(service.Call(user, "InspectService/GetTrial", none).code == grpc::StatusCode::NOT_FOUND);
}

TEST_CASE("a retired study can be pinned") {
  Service service;
  const std::string user = service.AddUser("ann", "vision");
  const ToyNode node(service.channel, service.AddUser("node", "", v1::ROLE_NODE), 0.5);
  const std::int64_t study = FinishedStudy(service, user, "first");
  service.RetireFinished();
  v1::PinStudyRequest pin;
  pin.set_study_id(study);
  for (const auto& [keep, count] :
       {std::pair(v1::KEEP_ALL, std::size_t{5}), std::pair(v1::KEEP_NONE, std::size_t{0}),
        std::pair(v1::KEEP_BEST, std::size_t{1}), std::pair(v1::KEEP_CLAIMED, std::size_t{5})}) {
    pin.set_keep(keep);
    pin.set_request_id("pin " + std::to_string(keep));
    service.Get<v1::PinStudyResponse>(user, "StudyService/PinStudy", pin);
    CHECK(service.KeptCount() == count);
  }
}

}  // namespace espalier::master::testing
