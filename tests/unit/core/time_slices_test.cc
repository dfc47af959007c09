// Policies that let trainings take turns (scheduler/time_slices.h), in a whole master.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "tests/support/random_seed.h"
#include "tests/support/rounds.h"
#include "tests/support/without_memory.h"

namespace espalier::master {
namespace {

// Slices are a hundred steps long.
constexpr std::int64_t kHorizon = 450;

}  // namespace

TEST_CASE("trainings take turns, and what is remembered of them stands on them") {
  const std::uint64_t seed = RandomSeed("time_slices_test");
  INFO("seed " << seed);
  const int rounds = Rounds(8);
  int interrupted = 0;
  for (std::uint64_t each = seed; each < seed + rounds; ++each) {
    std::mt19937_64 random(each);
    const auto below = [&](std::uint64_t count) { return static_cast<std::int64_t>(random() % count); };
    const std::string policy = std::array{"hermes", "slaq", "round_robin", "hermes_pinned"}[each % 4];
    CAPTURE(policy, each);
    std::vector<std::string> trials;
    for (int i = 0; i < 12; ++i) {
      const auto rate = [&] { return "0." + std::to_string(1 + below(3)); };
      trials.push_back("Piecewise([" + rate() + ", " + rate() + "], [" + std::to_string(50 + 100 * below(3)) + "])");
    }
    const auto all =
        CheckSameWithoutMemory({.slots = 3, .policy = policy, .seed = each}, [&](SimulatedService& service) {
          const StudyId study = service.AddStudy({.name = "study"});
          for (const std::string& lr : trials) {
            service.Submit(study, {{"lr", lr}}, kHorizon);
            service.RunFor(Seconds(5));
          }
        });
    for (const auto& [id, trial] : all->state().trials) CHECK((!trial.label || trial.label->policy == policy));
    for (const auto& [id, ordered] : all->state().runs) interrupted += ordered.preempt ? 1 : 0;
  }
  CHECK(interrupted >= 2 * rounds);
}

TEST_CASE("no more than four trainings a slot have begun, also while states are on their way to the store") {
  const std::string policy = GENERATE("round_robin", "hermes_pinned");
  CAPTURE(policy);
  sim::Durations durations = kShort;
  durations.upload = Seconds(2);
  durations.train = Seconds(1);
  SimulatedService service({.slots = 1, .policy = policy, .durations = durations});
  const StudyId study = service.AddStudy({.name = "study"});
  for (int i = 1; i <= 7; ++i) service.Submit(study, {{"lr", "0.0" + std::to_string(i)}}, 200);
  const auto count = [&](ClaimState state) {
    std::set<PlanNodeId> begun;
    for (const auto& [id, run] : service.state().runs) begun.insert(run.path.back().node);
    return std::ranges::count_if(service.state().trials, [&](const auto& entry) {
      const Trial& trial = entry.second;
      const SearchPlan& plan = service.state().plans.at(trial.plan);
      return plan.claims.at(trial.claims.back()).state == state && begun.contains(trial.leaf);
    });
  };
  std::int64_t most = 0;
  service.RunUntil([&] {
    most = std::max(most, count(ClaimState::kWaiting));
    return count(ClaimState::kDone) == 7;
  });
  CHECK(most == 4);
}

TEST_CASE("critical path makes room for a much longer path that would else be the last") {
  const std::string policy = GENERATE("critical_path", "critical_path_not_preempting");
  SimulatedService service({.slots = 2, .policy = policy});
  const StudyId study = service.AddStudy({.name = "study"});
  for (const char* lr : {"0.1", "0.4"}) service.Submit(study, {{"lr", lr}}, 300);
  service.RunFor(Seconds(5));
  service.Submit(study, {{"lr", "0.2"}}, 3000);
  service.Submit(study, {{"lr", "0.5"}}, 305);
  service.RunFor(Seconds(5));
  CHECK(service.state().runs.at(RunId{1}).preempt == (policy == "critical_path"));
}

TEST_CASE("critical path lets a run end while there is time for the longer path, and still ends as early as can be") {
  SimulatedService service({.slots = 2});
  const StudyId study = service.AddStudy({.name = "study"});
  for (const char* lr : {"0.1", "0.4"}) service.Submit(study, {{"lr", lr}}, 300);
  service.RunFor(Seconds(5));
  for (const char* lr : {"0.2", "0.3", "0.5"}) service.Submit(study, {{"lr", lr}}, 3000);
  const Seconds least = kShort.train * (2 * 300 + 3 * 3000) / 2.0;
  service.RunFor(1.1 * least);  // the three take turns: one after the other two would be a third more
  CHECK_FALSE(service.state().runs.at(RunId{1}).preempt);
  for (const auto& [id, claim] : service.state().plans.begin()->second.claims) {
    CHECK(claim.state == ClaimState::kDone);
  }
}

TEST_CASE("critical path makes no room before a step of such a training was measured") {
  sim::Durations durations = kShort;
  durations.train = Seconds(20);
  SimulatedService service({.slots = 2, .durations = durations});
  const StudyId study = service.AddStudy({.name = "study"});
  for (const char* lr : {"0.1", "0.4"}) service.Submit(study, {{"lr", lr}}, 300);
  service.RunFor(Seconds(2));
  for (const char* lr : {"0.2", "0.3"}) service.Submit(study, {{"lr", lr}}, 3000);
  service.RunFor(Seconds(10));
  CHECK_FALSE(service.state().runs.at(RunId{1}).preempt);
  service.RunFor(Seconds(40));
  CHECK(service.state().runs.at(RunId{1}).preempt);
}

TEST_CASE("a pinned training goes on where it was, and elsewhere if that server is gone") {
  SimulatedService service({.servers = 2, .slots = 1, .policy = "hermes_pinned"});
  const StudyId study = service.AddStudy({.name = "study"});
  std::vector<TrialId> trials;
  for (int i = 1; i <= 6; ++i) {
    trials.push_back(service.Submit(study, {{"lr", "0.0" + std::to_string(i)}}, kHorizon));
  }
  const auto servers_of = [&](TrialId trial) {
    std::set<std::string> servers;
    for (const auto& [id, run] : service.state().runs) {
      if (run.path.back().node == service.state().trials.at(trial).leaf) servers.insert(run.slot.server);
    }
    return servers;
  };
  const bool drains = GENERATE(false, true);
  service.RunUntil([&] { return service.state().runs.size() > 6; });
  if (drains) service.Call(DrainServer{.server = "server-0"});
  service.RunToRest();
  std::map<std::string, int> alone;
  for (const TrialId trial : trials) {
    const std::set<std::string> servers = servers_of(trial);
    if (servers.size() == 1) ++alone[*servers.begin()];
  }
  if (drains) {
    CHECK(alone["server-1"] == 3);
    CHECK(alone["server-0"] == 0);
  } else {
    CHECK(alone == std::map<std::string, int>{{"server-0", 3}, {"server-1", 3}});
  }
}

TEST_CASE("what a server had that was away goes on there, whatever the policy remembers") {
  const auto seed = RandomSeed("time_slices_away");
  INFO("seed " << seed);
  for (std::uint64_t each = seed; each < seed + Rounds(6); ++each) {
    CAPTURE(each);
    CheckSameWithoutMemory({.servers = 2, .slots = 2, .policy = "hermes_pinned", .seed = each},
                           [&](SimulatedService& service) {
                             std::mt19937_64 draw(each);
                             const StudyId study = service.AddStudy({.name = "study"});
                             for (int i = 1; i <= 14; ++i)
                               service.Submit(study, {{"lr", "0.0" + std::to_string(i)}}, kHorizon);
                             for (int i = 0; i < 6; ++i) {
                               const std::string server = "server-" + std::to_string(draw() % 2);
                               service.RunFor(Seconds(static_cast<double>(5 + draw() % 30)));
                               service.Call(DrainServer{.server = server});
                               service.RunFor(Seconds(static_cast<double>(draw() % 20)));
                               service.Call(DrainServer{.server = server, .off = true});
                             }
                           });
  }
}

}  // namespace espalier::master
