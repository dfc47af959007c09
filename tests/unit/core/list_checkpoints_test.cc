#include "master/core/views/list_checkpoints.h"

#include <catch2/catch.hpp>

#include "master/core/views/study_part.h"
#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

// Two trials that part at step 20, of which states are stored there and at both ends.
struct Three : ServerByHand {
  explicit Three(Scope scope = Scope::kTeam) : ServerByHand(1, {.name = "study", .scope = scope}) {
    first = Submit(study, {{"lr", "0.1"}}, 40, 40);
    Submit(study, {{"lr", "Piecewise([0.1, 0.2], [20])"}}, 40, 40);
    while (!Last().ended()) Finish();
  }
  // The newest run stores and measures what it owes.
  void Finish() {
    const Run run = Last();
    for (const auto& [id, promise] : run.promises) {
      const Point point = PointOf(run, promise.step);
      promise.owed == Owed::kState ? Store(run, point, "file-" + std::to_string(promise.step.value))
                                   : Measure(run, point);
    }
    End(run, run.path.back().to);
  }
  Result<CheckpointPage> Page(std::size_t count_max, const std::string& token = {}) const {
    const StateReader read = [&](const auto& look) {
      look(state());
      return Result<void>();
    };
    return ListCheckpoints(CopyStudy(read, study).value(), study, count_max, token);
  }

  TrialId first;
};

std::vector<std::int64_t> StepsOf(const std::vector<ListedCheckpoint>& checkpoints) {
  std::vector<std::int64_t> steps;
  for (const ListedCheckpoint& each : checkpoints) steps.push_back(each.point.step.value);
  return steps;
}

using Steps = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a study's checkpoints are listed by point, page after page") {
  const Three of;
  CHECK(StepsOf(of.Page(3).value().checkpoints) == Steps{20, 40, 40});
  CHECK(of.Page(3).value().next_token.empty());
  const CheckpointPage first = of.Page(2).value();
  CHECK(StepsOf(first.checkpoints) == Steps{20, 40});
  CHECK(first.checkpoints[0].checkpoint.file == "file-20");
  const CheckpointPage second = of.Page(2, first.next_token).value();
  CHECK(StepsOf(second.checkpoints) == Steps{40});
  CHECK(second.next_token.empty());
  CHECK(of.Page(2, "s 1 -").error().field == "page_token");
}

TEST_CASE("a trial's checkpoints are those on its lineage") {
  const Three of;
  CHECK(StepsOf(CheckpointsOf(of.state(), of.first)) == Steps{20, 40});
}

TEST_CASE("in a plan of everyone a trial's checkpoints are shown at its claims alone: others tell where trials part") {
  const Three of(Scope::kEveryone);
  CHECK(StepsOf(CheckpointsOf(of.state(), of.first)) == Steps{40});
}

}  // namespace espalier::master
