#include <algorithm>
#include <catch2/catch.hpp>

#include "worker/check/pass.h"

namespace espalier::trainer_check {
namespace {

bool Has(const Pass& pass, Action action) {
  return std::find(pass.actions.begin(), pass.actions.end(), action) != pass.actions.end();
}

}  // namespace

TEST_CASE("every pass reaches the end, and trains each step behind the last point that it went on from once") {
  const Step end{6};
  std::vector<Pass> passes = Disturbed(end, Step{3});
  passes.push_back(Straight(end));
  passes.push_back(BegunAgain(end));
  for (const Pass& pass : passes) {
    INFO(pass.name);
    Step at = pass.actions.front().step;
    for (const Action& action : pass.actions) {
      if (action.deed == Deed::kTrain) {
        CHECK(action.step == at + 1);
        at = action.step;
      } else if (action.deed != Deed::kBegin && action.deed != Deed::kBeginAgain) {
        CHECK(action.step == at);
      }
    }
    CHECK(at == end);
  }
}

TEST_CASE("training is cut before values change and where they do, and evaluations come on both sides of cuts") {
  const std::vector<Pass> passes = Disturbed(Step{6}, Step{3});
  const auto any = [&](Action action) {
    return std::any_of(passes.begin(), passes.end(), [&](const Pass& pass) { return Has(pass, action); });
  };
  CHECK(any({Deed::kResume, Step{1}}));
  CHECK(any({Deed::kResume, Step{3}}));
  const auto orders = [&](Deed first, Deed second) {
    return std::any_of(passes.begin(), passes.end(), [&](const Pass& pass) {
      for (std::size_t i = 1; i < pass.actions.size(); ++i) {
        if (pass.actions[i - 1].deed == first && pass.actions[i].deed == second) return true;
      }
      return false;
    });
  };
  CHECK(orders(Deed::kEvaluate, Deed::kSave));
  CHECK(orders(Deed::kSave, Deed::kEvaluate));
}

TEST_CASE("the heaviest deed is to blame, and of equal ones the last") {
  const Action resumed{Deed::kResume, Step{1}};
  CHECK(Suspect(
            {{Deed::kBegin, {}}, {Deed::kTrain, Step{1}}, {Deed::kSave, Step{1}}, resumed, {Deed::kTrain, Step{2}}}) ==
        resumed);
  const Action later{Deed::kResume, Step{3}};
  CHECK(Suspect({{Deed::kBegin, {}}, resumed, {Deed::kEvaluate, Step{2}}, later, {Deed::kTrain, Step{4}}}) == later);
}

}  // namespace espalier::trainer_check
