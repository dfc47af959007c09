// Going on from a trial: past its horizon, or another way from an earlier step.
#include <catch2/catch.hpp>
#include <cmath>

#include "master/core/state/stored_text.h"
#include "tests/support/server_by_hand.h"
#include "tests/support/simulated_service.h"

namespace espalier::master {
namespace {

using Sequences = std::map<std::string, std::string>;

struct Asked : ContinueTrial {
  Caller caller = kAnn;
  std::string request_id = "continue";
  operator ClientCall() const { return {CallId{1}, caller, request_id, static_cast<const ContinueTrial&>(*this)}; }
};

Asked CallFor(TrialId trial, std::int64_t steps, std::int64_t from = 0, Sequences sequences = {}) {
  return {{.trial = trial,
           .name = "more",
           .definition = "{}",
           .continuations = {{.steps = Step{steps}, .from_step = Step{from}, .sequences = std::move(sequences)}}}};
}

TrialContinued Continued(CalledMaster& master, const Asked& call) {
  master.Ask(call);
  if (const auto* error = std::get_if<Error>(&master.last_reply.answer)) FAIL(error->field << ": " << error->message);
  REQUIRE(std::holds_alternative<TrialContinued>(master.last_reply.answer));
  return std::get<TrialContinued>(master.last_reply.answer);
}

Error RefusalOf(CalledMaster& master, const Asked& call) {
  const MasterState before = master.state();
  master.Ask(call);
  CHECK(master.state() == before);
  REQUIRE(std::holds_alternative<Error>(master.last_reply.answer));
  return std::get<Error>(master.last_reply.answer);
}

// A finished study of one trial, trained to step 20.
TrialId FinishedTrial(SimulatedService& service, Scope scope, const Sequences& sequences) {
  const StudyId study = service.CreateStudy("first", scope);
  const TrialId trial = service.Submit(study, sequences, 20);
  service.Finish(study);
  service.RunToRest();
  CHECK(service.state().studies.at(study).finished_at.has_value());
  CHECK(service.steps_trained == 20);
  return trial;
}

// The same, by the words of its node manager.
struct FinishedByHand : ServerByHand {
  FinishedByHand() {
    trial = Submit(study, {{"lr", "0.1"}}, 20);
    Finish(study);
    Complete(Last());
    CHECK(state().studies.at(study).finished_at.has_value());
  }

