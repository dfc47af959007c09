// What a study's events tell its tuner: which of its batches were taken, and when a slot would be idle for it.
#include <catch2/catch.hpp>

#include "tests/support/master_by_hand.h"
#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

StudySpecification Asking() {
  StudySpecification specification{.name = "s", .tuner = "asha", .asks_for_idle_slots = true};
  return specification;
}

SubmitBatch BatchOf(StudyId study, std::int64_t number, std::vector<NewTrial> trials = {}) {
  return {.study = study, .new_trials = std::move(trials), .tuner_batch = number};
}

NewTrial TrialOf(const std::string& lr, Step steps = Step{4}) {
  return {.sequences = {{"lr", lr}}, .steps = steps, .horizon = Step{8}};
}

template <class Kind>
std::vector<Kind> EventsOf(const CalledMaster& master, StudyId study) {
  std::vector<Kind> found;
  for (const StudyEvent& event : master.state().events.at(study)) {
    if (const auto* kind = std::get_if<Kind>(&event)) found.push_back(*kind);
  }
  return found;
}

const Error* RefusalBy(const CalledMaster& master) { return std::get_if<Error>(&master.last_reply.answer); }

}  // namespace

TEST_CASE("a tuner's batches are taken in the order of their numbers, each once, and its events say so last") {
  MasterByHand master;
  const StudyId study = master.CreateStudy("s");
  master.Call(BatchOf(study, 1, {TrialOf("0.1")}));
  REQUIRE(RefusalBy(master) != nullptr);
  CHECK(RefusalBy(master)->code == ErrorCode::kFailedPrecondition);
  CHECK(RefusalBy(master)->field == "tuner_batch");
  CHECK(EventsOf<TrialSubmitted>(master, study).empty());

  master.Call(BatchOf(study, 0, {TrialOf("0.1")}), "first");
  master.Call(BatchOf(study, 0, {TrialOf("0.1")}), "first");
  CHECK(RefusalBy(master) == nullptr);
  CHECK(EventsOf<TrialSubmitted>(master, study).size() == 1);
  CHECK(EventsOf<BatchTaken>(master, study) == std::vector<BatchTaken>{{0}});
  CHECK(std::holds_alternative<BatchTaken>(master.state().events.at(study).back()));

  master.Restart();
  master.Call(BatchOf(study, 1));
  CHECK(RefusalBy(master) == nullptr);
  CHECK(EventsOf<BatchTaken>(master, study) == std::vector<BatchTaken>{{0}, {1}});
}

TEST_CASE("a new trial may claim several steps at once, each later than the one before, up to its horizon") {
  MasterByHand master;
  const StudyId study = master.CreateStudy("s");
  const auto submit = [&](std::vector<Step> more) {
    NewTrial trial = TrialOf("0.1");
    trial.more = std::move(more);
    master.Call(SubmitBatch{.study = study, .new_trials = {trial}});
  };
  submit({Step{6}, Step{8}});
  REQUIRE(RefusalBy(master) == nullptr);
  CHECK(std::get<Submitted>(master.last_reply.answer).claims.size() == 3);
  for (const auto& wrong : {std::vector<Step>{Step{4}}, {Step{6}, Step{6}}, {Step{9}}}) {
    submit(wrong);
    REQUIRE(RefusalBy(master) != nullptr);
    CHECK(RefusalBy(master)->field == "trials[0].more_steps");
  }
}

TEST_CASE("a tuner that has not heard yet that a trial was cancelled is told so by what it asks of it") {
  MasterByHand master;
  const StudyId study = master.AddStudy({.name = "s", .tuner = "sha"});
  master.Call(BatchOf(study, 0, {TrialOf("0.1"), TrialOf("0.2")}));
  const std::vector<TrialId> trials = std::get<Submitted>(master.last_reply.answer).trials;
  master.Cancel(trials[0]);
  SECTION("asking for more") {
    SubmitBatch more = BatchOf(study, 1);
    more.claims = {{trials[0], Step{8}}, {trials[1], Step{8}}};
    master.Call(more);
    REQUIRE(RefusalBy(master) == nullptr);
    CHECK(master.LastClaim(trials[0]).state == ClaimState::kCancelled);
    CHECK(master.LastClaim(trials[1]).state == ClaimState::kWaiting);
    const ClaimSettled last = EventsOf<ClaimSettled>(master, study).back();
    CHECK((last.trial == trials[0] && last.step == Step{8} && last.state == ClaimState::kCancelled));
  }
  SECTION("closing it, or cancelling it") {
    SubmitBatch ending = BatchOf(study, 1);
    const bool cancels = GENERATE(true, false);
    (cancels ? ending.cancel : ending.close) = {trials[0]};
    master.Call(ending);
    CHECK(RefusalBy(master) == nullptr);
    CHECK(EventsOf<TrialClosed>(master, study).size() == 1);
  }
}

