// What a master may expect of whoever trains for it: the real node manager, and the toy that tests of the master's
// service take for one.
#include "tests/support/toy_node.h"
#include "tests/unit/node/process_harness.h"

namespace espalier::node {
namespace {

// A master that says what the test says, and a node manager of either kind that is connected to it.
struct World {
  explicit World(const std::string& kind) {
    if (kind == "real") {
      real.emplace(folder.path());
    } else {
      const auto channel =
          grpc::CreateChannel("unix:" + (folder.path() / "master").string(), grpc::InsecureChannelCredentials());
      toy.emplace(channel, "a token", 0.5);
    }
    master.AwaitRegistrations(1);
  }

  std::string EvaluationDigest() { return master.Registrations().at(0).offers.at(0).offer.evaluation_digest; }

  TemporaryFolder folder;
  TestMaster master{folder.path() / "master"};
  std::optional<NodeProcess> real;
  std::optional<master::testing::ToyNode> toy;
};

std::string EitherKind() { return GENERATE(as<std::string>{}, "real", "toy"); }

}  // namespace

TEST_CASE("a node manager says who it is, what it trains on, and a trainer with all that a study needs of one") {
  World world(EitherKind());
  const Registration said = world.master.Registrations().at(0);
  CHECK_FALSE(said.server.empty());
  CHECK_FALSE(said.incarnation.empty());
  REQUIRE_FALSE(said.devices.empty());
  CHECK(SlotCountOf(said.devices) > 0);
  REQUIRE(said.offers.size() == 1);
  const Offer& offer = said.offers[0].offer;
  CHECK(offer.trainer == "toy");
  CHECK_FALSE(offer.code_digest.empty());
  CHECK_FALSE(offer.data_digest.empty());
  CHECK_FALSE(offer.evaluation_digest.empty());
  CHECK(offer.metrics == std::vector<std::string>{"score"});
  CHECK(std::ranges::count(offer.schema.hyper_parameters, "lr", &HyperParameter::name) == 1);
}

TEST_CASE("what a run owes is said of the very point that was ordered, by its plan, lineage and evaluation") {
  World world(EitherKind());
  world.master.Want({ToyRun(1).Stage(1, 20, 0.1).Stage(2, 40, 0.2).Both(20).Both(40)});
  for (const auto& [node, step] : {std::pair(1, 20), {2, 40}}) {
    const Point point{PlanNodeId{node}, Step{step}};
    const StateStored stored = world.master.AwaitState(1, step);
    CHECK(stored.plan == PlanId{1});
    CHECK(stored.point == point);
    CHECK(stored.lineage == DigestOf(std::to_string(node)));
    CHECK_FALSE(stored.file.empty());
    CHECK_FALSE(stored.state_sha256.empty());
    CHECK(stored.bytes > 0);
    const MetricsMeasured measured = world.master.AwaitMetrics(1, step);
    CHECK(measured.plan == PlanId{1});
    CHECK(measured.point == point);
    CHECK(measured.lineage == DigestOf(std::to_string(node)));
    CHECK(measured.evaluation == world.EvaluationDigest());
    CHECK(measured.metrics.contains("score"));
  }
  CHECK(world.master.AwaitState(1, 20).file != world.master.AwaitState(1, 40).file);
}

TEST_CASE("a run ends at the end of its path, each step of it trained once, however often it is ordered meanwhile") {
  World world(EitherKind());
  const Order order = ToyRun(1).Stage(1, 20, 0.1).Stage(2, 40, 0.2).Both(40);
  for (int i = 0; i < 5; ++i) world.master.Want({order});
  const RunEnded ended = world.master.Await<RunEnded>(1);
  CHECK(ended.step == Step{40});
  CHECK(ended.refused.empty());
  std::map<PlanNodeId, std::int64_t> trained;
  std::int64_t ends = 0;
  for (const Report& report : world.master.ReportsOf(1)) {
    ends += std::holds_alternative<RunEnded>(report.kind) ? 1 : 0;
    if (const auto* steps = std::get_if<StepsTrained>(&report.kind)) trained[steps->node] += steps->to - steps->from;
  }
  CHECK(ends == 1);
  CHECK(trained == std::map<PlanNodeId, std::int64_t>{{PlanNodeId{1}, 20}, {PlanNodeId{2}, 20}});
}

TEST_CASE("reports are numbered from 1 on without a gap, of one run after another") {
  World world(EitherKind());
  world.master.Want({ToyRun(1).Stage(1, 20, 0.1).Both(20)});
  world.master.AwaitState(1, 20);
  world.master.AwaitMetrics(1, 20);
  world.master.Await<RunEnded>(1);
  world.master.Want({ToyRun(2).Stage(2, 20, 0.2).Both(20)});
  world.master.Await<RunEnded>(2);
  std::set<std::int64_t> numbers;
  for (const std::int64_t run : {1, 2}) {
    for (const Report& report : world.master.ReportsOf(run)) numbers.insert(report.number);
  }
  CHECK(*numbers.begin() == 1);
  CHECK(*numbers.rbegin() == static_cast<std::int64_t>(numbers.size()));
}

}  // namespace espalier::node
