// What runs held of their GPUs, as it is reported with their ends.
#include "tests/unit/node/scenario.h"

namespace espalier::node {
namespace {

const std::vector<Device> kHalfGpus{{"cores", DeviceType::kCores, 1, 0, 0}, {"gpu-0", DeviceType::kGpu, 2, 0, 0}};
const std::vector<Device> kWholeGpu{{"gpu-0", DeviceType::kGpu, 1, 0, 0}};

Order TwoStages() { return RunBuilder(1).Stage(1, 1, 0.1).Stage(2, 2, 0.2).Evaluate(2); }

}  // namespace

TEST_CASE("what a GPU does counts for the stage that trains on it meanwhile, and for nothing while none does") {
  Scenario scenario(kWholeGpu);
  CHECK(scenario.core.GpusInUse().empty());
  scenario.Want({TwoStages()});
  CHECK(scenario.core.GpusInUse() == std::set{0});
  scenario.core.OnGpuSeen(0, {900, 90});  // it is set up
  scenario.RunInto(1);
  scenario.core.OnGpuSeen(0, {500, 30});
  scenario.core.OnGpuSeen(0, {700, 20});
  scenario.RunInto(2);
  scenario.core.OnGpuSeen(0, {100, 40});
  scenario.RunIntoEvaluation();
  scenario.core.OnGpuSeen(0, {900, 90});
  scenario.RunOut();
  CHECK(scenario.core.GpusInUse().empty());
  CHECK(scenario.Last<RunEnded>().stages ==
        std::vector<StageUse>{{PlanNodeId{1}, 0, 30, 2, 1200}, {PlanNodeId{2}, 0, 40, 1, 100}});
}

TEST_CASE("of a GPU that a run shares, the memory in use says nothing of the run") {
  Scenario scenario(kHalfGpus);
  Order order = TwoStages();
  order.slot = 1;
  order.reservation = ShareOf(kHalfGpus, 1);
  scenario.Want({order});
  CHECK(scenario.core.GpusInUse() == std::set{1});
  scenario.RunInto(1, 1);
  scenario.core.OnGpuSeen(0, {900, 90});  // another device
  scenario.core.OnGpuSeen(1, {400, 30});
  scenario.RunOut(1);
  CHECK(scenario.Last<RunEnded>().stages.front() == StageUse{PlanNodeId{1}, 0, 0, 1, 400});
}

TEST_CASE("what a GPU does while two runs train on it is neither's") {
  Scenario scenario(kHalfGpus);
  std::vector<Order> orders;
  for (const int slot : {1, 2}) {
    Order& order = orders.emplace_back(RunBuilder(slot).Stage(1, 2, 0.1).Evaluate(2));
    order.slot = slot;
    order.reservation = ShareOf(kHalfGpus, slot);
  }
  scenario.Want({orders[0]});
  scenario.RunInto(1, 1);
  scenario.core.OnGpuSeen(1, {400, 30});
  scenario.Want(orders);
  scenario.RunInto(1, 2);
  scenario.core.OnGpuSeen(1, {900, 30});
  scenario.RunOut(1);
  CHECK(scenario.Last<RunEnded>().stages.front() == StageUse{PlanNodeId{1}, 0, 0, 1, 400});
}

TEST_CASE("nobody looks for a GPU where a run trains on cores") {
  Scenario scenario(kHalfGpus);
  scenario.Want({TwoStages()});
  scenario.RunInto(1);
  CHECK(scenario.core.GpusInUse().empty());
}

}  // namespace espalier::node
