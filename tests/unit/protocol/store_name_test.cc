#include "protocol/store_name.h"

#include <catch2/catch.hpp>

namespace espalier {

TEST_CASE("a checkpoint's name in the store says what it holds and who saved it") {
  const StoredPoint stored{PlanId{3}, {PlanNodeId{1000}, Step{40}}, {LeadershipId{77}, RunId{5}}};
  const std::string name = StoreName(stored.plan, stored.point, stored.run);
  CHECK(name == "3/232/1000-40-77-5.ckpt");
  CHECK(ParseStoreName(name) == stored);
}

TEST_CASE("what is not named as checkpoints are is none") {
  for (const char* name : {"", "first", "3/232/1000-40-77-5", "3/232/1000-40-77-5.ckpt.tmp", "3/231/1000-40-77-5.ckpt",
                           "03/232/1000-40-77-5.ckpt", "3/232/1000-40-77.ckpt", "/3/232/1000-40-77-5.ckpt",
                           "3/232/1000-40-77-5.ckpt/", "3/232/1000-40-77-99999999999999999999.ckpt"}) {
    INFO(name);
    CHECK_FALSE(ParseStoreName(name).has_value());
  }
}

}  // namespace espalier
