// What can be read of a study afterwards: its events with their times, and the way of its trials through the plan.
#include "espalier/v1/inspect.pb.h"
#include "tests/support/toy_node.h"
#include "tests/unit/rpc/cancelled_study.h"
#include "tests/unit/rpc/service.h"

namespace espalier::master::testing {
namespace {

double SecondsOf(const google::protobuf::Timestamp& time) {
  return static_cast<double>(time.seconds()) + 1e-9 * time.nanos();
}

}  // namespace

TEST_CASE("a study's past events are read in pages, every one once, in order, with times that never go back") {
  constexpr int kTrials = 600;
  Service service;
  const std::string user = service.AddUser("ann", "vision");
  const ToyNode node(service.channel, service.AddUser("node", "", v1::ROLE_NODE), 0.5);
  v1::ListEventsRequest request;
  request.set_study_id(CancelledStudy(service, user, kTrials));
  std::int64_t next = 1;
  double last = 0;
  bool more = true;
  int pages = 0;
  for (; more; ++pages) {
    request.set_from_event(next);
    const auto page = service.Get<v1::ListEventsResponse>(user, "InspectService/ListEvents", request);
    if (pages == 0) last = SecondsOf(page.created_at());
    REQUIRE_FALSE(page.events().empty());
    for (const v1::StudyEvent& event : page.events()) {
      REQUIRE(event.number() == next++);
      REQUIRE(SecondsOf(event.happened_at()) >= last);
      last = SecondsOf(event.happened_at());
    }
    more = page.more();
    CHECK(more != page.events().rbegin()->has_study_finished());
  }
  CHECK(next == 4 * kTrials + 2);  // submitted, claimed, settled, closed; finished
  CHECK(pages == 3);
}

TEST_CASE("a trial's lineage says by which plan nodes it goes, and how far under each") {
  Service service;
  const std::string user = service.AddUser("ann", "vision");
  const ToyNode node(service.channel, service.AddUser("node", "", v1::ROLE_NODE), 0.5);
  v1::GetPlanRequest of_plan;
  of_plan.set_study_id(CancelledStudy(service, user, 2));
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
