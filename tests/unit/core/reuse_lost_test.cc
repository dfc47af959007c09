// The files of states that other code left, and that studies begin with: kept, evicted, lost.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

constexpr std::int64_t kStateBytes = 100;  // as ServerByHand stores them

// A finished study of the old code with one trial, whose state at step 20 is in the file "old"; then the server offers
// the new code, and a study begins with that state.
struct BegunWithOld : ServerByHand {
  BegunWithOld() : ServerByHand(1, {.name = "old", .keep = Keep::kNone}) {
    Submit(study, {{"lr", "0.1"}}, 20);
    Finish(study);
    Complete(Last(), "old");
    Offers(sim::OfferOf(2, 0));
    reusing = AddStudy({.name = "new", .keep = Keep::kNone, .reuse = Reuse{.study = study}});
  }

  void Offers(const Offer& offer) {
    const Server& server = state().servers.at(servers[0].name);
    Handle(NodeMessage{.session = servers[0].session,
                       .registration = Registration{.server = server.name,
                                                    .incarnation = server.incarnation,
                                                    .devices = server.devices,
                                                    .offers = {{offer, "simulated"}}}});
  }
  std::vector<std::string> Stored() const {
    std::vector<std::string> files;
    for (const auto& [id, plan] : state().plans) {
      for (const auto& [node, content] : plan.nodes) {
        for (const auto& [step, checkpoint] : content.results->checkpoints) files.push_back(checkpoint.file);
      }
    }
    std::ranges::sort(files);
    return files;
  }
  Point BeginningOfTrial(TrialId trial) const {
    const Trial& its = state().trials.at(trial);
    return PointOn(state().plans.at(its.plan), its.leaf, Step{20});
  }

  StudyId reusing;
};

}  // namespace

TEST_CASE("the state that a running study begins with is not evicted; once the study is finished it is, for all") {
  BegunWithOld of;
  const TrialId trial = of.Submit(of.reusing, {{"lr", "0.1"}}, 30);
  CHECK(of.Last().start_file == "old");
  CHECK(of.state().index.cache.bytes() == kStateBytes);
  of.Complete(of.Last(), "new");
  of.reactor_settings.checkpoint_bytes = kStateBytes;
  of.Handle(Tick{});
  CHECK(of.Stored() == std::vector<std::string>{"old", "old"});  // where it is, and where the plan begins with it
  of.reactor_settings.checkpoint_bytes = 1;
  of.Finish(of.reusing);
  of.Handle(Tick{});
  CHECK(of.Stored().empty());
  CHECK(of.state().plans.at(of.state().trials.at(trial).plan).FindStateDigest(of.BeginningOfTrial(trial)) != nullptr);
  of.Restart();
  CHECK(of.Stored().empty());
}

TEST_CASE(
    "a file that a run cannot begin with is gone for all that begin with it; what waits for it fails, saying so") {
  BegunWithOld of;
  const TrialId trial = of.Submit(of.reusing, {{"lr", "0.1"}}, 30);
  const TrialId beside = of.Submit(of.reusing, {{"lr", "0.2"}}, 10);
  const Run run = of.Last();
  REQUIRE(run.start_file == "old");
  of.Report(run, StartUnusable{.point = *run.start, .file = "old", .why = "not there"});
  of.End(run, Step{20});
  CHECK(of.Stored().empty());
  CHECK(of.LastClaim(trial).state == ClaimState::kFailed);
  CHECK(of.LastClaim(beside).state == ClaimState::kWaiting);
  const auto& events = of.state().events.at(of.reusing);
  const auto failed = std::ranges::find_if(events, [](const StudyEvent& event) {
    const auto* settled = std::get_if<ClaimSettled>(&event);
    return settled != nullptr && settled->state == ClaimState::kFailed;
  });
  REQUIRE(failed != events.end());
  const std::string& why = std::get<ClaimSettled>(*failed).message;
  INFO(why);
  CHECK(why.find("a state that other code left") != std::string::npos);
  CHECK(why.find("code-1") != std::string::npos);
  CHECK(why.find("stage retry " + std::to_string(of.BeginningOfTrial(trial).node.value) + "@20") != std::string::npos);

  SECTION("and again, as long as it is gone") {
    of.Call(RetryStage{of.BeginningOfTrial(trial)});
    CHECK(of.LastClaim(trial).state == ClaimState::kFailed);
  }
  SECTION("once the old code has trained it again, it is begun with, if it is retried") {
    of.Complete(of.Last(), "beside");
    of.Offers(kSimulated);
    const TrialId old = of.state().trials_by_study.at(of.study).front();
    of.Call(ContinueTrial{.trial = old,
                          .name = "once more",
                          .definition = "{}",
                          .continuations = {{.steps = Step{20}, .from_step = Step{0}, .sequences = {}}},
                          .state_wanted = true});
    const Run again = of.Last();
    of.Store(again, {again.path.back().node, Step{20}}, "old again");
    of.End(again, Step{20});
    of.Offers(sim::OfferOf(2, 0));
    of.Restart();
    of.Offers(sim::OfferOf(2, 0));
    of.Call(RetryStage{of.BeginningOfTrial(trial)});
    CHECK(of.LastClaim(trial).state == ClaimState::kWaiting);
    CHECK(of.Last().start_file == "old again");
    of.Complete(of.Last(), "new");
    CHECK(of.LastClaim(trial).state == ClaimState::kDone);
  }
}

TEST_CASE("a trial that has states of its own goes on from them, whatever has become of the one that it began with") {
  BegunWithOld of;
  const TrialId trial = of.Submit(of.reusing, {{"lr", "0.1"}}, 30, 50);
  const Run run = of.Last();
  of.Report(run, StartUnusable{.point = *run.start, .file = "other", .why = "not that file"});
  CHECK(of.Stored() == std::vector<std::string>{"old", "old"});
  of.Complete(of.Last(), "new");
  of.Report(run, StartUnusable{.point = *run.start, .file = "old", .why = "not there"});
  of.Claim(trial, 50);
  CHECK(of.LastClaim(trial).state == ClaimState::kWaiting);
  CHECK(of.Last().start_file == "new");
}

}  // namespace espalier::master
