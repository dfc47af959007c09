// Studies that begin with the states which other code left: docs/decisions/0009-states-of-other-code.md.
#include <algorithm>
#include <catch2/catch.hpp>

#include "master/core/views/explain_stage.h"
#include "master/core/views/forecast.h"
#include "master/core/views/list_trials.h"
#include "master/core/views/study_summary.h"
#include "tests/support/simulated_service.h"

namespace espalier::master {
namespace {

const Offer kOld = kSimulated;
const Offer kNew = sim::OfferOf(2, 0);
constexpr const char* kDecay = "Piecewise([0.1, 0.01], [20])";

StudySpecification Reusing(StudyId old, std::string name = "new", std::optional<Step> until = std::nullopt) {
  return {.name = std::move(name), .reuse = Reuse{.study = old, .until = until}};
}

// A finished study of the old code, with states at steps 20 and 40 of lr 0.1, and at step 30 of the decay; then the
// servers offer the new code alone.
struct ChangedCode : SimulatedService {
  ChangedCode() {
    old = CreateStudy("old");
    straight = Submit(old, {{"lr", "0.1"}}, 40);
    Submit(old, {{"lr", "0.1"}}, 20);
    Submit(old, {{"lr", kDecay}}, 30);
    Finish(old);
    RunToRest();
    REQUIRE(steps_trained == 50);
    Install(kNew);
  }

  std::int64_t TrainedSince() { return steps_trained - std::exchange(seen, steps_trained); }
  const SearchPlan& PlanOf(TrialId trial) const { return state().plans.at(state().trials.at(trial).plan); }
  std::string StateAt(TrialId trial, std::int64_t step) const {
    const SearchPlan& plan = PlanOf(trial);
    const StateDigest* digest = plan.FindStateDigest(PointOn(plan, state().trials.at(trial).leaf, Step{step}));
    return digest == nullptr ? "none" : digest->sha256;
  }
  // Step 0: at Init.
  Step Begins(TrialId trial) const {
    const auto origin = SummarizeTrial(state(), trial).origin;
    return origin ? origin->point.step : Step{0};
  }
  TrialId Trained(StudyId study, const std::string& lr, std::int64_t steps, std::int64_t horizon = 0) {
    const TrialId trial = Submit(study, {{"lr", lr}}, steps, horizon);
    RunToRest();
    CHECK(LastClaim(trial).state == ClaimState::kDone);
    return trial;
  }
  Error Refusal(const StudySpecification& asked) {
    StudySpecification specification = asked;
    specification.trainer = kNew.trainer;
    specification.metric = kNew.metrics.front();
    Call(master::CreateStudy{std::move(specification)});
    REQUIRE(std::holds_alternative<Error>(last_reply.answer));
    return std::get<Error>(last_reply.answer);
  }

