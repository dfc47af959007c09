#include "scheduler/policy.h"

#include <catch2/catch.hpp>

#include "tests/support/empty_view.h"

namespace espalier {
namespace {

// Offers a start, or has a contest for slots.
class Starts : public EmptyView {
 public:
  explicit Starts(std::optional<StartPath> best, std::vector<Contest> contests = {})
      : best_(std::move(best)), contests_(std::move(contests)) {}
  std::optional<StartPath> BestStart() const override { return best_; }
  std::vector<RunView> Preemptible() const override { return {RunView{.id = RunId{7}}}; }
  std::vector<Contest> Contests() const override { return contests_; }

 private:
  std::optional<StartPath> best_;
  std::vector<Contest> contests_;
};

constexpr Time kNow{std::chrono::seconds(100)};

std::optional<Action> DecideOn(const Contest& contest) {
  return MakePolicy(kDefaultPolicy).value()->Decide(Starts(std::nullopt, {contest}), kNow);
}

}  // namespace

TEST_CASE("an unknown policy is refused with the list of those known") {
  const auto policy = MakePolicy("fifo");
  REQUIRE_FALSE(policy.has_value());
  CHECK(policy.error().code == ErrorCode::kInvalidArgument);
  CHECK(policy.error().field == "policy");
  CHECK(policy.error().message ==
        "no policy 'fifo'; expected one of critical_path, critical_path_not_preempting, breadth_first, throughput, "
        "throughput_children, critical_path_unbatched, breadth_first_unbatched, throughput_unbatched, "
        "throughput_children_unbatched, "
        "bandit, early_term_last_value, hermes, hermes_pinned, slaq, round_robin, hypersack, "
        "hypersack_filling, hypersack_worst_fit, hypersack_first_fit_decreasing, hypersack_first_fit, hypersched");
}

TEST_CASE("every policy that is listed can be made, and the default comes first") {
  const std::vector<KnownPolicy> known = KnownPolicies();
  CHECK(known.front().name == kDefaultPolicy);
  for (const KnownPolicy& each : known) {
    CAPTURE(each.name);
    CHECK(MakePolicy(each.name).value()->name() == each.name);
    CHECK_FALSE(each.summary.empty());
  }
}

TEST_CASE("the thesis's policies start the best there is, and preempt nothing") {
  const StartPath best{PlanId{1}, {PlanNodeId{3}, Step{40}}, PlanNodeId{4}, {"server", 0}};
  for (const std::string_view name :
       {"critical_path_not_preempting", "breadth_first", "throughput", "throughput_children"}) {
    CAPTURE(name);
    const auto policy = MakePolicy(name).value();
    CHECK(policy->name() == name);
    CHECK(policy->Decide(Starts(best), Time{}) == std::optional<Action>(best));
    CHECK(policy->Decide(Starts(std::nullopt), Time{}) == std::nullopt);
  }
}

TEST_CASE("for an even end the run with the least left is preempted where a path waits that is much longer") {
  const Action preempts = PreemptRun{RunId{7}};
  const Contest contest{.waiting = {Seconds(100), Seconds(50)},
                        .runs = {{RunId{3}, Seconds(90)}, {RunId{7}, Seconds(80)}}};
  CHECK(DecideOn(contest) == preempts);

  Contest dear = contest;
  dear.switching = Seconds(2);  // ten times that is all it would gain
  CHECK(DecideOn(dear) == std::nullopt);
  dear.switching = Seconds(1.9);
  CHECK(DecideOn(dear) == preempts);

  Contest nearly_as_long = contest;
  nearly_as_long.runs.back().left = Seconds(91);
  CHECK(DecideOn(nearly_as_long) == std::nullopt);

  Contest has_its_slot = contest;
  has_its_slot.leaving = 1;
  CHECK(DecideOn(has_its_slot) == std::nullopt);
  has_its_slot.leaving = 2;
  CHECK(DecideOn(has_its_slot) == std::nullopt);

  Contest in_time = contest;
  in_time.work_a_slot = Seconds(180);  // so that the path could begin when the run ends, and would not be the last
  CHECK(DecideOn(in_time) == std::nullopt);
  in_time.work_a_slot = Seconds(179);
  CHECK(DecideOn(in_time) == preempts);
}

TEST_CASE("for an even end one look says of all runs whether they are preempted, for one path each") {
  const Contest contest{.waiting = {Seconds(100), Seconds(90), Seconds(20)},
                        .runs = {{RunId{5}, Seconds(19)}, {RunId{6}, Seconds(15)}, {RunId{7}, Seconds(10)}}};
  const auto policy = MakePolicy(kDefaultPolicy).value();
  CHECK(policy->Decide(Starts(std::nullopt, {contest}), kNow) == std::optional<Action>(PreemptRun{RunId{7}}));
  CHECK(policy->Decide(Starts(std::nullopt), kNow) == std::optional<Action>(PreemptRun{RunId{6}}));
  CHECK(policy->Decide(Starts(std::nullopt), kNow) == std::nullopt);
  CHECK(policy->Decide(Starts(std::nullopt, {contest}), kNow) == std::nullopt);
}

TEST_CASE("for an even end runs are preempted up to the last for whose path it would be too late when it ends") {
  Contest contest{.waiting = {Seconds(100), Seconds(100), Seconds(100)},
                  .runs = {{RunId{5}, Seconds(95)}, {RunId{6}, Seconds(20)}, {RunId{7}, Seconds(10)}}};
  contest.work_a_slot = Seconds(119);
  const auto policy = MakePolicy(kDefaultPolicy).value();
  CHECK(policy->Decide(Starts(std::nullopt, {contest}), kNow) == std::optional<Action>(PreemptRun{RunId{7}}));
  CHECK(policy->Decide(Starts(std::nullopt), kNow) == std::optional<Action>(PreemptRun{RunId{6}}));
  CHECK(policy->Decide(Starts(std::nullopt), kNow) == std::nullopt);
  contest.work_a_slot = Seconds(120);
  CHECK(DecideOn(contest) == std::nullopt);
}

TEST_CASE("for an even end what can start is started first, and runs are looked at once a second") {
  const StartPath best{PlanId{1}, {PlanNodeId{3}, Step{40}}, PlanNodeId{4}, {"server", 0}};
  const Contest contest{.waiting = {Seconds(100)}, .runs = {{RunId{7}, Seconds(10)}}};
  const auto policy = MakePolicy(kDefaultPolicy).value();
  CHECK(policy->Decide(Starts(best, {contest}), kNow) == std::optional<Action>(best));
  CHECK(policy->Decide(Starts(std::nullopt), kNow) == std::nullopt);
  CHECK(policy->Decide(Starts(std::nullopt, {contest}), kNow) == std::nullopt);
  CHECK(policy->Decide(Starts(std::nullopt, {contest}), kNow + std::chrono::seconds(1)) ==
        std::optional<Action>(PreemptRun{RunId{7}}));
}

TEST_CASE("an unbatched policy starts one stage of the best there is") {
  const StartPath best{PlanId{1}, {PlanNodeId{3}, Step{40}}, PlanNodeId{4}, {"server", 0}};
  StartPath one_stage = best;
  one_stage.one_stage = true;
  for (const std::string_view name : {"critical_path_unbatched", "breadth_first_unbatched", "throughput_unbatched",
                                      "throughput_children_unbatched"}) {
    CAPTURE(name);
    const auto policy = MakePolicy(name).value();
    CHECK(policy->name() == name);
    CHECK(policy->Decide(Starts(best), Time{}) == std::optional<Action>(one_stage));
  }
  CHECK_FALSE(MakePolicy("_unbatched").has_value());
}

TEST_CASE("actions print what they order") {
  CHECK(Print(StartPath{PlanId{1}, {PlanNodeId{3}, Step{40}}, PlanNodeId{4}, {"server", 2}}) ==
        "start plan 1 at 3@40 under 4 on server/2");
  CHECK(Print(StartPath{PlanId{1}, {PlanNodeId{3}, Step{40}}, std::nullopt, {"server", 2}}) ==
        "start plan 1 at 3@40, evaluated on server/2");
  CHECK(Print(StartPath{PlanId{1}, {PlanNodeId{3}, Step{40}}, PlanNodeId{4}, {"server", 2}, {}, true}) ==
        "start plan 1 at 3@40 under 4 on server/2, one stage");
  CHECK(
      Print(StartPath{PlanId{1}, {PlanNodeId{3}, Step{40}}, PlanNodeId{4}, {"server", 2}, Reservation{0, 350, 9, 2}}) ==
      "start plan 1 at 3@40 under 4 on server/2, 350 thousandths of it, 9 bytes, 2 cores");
  CHECK(Print(PreemptRun{RunId{7}}) == "preempt run 7");
  CHECK(Print(ReleaseTrial{TrialId{7}}) == "release trial 7");
  CHECK(Print(LabelTrial{TrialId{7}, "why"}) == "label trial 7: why");
  CHECK(Print(AnalyseCurve{{.trial = TrialId{7}, .at = {PlanNodeId{3}, Step{40}}, .curve = {1}}}) ==
        "analyse the curve of trial 7 to step 40");
}

}  // namespace espalier
