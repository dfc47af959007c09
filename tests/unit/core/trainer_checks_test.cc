// Checks of trainers in users' own code: where and when they are done, and what comes of it.
#include <catch2/catch.hpp>

#include "master/core/views/explain_stage.h"
#include "master/core/views/list_trials.h"
#include "master/core/views/study_summary.h"
#include "tests/support/master_by_hand.h"

namespace espalier::master {
namespace {

const std::string kCheckedCode = "code of ann's";
const CheckFinding kCheckFailed{CheckOutcome::kFailed, "another state at step 2\nusual cause: the optimizer"};

Offer CheckedOffer() {
  Offer offer = kSimulated;
  offer.trainer = "Digits";
  offer.code_digest = "as ann wrote it";
  return offer;
}

// Ann's code, which every server offers.
struct CheckedCode : MasterByHand {
  explicit CheckedCode(int server_count = 1, int slots = 2) : MasterByHand(server_count, slots) {
    Call(PutArchive{kCheckedCode});
    Call(DescribeTrainer{Reference()});
    reference = std::get<TrainerAsked>(last_reply.answer).reference;
    for (std::size_t i = 0; i < servers.size(); ++i) Say(i);
  }

  static TrainerReference Reference() {
    return {.entry = "train.py:Digits",
            .archive = Sha256Hex(kCheckedCode),
            .python = {},
            .client = {},
            .folder = "/home/ann",
            .data = {},
            .data_seen = {},
            .environment = {},
            .user = kAnn.user,
            .team = kAnn.team};
  }
  // The server says what it offers, and what has come of its checks.
  void Say(std::size_t server, std::vector<CheckedTrainer> checked = {}, bool is_draining = false) {
    const std::int64_t asked = servers[server].orders->references.at(0).asked;
    Handle(NodeMessage{
        .session = servers[server].session,
        .registration = Registration{.server = servers[server].name,
                                     .incarnation = "1",
                                     .devices = servers[server].devices,
                                     .offers = {{kSimulated, "simulated"}},
                                     .draining = is_draining,
                                     .references = {{reference, asked, {{CheckedOffer(), "simulated"}}, {}}},
                                     .checked = std::move(checked)}});
  }
  void Find(const CheckFinding& finding, std::size_t server = 0) {
    Say(server, {{TrainerDigest(CheckedOffer()), finding}});
  }
  StudySpecification Specification(const std::string& name, CheckWhen when) const {
    return {
        .name = name, .trainer = "Digits", .metric = kSimulated.metrics.front(), .check = when, .reference = reference};
  }
  StudyId Make(const std::string& name, CheckWhen when = CheckWhen::kBeside) {
    Call(master::CreateStudy{Specification(name, when)});
    REQUIRE(std::holds_alternative<StudyCreated>(last_reply.answer));
    return std::get<StudyCreated>(last_reply.answer).study;
  }
  const std::vector<WantedCheck>& Checks(std::size_t server = 0) const { return servers[server].orders->checks; }
  const std::vector<Order>& Orders(std::size_t server = 0) const { return servers[server].orders->orders; }
  std::string StateOf(StudyId study) const { return Summarize(state(), study, Time{})->check->state; }
  static const StudySummary* Summarize(const MasterState& state, StudyId study, Time now) {
    static StudySummary summary;
    summary = master::Summarize(state, study, now);
    return &summary;
  }
  // The server's run with the smallest id reaches its end, where it is measured and stored.
  void Complete(std::size_t server = 0) {
    const Order order = Orders(server).at(0);
    const Run& run = state().runs.at(order.run.run);
    const Point end = PointOf(run, run.path.back().to);
    const Digest128 lineage = state().plans.at(run.plan).Node(end.node).lineage;
    std::int64_t number = state().servers.at(servers[server].name).acknowledged_report;
    Handle(NodeMessage{
        .session = servers[server].session,
        .reports = {
            {++number, order.run, MetricsMeasured{run.plan, end, lineage, run.evaluation, {{"score", 1}}, Seconds(1)}},
            {++number, order.run, StateStored{run.plan, end, lineage, "file", 100, "state"}},
            {++number, order.run, RunEnded{.step = end.step, .saves_under_way = {}, .refused = {}}}}});
  }