  StudyId old;
  TrialId straight;
  std::int64_t seen = 50;
};

}  // namespace

TEST_CASE("a trial begins with the deepest state that other code left on its path, and only the rest is trained") {
  ChangedCode of;
  const StudyId study = of.AddStudy(Reusing(of.old));
  const TrialId further = of.Trained(study, "0.1", 60);
  CHECK(of.Begins(further) == Step{40});
  CHECK(of.TrainedSince() == 20);
  const TrialId other_way = of.Trained(study, "Piecewise([0.1, 0.03], [20])", 30);
  CHECK(of.Begins(other_way) == Step{20});
  CHECK(of.TrainedSince() == 10);
  const TrialId earlier_way = of.Trained(study, "Piecewise([0.1, 0.03], [10])", 30);
  CHECK(of.Begins(earlier_way) == Step{0});
  CHECK(of.TrainedSince() == 30);
  const OriginSummary origin = SummarizeTrial(of.state(), further).origin.value();
  CHECK(origin.study == of.old);
  CHECK(origin.code_digest == kOld.code_digest);
  const Point before = PointOn(of.PlanOf(further), of.state().trials.at(further).leaf, Step{39});
  const ExplainedStage explained = ExplainStage(of.state(), before, kAnn, Time{}).value();
  CHECK(explained.standing == StageStanding::kDone);
  CHECK(explained.why.find("begins behind it, with a state that other code left") != std::string::npos);
  // What simulated code makes of a step does not depend on its version: so it is as if the old had gone on.
  of.Install(kOld);
  of.Call(ContinueTrial{.trial = of.straight,
                        .name = "by hand",
                        .definition = "{}",
                        .continuations = {{.steps = Step{60}, .from_step = Step{0}, .sequences = {}}}});
  const TrialId by_hand = std::get<TrialContinued>(of.last_reply.answer).trials.at(0);
  of.RunToRest();
  CHECK(of.StateAt(further, 60) == of.StateAt(by_hand, 60));
  CHECK(of.StateAt(further, 60) != "none");
}

TEST_CASE("where other code left the very state that is asked for, it is only evaluated") {
  ChangedCode of;
  const StudyId study = of.AddStudy(Reusing(of.old));
  const TrialId trial = of.Trained(study, "0.1", 40, 80);
  CHECK(of.TrainedSince() == 0);
  CHECK(of.StateAt(trial, 40) == of.StateAt(of.straight, 40));
  of.Claim(trial, 45);
  of.RunToRest();
  CHECK(of.TrainedSince() == 5);
  CHECK(of.Begins(trial) == Step{40});
}

TEST_CASE("what begins with a state of other code is shared with what begins with the same, and with nothing else") {
  ChangedCode of;
  of.Trained(of.AddStudy(Reusing(of.old)), "0.1", 60);
  CHECK(of.TrainedSince() == 20);
  of.Trained(of.CreateStudy("plain"), "0.1", 60);
  CHECK(of.TrainedSince() == 60);
  of.Trained(of.AddStudy(Reusing(of.old, "again")), "0.1", 60);
  CHECK(of.TrainedSince() == 0);
  of.Trained(of.AddStudy(Reusing(of.old, "earlier", Step{20})), "0.1", 60);
  CHECK(of.TrainedSince() == 40);
}

TEST_CASE("trials of which other code left nothing begin at Init, and are shared with plain ones") {
  ChangedCode of;
  of.Trained(of.CreateStudy("plain"), "0.2", 20);
  CHECK(of.TrainedSince() == 20);
  const TrialId trial = of.Trained(of.AddStudy(Reusing(of.old)), "0.2", 30);
  CHECK(of.Begins(trial) == Step{0});
  CHECK(of.TrainedSince() == 10);
}

TEST_CASE("a state that was stored after the study was created is not begun with, whenever a trial is submitted") {
  ChangedCode of;
  const StudyId study = of.AddStudy(Reusing(of.old));
  of.Install(kOld);
  of.Trained(of.CreateStudy("old goes on"), "0.1", 50);
  of.Install(kNew);
  of.TrainedSince();
  const TrialId trial = of.Trained(study, "0.1", 60);
  CHECK(of.Begins(trial) == Step{40});
  CHECK(of.TrainedSince() == 20);
}

TEST_CASE("who goes on from a trial that began with a state of other code begins with the same") {
  ChangedCode of;
  const StudyId study = of.AddStudy(Reusing(of.old));
  const TrialId trial = of.Trained(study, "0.1", 20, 40);
  of.Finish(study);
  CHECK(of.Begins(trial) == Step{20});
  const auto go_on = [&](const std::string& name, const Continuation& continuation) {
    of.Call(ContinueTrial{.trial = trial, .name = name, .definition = "{}", .continuations = {continuation}});
    of.RunToRest();
    return std::get<TrialContinued>(of.last_reply.answer).trials.at(0);
  };
  const TrialId extended = go_on("extended", {.steps = Step{60}, .from_step = Step{0}, .sequences = {}});
  CHECK(of.Begins(extended) == Step{20});
  CHECK(of.TrainedSince() == 40);
  const TrialId branch = go_on("branch", {.steps = Step{40}, .from_step = Step{30}, .sequences = {{"lr", "0.03"}}});
  CHECK(of.Begins(branch) == Step{20});
  CHECK(of.TrainedSince() <= 20);
  const TrialId earlier = go_on("earlier", {.steps = Step{40}, .from_step = Step{10}, .sequences = {{"lr", "0.03"}}});
  CHECK(of.Begins(earlier) == Step{0});
  CHECK(of.TrainedSince() == 40);
}

TEST_CASE("a study may reuse one that reuses another: states of either, each with the code that trained it") {
  ChangedCode of;
  const StudyId second = of.AddStudy(Reusing(of.old, "second"));
  of.Trained(second, "0.1", 60);
  of.Finish(second);
  of.RunToRest();
  of.Install(sim::OfferOf(3, 0));
  of.TrainedSince();
  const StudyId third = of.AddStudy(Reusing(second, "third"));
  const TrialId behind_both = of.Trained(third, "0.1", 70);
  CHECK(of.Begins(behind_both) == Step{60});
  CHECK(SummarizeTrial(of.state(), behind_both).origin->code_digest == kNew.code_digest);
  CHECK(of.TrainedSince() == 10);
  const TrialId behind_the_first = of.Trained(third, "0.1", 50);
  CHECK(of.Begins(behind_the_first) == Step{40});
  CHECK(SummarizeTrial(of.state(), behind_the_first).origin->code_digest == kOld.code_digest);
  CHECK(of.TrainedSince() == 10);
  // Who reuses the first study begins with that state, too: the second's code has not trained it.
  of.Trained(of.AddStudy(Reusing(of.old, "fourth")), "0.1", 50);
  CHECK(of.TrainedSince() == 0);
  // Back at the first code, the second's states are reused, and its own go on as they are.
  of.Install(kOld);
  const StudyId back = of.AddStudy(Reusing(second, "back"));
  CHECK(of.Begins(of.Trained(back, "0.1", 50)) == Step{0});
  CHECK(of.TrainedSince() == 10);
  CHECK(of.Begins(of.Trained(back, "0.1", 65)) == Step{60});
}

TEST_CASE("a restarted master, and crashed workers, go on with the states that trials began with") {
  ChangedCode of;
  const StudyId study = of.AddStudy(Reusing(of.old));
  const TrialId trial = of.Submit(study, {{"lr", "0.1"}}, 60, 80);
  of.RunUntil([&] { return of.steps_trained == 55; });
  of.RestartMaster();
  of.RunUntil([&] { return of.CrashAWorker(); });
  of.RunToRest();
  CHECK(of.LastClaim(trial).state == ClaimState::kDone);
  CHECK(of.Begins(trial) == Step{40});
  const SearchPlan& plan = of.PlanOf(trial);
  for (const auto& [point, times] : of.trained) {
    const bool is_of_plan = plan.nodes.contains(point.first);
    CHECK((!is_of_plan || point.second > Step{40}));
  }
}

TEST_CASE("steps that came with a state of other code count as reused, and a forecast says how many") {
  ChangedCode of;
  const auto forecast = ForecastStudies(
      [&](const std::function<void(const MasterState&)>& read) -> Result<void> {
        read(of.state());
        return {};
      },
      {{.specification =
            {.name = "new", .trainer = kNew.trainer, .metric = kNew.metrics.front(), .reuse = Reuse{.study = of.old}},
        .trials = {{.sequences = {{"lr", "0.1"}}, .steps = Step{60}, .horizon = Step{60}},
                   {.sequences = {{"lr", "0.2"}}, .steps = Step{10}, .horizon = Step{10}}}}},
      kAnn.team);
  REQUIRE(forecast.has_value());
  CHECK(forecast->unique_steps == 70);
  CHECK(forecast->reused_steps == 40);
  CHECK(forecast->trained_steps == 40);
  const StudyId study = of.AddStudy(Reusing(of.old));
  of.Trained(study, "0.1", 60);
  const StudySummary summary = Summarize(of.state(), study, Time{});
  CHECK(summary.steps.unique == 60);
  CHECK(summary.steps.trained == 20);
  CHECK(summary.steps.reused == 40);
  CHECK(summary.steps.wasted == 0);
  CHECK(summary.reuse->reuse.study == of.old);
  CHECK(summary.reuse->code_digest == kOld.code_digest);
}

TEST_CASE("a study that cannot reuse another is refused, with the reason") {
  ChangedCode of;
  const auto refused = [&](const StudySpecification& asked, const std::string& why) {
    const Error error = of.Refusal(asked);
    INFO(error.message);
    CHECK(error.field == "reuse_from_study_id");
    CHECK(error.message.find(why) != std::string::npos);
  };
  refused(Reusing(StudyId{99}), "no study 99");
  StudySpecification epochs = Reusing(of.old);
  epochs.step.updates = 7;
  refused(epochs, "counts steps otherwise");
  const StudyId alone = of.CreateStudy("alone", Scope::kNobody);
  refused(Reusing(alone), "with nobody");
  refused(Reusing(of.CreateStudy("same code")), "leave reuse_from out");
  CHECK(of.Refusal(Reusing(of.old, "x", Step{0})).field == "reuse_until_step");
  of.Ask({.call = CallId{1},
          .caller = {.user = "bob", .team = "others"},
          .request_id = "theirs",
          .what = master::CreateStudy{{.name = "theirs",
                                       .trainer = kNew.trainer,
                                       .metric = kNew.metrics.front(),
                                       .reuse = Reuse{.study = of.old}}}});
  CHECK(std::get<Error>(of.last_reply.answer).code == ErrorCode::kNotFound);

  Offer without = sim::OfferOf(3, 0);
  without.schema.hyper_parameters.erase(without.schema.hyper_parameters.begin());
  of.Install(without);
  refused(Reusing(of.old), "hyper-parameter bs, which the trainer does not have any more");
  Offer retyped = sim::OfferOf(4, 0);
  retyped.schema.hyper_parameters[0].type = ValueType::kFloating;
  retyped.schema.hyper_parameters[0].default_value = Value{32.0};
  of.Install(retyped);
  refused(Reusing(of.old), "of type integer, which is floating now");
}

TEST_CASE("a new hyper-parameter is no hindrance: only those that the old code knew have to agree") {
  ChangedCode of;
  Offer more = sim::OfferOf(3, 0);
  more.schema.hyper_parameters.push_back({"zoom", ValueType::kFloating, Value{1.0}, false});
  of.Install(more);
  const StudyId study = of.AddStudy(Reusing(of.old));
  const TrialId trial = of.Submit(study, {{"lr", "0.1"}, {"zoom", "Piecewise([1.0, 2.0], [10])"}}, 60);
  of.RunToRest();
  CHECK(of.LastClaim(trial).state == ClaimState::kDone);
  CHECK(of.Begins(trial) == Step{40});
  CHECK(of.TrainedSince() == 20);
}

}  // namespace espalier::master
