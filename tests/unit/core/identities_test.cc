// What decides by which code and data a study is trained and evaluated, while servers come with others (glossary:
// training identity, evaluation identity).
#include <catch2/catch.hpp>
#include <functional>

#include "master/core/views/explain_stage.h"
#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

constexpr Time kLater{std::chrono::seconds(1'000'001)};

// A trial of 20 steps under way on server-0, by the code code-1.
struct Upgraded : ServerByHand {
  Upgraded() : ServerByHand(1) { Stand(Last(), Step{5}); }

  // A server's node manager starts anew, with its offer so changed.
  void Register(const std::string& server, SessionId session, const std::function<void(Offer&)>& change) {
    Registration registration{.server = server,
                              .incarnation = "later",
                              .devices = {{.name = "cores-0", .slots = 1}},
                              .offers = {{original, "simulated"}}};
    change(registration.offers[0].offer);
    Handle(NodeMessage{.session = session, .registration = registration});
  }
  void Upgrade() {
    Register("server-0", servers[0].session, [](Offer& offer) { offer.code_digest = "code-2"; });
  }
  void ChangeValidationData() {
    Register("server-0", servers[0].session, [](Offer& offer) { offer.evaluation_digest = "other-evaluation"; });
  }
  const Offer& OfferOf(const Run& run) const { return state().offers.at(run.offer).offer; }

  TrialId trial = Submit(study, {{"lr", "0.1"}}, 20);
  Offer original = state().offers.begin()->second.offer;
  Point end{Last().path.front().node, Step{20}};
};

}  // namespace

TEST_CASE("a study is trained by the code that it was created with, and by none that comes later") {
  Upgraded of;
  of.Upgrade();
  CHECK(of.state().active_runs.empty());
  CHECK_FALSE(of.AwaitOrder());
  CHECK(of.LastClaim(of.trial).state == ClaimState::kWaiting);
  const StudyId newer = of.AddStudy({.name = "newer"});
  of.Submit(newer, {{"lr", "0.1"}}, 20);
  CHECK(of.OfferOf(of.Last()).code_digest == "code-2");
  CHECK(of.Last().plan != of.RunOf(RunId{1}).plan);  // nothing of the old code's training is shared
  CHECK_FALSE(of.Last().start.has_value());
}

TEST_CASE("trainings on data that nobody knows are shared within their study alone") {
  Upgraded of;
  of.Register("server-0", of.servers[0].session, [](Offer& offer) { offer.data_digest = kUnknownData; });
  std::vector<PlanId> plans;
  for (const char* name : {"one", "two"}) {
    const StudyId study = of.AddStudy({.name = name, .scope = Scope::kEveryone});
    for (const char* lr : {"0.1", "0.2"})
      plans.push_back(of.state().trials.at(of.Submit(study, {{"lr", lr}}, 20)).plan);
  }
  CHECK(plans[0] == plans[1]);
  CHECK(plans[2] == plans[3]);
  CHECK(plans[0] != plans[2]);
}

TEST_CASE(
    "a server with the old code that comes late trains what was begun by it, and new studies keep to the new code") {
  Upgraded of;
  of.Upgrade();
  const StudyId newer = of.AddStudy({.name = "newer"});
  of.Submit(newer, {{"lr", "0.1"}}, 20);
  const RunId by_new = of.Last().id;
  of.Register("old", SessionId{99}, [](Offer&) {});
  REQUIRE(of.Last().id != by_new);
  CHECK(of.Last().slot.server == "old");
  CHECK(of.OfferOf(of.Last()).code_digest == "code-1");
  CHECK(of.Last().plan == of.RunOf(RunId{1}).plan);
  CHECK(of.RunOf(by_new).training());
  CHECK(of.state().studies.at(newer).training.code_digest == "code-2");
  const StudyId newest = of.AddStudy({.name = "newest"});
  CHECK(of.state().studies.at(newest).training.code_digest == "code-2");
}

TEST_CASE(
    "a claim beyond the end that a training came to under another evaluation waits for its own of the last state") {
  Upgraded of;
  of.ChangeValidationData();
  const TrialId others = of.Submit(of.AddStudy({.name = "newer"}), {{"lr", "0.1"}}, 20);
  const Point last{of.end.node, Step{11}};
  const Run finished = of.Last();
  of.Measure(finished, last);
  of.Report(finished, RunFailed{RunFailed::Kind::kFinished, {last.node, Step{12}}, "enough"});
  of.End(finished, last.step);
  CHECK(of.LastClaim(others).state == ClaimState::kDone);
  CHECK(of.LastClaim(of.trial).state == ClaimState::kWaiting);
  const Run again = of.Last();
  REQUIRE(again.id != finished.id);
  CHECK(again.path.back().to == last.step);
  of.Store(again, last);
  of.End(again, last.step);
  of.Register("server-0", of.servers[0].session, [](Offer&) {});
  of.Measure(of.Last(), last, 0.7);
  CHECK(of.LastClaim(of.trial).state == ClaimState::kDone);
  const auto* settled = std::get_if<ClaimSettled>(&of.state().events.at(of.study).back());
  REQUIRE(settled != nullptr);
  CHECK(settled->step == Step{20});
  CHECK(settled->metrics == Metrics{{"score", 0.7}});
}

TEST_CASE(
    "a claim whose validation data changed waits for a server that has them, and nothing is run for it meanwhile") {
  Upgraded of;
  SECTION("while it was trained: the training itself goes on, as it is the same") {
    of.ChangeValidationData();
    REQUIRE(of.state().runs.size() == 2);
    CHECK(of.Last().FindOpen(Step{20}, Owed::kMetrics) == nullptr);
    of.Store(of.Last(), of.end);
    of.Measure(of.Last(), of.end);  // by the other data: it is no answer
    of.End(of.Last(), of.end.step);
  }
  SECTION("while it was evaluated") {
    of.Store(of.Last(), of.end);
    of.End(of.Last(), of.end.step);
    REQUIRE(of.Last().path.empty());
    of.ChangeValidationData();
  }
  CHECK_FALSE(of.AwaitOrder());
  CHECK(of.state().runs.size() == 2);
  CHECK(of.LastClaim(of.trial).state == ClaimState::kWaiting);
  const ExplainedStage stage = ExplainStage(of.state(), of.end, kAnn, kLater).value();
  CHECK(stage.standing == StageStanding::kWaiting);
  CHECK(stage.waits_for == WaitsFor::kOffer);
  CHECK_THAT(stage.why, Catch::Contains("server-0 offers simulated with other evaluation"));

  of.Register("another", SessionId{99}, [](Offer&) {});
  REQUIRE(of.state().runs.size() == 3);
  CHECK(of.Last().slot.server == "another");
  CHECK(of.Last().path.empty());
}

}  // namespace espalier::master
