#include "worker/node/core/step_log.h"

#include <catch2/catch.hpp>

namespace espalier::node {
namespace {

const std::vector<PathStage> kPath = {{PlanNodeId{1}, Step{0}, Step{3}}, {PlanNodeId{2}, Step{3}, Step{6}}};

}  // namespace

TEST_CASE("step-log lines are summed up for each plan node") {
  const auto summary = SummarizeStepLog("7 2 0.5\n7 3 0.25\n7 4 1\n", RunId{7}, kPath);
  REQUIRE(summary.trained.size() == 2);
  CHECK(summary.trained[0].node == PlanNodeId{1});
  CHECK(summary.trained[0].from == Step{1});
  CHECK(summary.trained[0].to == Step{3});
  CHECK(summary.trained[0].time == Seconds(0.75));
  CHECK(summary.trained[1].from == Step{3});
  CHECK(summary.trained[1].to == Step{4});
}

TEST_CASE("a line still being written is left for later") {
  const auto summary = SummarizeStepLog("7 1 0.5\n7 2 0.", RunId{7}, kPath);
  CHECK(summary.bytes_read == 8);
  CHECK(summary.trained.back().to == Step{1});
}

TEST_CASE("damaged lines and lines of other runs or off the path count for nothing") {
  const auto summary = SummarizeStepLog("nonsense\n8 1 0.5\n7 9 0.5\n7 1\n7 1 0.5 x\n\n", RunId{7}, kPath);
  CHECK(summary.trained.empty());
  CHECK(summary.bytes_read == 40);
}

}  // namespace espalier::node
