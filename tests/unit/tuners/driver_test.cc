#include "client/tuners/driver.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <random>

#include "client/tuners/registry.h"
#include "tests/support/random_seed.h"

namespace espalier::tuners {
namespace {

// A service as far as a driver sees it: takes batches, keeps the study's events, settles claims in any order.
class Service {
 public:
  explicit Service(std::uint64_t seed) : generator_(seed) {}

  const std::vector<StudyEvent>& events() const { return events_; }
  const std::vector<NumberedBatch>& batches() const { return batches_; }

  void Take(const NumberedBatch& next) {
    REQUIRE(next.number == static_cast<std::int64_t>(batches_.size()));
    batches_.push_back(next);
    for (const StartTrial& start : next.batch.new_trials) {
      const TrialId trial{next_id_++};
      events_.emplace_back(TrialSubmitted{trial});
      Claim(trial, start.steps);
      for (const Step more : start.more) Claim(trial, more);
    }
    for (const FurtherClaim& claim : next.batch.claims) Claim(claim.trial, claim.steps);
    events_.emplace_back(BatchTaken{next.number});
    closing_ |= next.batch.finish;
    FinishIfDone();
  }

  // One of the claims that wait. False: none does.
  bool SettleOne() {
    if (waiting_.empty()) return false;
    const std::size_t pick = std::uniform_int_distribution<std::size_t>(0, waiting_.size() - 1)(generator_);
    ClaimSettled settled = waiting_[pick];
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(pick));
    settled.metrics["acc"] = std::fmod(static_cast<double>(settled.trial.value) * 0.37, 1.0);
    events_.emplace_back(settled);
    FinishIfDone();
    return true;
  }

  void AskForWork() { events_.emplace_back(SlotIdle{}); }

 private:
  void Claim(TrialId trial, Step step) {
    const ClaimId claim{next_id_++};
    events_.emplace_back(ClaimMade{claim, trial, step});
    waiting_.push_back({.claim = claim, .trial = trial, .step = step});
  }
  void FinishIfDone() {
    if (closing_ && waiting_.empty()) events_.emplace_back(StudyFinished{});
  }

  std::mt19937_64 generator_;
  std::int64_t next_id_ = 100;
  bool closing_ = false;
  std::vector<StudyEvent> events_;
  std::vector<NumberedBatch> batches_;
  std::vector<ClaimSettled> waiting_;
};

std::unique_ptr<Tuner> TunerOf(const std::string& name) {
  std::vector<Candidate> candidates;
  for (int i = 0; i < 30; ++i) candidates.push_back({{{"lr", "0." + std::to_string(i + 1)}}, std::nullopt});
  if (name == "grid") return MakeTuner("grid", {{"steps", std::int64_t{9}}}, {candidates}).value();
  Options options{{"min", std::int64_t{1}}, {"max", std::int64_t{9}}, {"reduction", std::int64_t{3}}};
  if (name == "asha") options["open_trials"] = std::int64_t{4};
  return MakeTuner(name == "asha by idle slots" ? "asha" : name, options, {candidates}).value();
}

// Plays a study to its end; the driver reads the events with a lag drawn at random.
Service Play(const std::string& name, std::uint64_t seed) {
  Service service(seed);
  std::mt19937_64 generator(seed + 1);
  const std::unique_ptr<Tuner> tuner = TunerOf(name);
  Driver driver(*tuner, "acc", Goal::kMaximize);
  std::size_t read = 0;
  bool asked = false;
  while (!driver.finished()) {
    const bool may_read = read < service.events().size();
    if (may_read && generator() % 3 != 0) {
      driver.OnEvent(service.events()[read++]);
      continue;
    }
    if (const std::optional<NumberedBatch> next = driver.Next()) {
      service.Take(*next);
      asked = false;
      continue;
    }
    if (tuner->AsksForIdleSlots() && !asked && generator() % 2 == 0) {
      service.AskForWork();
      asked = true;
      continue;
    }
    const bool settled = service.SettleOne();
    REQUIRE((settled || may_read || tuner->AsksForIdleSlots()));
    REQUIRE_FALSE(driver.WaitsForNothing());
  }
  CHECK(driver.tuner_finished());
  return service;
}

}  // namespace

