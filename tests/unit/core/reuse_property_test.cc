// Studies that begin with the states which other code left, at random.
#include <catch2/catch.hpp>
#include <random>

#include "tests/support/random_seed.h"
#include "tests/support/simulated_service.h"

namespace espalier::master {
namespace {

const Offer kNewCode = sim::OfferOf(2, 0);

using Sequences = std::map<std::string, std::string>;

// Of few values and few steps, so that many begin alike.
class RandomTrials {
 public:
  explicit RandomTrials(std::mt19937_64& random) : random_(random) {}

  std::int64_t Draw(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  Sequences Some() {
    const std::string rate = "0." + std::to_string(Draw(1, 2));
    const std::string later = "0.0" + std::to_string(Draw(1, 3));
    if (Draw(0, 2) == 0) return {{"lr", rate}};
    return {{"lr", "Piecewise([" + rate + ", " + later + "], [" + std::to_string(5 * Draw(1, 3)) + "])"}};
  }
  TrialId Submit(SimulatedService& service, StudyId study) {
    const std::int64_t steps = 5 * Draw(1, 5);
    return service.Submit(study, Some(), steps, steps + 5 * Draw(0, 2));
  }

 private:
  std::mt19937_64& random_;
};

// The servers are there again.
void RestartMaster(SimulatedService& service) {
  service.RestartMaster();
  service.RunUntil([&] { return service.state().servers.size() == 2; });
}

// Whether the trial began with a state of the old code. What simulated code makes of a step does not depend on its
// version, but what it begins with does.
bool CheckStates(const SimulatedService& service, TrialId id) {
  const MasterState& state = service.state();
  const Trial& trial = state.trials.at(id);
  const SearchPlan& plan = state.plans.at(trial.plan);
  const Origin* origin = OriginOf(plan, trial.leaf);
  const sim::TrainedAlone alone(origin == nullptr ? kNewCode : kSimulated, trial.sequences, trial.horizon);
  for (const ClaimId claim : trial.claims) {
    const StateDigest* digest = plan.FindStateDigest(plan.claims.at(claim).point);
    if (digest == nullptr) continue;  // training ended before
    CHECK(digest->sha256 == sim::Sha256Of(alone.StateAt(plan.claims.at(claim).point.step)));
  }
  for (const auto& [step, times] : service.trained) {
    const bool is_before = origin != nullptr && plan.nodes.contains(step.first) &&
                           OriginOf(plan, step.first) != nullptr &&
                           step.second <= OriginOf(plan, step.first)->point.step;
    CHECK_FALSE(is_before);
  }
  return origin != nullptr;
}

}  // namespace

TEST_CASE("whatever is submitted, and whatever crashes, states are of the old code where trials began with its own") {
  std::mt19937_64 random(RandomSeed("reuse"));
  RandomTrials trials(random);
  int begun_with_old = 0;
  for (int round = 0; round < 15; ++round) {
    SimulatedService service({.servers = 2, .slots = 1, .seed = random()});
    const StudyId old = service.CreateStudy("old");
    for (int i = 0; i < 6; ++i) trials.Submit(service, old);
    service.RunToRest();
    service.Install(kNewCode);
    std::vector<TrialId> submitted;
    for (const char* name : {"first", "second"}) {
      const StudyId study = service.AddStudy({.name = name, .reuse = Reuse{.study = old}});
      for (int i = 0; i < 6; ++i) {
        submitted.push_back(trials.Submit(service, study));
        if (trials.Draw(0, 3) == 0) service.RunFor(Seconds(0.3));
        if (trials.Draw(0, 3) == 0) service.CrashAWorker();
        if (trials.Draw(0, 5) == 0) RestartMaster(service);
      }
    }
    service.RunToRest();
    for (const TrialId trial : submitted) begun_with_old += CheckStates(service, trial) ? 1 : 0;
  }
  CHECK(begun_with_old > 15);
}

}  // namespace espalier::master
