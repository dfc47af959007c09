// A study that evaluates at every step says so once in a run's order: no claim walks the steps of its lineage. Of so
// many steps that no walk over them would ever end.
#include <catch2/catch.hpp>

#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

constexpr std::int64_t kNodes = 100;
constexpr std::int64_t kStepsANode = 1'000'000'000;

// A node of its own every so many steps.
std::string DeepLineage() {
  std::string values = "[0";
  std::string milestones = "[";
  for (std::int64_t i = 1; i < kNodes; ++i) {
    values += ", " + std::to_string(i);
    milestones += (i == 1 ? "" : ", ") + std::to_string(i * kStepsANode);
  }
  return "Piecewise(" + values + "], " + milestones + "])";
}

// All that a claim at the end of a deep lineage makes of the state, and another that comes while its run is under way.
struct Footprint {
  std::vector<std::size_t> changes;  // stored, of each event
  std::size_t nodes = 0;
  std::size_t places = 0;  // of the index
  std::size_t promises = 0;
  std::size_t ordered_promises = 0;
  friend bool operator==(const Footprint&, const Footprint&) = default;
};

Footprint FootprintOf(std::int64_t every) {
  ServerByHand of(1, {.name = "study", .evaluate_every = every});
  Footprint footprint;
  const auto count = [&](const auto& act) {
    const std::size_t before = of.stored().size();
    act();
    footprint.changes.push_back(of.stored().size() - before);
  };
  count([&] { of.Submit(of.study, {{"lr", DeepLineage()}}, kNodes * kStepsANode); });
  const RunId run = of.Last().id;
  count([&] { of.Stand(of.RunOf(run), Step{kStepsANode + 7}); });
  count([&] { of.Submit(of.study, {{"lr", DeepLineage()}}, kNodes / 2 * kStepsANode + 3); });
  for (const auto& [plan, needs] : of.state().index.needs) {
    for (const auto& [id, node] : needs.nodes()) footprint.places += node.places.size();
  }
  footprint.nodes = of.Plan().nodes.size();
  footprint.promises = of.RunOf(run).promises.size();
  footprint.ordered_promises = of.TermsOf(run).promises.size();
  CHECK(of.TermsOf(run).evaluate_every == (every == 0 ? std::vector<std::int64_t>{} : std::vector{every}));
  return footprint;
}

}  // namespace

TEST_CASE("evaluating at every step of a deep lineage costs the master no more than evaluating at its end") {
  const Footprint at_its_end = FootprintOf(0);
  CHECK(at_its_end.nodes == kNodes);
  CHECK(at_its_end.ordered_promises < 2 * kNodes);  // of nodes, never of steps
  CHECK(FootprintOf(1) == at_its_end);
}

}  // namespace espalier::master
