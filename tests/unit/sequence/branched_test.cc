// Sequences that leave another at a step.
#include "searchplan/sequence/branched.h"

#include "tests/unit/sequence/sequence_testing.h"

namespace espalier {
namespace {

std::string BranchedText(std::string_view before, std::int64_t at, std::string_view after) {
  return Print(Branched(Parsed(before), Step{at}, Parsed(after)));
}

}  // namespace

TEST_CASE("a branched sequence is the old one before the step and the new one on its own clock from there") {
  for (const char* before :
       {"0.5", "Cosine(0.1, 0, 7)", "Piecewise([0.1, Linear(0, 1), 3], [4, 12])",
        "Piecewise(milestones=[3, 12], pieces=[1, 2, 3])", "Warmup(0.1, 5, Exponential(1, 0.9))"}) {
    for (const std::int64_t at : {1, 3, 4, 5, 11, 12, 13}) {
      INFO(before << " at " << at);
      const Sequence old = Compiled(before, 30);
      const Sequence next = Compiled("Exponential(2, 0.5)", 30);
      const Sequence branched = Compiled(BranchedText(before, at, "Exponential(2, 0.5)"), 30);
      for (std::int64_t step = 0; step < 30; ++step) {
        CHECK(FloatingAt(branched, step) == (step < at ? FloatingAt(old, step) : FloatingAt(next, step - at)));
      }
    }
  }
}

TEST_CASE("branching again and again nests nothing") {
  CHECK(BranchedText("0.1", 5, "0.2") == "Piecewise([0.1, 0.2], [5])");
  CHECK(BranchedText("Piecewise([0.1, 0.2], [5])", 9, "0.3") == "Piecewise([0.1, 0.2, 0.3], [5, 9])");
  CHECK(BranchedText("Piecewise([0.1, 0.2, 0.3], [5, 9])", 9, "0.4") == "Piecewise([0.1, 0.2, 0.4], [5, 9])");
  CHECK(BranchedText("Piecewise([0.1, 0.2, 0.3], [5, 9])", 4, "\"x\"") == "Piecewise([0.1, \"x\"], [4])");
}

}  // namespace espalier
