// The commands about stages: what they print, what they send, and which names they take.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/cli/stage_name.h"
#include "tests/support/fake_master.h"
#include "tests/unit/cli/run_command.h"

namespace espalier {
namespace {

using nlohmann::json;
using testing::FakeMaster;
using testing::Outcome;

// A master that holds one stage, and the command line beside it.
class OneStage {
 public:
  explicit OneStage(v1::ExplainStageResponse stage, v1::RetryStageResponse retried = {})
      : master_({.socket_path = path_,
                 .train = {},
                 .trainers = {},
                 .settle_seed = {},
                 .stage = std::move(stage),
                 .retried = std::move(retried)}) {}

  Outcome Run(std::vector<std::string> arguments, bool with_server = true) {
    if (with_server) arguments.insert(arguments.end(), {"--server", master_.address()});
    return testing::RunCommand(arguments);
  }
  FakeMaster& master() { return master_; }

 private:
  const std::string path_ =
      std::filesystem::temp_directory_path() / ("espalier-stage-" + std::to_string(getpid()) + ".socket");
  FakeMaster master_;
};

v1::ExplainStageResponse WaitingStage() {
  v1::ExplainStageResponse stage;
  stage.mutable_point()->set_plan_node_id(3);
  stage.mutable_point()->set_step(9);
  stage.set_state("waiting");
  stage.set_why("it waits for a slot: 2 paths of its trainer are ahead of it");
  stage.set_waits_for(v1::WAITS_FOR_SLOT);
  stage.set_paths_ahead(2);
  stage.add_serves_trial_ids(4);
  stage.add_serves_trial_ids(5);
  stage.set_serves_other_count(1);
  stage.add_warnings("something is odd");
  return stage;
}

}  // namespace

TEST_CASE("a stage's name is a plan node and a step, and nothing else") {
  const auto point = ParseStageName("7@20");
  REQUIRE(point.has_value());
  CHECK(point->plan_node_id() == 7);
  CHECK(point->step() == 20);
  CHECK(StageName(*point) == "7@20");
  for (const char* name :
       {"", "7", "@", "7@", "@20", "7@20@3", "7@x", "-7@20", "7@0", " 7@20", "7@99999999999999999999"}) {
    INFO(name);
    const auto refused = ParseStageName(name);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().field == "STAGE");
    CHECK_THAT(refused.error().message, Catch::Contains("expected NODE@STEP, like 7@20"));
  }
}

TEST_CASE("a stage is explained in words, and in the keys that scripts rely on") {
  OneStage of(WaitingStage());
  const Outcome text = of.Run({"stage", "explain", "7@20"});
  CHECK(text.exit_code == kExitDone);
  CHECK(text.out ==
        "stage 7@20 is waiting: it waits for a slot: 2 paths of its trainer are ahead of it\n"
        "for trials 4, 5, and 1 of other teams\n"
        "warning: something is odd\n");

  const json document = json::parse(of.Run({"stage", "explain", "--run", "8", "--output", "json"}).out);
  CHECK(document["stage"] == "3@9");
  CHECK(document["state"] == "waiting");
  CHECK(document["why"] == "it waits for a slot: 2 paths of its trainer are ahead of it");
  CHECK(document["waits_for"] == json({{"what", "slot"}, {"paths_ahead", 2}}));
  CHECK(document["serves"] == json({4, 5}));
  CHECK(document["placed_on"].is_null());
  CHECK(document["checkpoint"].is_null());
  CHECK(document["warnings"] == json::array({"something is odd"}));
}

