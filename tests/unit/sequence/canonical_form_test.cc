// The rewrites of the canonical form: what related forms share.
#include "tests/unit/sequence/sequence_testing.h"

namespace espalier {
namespace {

// How many steps from 0 on two sequences share: until their functions differ.
std::int64_t SharedSteps(std::string_view a_text, std::string_view b_text, std::int64_t horizon = 100) {
  const Sequence a = Compiled(a_text, horizon);
  const Sequence b = Compiled(b_text, horizon);
  std::int64_t step = 0;
  while (step < horizon && FunctionAt(a, Step{step}) == FunctionAt(b, Step{step})) ++step;
  return step;
}

}  // namespace

TEST_CASE("plateaus and held ends are Constants of the value") {
  CHECK(SharedSteps("MultiStep(0.1, [40], 0.1)", "0.1") == 40);
  CHECK(SharedSteps("MultiStep(0.1, [40], 0.1)", "MultiStep(0.1, [40, 60], 0.1)") == 60);
  CHECK(SharedSteps("MultiStep(0.1, [40], 0.1)", "MultiStep(0.1, [40], 0.2)") == 40);
  CHECK(SharedSteps("MultiStep(0.1, [40], 0.1)", "Piecewise([0.1, 0.010000000000000002], [40])") == 100);
  CHECK(SharedSteps("MultiStep(0.1, [40], 0.1)", "Piecewise([0.1, 0.01], [40])") == 40);
  CHECK(SharedSteps("MultiStep(0.1, [30, 60, 90], 0.1)", "Step(0.1, 30, 0.1)") == 100);
  CHECK(SharedSteps("Table([3, 3, 1])", "Piecewise([3, 1], [2])") == 100);
  CHECK(SharedSteps("LinearTo(1, 0.3, 7)", "Piecewise([LinearTo(1, 0.3, 7), 0.3], [50])") == 100);
}

TEST_CASE("functions that cannot change are Constants, which have no origin") {
  for (const auto* text :
       {"Linear(0.1, 0)", "LinearTo(0.1, 0.1, 5)", "Exponential(0.1, 1)", "Cosine(0.1, 0.1, 7)", "Cosine(0.1, 0, 1)",
        "Polynomial(0.1, 5, 3, 0.1)", "Cooldown(0.1, 0.1, 5, \"sqrt\")", "WSD(0.1, 9, 0)",
        "WSD(0.1, 9, 3, 2, 0.1, 0.1)", "Sinusoid(0, 5, 1, 0.1)", "Sinusoid(0.1, 1)", "CyclicLR(0.1, 0.1, 5, 6)",
        "Every(3, 0.1)", "Scale(0.1, 1)", "MultiStep(0.1, [4, 8], 1)", "Step(0.1, 3, 1)", "Table([0.1, 0.1])",
        "Warmup(0.1, 5, 0.1)", "Piecewise([Exponential(0.1, 1), Linear(0.1, -0.0)], [7])"}) {
    CAPTURE(text);
    CHECK(Canonical(text) == "0.1");
  }
  CHECK(Canonical("Exponential(0, 0.5)") == "0.0");
  CHECK(Canonical("MultiStep(0, [5], 0.5)") == "0.0");
  CHECK(Compiled("Piecewise([1, 2], [7])", 10).segments.back().function == Function{Constant{2.0}, Step{0}});
}

TEST_CASE("a ramp is one Linear piece, whoever wrote it") {
  CHECK(SharedSteps("Warmup(0.01, 5, 0.1)", "LinearTo(0.01, 0.1, 5)") == 100);
  CHECK(SharedSteps("LinearTo(0, 1, 8)", "Linear(0, 0.125)") == 8);
  CHECK(SharedSteps("Warmup(0, 8, Exponential(1, 0.9))", "Linear(0, 0.125)") == 8);
}

TEST_CASE("a cosine gives one piece a period, each from its own origin") {
  CHECK(SharedSteps("Cosine(0.1, 0, 20)", "Piecewise([Cosine(0.1, 0, 20), Cosine(0.1, 0, 20)], [20])") == 100);
  CHECK(SharedSteps("Cosine(0.1, 0, 20)", "Cosine(0.1, 0, 20, gamma=2)") == 20);
  CHECK(SharedSteps("Cosine(0.1, 0, 20)", "Cosine(0.1, 0, 21)") == 0);
  CHECK(SharedSteps("Cosine(0.1, 0, 1, gamma=2)", "Piecewise([0.1, Cosine(0.1, 0, 2)], [1])") == 3);
}

TEST_CASE("warm-ups and pieces dissolve, moved and never re-based") {
  CHECK(SharedSteps("Warmup(0.01, 5, Cosine(0.1, 0, 75))", "Warmup(0.01, 5, MultiStep(0.1, [9], 0.5))") == 5);
  CHECK(SharedSteps("Warmup(0.01, 5, Cosine(0.1, 0, 75))",
                    "Piecewise([LinearTo(0.01, 0.1, 5), Cosine(0.1, 0, 75)], [5])") == 100);
  CHECK(SharedSteps("Warmup(0.01, 5, MultiStep(0.1, [9], 0.5))",
                    "Piecewise([LinearTo(0.01, 0.1, 5), 0.1, 0.05], [5, 14])") == 100);
  CHECK(SharedSteps("Piecewise([Piecewise([1, Linear(2, 1)], [5]), Piecewise([3, 4], [7])], [20])",
                    "Piecewise([1, Linear(2, 1), 3, 4], [5, 20, 27])") == 100);
  CHECK(SharedSteps("Piecewise([Exponential(0.1, 0.95), Exponential(0.1, 0.95)], [10])", "Exponential(0.1, 0.95)") ==
        10);
  CHECK(Canonical("Piecewise([1, Exponential(0.1, 0.95)], [40])") == "Piecewise([1.0, Exponential(0.1, 0.95)], [40])");
  CHECK(Print(Compiled("Piecewise([1, Exponential(0.1, 0.95)], [40])", 50).segments[1].function) ==
        "Exponential(0.1, 0.95) from 40");
}

TEST_CASE("a phase of one cycle is a piece of its own kind") {
  CHECK(SharedSteps("OneCycle(0.1, 100)", "OneCycle(0.1, 100, final_div_factor=10)") == 30);
  CHECK(SharedSteps("OneCycle(0.1, 100)", "OneCycle(0.1, 100, three_phase=true)") == 30);
  CHECK(SharedSteps("OneCycle(0.1, 100)", "OneCycle(0.1, 100, anneal=\"linear\")") == 0);
  CHECK(Canonical("OneCycle(0.1, 41, 0.25)") ==
        "Piecewise([OneCyclePhase(0.004, 0.1, 0.0, 9.25, \"cos\"), OneCyclePhase(0.1, 4e-07, 9.25, 40.0, \"cos\"), "
        "4e-07], [10, 41])");
  CHECK(SharedSteps("Warmup(0, 5, OneCycle(0.1, 41))",
                    "Piecewise([LinearTo(0, 0.0040000000000000036, 5), OneCycle(0.1, 41)], [5])") == 100);
}

TEST_CASE("a linear and a cosine cooldown are the pieces that others make, and each other shape is one of its own") {
  CHECK(SharedSteps("Cooldown(0.1, 0.01, 30)", "LinearTo(0.1, 0.01, 30)") == 100);
  CHECK(SharedSteps("Cooldown(0.1, 0.01, 30, \"cosine\")", "Piecewise([Cosine(0.1, 0.01, 30), 0.01], [30])") == 100);
  CHECK(Canonical("Cooldown(0.1, 0.01, 30, \"sqrt\")") == "Piecewise([Cooldown(0.1, 0.01, 30, \"sqrt\"), 0.01], [30])");
  CHECK(SharedSteps("Cooldown(0.1, 0, 30, \"sqrt\")", "Cooldown(0.1, 0, 30, \"square\")") == 0);
  CHECK(SharedSteps("Cooldown(0.1, 0, 30, \"sqrt\")", "Cooldown(0.1, 0, 31, \"sqrt\")") == 0);
}

TEST_CASE("decays of any length and shape share the stable trunk") {
  CHECK(SharedSteps("WSD(0.1, 90, 9, 5)", "WSD(0.1, 60, 30, 5, shape=\"linear\")") == 30);
  CHECK(SharedSteps("WSD(0.1, 90, 9, 5)", "Warmup(0, 5, 0.1)") == 81);
  CHECK(SharedSteps("WSD(0.1, 90, 9, 5)", "WSD(0.1, 90, 9, 5, shape=\"mirror_cosine\")") == 81);
  CHECK(SharedSteps("WSD(0.1, 90, 9, 5)",
                    "Piecewise([LinearTo(0, 0.1, 5), 0.1, Cooldown(0.1, 0, 9, \"sqrt\")], [5, 81])") == 100);
  CHECK(SharedSteps("WSD(0.1, 9, 0, 5)", "Warmup(0, 5, 0.1)") == 100);
  CHECK(Canonical("WSD(0.1, 10, 10, min_y=0.01, shape=\"square\")") ==
        "Piecewise([Cooldown(0.1, 0.01, 10, \"square\"), 0.01], [10])");
}

TEST_CASE("factors distribute over pieces and are never folded") {
  CHECK(Canonical("Scale(2, Warmup(0, 5, MultiStep(1, [9], 0.5)))") ==
        "Piecewise([Scale(2.0, Linear(0.0, 0.2)), 2.0, 1.0], [5, 14])");
  CHECK(Canonical("Scale(2, Scale(3, Linear(1, 1)))") == "Scale(2.0, Scale(3.0, Linear(1.0, 1.0)))");
  CHECK(SharedSteps("Scale(2, Scale(3, Linear(1, 1)))", "Scale(3, Scale(2, Linear(1, 1)))") == 0);
  CHECK(SharedSteps("Scale(6, Linear(1, 1))", "Scale(2, Scale(3, Linear(1, 1)))") == 0);
  CHECK(Canonical("Scale(1, Scale(2, Scale(1, Linear(1, 1))))") == "Scale(2.0, Linear(1.0, 1.0))");
  CHECK(Canonical("Scale(0, Cosine(1, 0, 5))") == "0.0");
  CHECK(Canonical("Scale(-0.0, Linear(-1, 1))") == "0.0");
}

TEST_CASE("every k steps is a row of plateaus") {
  CHECK(Canonical("Every(10, Table([3, 2, 2, 1]))") == "Piecewise([3.0, 2.0, 1.0], [10, 30])");
  CHECK(Canonical("Every(1, Linear(0, 1))") == "Linear(0.0, 1.0)");
  const Sequence slow = Compiled("Every(2, Sinusoid(1e-16, 9, 0, 1))", 100);  // comes back to values it had before
  const Sequence fast = Compiled("Sinusoid(1e-16, 9, 0, 1)", 100);
  for (std::int64_t x = 0; x < 100; ++x) CHECK(FloatingAt(slow, x) == FloatingAt(fast, x / 2));
  CHECK(SharedSteps("Every(30, Exponential(0.1, 0.1))", "Step(0.1, 30, 0.1)") == 100);
  CHECK(SharedSteps("Every(2, Every(3, Sinusoid(1, 9)))", "Every(6, Sinusoid(1, 9))") == 100);
}

TEST_CASE("equal neighbours join") {
  CHECK(Canonical("Piecewise([0.1, 0.1, 0.2, MultiStep(0.2, [3], 0.5)], [3, 7, 9])") ==
        "Piecewise([0.1, 0.2, 0.1], [7, 12])");
  CHECK(Canonical("Piecewise([0.1, LinearTo(0.1, 0, 5), 0], [10, 20])") ==
        "Piecewise([0.1, Linear(0.1, -0.02), 0.0], [10, 15])");
  CHECK(Canonical("1") == Canonical("1.0"));
}

TEST_CASE("the values written may be of any form that means the same number") {
  CHECK(Compiled("Cosine(1, 0, 5.0)", 50) == Compiled("Cosine(init=1.0, min_y=0, period=5, gamma=1)", 50));
  CHECK(Compiled("1", 50) == Compiled("Constant(1.0)", 50));
}

TEST_CASE("an initial hyper-parameter takes a Constant only") {
  const HyperParameter depth{"depth", ValueType::kInteger, std::int64_t{20}, true};
  CHECK(CompileFor(depth, Parsed("Constant(18)"), Step{9}).has_value());
  CHECK(CompileFor(depth, Parsed("18"), Step{9}).has_value());
  CHECK(CompileFor(depth, Parsed("MultiStep(18, [100], 2)"), Step{9}).error().message ==
        "fixed at step 0, expected a Constant, got MultiStep(...)");
}

}  // namespace espalier
