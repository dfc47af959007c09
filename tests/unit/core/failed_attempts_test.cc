// What is counted of failures, where, and how often: nothing is tried again for ever, and nobody pays for another's
// failure.
#include <catch2/catch.hpp>

#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

constexpr std::chrono::seconds kSecond{1};

// A trial of 20 steps in a study that evaluates every second step.
struct EvaluatedOften : ServerByHand {
  EvaluatedOften() : ServerByHand(1, {.name = "often", .evaluate_every = 2}) {}

  Point On(std::int64_t step) const { return {Last().path.front().node, Step{step}}; }
  void FailEvaluation(EvaluationFailed::Kind kind, Point point) {
    Report(Last(), EvaluationFailed{kind, point, Last().evaluation, "no"});
    End(Last(), point.step);
  }

  TrialId trial = Submit(study, {{"lr", "0.1"}}, 20);
};

// A trunk of 10 steps that is stored and measured, and three trials that part from it there, each under way.
struct ThreeSiblings : ServerByHand {
  ThreeSiblings() : ServerByHand(3) {
    Submit(study, {{"lr", "0.1"}}, 10);
    Complete(Last());
    for (const char* value : {"0.2", "0.3", "0.4"}) {
      siblings.push_back(Submit(study, {{"lr", "Piecewise([0.1, " + std::string(value) + "], [10])"}}, 40));
    }
  }
  PlanNodeId NodeOf(TrialId trial) const { return state().trials.at(trial).leaf; }
  // The one under way for the sibling; waits for it to be ordered.
  const Run& RunFor(TrialId trial) {
    while (true) {
      for (const RunId id : state().active_runs) {
        if (RunOf(id).training() && RunOf(id).path.back().node == NodeOf(trial)) return RunOf(id);
      }
      REQUIRE(AwaitOrder());
    }
  }
  void CrashAt(TrialId trial, std::int64_t step) { Crash(RunFor(trial), {NodeOf(trial), Step{step}}); }
  std::int64_t CrashesOf(TrialId trial) const {
    std::int64_t crashes = 0;
    for (const auto& [key, attempts] : Plan().Node(NodeOf(trial)).results->attempts) crashes += attempts.crashes;
    return crashes;
  }

  std::vector<TrialId> siblings;
};

}  // namespace

TEST_CASE(
    "a periodic evaluation that the trainer cannot make is not asked for again, and its run is ordered once more") {
  EvaluatedOften often;
  REQUIRE(often.TermsOf(often.Last().id).evaluate_every == std::vector<std::int64_t>{2});
  REQUIRE(often.TermsOf(often.Last().id).barred_evaluations.empty());
  often.FailEvaluation(EvaluationFailed::Kind::kTrainer, often.On(2));
  REQUIRE(often.state().runs.size() == 2);
  CHECK(often.TermsOf(often.Last().id).evaluate_every == std::vector<std::int64_t>{2});
  CHECK(often.TermsOf(often.Last().id).barred_evaluations == std::vector{Step{2}});
  often.Complete(often.Last());
  CHECK(often.LastClaim(often.trial).state == ClaimState::kDone);
  CHECK(often.state().runs.size() == 2);
}

TEST_CASE("an evaluation that the trainer cannot make is barred where the next run starts, too") {
  ServerByHand of;
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 10, 100);
  const Run run = of.Last();
  const Point point{run.path.back().node, Step{10}};
  of.Report(run, EvaluationFailed{EvaluationFailed::Kind::kTrainer, point, run.evaluation, "no"});
  of.End(run, point.step, {point.step});
  of.Store(run, point, "file");
  of.Claim(trial, 20);
  REQUIRE(of.Last().start == point);
  CHECK(of.TermsOf(of.Last().id).barred_evaluations == std::vector{Step{10}});
}

TEST_CASE("a periodic evaluation that crashes three times is not asked for again, whatever was measured before it") {
  EvaluatedOften often;
  std::vector<Time> ordered{often.Last().ordered_at};
  for (int i = 0; i < 3; ++i) {
    REQUIRE(often.TermsOf(often.Last().id).barred_evaluations.empty());
    often.Measure(often.Last(), often.On(2));
    often.FailEvaluation(EvaluationFailed::Kind::kCrash, often.On(4));
    REQUIRE(often.AwaitOrder());
    ordered.push_back(often.Last().ordered_at);
  }
  CHECK(often.TermsOf(often.Last().id).barred_evaluations == std::vector{Step{4}});
  for (std::size_t i = 1; i < ordered.size(); ++i) CHECK(ordered[i] - ordered[i - 1] >= (1 << (i - 1)) * kSecond);
  often.Complete(often.Last());
  CHECK(often.LastClaim(often.trial).state == ClaimState::kDone);
  CHECK(often.state().runs.size() == 4);
}