TEST_CASE("a stage says what training takes there, as far as it was ever measured") {
  v1::ExplainStageResponse stage = WaitingStage();
  v1::TrainingCosts& costs = *stage.mutable_costs();
  costs.set_step_seconds(1.5);
  costs.set_load_seconds(0.0204);
  costs.set_memory_bytes(2'000'000'000);
  costs.set_utilization(0.834);
  CHECK_THAT(OneStage(stage).Run({"stage", "explain", "3@9"}).out,
             Catch::Contains("takes a step 1.5 s, a load 20 ms, 2.0 GB of memory, 83 % of its GPU's time\n"));
  const json shown = json::parse(OneStage(stage).Run({"stage", "explain", "3@9", "--output", "json"}).out)["costs"];
  CHECK(shown["step_seconds"] == 1.5);
  CHECK(shown["utilization"] == 0.834);
  CHECK(shown["memory_bytes"] == 2'000'000'000);
  CHECK(shown["device_memory_bytes"].is_null());
}

TEST_CASE("a running stage names its place, and one that nobody offers what differs") {
  v1::ExplainStageResponse running;
  running.set_state("running");
  running.mutable_placed_on()->set_server("gpu1");
  running.mutable_placed_on()->set_slot(2);
  running.mutable_placed_on()->set_run_id(5);
  running.mutable_placed_on()->set_step(12);
  running.mutable_placed_on()->set_training(true);
  const json placed =
      json::parse(OneStage(running).Run({"stage", "explain", "7@20", "--output", "json"}).out)["placed_on"];
  CHECK(placed == json({{"server", "gpu1"}, {"slot", 2}, {"run", 5}, {"step", 12}, {"training", true}}));

  v1::ExplainStageResponse waiting;
  waiting.set_state("waiting");
  waiting.set_waits_for(v1::WAITS_FOR_OFFER);
  v1::OtherOffer& other = *waiting.add_other_offers();
  other.set_server("gpu1");
  v1::OfferDifference& difference = *other.add_differences();
  difference.set_what("code");
  difference.set_wanted("abc");
  difference.set_offered("def");
  const json waits =
      json::parse(OneStage(waiting).Run({"stage", "explain", "7@20", "--output", "json"}).out)["waits_for"];
  CHECK(waits["what"] == "offer");
  CHECK(waits["other_offers"][0]["differences"][0] == json({{"what", "code"}, {"wanted", "abc"}, {"offered", "def"}}));
}

TEST_CASE("a retry names its stage, and is the same request however often it is sent") {
  v1::RetryStageResponse retried;
  retried.add_trial_ids(4);
  retried.add_trial_ids(6);
  retried.set_other_count(2);
  OneStage of(WaitingStage(), retried);
  of.master().FailNext(1, FakeMaster::Fault::kAfter);
  const Outcome text = of.Run({"stage", "retry", "7@20"});
  CHECK(text.exit_code == kExitDone);
  CHECK(text.out == "stage 7@20 is tried again, for trials 4, 6, and for 2 of other teams\n");
  const std::vector<v1::RetryStageRequest> sent = of.master().retries();
  REQUIRE(sent.size() == 2);
  CHECK(sent[0].plan_node_id() == 7);
  CHECK(sent[0].step() == 20);
  CHECK_FALSE(sent[0].request_id().empty());
  CHECK(sent[0].request_id() == sent[1].request_id());

  const json document = json::parse(of.Run({"stage", "retry", "7@20", "--output", "json"}).out);
  CHECK(document == json({{"stage", "7@20"}, {"trials", {4, 6}}, {"other_trials", 2}}));
  CHECK(of.master().retries().back().request_id() != sent[0].request_id());
}

TEST_CASE("what is no stage is wrong usage, and what the service refuses is refused with its field") {
  OneStage of({});
  for (const std::string verb : {"explain", "retry"}) {
    const Outcome usage = of.Run({"stage", verb, "seven"}, false);
    CHECK(usage.exit_code == kExitUsage);
    CHECK_THAT(usage.err, Catch::StartsWith("espalier: STAGE: got seven; expected NODE@STEP"));
    const Outcome refused = of.Run({"stage", verb, "7@20"});
    CHECK(refused.exit_code == kExitRefused);
    CHECK(refused.err == "espalier: stage: no such stage\n");
  }
  CHECK(of.Run({"stage", "explain"}, false).exit_code == kExitUsage);
  CHECK(of.Run({"stage", "explain", "7@20", "--run", "3"}, false).exit_code == kExitUsage);
  CHECK(of.Run({"stage", "retry"}, false).exit_code == kExitUsage);
}

}  // namespace espalier
