#include <catch2/catch.hpp>

#include "master/rpc/convert.h"

namespace espalier::master {

TEST_CASE("what is explained of a stage arrives on the wire") {
  ExplainedStage stage{.point = {PlanNodeId{7}, Step{20}},
                       .standing = StageStanding::kWaiting,
                       .why = "it waits",
                       .waits_for = WaitsFor::kPause,
                       .waits_for_stage = Point{PlanNodeId{3}, Step{9}},
                       .paused_until = Time(std::chrono::microseconds(12'000'345)),
                       .paths_ahead = 4};
  stage.other_offers = {{.server = "gpu1", .differences = {{"code", "abc", "def"}}}};
  stage.serves = {TrialId{5}, TrialId{6}};
  stage.serves_others = 2;
  stage.serves_more = true;
  stage.placed_on = PlacedStage{.server = "gpu2", .slot = 1, .run = RunId{8}, .at = Step{12}, .training = true};
  stage.checkpoint = Checkpoint{.file = "file", .bytes = 100, .run = RunId{1}, .stored_at = Time{}};
  stage.warnings = {"odd"};
  const v1::ExplainStageResponse message = ToProto(stage);
  CHECK(FromProto(message.point()) == stage.point);
  CHECK(message.state() == "waiting");
  CHECK(message.why() == "it waits");
  CHECK(message.waits_for() == v1::WAITS_FOR_PAUSE);
  CHECK(FromProto(message.waits_for_stage()) == stage.waits_for_stage);
  CHECK(message.paused_until().seconds() == 12);
  CHECK(message.paused_until().nanos() == 345'000);
  CHECK(message.paths_ahead() == 4);
  REQUIRE(message.other_offers_size() == 1);
  CHECK(message.other_offers(0).server() == "gpu1");
  CHECK(message.other_offers(0).differences(0).offered() == "def");
  CHECK(std::vector<std::int64_t>(message.serves_trial_ids().begin(), message.serves_trial_ids().end()) ==
        std::vector<std::int64_t>{5, 6});
  CHECK(message.serves_other_count() == 2);
  CHECK(message.serves_more());
  CHECK(message.placed_on().server() == "gpu2");
  CHECK(message.placed_on().slot() == 1);
  CHECK(message.placed_on().run_id() == 8);
  CHECK(message.placed_on().step() == 12);
  CHECK(message.placed_on().training());
  CHECK(message.checkpoint().file() == "file");
  CHECK(message.checkpoint().size_bytes() == 100);
  CHECK(message.warnings(0) == "odd");
}

TEST_CASE("what is not there of an explained stage is unset") {
  const v1::ExplainStageResponse message = ToProto(ExplainedStage{});
  CHECK(message.waits_for() == v1::WAITS_FOR_UNSPECIFIED);
  CHECK_FALSE(message.has_waits_for_stage());
  CHECK_FALSE(message.has_paused_until());
  CHECK_FALSE(message.has_paths_ahead());
  CHECK_FALSE(message.has_placed_on());
  CHECK_FALSE(message.has_checkpoint());
}

}  // namespace espalier::master