TEST_CASE("a step that crashes is tried three times, ever later, whatever its runs measured on their way to it") {
  EvaluatedOften often;
  std::vector<Time> ordered{often.Last().ordered_at};
  for (int i = 0; i < 3; ++i) {
    often.Measure(often.Last(), often.On(2));
    often.Report(often.Last(), StepsTrained{often.On(2).node, Step{0}, Step{2}, Seconds(2)});
    often.Crash(often.Last(), often.On(3));
    if (i == 2) break;
    REQUIRE(often.AwaitOrder());
    ordered.push_back(often.Last().ordered_at);
  }
  CHECK(often.LastClaim(often.trial).state == ClaimState::kFailed);
  CHECK_FALSE(often.AwaitOrder());
  REQUIRE(ordered.size() == 3);
  CHECK(ordered[1] - ordered[0] >= kSecond);
  CHECK(ordered[2] - ordered[1] >= 2 * kSecond);
}

TEST_CASE("memory that does not suffice to evaluate a state fails the claims on that evaluation, and none beyond") {
  ServerByHand server(3);
  const TrialId near = server.Submit(server.study, {{"lr", "0.1"}}, 5);
  const Point end = PointOf(server.Last(), Step{5});
  server.Store(server.Last(), end);
  server.End(server.Last(), end.step);
  RunId evaluates = server.Last().id;
  const TrialId far = server.Submit(server.study, {{"lr", "0.1"}}, 40);
  const TrialId branch = server.Submit(server.study, {{"lr", "Piecewise([0.1, 0.2], [5])"}}, 20);
  const RunId trains = server.Last().id;
  REQUIRE(server.state().runs.size() == 4);
  SECTION("said as what it is") {
    for (int i = 0; i < 3; ++i) {
      if (i > 0) REQUIRE(server.AwaitOrder());
      evaluates = i > 0 ? server.Last().id : evaluates;
      const Run& run = server.RunOf(evaluates);
      REQUIRE(run.path.empty());
      server.Report(run, EvaluationFailed{EvaluationFailed::Kind::kOutOfMemory, end, run.evaluation, "too large"});
      server.End(run, end.step);
    }
    CHECK(server.LastClaim(near).state == ClaimState::kFailed);
  }
  SECTION("said as a failure of the run") {
    server.Report(server.RunOf(evaluates), RunFailed{RunFailed::Kind::kOutOfMemory, end, "too large"});
    server.End(server.RunOf(evaluates), end.step);
  }
  CHECK(server.Plan().FindFailure(end) == nullptr);
  CHECK(server.LastClaim(far).state == ClaimState::kWaiting);
  CHECK(server.LastClaim(branch).state == ClaimState::kWaiting);
  CHECK(server.RunOf(trains).training());
}

TEST_CASE("siblings that part from one checkpoint and crash once each are all tried again") {
  ThreeSiblings of;
  for (const TrialId sibling : of.siblings) of.CrashAt(sibling, 11);
  for (const TrialId sibling : of.siblings) {
    CHECK(of.CrashesOf(sibling) == 1);
    CHECK(of.LastClaim(sibling).state == ClaimState::kWaiting);
  }
  for (const TrialId sibling : of.siblings) {
    of.Complete(of.RunFor(sibling));
    CHECK(of.LastClaim(sibling).state == ClaimState::kDone);
  }
}

TEST_CASE("a branch that always crashes is given up at its third crash, whatever its siblings reach meanwhile") {
  ThreeSiblings of;
  const TrialId doomed = of.siblings[0];
  for (int i = 0; i < 2; ++i) {
    of.CrashAt(doomed, 11 + i);
    const TrialId sibling = of.siblings[static_cast<std::size_t>(i) + 1];
    const Run& run = of.RunFor(sibling);
    of.Report(run, StepsTrained{of.NodeOf(sibling), Step{10}, Step{20}, Seconds(1)});
    of.Measure(run, {of.NodeOf(sibling), Step{20}});
    of.Complete(run);
  }
  CHECK(of.CrashesOf(doomed) == 2);
  of.CrashAt(doomed, 11);
  CHECK(of.LastClaim(doomed).state == ClaimState::kFailed);
  CHECK_FALSE(of.AwaitOrder());
  CHECK(of.LastClaim(of.siblings[1]).state == ClaimState::kDone);
  CHECK(of.LastClaim(of.siblings[2]).state == ClaimState::kDone);
}

TEST_CASE("a worker that is unusable costs a stage nothing the first time, and from then on counts as a crash") {
  EvaluatedOften often;
  const bool evaluates = GENERATE(false, true);
  CAPTURE(evaluates);
  const auto lose_worker = [&] {
    const Point point = often.On(evaluates ? 4 : 3);
    if (evaluates) return often.FailEvaluation(EvaluationFailed::Kind::kUnusable, point);
    often.Report(often.Last(), RunFailed{RunFailed::Kind::kUnusable, point, "CUDA error"});
    often.End(often.Last(), Step{2});
  };
  const auto attempts = [&] {
    const AttemptKey of_evaluation{Step{4}, kSimulated.evaluation_digest};
    const PlanNodeId node = often.Last().path.front().node;
    return *often.Plan().FindAttempts(node, evaluates ? of_evaluation : AttemptKey{});
  };
  lose_worker();
  CHECK(attempts().crashes == 0);
  CHECK(attempts().unusable == 1);
  for (int i = 1; i <= 2; ++i) {
    REQUIRE(often.AwaitOrder());
    lose_worker();
    CHECK(attempts().crashes == i);
    CHECK(often.LastClaim(often.trial).state == ClaimState::kWaiting);
  }
  REQUIRE(often.AwaitOrder());
  lose_worker();
  CHECK(often.LastClaim(often.trial).state == (evaluates ? ClaimState::kWaiting : ClaimState::kFailed));
  CHECK(often.AwaitOrder() == evaluates);
}

