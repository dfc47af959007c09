#include "scheduler/policy.h"

#include <catch2/catch.hpp>

namespace espalier {
namespace {

// Offers so many starts.
class Starts : public View {
 public:
  explicit Starts(std::optional<StartPath> best) : best_(std::move(best)) {}
  std::optional<StartPath> BestStart() const override { return best_; }
  std::vector<RunView> Preemptible() const override { return {RunView{.id = RunId{7}}}; }

 private:
  std::optional<StartPath> best_;
};

}  // namespace

TEST_CASE("an unknown policy is refused with the list of those known") {
  const auto policy = MakePolicy("fifo");
  REQUIRE_FALSE(policy.has_value());
  CHECK(policy.error().code == ErrorCode::kInvalidArgument);
  CHECK(policy.error().field == "policy");
  CHECK(policy.error().message ==
        "no policy 'fifo'; expected one of critical_path, breadth_first, throughput, "
        "throughput_children, each also with _unbatched behind it");
}

TEST_CASE("the thesis's policies start the best there is, and preempt nothing") {
  const StartPath best{PlanId{1}, {PlanNodeId{3}, Step{40}}, PlanNodeId{4}, {"server", 0}};
  for (const std::string_view name : {"critical_path", "breadth_first", "throughput", "throughput_children"}) {
    CAPTURE(name);
    const auto policy = MakePolicy(name).value();
    CHECK(policy->name() == name);
    CHECK(policy->Decide(Starts(best), Time{}) == std::optional<Action>(best));
    CHECK(policy->Decide(Starts(std::nullopt), Time{}) == std::nullopt);
  }
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
  CHECK(Print(StartPath{PlanId{1}, {PlanNodeId{3}, Step{40}}, PlanNodeId{4}, {"server", 2}, 1, true}) ==
        "start plan 1 at 3@40 under 4 on server/2, one stage");
  CHECK(Print(PreemptRun{RunId{7}}) == "preempt run 7");
}

}  // namespace espalier