  // The master is killed, and another one loads what was stored; servers offer the code to it.
  void Recover() {
    Restart();
    Call(DescribeTrainer{Reference()});
    for (std::size_t i = 0; i < servers.size(); ++i) Say(i);
  }

  Digest128 reference;
};

}  // namespace

TEST_CASE("a trainer of a user's own is checked in a slot that has nothing to train, once the study has a trial") {
  CheckedCode of;
  const StudyId study = of.Make("digits");
  CHECK(of.Checks().empty());
  of.Submit(study, {{"lr", "Exponential(0.1, 0.95)"}}, 20);
  CHECK(of.Orders().size() == 1);
  REQUIRE(of.Checks().size() == 1);
  const WantedCheck& check = of.Checks()[0];
  CHECK(check.slot == 1);
  CHECK(check.offer == CheckedOffer());
  CHECK(check.root == of.state().plans.begin()->second.nodes.begin()->second.configuration);
  CHECK(of.StateOf(study) == "running");
  of.Submit(study, {{"lr", "0.7"}}, 20);
  CHECK(of.Orders().size() == 1);  // its slot is not given away
}

TEST_CASE("neither a server's own trainers are checked, nor those of studies that say off") {
  CheckedCode of(1, 4);
  of.Submit(of.AddStudy({.name = "own"}), {{"lr", "0.1"}}, 20);
  of.Submit(of.Make("off", CheckWhen::kOff), {{"lr", "0.1"}}, 20);
  CHECK(of.Checks().empty());
}

TEST_CASE("a trainer that has passed is never checked again, also by a master that was started again") {
  CheckedCode of;
  const StudyId study = of.Make("digits");
  of.Submit(study, {{"lr", "0.1"}}, 20);
  of.Find({CheckOutcome::kPassed});
  CHECK(of.Checks().empty());
  CHECK(of.StateOf(study) == "passed");
  of.Recover();
  of.Submit(of.Make("again"), {{"lr", "0.2"}}, 20);
  CHECK(of.Checks().empty());
}

TEST_CASE("a check waits while all slots train, and goes before further training once the study has a result") {
  CheckedCode of(1, 1);
  const StudyId study = of.Make("digits");
  of.Submit(study, {{"lr", "0.1"}}, 20);
  of.Submit(study, {{"lr", "0.2"}}, 20);
  CHECK(of.Checks().empty());
  CHECK(of.StateOf(study) == "waiting");
  of.Complete();
  CHECK(of.Checks().size() == 1);
  CHECK(of.Orders().empty());
  of.Find({CheckOutcome::kPassed});
  CHECK(of.Orders().size() == 1);
}

TEST_CASE("with first, nothing is trained before it is known whether the trainer passes; then it is, given up or not") {
  for (const CheckOutcome outcome : {CheckOutcome::kPassed, CheckOutcome::kGivenUp}) {
    CheckedCode of;
    const StudyId study = of.Make("digits", CheckWhen::kFirst);
    const TrialId trial = of.Submit(study, {{"lr", "0.1"}}, 20);
    CHECK(of.Orders().empty());
    REQUIRE(of.Checks().size() == 1);
    const Point point{of.state().trials.at(trial).leaf, Step{20}};
    CHECK(ExplainStage(of.state(), point, kAnn, Time{})->waits_for == WaitsFor::kCheck);
    of.Find({outcome, "why"});
    CHECK(of.Orders().size() == 1);
    CHECK(of.StateOf(study) == Name(outcome));
  }
}

TEST_CASE("studies whose trainer fails are stopped with the reason, wherever they stand, and their runs stop") {
  CheckedCode of;
  const StudyId study = of.Make("digits");
  const TrialId trial = of.Submit(study, {{"lr", "0.1"}}, 20, 40);
  REQUIRE(of.Orders().size() == 1);
  of.Find(kCheckFailed);
  CHECK(of.Checks().empty());
  CHECK(of.LastClaim(trial).state == ClaimState::kFailed);
  CHECK(of.StateOf(study) == "failed");
  const std::string told = SummarizeTrial(of.state(), trial).message;
  CHECK(told.find("usual cause: the optimizer") != std::string::npos);
  const auto& events = of.state().events.at(study);
  const auto settled = std::find_if(events.begin(), events.end(), [](const StudyEvent& event) {
    return std::holds_alternative<ClaimSettled>(event);
  });
  REQUIRE(settled != events.end());
  CHECK(std::get<ClaimSettled>(*settled).message == told);
  const Point point{of.state().trials.at(trial).leaf, Step{20}};
  const ExplainedStage explained = ExplainStage(of.state(), point, kAnn, Time{}).value();
  CHECK(explained.why.find("usual cause: the optimizer") != std::string::npos);
  for (const Order& order : of.Orders()) CHECK(order.terms.promises.empty());
}

TEST_CASE("a study of a trainer that has failed is refused with the reason, unless it says off") {
  CheckedCode of;
  const StudyId first = of.Make("digits");
  of.Submit(first, {{"lr", "0.1"}}, 20);
  of.Find(kCheckFailed);
  of.Recover();
  of.Call(master::CreateStudy{of.Specification("again", CheckWhen::kFirst)});
  const auto* refused = std::get_if<Error>(&of.last_reply.answer);
  REQUIRE(refused != nullptr);
  CHECK(refused->code == ErrorCode::kFailedPrecondition);
  CHECK(refused->message.find("usual cause: the optimizer") != std::string::npos);
  of.Submit(of.Make("all the same", CheckWhen::kOff), {{"lr", "0.1"}}, 20);
  CHECK(of.Orders().size() == 1);
}

TEST_CASE("a failure stops no study that says off, though it shares a plan with one that is stopped") {
  CheckedCode of(1, 3);
  const StudyId off = of.Make("off", CheckWhen::kOff);
  const TrialId kept = of.Submit(off, {{"lr", "0.1"}}, 20);
  of.Submit(of.Make("digits"), {{"lr", "0.1"}}, 20);
  of.Find(kCheckFailed);
  CHECK(of.LastClaim(kept).state == ClaimState::kWaiting);
  REQUIRE(of.Orders().size() == 1);
  CHECK_FALSE(of.Orders()[0].terms.promises.empty());
}

TEST_CASE("a check whose server is lost, stopped or drained is done elsewhere") {
  enum class Fate { kLost, kStopped, kDrained };
  for (const Fate fate : {Fate::kLost, Fate::kStopped, Fate::kDrained}) {
    CheckedCode of(2, 2);
    of.Submit(of.Make("digits"), {{"lr", "0.1"}}, 20);
    REQUIRE(of.state().checks.size() == 1);
    const std::string before = of.state().checks.begin()->second.slot.server;
    const std::size_t server = before == "server-0" ? 0 : 1;
    if (fate == Fate::kDrained) of.Call(DrainServer{before, false, "repair"});
    if (fate == Fate::kStopped) of.Say(server, {}, /*is_draining=*/true);
    if (fate == Fate::kLost) {
      Registration anew{.server = before, .incarnation = "2", .devices = of.servers[server].devices};
      anew.offers = {{kSimulated, "simulated"}};
      of.Handle(NodeMessage{.session = of.servers[server].session, .registration = anew});
    }
    CHECK(of.Checks(server).empty());
    REQUIRE(of.Checks(1 - server).size() == 1);
  }
}

TEST_CASE("a check is begun anew by a master that was started again") {
  CheckedCode of;
  of.Submit(of.Make("digits"), {{"lr", "0.1"}}, 20);
  REQUIRE(of.Checks().size() == 1);
  const WantedCheck before = of.Checks()[0];
  of.Recover();
  REQUIRE(of.Checks().size() == 1);
  CHECK(of.Checks()[0] == before);
}

TEST_CASE("a check ends with the last study that wants it, and its slot is idle again") {
  CheckedCode of;
  const StudyId first = of.Make("first");
  const StudyId second = of.Make("second");
  of.Submit(first, {{"lr", "0.1"}}, 20);
  of.Submit(second, {{"lr", "0.1"}}, 20);
  of.Call(CancelStudy{first});
  CHECK(of.Checks().size() == 1);
  of.Call(CancelStudy{second});
  CHECK(of.Checks().empty());
  CHECK(of.StateOf(second) == "not done");
  of.Find(kCheckFailed);  // too late: it says nothing any more
  of.Submit(of.AddStudy({.name = "own"}), {{"lr", "0.1"}}, 20);
  of.Submit(of.AddStudy({.name = "more"}), {{"lr", "0.2"}}, 20);
  CHECK(of.Orders().size() == 2);
}

}  // namespace espalier::master
