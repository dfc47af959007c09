// What a trial's steps returned, as people read it.
#include "client/cli/training_metrics.h"

#include <catch2/catch.hpp>
#include <sstream>

namespace espalier {
namespace {

std::string Printed(const TrainingCurves& metrics) {
  std::ostringstream out;
  PrintTrainingMetrics(out, metrics);
  return out.str();
}

TEST_CASE("training metrics are a table of steps, with gaps where a step did not return one") {
  CHECK(Printed({}).empty());
  CHECK(Printed({{"accuracy", {{Step{2}, 0.5}}}, {"loss", {{Step{1}, 2.25}, {Step{2}, 1.5}}}}) ==
        "\n"
        "as it was trained\n"
        "step  accuracy  loss\n"
        "   1         -  2.25\n"
        "   2       0.5   1.5\n");
}

TEST_CASE("of many steps twenty are shown, from the first to the last, and where all are is said") {
  TrainingCurves metrics;
  for (int step = 1; step <= 1001; ++step) metrics["loss"].emplace(Step{step}, step);
  const std::string printed = Printed(metrics);
  CHECK(std::ranges::count(printed, '\n') == 23);
  CHECK(printed.find("as it was trained (20 of 1,001 steps; all: --output json)\n") != std::string::npos);
  CHECK(printed.find("\n    1     1\n   53    53\n") != std::string::npos);
  CHECK(printed.ends_with("\n1,001  1001\n"));
}

}  // namespace
}  // namespace espalier