  TrialId trial;
};

std::string Canonical(const std::string& text, std::int64_t horizon) {
  return PrintCanonical(Compile(ParseExpression(text).value(), ValueType::kFloating, Step{horizon}).value());
}

}  // namespace

TEST_CASE("a finished trial is extended past its horizon, and only the new steps are trained, whatever the scope") {
  for (const Scope scope : {Scope::kNobody, Scope::kStudy, Scope::kTeam, Scope::kEveryone}) {
    SimulatedService service;
    const TrialId trial = FinishedTrial(service, scope, {{"lr", "Exponential(0.1, 0.9)"}});
    const TrialContinued more = Continued(service, CallFor(trial, 50));
    const Trial& extended = service.state().trials.at(more.trials[0]);
    CHECK(extended.sequences == service.state().trials.at(trial).sequences);
    CHECK(extended.horizon == Step{50});
    CHECK(extended.plan == service.state().trials.at(trial).plan);
    service.RunToRest();
    CHECK(service.steps_trained == 50);
    CHECK(service.state().studies.at(more.study).finished_at.has_value());
    CHECK(service.state().plans.at(extended.plan).claims.at(more.claims[0]).state == ClaimState::kDone);
  }
}

TEST_CASE("a state that is wanted and not stored any more is trained once more, and nothing is measured again") {
  FinishedByHand of;
  const Point end = PointOf(of.Last(), Step{20});
  Asked longer = CallFor(of.trial, 30);
  longer.request_id = "longer";
  const TrialContinued before = Continued(of, longer);
  const RunId first = of.Last().id;
  of.Report(of.Last(), StartUnusable{end, "file", "it is gone"});
  REQUIRE(of.Plan().FindCheckpoint(end) == nullptr);
  of.Call(CancelStudy{before.study});
  Asked call = CallFor(of.trial, 20);
  call.state_wanted = true;
  const TrialContinued more = Continued(of, call);
  CHECK(of.Plan().claims.at(more.claims[0]).state == ClaimState::kDone);
  CHECK_FALSE(of.state().studies.at(more.study).finished_at.has_value());
  REQUIRE(of.Last().id != first);
  const OrderTerms terms = of.TermsOf(of.Last().id);
  REQUIRE(terms.promises.size() == 1);
  CHECK(terms.promises[0].owed == Owed::kState);
  CHECK(terms.promises[0].step == Step{20});
  of.Store(of.Last(), end, "again");
  CHECK(of.state().studies.at(more.study).finished_at.has_value());
  CHECK(of.Plan().FindCheckpoint(end)->file == "again");
}

TEST_CASE("a state that is wanted and stored is trained by nobody") {
  FinishedByHand of;
  const RunId first = of.Last().id;
  Asked call = CallFor(of.trial, 20);
  call.state_wanted = true;
  const TrialContinued more = Continued(of, call);
  CHECK(of.state().studies.at(more.study).finished_at.has_value());
  CHECK(of.Last().id == first);
}

TEST_CASE("a finished trial is branched at an earlier step, and what came before is shared") {
  SimulatedService service;
  const TrialId trial = FinishedTrial(service, Scope::kStudy, {{"lr", "MultiStep(0.1, [8], 0.5)"}});
  const Sequences changes = {{"lr", "Exponential(0.2, 0.9)"}, {"bs", "64"}};
  const TrialContinued more = Continued(service, CallFor(trial, 0, 12, changes));
  const Trial& branched = service.state().trials.at(more.trials[0]);
  CHECK(branched.horizon == Step{20});
  CHECK(Canonical(branched.sequences.at("lr"), 20) ==
        Canonical("Piecewise([0.1, 0.05, Exponential(0.2, 0.9)], [8, 12])", 20));
  CHECK(branched.sequences.at("bs") == "Piecewise([32, 64], [12])");  // from its default
  service.RunToRest();
  // From the nearest checkpoint before step 12; the old trial left one at its end alone.
  for (int step = 1; step <= 12; ++step) {
    const Point point = PointOn(service.state().plans.at(branched.plan), branched.leaf, Step{step});
    CHECK(point == PointOn(service.state().plans.at(branched.plan), service.state().trials.at(trial).leaf, Step{step}));
  }
  CHECK(service.state().studies.at(more.study).finished_at.has_value());

  const TrialContinued again = Continued(service, [&] {
    Asked call = CallFor(more.trials[0], 0, 16, {{"lr", "0.3"}});
    call.request_id = "again";
    return call;
  }());
  CHECK(service.state().trials.at(again.trials[0]).sequences.at("lr") ==
        "Piecewise([MultiStep(0.1, [8], 0.5), Exponential(0.2, 0.9), 0.3], [12, 16])");
  service.RunToRest();
}

TEST_CASE("many decays leave one trunk in one call, and share it") {
  SimulatedService service;
  const TrialId trunk = FinishedTrial(service, Scope::kStudy, {{"lr", "Warmup(0, 2, 0.5)"}});
  Asked call = CallFor(trunk, 0, 18, {{"bs", "64"}});
  call.continuations[0].decay = Decay{.parameter = "lr", .share = 0.1, .shape = "sqrt", .end = 0};
  call.continuations.resize(3, call.continuations[0]);
  call.continuations[1].decay->shape = "linear";
  call.continuations[2].from_step = Step{9};
  call.continuations[2].decay = Decay{.parameter = "lr", .share = 0.25, .shape = "cosine", .end = 0.1};
  const TrialContinued more = Continued(service, call);
  REQUIRE(more.trials.size() == 3);
  const auto sequence = [&](std::size_t i) { return service.state().trials.at(more.trials[i]).sequences.at("lr"); };
  CHECK(sequence(0) == "Piecewise([Warmup(0, 2, 0.5), Cooldown(0.5, 0.0, 2, \"sqrt\")], [18])");
  CHECK(sequence(1) == "Piecewise([Warmup(0, 2, 0.5), Cooldown(0.5, 0.0, 2, \"linear\")], [18])");
  CHECK(sequence(2) == "Piecewise([Warmup(0, 2, 0.5), Cooldown(0.5, 0.1, 3, \"cosine\")], [9])");
  CHECK(service.state().trials.at(more.trials[0]).horizon == Step{20});  // 18 and a tenth of the whole
  CHECK(service.state().trials.at(more.trials[2]).horizon == Step{12});  // 9 and a quarter of the whole
  service.RunToRest();
  CHECK(service.state().studies.at(more.study).finished_at.has_value());
  for (std::size_t i = 0; i < 3; ++i) {
    const Trial& branch = service.state().trials.at(more.trials[i]);
    const SearchPlan& plan = service.state().plans.at(branch.plan);
    CHECK(plan.claims.at(more.claims[i]).state == ClaimState::kDone);
    const Step at = call.continuations[i].from_step;
    CHECK(PointOn(plan, branch.leaf, at) == PointOn(plan, service.state().trials.at(trunk).leaf, at));
    CHECK_FALSE(PointOn(plan, branch.leaf, at + 1) == PointOn(plan, service.state().trials.at(trunk).leaf, at + 1));
  }
}

TEST_CASE("a decay falls from the value that the hyper-parameter has where it begins, its default too") {
  FinishedByHand of;
  const auto decayed = [&](std::string id, TrialId from, std::int64_t at, Decay decay) {
    Asked call = CallFor(from, 0, at);
    call.request_id = std::move(id);
    call.name = call.request_id;
    call.continuations[0].decay = std::move(decay);
    const TrialContinued more = Continued(of, call);
    return std::pair(more.trials[0], of.state().trials.at(more.trials[0]).sequences);
  };
  const auto [first, sequences] = decayed("one", of.trial, 10, {"lr", 0.5, "sqrt", 0});
  CHECK(sequences.at("lr") == "Piecewise([0.1, Cooldown(0.1, 0.0, 10, \"sqrt\")], [10])");
  // Half way down the decay, another: its value there is the square root's.
  const auto again = decayed("two", first, 15, {"lr", 0.25, "linear", 0.01}).second;
  CHECK(again.at("lr") ==
        "Piecewise([0.1, Cooldown(0.1, 0.0, 10, \"sqrt\"), "
        "Cooldown(0.02928932188134524, 0.01, 5, \"linear\")], [10, 15])");
}

TEST_CASE("a decay that cannot be is refused with the field, and of several continuations the one that it is in") {
  FinishedByHand of;
  const auto refused = [&](auto change) {
    Asked call = CallFor(of.trial, 0, 10);
    call.continuations[0].decay = Decay{"lr", 0.1, "sqrt", 0};
    change(call.continuations[0]);
    return RefusalOf(of, call);
  };
  for (const double share : {0.0, 1.0, -0.1, std::nan(""), 0.01}) {
    CHECK(refused([&](Continuation& each) { each.decay->share = share; }).field == "decay");
  }
  CHECK(refused([](Continuation& each) { each.decay->shape = "exp"; }).field == "lr");
  CHECK(refused([](Continuation& each) { each.decay->shape = "a\xff"; }).field == "decay");
  CHECK(refused([](Continuation& each) { each.decay->parameter = "rl"; }).field == "rl");
  CHECK(refused([](Continuation& each) { each.decay->end = std::nan(""); }).field == "lr");
  CHECK(refused([](Continuation& each) { each.steps = Step{30}; }).field == "steps");
  CHECK(refused([](Continuation& each) { each.from_step = Step{0}; }).field == "from_step");
  CHECK(refused([](Continuation& each) { each.sequences["lr"] = "0.2"; }).field == "lr");

  Asked several = CallFor(of.trial, 30);
  several.continuations.push_back({.steps = Step{30}, .from_step = Step{21}, .sequences = {}});
  CHECK(RefusalOf(of, several).field == "continuations[1].from_step");
  several.continuations.clear();
  CHECK(RefusalOf(of, several).field == "continuations");
  several.continuations.resize(kContinuationCountMax + 1, {.steps = Step{30}, .from_step = {}, .sequences = {}});
  CHECK(RefusalOf(of, several).field == "continuations");
  several.continuations.resize(2);
  for (Continuation& each : several.continuations) {
    each.steps = Step{11'000};
    each.sequences["lr"] = "CyclicLR(0.1, 0.2, 1, 1)";
  }
  CHECK(RefusalOf(of, several).code == ErrorCode::kResourceExhausted);
  several.continuations.resize(1);
  CHECK(Continued(of, several).trials.size() == 1);
}

TEST_CASE("a trial of a running study is gone on with as well") {
  SimulatedService service;
  const StudyId study = service.CreateStudy("first");
  const TrialId trial = service.Submit(study, {{"lr", "0.1"}}, 20);
  const TrialContinued more = Continued(service, CallFor(trial, 30));
  service.RunToRest();
  CHECK(service.steps_trained == 30);
  CHECK(service.state().studies.at(more.study).finished_at.has_value());
  CHECK_FALSE(service.state().studies.at(study).finished_at.has_value());
}

TEST_CASE("a team mate goes on from a trial, in a study of his own") {
  SimulatedService service;
  const TrialId trial = FinishedTrial(service, Scope::kTeam, {{"lr", "0.1"}});
  Asked call = CallFor(trial, 30);
  call.caller.user = "bob";
  const TrialContinued more = Continued(service, call);
  CHECK(service.state().studies.at(more.study).user == "bob");
  CHECK(service.state().trials.at(more.trials[0]).plan == service.state().trials.at(trial).plan);
  service.RunToRest();
  CHECK(service.steps_trained == 30);
}

TEST_CASE("going on is answered the same again, and refused where it cannot be") {
  FinishedByHand of;
  const Asked good = CallFor(of.trial, 30, 10, {{"lr", "0.2"}});
  const auto refused = [&](auto change) {
    Asked call = good;
    change(call);
    return RefusalOf(of, call);
  };
  CHECK(refused([](auto& call) { call.trial = TrialId{99}; }).code == ErrorCode::kNotFound);
  const auto by_eve = [&](TrialId id) {
    return refused([id](auto& call) {
      call.caller = {"eve", "others"};
      call.trial = id;
    });
  };
  CHECK(by_eve(of.trial).code == ErrorCode::kNotFound);
  CHECK(by_eve(of.trial).message == "no trial " + std::to_string(of.trial.value) + "; see: espalier trial list STUDY");
  CHECK(by_eve(TrialId{99}).message == "no trial 99; see: espalier trial list STUDY");
  CHECK(refused([](auto& call) { call.continuations[0].from_step = Step{21}; }).field == "from_step");
  CHECK(refused([](auto& call) { call.continuations[0].from_step = Step{-1}; }).field == "from_step");
  CHECK(refused([](auto& call) { call.continuations[0].steps = Step{10}; }).field == "steps");
  CHECK(refused([](auto& call) { call.continuations[0].steps = Step{-5}; }).field == "steps");
  CHECK(refused([](auto& call) { call.name = ""; }).field == "name");
  CHECK(refused([](auto& call) { call.request_id = ""; }).field == "request_id");
  CHECK(refused([](auto& call) { call.continuations[0].sequences["lr"] = "Cosin(1)"; }).field == "lr");
  CHECK(refused([](auto& call) { call.continuations[0].sequences["lr"] = "a\xff"; }).field == "lr");
  CHECK(refused([](auto& call) { call.continuations[0].sequences["rl"] = "1"; }).field == "rl");
  CHECK(refused([](auto& call) { call.continuations[0].sequences["seed"] = "2"; }).field == "seed");  // fixed at step 0

  const TrialContinued first = Continued(of, good);
  const MasterState before = of.state();
  CHECK(Continued(of, good).trials == first.trials);
  CHECK(of.state() == before);
  CHECK(refused([](auto& call) { call.continuations[0].steps = Step{31}; }).code == ErrorCode::kAlreadyExists);
  CHECK(refused([](auto& call) { call.request_id = "other"; }).field == "name");  // "more" is running
}

TEST_CASE("a trial is not gone on with under another code of its trainer") {
  FinishedByHand of;
  Offer newer = kSimulated;
  newer.code_digest = "newer";
  of.Handle(NodeMessage{.session = of.servers[0].session,
                        .registration = Registration{.server = of.servers[0].name,
                                                     .incarnation = "2",
                                                     .devices = {{.name = "cores-0", .slots = 1}},
                                                     .offers = {{newer, "simulated"}}}});
  CHECK(RefusalOf(of, CallFor(of.trial, 30)).code == ErrorCode::kFailedPrecondition);
}

}  // namespace espalier::master