TEST_CASE("a tuner that wants to know is told of an idle slot once, until it has answered") {
  MasterByHand master(1, 2);
  const StudyId study = master.AddStudy(Asking());
  CHECK(EventsOf<SlotIdle>(master, study).size() == 1);
  master.Handle(Tick{});
  CHECK(EventsOf<SlotIdle>(master, study).size() == 1);

  master.Call(BatchOf(study, 0, {TrialOf("0.1")}));  // takes a slot; the other is idle
  CHECK(EventsOf<SlotIdle>(master, study).size() == 2);
  master.Restart();
  CHECK(EventsOf<SlotIdle>(master, study).size() == 2);
  master.Call(BatchOf(study, 1, {TrialOf("0.2")}));  // no slot is idle
  CHECK(EventsOf<SlotIdle>(master, study).size() == 2);
}

TEST_CASE("a tuner that had nothing to ask for is not told of an idle slot again before a claim is settled") {
  MasterByHand master(1, 2);
  const StudyId study = master.AddStudy(Asking());
  master.Call(BatchOf(study, 0, {TrialOf("0.1")}));
  master.Call(BatchOf(study, 1));
  CHECK(EventsOf<SlotIdle>(master, study).size() == 2);
  master.Handle(Tick{});
  CHECK(EventsOf<SlotIdle>(master, study).size() == 2);
  master.Cancel(EventsOf<TrialSubmitted>(master, study).front().trial);
  CHECK(EventsOf<SlotIdle>(master, study).size() == 3);
}

TEST_CASE("a tuner that had nothing to ask for is asked once more where a claim was settled before its answer came") {
  MasterByHand master(1, 2);
  const StudyId study = master.AddStudy(Asking());
  master.Call(BatchOf(study, 0, {TrialOf("0.1")}));
  REQUIRE(EventsOf<SlotIdle>(master, study).size() == 2);
  master.Cancel(EventsOf<TrialSubmitted>(master, study).front().trial);
  CHECK(EventsOf<SlotIdle>(master, study).size() == 2);
  master.Call(BatchOf(study, 1));
  CHECK(EventsOf<SlotIdle>(master, study).size() == 3);
  master.Call(BatchOf(study, 2));
  CHECK(EventsOf<SlotIdle>(master, study).size() == 3);
}

TEST_CASE("no tuner is told of slots that cannot be its study's, nor when its study takes no more") {
  SECTION("all slots are busy, or lost with their servers") {
    MasterByHand master(1, 1);
    master.Submit(master.CreateStudy("other"), {{"lr", "0.5"}}, 4);
    const StudyId study = master.AddStudy(Asking());
    CHECK(EventsOf<SlotIdle>(master, study).empty());
    master.LoseServers();
    CHECK(EventsOf<SlotIdle>(master, study).empty());
    master.Connect("server-1", 2);
    CHECK(EventsOf<SlotIdle>(master, study).size() == 1);
  }
  SECTION("another kind of study") {
    MasterByHand master(1, 1);
    CHECK(EventsOf<SlotIdle>(master, master.CreateStudy("s")).empty());
  }
  SECTION("the study is closing") {
    MasterByHand master(1, 1);
    const StudyId study = master.AddStudy(Asking());
    master.Call(BatchOf(study, 0, {TrialOf("0.1")}));
    SubmitBatch last = BatchOf(study, 1);
    last.finish = true;
    master.Call(last);
    const std::size_t asked = EventsOf<SlotIdle>(master, study).size();
    master.Cancel(EventsOf<TrialSubmitted>(master, study).front().trial);
    CHECK(EventsOf<SlotIdle>(master, study).size() == asked);
  }
}

}  // namespace espalier::master