TEST_CASE("whoever is given a study's events makes exactly the batches that are stored", "[property]") {
  const std::uint64_t seed = RandomSeed("stored batches");
  for (const char* name : {"grid", "sha", "asha", "asha by idle slots"}) {
    INFO(name);
    const Service service = Play(name, seed);
    const std::unique_ptr<Tuner> tuner = TunerOf(name);
    Driver again(*tuner, "acc", Goal::kMaximize);
    std::vector<NumberedBatch> made;
    for (const StudyEvent& event : service.events()) {
      // A batch is asked for no later than its event says that it is stored.
      while (const std::optional<NumberedBatch> next = again.Next()) made.push_back(*next);
      again.OnEvent(event);
    }
    REQUIRE(made.size() == service.batches().size());
    for (std::size_t i = 0; i < made.size(); ++i) {
      CHECK(made[i].number == service.batches()[i].number);
      CHECK(made[i].batch == service.batches()[i].batch);
    }
    CHECK(again.finished());
  }
}

TEST_CASE("a driver that is started again submits nothing that is stored, and goes on from there", "[property]") {
  const std::uint64_t seed = RandomSeed("drivers started again");
  for (const char* name : {"sha", "asha", "asha by idle slots"}) {
    INFO(name);
    const Service whole = Play(name, seed);
    std::int64_t stored = 0;
    for (std::size_t cut = 0; cut < whole.events().size(); ++cut) {
      const std::unique_ptr<Tuner> tuner = TunerOf(name);
      Driver driver(*tuner, "acc", Goal::kMaximize);
      for (std::size_t i = 0; i < cut; ++i) driver.OnEvent(whole.events()[i]);
      if (cut > 0 && std::holds_alternative<BatchTaken>(whole.events()[cut - 1])) ++stored;
      const std::optional<NumberedBatch> next = driver.Next();
      if (next) CHECK(next->number == stored);
    }
  }
}

TEST_CASE("a claim that is settled again after its stage was retried is no news to the tuner") {
  Service service(1);
  const std::unique_ptr<Tuner> tuner = TunerOf("asha");
  Driver driver(*tuner, "acc", Goal::kMaximize);
  service.Take(*driver.Next());
  service.SettleOne();
  for (const StudyEvent& event : service.events()) driver.OnEvent(event);
  REQUIRE(driver.Next());
  driver.OnEvent(service.events().back());
  CHECK_FALSE(driver.Next());
}

TEST_CASE("a batch that names a trial which has not been heard of is kept until it has") {
  class Impatient : public Tuner {
   public:
    std::vector<Action> Start() override {
      return {StartTrial{{}, Step{1}, Step{1}}, StartTrial{{}, Step{1}, Step{1}}};
    }
    std::vector<Action> OnEvent(const Event&) override { return {CancelTrial{1}, FinishStudy{}}; }
    std::vector<StartTrial> WholeTrials() const override { return {}; }
  };
  Impatient tuner;
  Driver driver(tuner, "acc", Goal::kMinimize);
  REQUIRE(driver.Next());
  driver.OnEvent(TrialSubmitted{TrialId{7}});
  driver.OnEvent(ClaimSettled{.claim = ClaimId{1}, .trial = TrialId{7}, .step = Step{1}, .metrics = {{"acc", 1}}});
  CHECK_FALSE(driver.Next());
  driver.OnEvent(TrialSubmitted{TrialId{9}});
  const std::optional<NumberedBatch> next = driver.Next();
  REQUIRE(next);
  CHECK(next->number == 1);
  CHECK(next->batch.cancel == std::vector<TrialId>{TrialId{9}});
}

TEST_CASE("a slot that would be idle is answered in any case, if only by an empty batch") {
  const std::unique_ptr<Tuner> tuner = TunerOf("asha by idle slots");
  Driver driver(*tuner, "acc", Goal::kMaximize);
  CHECK_FALSE(driver.Next());
  for (int i = 0; i < 30; ++i) {
    driver.OnEvent(SlotIdle{});
    const std::optional<NumberedBatch> next = driver.Next();
    REQUIRE(next);
    CHECK(next->batch.new_trials.size() == 1);
  }
  driver.OnEvent(SlotIdle{});
  const std::optional<NumberedBatch> empty = driver.Next();
  REQUIRE(empty);
  CHECK(empty->batch == Batch{});
  CHECK_FALSE(driver.WaitsForNothing());
}

}  // namespace espalier::tuners
