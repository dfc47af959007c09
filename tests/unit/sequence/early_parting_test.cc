// Early partings: what shares next to nothing, and the change that the hint names.
#include "searchplan/sequence/early_parting.h"

#include "tests/unit/sequence/sequence_testing.h"

namespace espalier {
namespace {

std::vector<EarlyParting> Partings(const std::vector<std::string>& texts, std::int64_t horizon = 100) {
  std::vector<Sequence> sequences;
  for (const std::string& text : texts) sequences.push_back(Compiled(text, horizon));
  return FindEarlyPartings(sequences);
}

// How many steps the two share.
std::int64_t Shared(const std::string& a, const std::string& b, std::int64_t horizon = 100) {
  const Sequence first = Compiled(a, horizon);
  const Sequence second = Compiled(b, horizon);
  Step step;
  while (step.value < horizon && FunctionAt(first, step) == FunctionAt(second, step)) step = step + 1;
  return step.value;
}

using Found = std::vector<EarlyParting>;

}  // namespace

TEST_CASE("warm-ups to different peaks part where they begin, and at one rate they share") {
  CHECK(Partings({"Warmup(0.01, 5, 0.1)", "Warmup(0.01, 5, 0.2)", "0.1", "WSD(0.1, 100, 20, 10)"}) ==
        Found{{Step{0}, true, {0, 1}}});
  CHECK(Partings({"WSD(0.1, 100, 20, 10)", "WSD(0.2, 100, 20, 10)"}) == Found{{Step{0}, true, {0, 1}}});
  CHECK(Shared("WSD(0.1, 100, 20, 10)", "WSD(0.2, 100, 20, 10)") == 0);
  CHECK(Partings({"WSD(0.1, 100, 20, 10)", "WSD(0.2, 100, 20, 20)"}).empty());
  CHECK(Shared("WSD(0.1, 100, 20, 10)", "WSD(0.2, 100, 20, 20)") == 10);
}

TEST_CASE("decays over different horizons part where they begin, and held before they share what is held") {
  CHECK(Partings({"Cosine(0.1, 0, 50)", "Cosine(0.1, 0, 80)", "Cosine(0.1, 0, 100)"}) ==
        Found{{Step{0}, false, {0, 1, 2}}});
  CHECK(Partings({"Warmup(0, 5, Cosine(0.1, 0, 50))", "Warmup(0, 5, Cosine(0.1, 0, 80))"}) ==
        Found{{Step{5}, false, {0, 1}}});
  CHECK(Partings({"Cosine(0.1, 0, 100)", "LinearTo(0.1, 0, 100)", "Exponential(0.1, 0.9)"}) ==
        Found{{Step{0}, false, {0, 1, 2}}});
  CHECK(Partings({"WSD(0.1, 50, 10)", "WSD(0.1, 80, 10)", "WSD(0.1, 100, 10)"}).empty());
  CHECK(Shared("WSD(0.1, 80, 10)", "WSD(0.1, 100, 10)") == 70);
}

TEST_CASE("what begins at different values, is one sequence, or parts late is no early parting") {
  CHECK(Partings({"Cosine(0.1, 0, 100)", "Cosine(0.2, 0, 100)"}).empty());
  CHECK(Partings({"Cosine(0.1, 0, 100)", "Piecewise([Cosine(0.1, 0, 100), 0.3], [50])"}).empty());
  CHECK(Partings({"WSD(0.1, 100, 20)", "WSD(0.1, 100, 20, shape=\"linear\")"}).empty());
  CHECK(Partings({"0.1", "0.2", "MultiStep(0.1, [40], 0.1)"}).empty());
  CHECK(Partings({"Sinusoid(0.04, 50)", "Sinusoid(0.04, 80)"}).empty());  // neither rises nor falls
}

TEST_CASE("the hint says what they do and which change would let them share") {
  CHECK(
      Describe({Step{0}, true, {0, 1}}) ==
      "part at step 0: they rise at different rates; let all rise at one, a higher peak's warm-up taking so many more "
      "steps, and the lower ones' warm-ups are its beginning");
  CHECK(Describe({Step{5}, false, {0, 1}}) ==
        "part at step 5: they fall in different ways; hold the value and fall at the end alone, as WSD does, and all "
        "share what is held, however long each is");
}

}  // namespace espalier
