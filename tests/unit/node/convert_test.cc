#include "worker/node/convert.h"

#include <catch2/catch.hpp>

#include "espalier/v1/node_manager.pb.h"

namespace espalier::node {
namespace {

// As the master gets it; fails the test if the master could not parse it.
v1::SynchronizeRequest Sent(const std::vector<Report>& reports) {
  v1::SynchronizeRequest request;
  Add(reports, request);
  v1::SynchronizeRequest received;
  REQUIRE(received.ParseFromString(request.SerializeAsString()));
  return received;
}

const std::string kGarbage("a\0\xff\xc3z", 5);

}  // namespace

TEST_CASE("reports reach the master whatever bytes their texts hold") {
  PointReached reached{.plan = PlanId{1}, .plan_node = PlanNodeId{2}, .step = Step{3}, .evaluation_digest = "digest"};
  reached.metrics[kGarbage] = 0.5;
  const v1::SynchronizeRequest sent =
      Sent({{1, RunId{1}, reached},
            {2, RunId{1}, PromiseLost{1, Step{4}, kGarbage}},
            {3, RunId{1}, RunFailed{FaultKind::kCrash, Step{4}, PlanNodeId{2}, kGarbage}}});
  CHECK(sent.reports(0).point_reached().metrics().at("a???z") == 0.5);
  CHECK(sent.reports(1).promise_lost().why() == "a???z");
  CHECK(sent.reports(2).run_failed().message() == "a???z");
}

TEST_CASE("a long message keeps its beginning and its end") {
  const std::string message = "first" + std::string(100'000, 'x') + "last";
  const v1::SynchronizeRequest sent =
      Sent({{1, RunId{1}, RunFailed{FaultKind::kTrainer, Step{4}, PlanNodeId{2}, message}}});
  const std::string& got = sent.reports(0).run_failed().message();
  CHECK(got.size() == 16 * 1024);
  CHECK(got.starts_with("first"));
  CHECK(got.ends_with("last"));
}

}  // namespace espalier::node
