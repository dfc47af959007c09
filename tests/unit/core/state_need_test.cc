// What node managers are told of how much a state is needed.
#include <catch2/catch.hpp>

#include "tests/support/server_by_hand.h"

namespace espalier::master {

TEST_CASE("orders say which states a claim waits for, which other training starts from, and which nothing waits for") {
  ServerByHand of(1);
  of.Submit(of.study, {{"lr", "0.1"}}, 8);
  of.Submit(of.study, {{"lr", "Piecewise([0.1, 0.2], [4])"}}, 8);
  std::map<Step, Need> needs;
  const auto look = [&] {
    needs.clear();
    for (const OrderedPromise& promise : of.TermsOf(of.Last().id).promises) {
      if (promise.owed == Owed::kState) needs[promise.step] = promise.need;
    }
  };
  look();
  CHECK(needs == std::map<Step, Need>{{Step{4}, Need::kBranch}, {Step{8}, Need::kClaim}});
  of.Measure(of.Last(), PointOf(of.Last(), Step{8}));  // the claim is done; its trial may go on from there
  look();
  CHECK(needs == std::map<Step, Need>{{Step{4}, Need::kBranch}, {Step{8}, Need::kOnTheWay}});
}

}  // namespace espalier::master
