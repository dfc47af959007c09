// What can be read of a study afterwards: its events with their times, and the way of its trials through the plan.
#include "espalier/v1/inspect.pb.h"
#include "tests/unit/rpc/service.h"
#include "tests/unit/rpc/toy_node.h"

namespace espalier::master::testing {
namespace {

double SecondsOf(const google::protobuf::Timestamp& time) {
  return static_cast<double>(time.seconds()) + 1e-9 * time.nanos();
}

// A study of as many trials, none of which is ever done, that is cancelled.
std::int64_t StudyOf(Service& service, const std::string& user, int trials) {
  v1::CreateStudyRequest create;
  create.set_request_id("create");
  create.mutable_study()->set_name("past");
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

}  // namespace

TEST_CASE("a study's past events are read in pages, every one once, in order, with times that never go back") {
  constexpr int kTrials = 600;
  Service service;
  const std::string user = service.AddUser("ann", "vision");
  const ToyNode node(service, service.AddUser("node", "", v1::ROLE_NODE), 0.5);
  v1::ListEventsRequest request;
  request.set_study_id(StudyOf(service, user, kTrials));
  std::int64_t next = 1;
  double last = 0;
  bool more = true;
  int pages = 0;
  for (; more; ++pages) {
    request.set_from_event(next);
    const auto page = service.Get<v1::ListEventsResponse>(user, "InspectService/ListEvents", request);
    if (pages == 0) last = SecondsOf(page.created_at());
    REQUIRE_FALSE(page.events().empty());
    for (const v1::PastEvent& past : page.events()) {
      REQUIRE(past.event().number() == next++);
      REQUIRE(SecondsOf(past.happened_at()) >= last);
      last = SecondsOf(past.happened_at());
    }
    more = page.more();
    CHECK(more != page.events().rbegin()->event().has_study_finished());
  }
  CHECK(next == 4 * kTrials + 2);  // submitted, claimed, settled, closed; finished
  CHECK(pages == 3);
}

TEST_CASE("a trial's lineage says by which plan nodes it goes, and how far under each") {
  Service service;
  const std::string user = service.AddUser("ann", "vision");
  const ToyNode node(service, service.AddUser("node", "", v1::ROLE_NODE), 0.5);
  v1::GetPlanRequest of_plan;
  of_plan.set_study_id(StudyOf(service, user, 2));
  std::map<std::int64_t, v1::PlanNode> nodes;
  const auto plan = service.Get<v1::GetPlanResponse>(user, "InspectService/GetPlan", of_plan);
  for (const v1::PlanNode& each : plan.nodes()) {
    nodes[each.plan_node_id()] = each;
  }
  v1::GetTrialRequest of_trial;
  of_trial.set_trial_id(2);
  const auto trial = service.Get<v1::GetTrialResponse>(user, "InspectService/GetTrial", of_trial);
  REQUIRE(trial.lineage_size() == 2);
  CHECK(trial.lineage(0).to_step() == 2);
  CHECK(nodes.at(trial.lineage(0).plan_node_id()).parent_id() == 0);
  CHECK(trial.lineage(1).to_step() == 2000);
  CHECK(nodes.at(trial.lineage(1).plan_node_id()).parent_id() == trial.lineage(0).plan_node_id());
  CHECK(nodes.at(trial.lineage(1).plan_node_id()).start_step() == 2);
}

}  // namespace espalier::master::testing