TEST_CASE("a crash that is reported again after each restart of the master counts once") {
  ThreeSiblings of;
  const TrialId trial = of.siblings[0];
  const RunId crashed = of.RunFor(trial).id;
  const RunFailed failed{RunFailed::Kind::kCrash, {of.NodeOf(trial), Step{31}}, "crashed"};
  of.Report(of.RunOf(crashed), failed);
  SECTION("before the run's end was heard of") {}
  SECTION("while a state of the run is still on its way") { of.End(of.RunOf(crashed), Step{30}, {Step{20}}); }
  for (int i = 0; i < 2; ++i) {
    of.Restart();
    REQUIRE_FALSE(of.RunOf(crashed).ended());
    of.Report(of.RunOf(crashed), failed);
  }
  CHECK(of.CrashesOf(trial) == 1);
  CHECK(of.LastClaim(trial).state == ClaimState::kWaiting);
}

TEST_CASE("a crash of an evaluation that is reported again after each restart of the master counts once") {
  EvaluatedOften often;
  const RunId crashed = often.Last().id;
  const Point point = often.On(4);
  for (int i = 0; i < 3; ++i) {
    if (i > 0) often.Restart();
    REQUIRE_FALSE(often.RunOf(crashed).ended());
    often.Report(often.RunOf(crashed),
                 EvaluationFailed{EvaluationFailed::Kind::kCrash, point, kSimulated.evaluation_digest, "no"});
  }
  const Attempts* attempts = often.Plan().FindAttempts(point.node, {point.step, kSimulated.evaluation_digest});
  REQUIRE(attempts != nullptr);
  CHECK(attempts->crashes == 1);
}

TEST_CASE("an evaluation that fails and does not end its run counts once, however often that is reported") {
  ServerByHand of;
  for (const std::int64_t steps : {20, 5, 10}) of.Submit(of.study, {{"lr", "0.1"}}, steps, 40);
  const RunId run = of.Last().id;
  const auto crashes_at = [&](std::int64_t step) {
    const Point point = PointOf(of.RunOf(run), Step{step});
    const Attempts* attempts = of.Plan().FindAttempts(point.node, {point.step, of.RunOf(run).evaluation});
    return attempts == nullptr ? 0 : attempts->crashes;
  };
  const auto fail_at = [&](std::int64_t step) {
    const Point point = PointOf(of.RunOf(run), Step{step});
    of.Report(of.RunOf(run),
              EvaluationFailed{EvaluationFailed::Kind::kOutOfMemory, point, of.RunOf(run).evaluation, "too large"});
  };
  of.Train(of.RunOf(run), Step{6});
  fail_at(5);
  if (GENERATE(false, true)) {
    of.Restart();
    of.Stand(of.RunOf(run), Step{6});
  }
  fail_at(5);
  of.Train(of.RunOf(run), Step{11});
  fail_at(10);
  fail_at(5);
  CHECK(of.RunOf(run).training());
  CHECK(crashes_at(5) == 1);
  CHECK(crashes_at(10) == 1);
}

TEST_CASE("of several counts that pause one stage the longest pause holds, in whatever order they came") {
  ServerByHand of;
  of.Submit(of.study, {{"lr", "0.1"}}, 20);
  const PlanId plan = of.Last().plan;
  const Point beginning{of.Last().path.front().node, Step{0}};
  const auto counted = [&](Step from, Time until) {
    const Attempts attempts{.crashes = 1, .servers = {"server-0"}, .begun_at = beginning, .not_before = until};
    return ChangePlan{plan, SetAttempts{beginning.node, {.from = from, .evaluation = {}}, attempts}};
  };
  const ChangePlan shorter = counted(Step{0}, Time(std::chrono::seconds(10)));
  const ChangePlan longer = counted(Step{5}, Time(std::chrono::seconds(60)));
  MasterState state = of.state();
  MasterState other = of.state();
  Apply(state, longer);
  Apply(state, shorter);
  Apply(other, shorter);
  Apply(other, longer);
  CHECK(state.pauses == other.pauses);
  CHECK(LongestPause(state, {beginning, ""})->until == Time(std::chrono::seconds(60)));
  Apply(state, ChangePlan{plan, SetAttempts{beginning.node, {.from = Step{5}, .evaluation = {}}, std::nullopt}});
  CHECK(LongestPause(state, {beginning, ""})->until == Time(std::chrono::seconds(10)));
}

}  // namespace espalier::master
