#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

StudySpecification Until(StopRule stop, Goal goal = Goal::kMaximize) {
  return {.name = "study", .stop = stop, .goal = goal};
}

const Study& StudyOf(const ServerByHand& of) { return of.state().studies.at(of.study); }

}  // namespace

TEST_CASE("a study ends once a trial's metric is as good as it asked for, and what waits then is cancelled") {
  ServerByHand of(1, Until({.metric = 0.9}));
  const TrialId first = of.Submit(of.study, {{"lr", "0.1"}}, 10);
  const TrialId second = of.Submit(of.study, {{"lr", "0.2"}}, 10);
  const Run run = of.Last();
  const Point end = PointOf(run, Step{10});
  of.Store(run, end);
  SECTION("not before") {
    of.Measure(run, end, 0.8999);
    CHECK(StudyOf(of).stopped.empty());
    CHECK_FALSE(StudyOf(of).closing);
    CHECK(of.LastClaim(second).state == ClaimState::kWaiting);
  }
  SECTION("as good is enough") {
    of.Measure(run, end, 0.9);
    CHECK(StudyOf(of).stopped == "trial " + std::to_string(first.value) + " reached 0.9 at step 10");
    CHECK(of.LastClaim(first).state == ClaimState::kDone);
    CHECK(of.LastClaim(second).state == ClaimState::kCancelled);
    of.End(run, Step{10});
    CHECK(StudyOf(of).finished_at.has_value());
    CHECK_FALSE(StudyOf(of).cancelled);
    CHECK_FALSE(of.state().trials.at(first).cancelled);
    of.Restart();
    CHECK(StudyOf(of).stopped == "trial " + std::to_string(first.value) + " reached 0.9 at step 10");
  }
}

TEST_CASE("a study that minimizes stops at what is no higher") {
  ServerByHand of(1, Until({.metric = 0.5}, Goal::kMinimize));
  const auto measure = [&](const std::string& rate, double score) {
    of.Submit(of.study, {{"lr", rate}}, 5);
    const Run run = of.Last();
    of.Store(run, PointOf(run, Step{5}));
    of.Measure(run, PointOf(run, Step{5}), score);
    of.End(run, Step{5});
    return !StudyOf(of).stopped.empty();
  };
  CHECK_FALSE(measure("0.1", 0.51));
  CHECK(measure("0.2", 0.5));
}

TEST_CASE("of a stopped study only trials that waited are cancelled, those that might have gone on are closed") {
  ServerByHand of(1, Until({.metric = 0.9}));
  const TrialId open = of.Submit(of.study, {{"lr", "0.1"}}, 10, 20);
  const TrialId waiting = of.Submit(of.study, {{"lr", "0.2"}}, 10, 20);
  of.Measure(of.Last(), PointOf(of.Last(), Step{10}), 0.9);
  CHECK((of.state().trials.at(open).closed && !of.state().trials.at(open).cancelled));
  CHECK((of.state().trials.at(waiting).closed && of.state().trials.at(waiting).cancelled));
}

TEST_CASE("a study stops at once at what was measured before it asked") {
  ServerByHand of(1);
  of.Submit(of.study, {{"lr", "0.1"}}, 10);
  of.Complete(of.Last());
  const StudyId later = of.AddStudy({.name = "later", .stop = {.metric = 1}});
  of.Submit(later, {{"lr", "0.1"}}, 10);
  CHECK_FALSE(of.state().studies.at(later).stopped.empty());
  CHECK(of.state().studies.at(later).finished_at.has_value());
}

TEST_CASE("a study stops when its time has passed, whatever trains then") {
  ServerByHand of(1, Until({.after = Seconds(2)}));
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 10);
  for (int i = 0; i < 1'900; ++i) of.Handle(Tick{});
  REQUIRE(StudyOf(of).stopped.empty());
  for (int i = 0; i < 200; ++i) of.Handle(Tick{});
  CHECK(StudyOf(of).stopped == "2 s have passed");
  CHECK(of.LastClaim(trial).state == ClaimState::kCancelled);
  of.End(of.Last(), Step{0});
  CHECK(StudyOf(of).finished_at.has_value());
  CHECK(of.state().index.timed_studies.empty());
}

TEST_CASE("a study stops when devices have spent on it what it may cost, a shared run in parts") {
  ServerByHand of(1, Until({.device_time = Seconds(2)}));
  of.Submit(of.study, {{"lr", "0.1"}}, 10);
  const StudyId other = of.AddStudy({.name = "other"});
  const TrialId others = of.Submit(other, {{"lr", "0.1"}}, 10);
  for (int i = 0; i < 3'000; ++i) of.Handle(Tick{});
  REQUIRE(StudyOf(of).stopped.empty());  // half of three seconds
  for (int i = 0; i < 1'200; ++i) of.Handle(Tick{});
  CHECK(StudyOf(of).stopped == "2 s of devices are used");
  CHECK(of.LastClaim(others).state == ClaimState::kWaiting);
}

TEST_CASE("a stopped study takes no more trials") {
  ServerByHand of(1, Until({.metric = 0.5}));
  of.Submit(of.study, {{"lr", "0.1"}}, 10);
  of.Complete(of.Last());
  of.Call(SubmitBatch{.study = of.study, .new_trials = {{{{"lr", "0.2"}}, Step{10}, Step{0}}}});
  CHECK(std::get<Error>(of.last_reply.answer).code == ErrorCode::kFailedPrecondition);
}

TEST_CASE("a stop rule that makes no sense is refused by its field") {
  ServerByHand of(1);
  const auto refused = [&](StopRule stop) {
    of.Call(CreateStudy{{.name = "other", .trainer = "simulated", .stop = stop, .metric = "score"}});
    const auto* error = std::get_if<Error>(&of.last_reply.answer);
    return error == nullptr ? std::string() : error->field;
  };
  CHECK(refused({.after = Seconds(0)}) == "stop.after_seconds");
  CHECK(refused({.after = Seconds(std::nan(""))}) == "stop.after_seconds");
  CHECK(refused({.device_time = Seconds(-1)}) == "stop.device_seconds");
  CHECK(refused({.device_time = Seconds(1e12)}) == "stop.device_seconds");
  CHECK(refused({.metric = std::nan("")}) == "stop.metric");
}

}  // namespace espalier::master
