#include "client/client.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <random>
#include <thread>

#include "client/connection.h"
#include "client/space/search_space.h"
#include "client/tuner_driver.h"
#include "client/tuners/registry.h"
#include "tests/support/random_seed.h"
#include "tests/unit/client/learning_master.h"

namespace espalier {
namespace {

std::vector<tuners::Candidate> Candidates(std::size_t count) {
  std::vector<tuners::Candidate> candidates;
  for (std::size_t i = 0; i < count; ++i) {
    candidates.push_back({{{"lr", "0." + std::to_string(100 + i * 37 % count)}}, {}});
  }
  return candidates;
}

std::unique_ptr<tuners::Tuner> Sha(std::size_t count) {
  return std::move(
      *tuners::MakeTuner("sha", {{"min", std::int64_t{2}}, {"max", std::int64_t{18}}, {"reduction", std::int64_t{3}}},
                         {Candidates(count)}));
}

const DriveOptions kByAccuracy{.metric = "test_acc", .goal = Goal::kMaximize, .on_settled = {}};

// Answers every result with a new trial that spells whose result it was: what it does depends on the order of events.
class Chain : public tuners::Tuner {
 public:
  std::vector<tuners::Action> Start() override {
    std::vector<tuners::Action> actions;
    for (; started_ < 8; ++started_) actions.emplace_back(tuners::StartTrial{{{"lr", "1"}}, Step{1}, Step{1}});
    return actions;
  }
  std::vector<tuners::Action> OnEvent(const tuners::Event& happened) override {
    const auto& event = std::get<tuners::ClaimOutcome>(happened);
    std::vector<tuners::Action> actions;
    if (started_ < 100) {
      ++started_;
      actions.emplace_back(tuners::StartTrial{{{"lr", std::to_string(event.trial)}}, Step{1}, Step{1}});
    }
    if (++settled_ == 100) actions.emplace_back(tuners::FinishStudy{});
    return actions;
  }
  std::vector<tuners::StartTrial> WholeTrials() const override { return {}; }

 private:
  std::size_t started_ = 0;
  std::size_t settled_ = 0;
};

// Each request id with the content that it first had; fails the test if a repetition has other content.
std::map<std::string, std::string> ContentByRequestId(const FakeMaster& master) {
  std::map<std::string, std::string> contents;
  for (const v1::SubmitRequest& request : master.submissions()) {
    const auto [it, inserted] = contents.emplace(request.request_id(), request.ShortDebugString());
    CHECK(it->second == request.ShortDebugString());
  }
  return contents;
}

}  // namespace

TEST_CASE("submitted trials give futures of their evaluations, in order of submission") {
  FakeMaster master(Options());
  Client client = Connect(master);
  Study study = Create(client);
  const SearchSpace space{{{"lr", {"0.1", "0.2", "0.3"}}}, {}};
  const auto futures = study.Submit(space.Grid(), {.steps = Step{15}, .horizon = Step{120}}).value();
  WaitAll(futures);
  REQUIRE(futures.size() == 3);
  CHECK(futures[1].Get()->metrics.at("test_acc") == Approx(0.215));
  CHECK(futures[1].Get()->step == Step{15});
  const Result<Future<Evaluation>> later = study.Continue(futures[2].Get()->trial, Step{100});
  CHECK(later->Get()->metrics.at("test_acc") == Approx(0.4));
  CHECK(study.Finish().has_value());
  CHECK(study.WaitUntilFinished().value());
}

TEST_CASE("one trial is evaluated at one step, and asked for no further") {
  FakeMaster master(Options());
  Client client = Connect(master);
  Study study = Create(client);
  const Result<Evaluation> evaluation = study.Eval({{"lr", "0.5"}}, Step{7});
  REQUIRE(evaluation.has_value());
  CHECK(evaluation->step == Step{7});
  CHECK(evaluation->metrics.at("test_acc") == Approx(0.507));
  REQUIRE(master.submissions().size() == 1);
  CHECK(master.submissions()[0].new_trials(0).horizon_steps() == 7);
  CHECK(study.Eval({{"lr", "bad"}}, Step{7})->state == ClaimState::kFailed);
}

TEST_CASE("a failed training is an evaluation that says so, and a cancelled claim too") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  Study study = Create(client);
  const auto futures = study.Submit({{{"lr", "bad"}}, {{"lr", "0.1"}}}, {.steps = Step{1}, .horizon = Step{}}).value();
  master.Settle(0);
  CHECK(futures[0].Get()->state == ClaimState::kFailed);
  CHECK(futures[0].Get()->message == "the training failed");
  CHECK_FALSE(futures[1].Ready());
  CHECK(study.Cancel().has_value());
  CHECK(futures[1].Get()->state == ClaimState::kCancelled);
}

TEST_CASE("a trial that is cancelled alone cancels its own claim and no other") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  Study study = Create(client);
  Batch batch;
  for (const char* lr : {"0.1", "0.2"}) batch.new_trials.push_back({{{"lr", lr}}, Step{1}, Step{1}});
  const BatchAnswer answer = study.SubmitBatch(batch, "first").value();
  CHECK(study.CancelTrials({answer.trials[1]}).has_value());
  CHECK(answer.evaluations[1].Get()->state == ClaimState::kCancelled);
  CHECK_FALSE(answer.evaluations[0].Ready());
  master.Settle(0);
  CHECK(answer.evaluations[0].Get()->state == ClaimState::kDone);
}

TEST_CASE("waiting for any returns the one that was settled first") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  Study study = Create(client);
  const auto futures =
      study.Submit({{{"lr", "0.1"}}, {{"lr", "0.2"}}, {{"lr", "0.3"}}}, {.steps = Step{1}, .horizon = Step{}}).value();
  std::thread settling([&] { master.Settle(2); });
  CHECK(WaitAny(futures) == 2);
  settling.join();
  master.Settle(0);
  futures[0].Wait();
  CHECK(WaitAny(futures) == 2);
  CHECK(WaitAny(std::vector{futures[1], futures[0], futures[2]}) == 2);
  CHECK(WaitAny(std::vector{futures[1], futures[0]}) == 1);
}

TEST_CASE("whoever waits for so long only goes on without what is not settled by then") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  Study study = Create(client);
  const auto futures = study.Submit({{{"lr", "0.1"}}, {{"lr", "0.2"}}}, {.steps = Step{1}, .horizon = Step{}}).value();
  CHECK_FALSE(futures[0].WaitFor(Seconds{0.001}));
  CHECK_FALSE(WaitAny(futures, Seconds{0}).has_value());
  CHECK_FALSE(WaitAll(futures, Seconds{0.001}));
  master.Settle(1);
  CHECK(WaitAny(futures, Seconds{60}) == 1);
  CHECK_FALSE(WaitAll(futures, Seconds{0.001}));
  master.Settle(0);
  CHECK(WaitAll(futures, Seconds::max()));
  CHECK(futures[0].WaitFor(Seconds{0}));
}

TEST_CASE("a callback is called once, and may ask for more of the study") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  Study study = Create(client);
  const auto futures = study.Submit({{{"lr", "0.1"}}}, {.steps = Step{1}, .horizon = Step{9}}).value();
  Promise<double> told;
  std::atomic<int> calls = 0;
  futures[0].OnSettled([&](const Result<Evaluation>& first) {
    ++calls;
    study.Continue(first->trial, Step{9})->OnSettled([&](const Result<Evaluation>& second) {
      told.Settle(second->metrics.at("test_acc"), 0);
    });
  });
  CHECK(calls == 0);
  master.Settle(0);
  master.WaitForWaitingClaims(1);
  master.Settle(0);
  CHECK(told.future().Get() == Approx(0.109));
  CHECK(calls == 1);
  futures[0].OnSettled([&](const Result<Evaluation>& first) { calls += first.has_value() ? 10 : 0; });
  CHECK(calls == 11);  // settled already: called at once
}

TEST_CASE("callbacks of futures that a study lets go are told so") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  std::optional<Study> study = Create(client);
  const auto futures = study->Submit({{{"lr", "0.1"}}}, {.steps = Step{1}, .horizon = Step{}}).value();
  std::optional<ErrorCode> told;
  futures[0].OnSettled([&](const Result<Evaluation>& evaluation) { told = evaluation.error().code; });
  study.reset();
  CHECK(told == ErrorCode::kAborted);
  CHECK(futures[0].Cancel().has_value());
}

TEST_CASE("a callback may hold the last copy of its study") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  std::optional<Study> study = Create(client);
  const auto futures = study->Submit({{{"lr", "0.1"}}, {{"lr", "0.2"}}}, {.steps = Step{1}, .horizon = Step{}}).value();
  futures[0].OnSettled([last = *study](const Result<Evaluation>&) { static_cast<void>(last.id()); });
  study.reset();
  CHECK_FALSE(futures[1].Ready());
  master.Settle(0);
  CHECK(futures[1].Get().error().code == ErrorCode::kAborted);
}

TEST_CASE("a future that is cancelled withdraws its own trial, and what is settled stays") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  Study study = Create(client);
  Batch batch;
  batch.new_trials.push_back({{{"lr", "0.1"}}, Step{1}, Step{9}, {Step{2}}});
  batch.new_trials.push_back({{{"lr", "0.2"}}, Step{1}, Step{9}});
  const std::vector<Future<Evaluation>> futures = study.SubmitBatch(batch, "first").value().evaluations;
  REQUIRE(futures.size() == 3);
  CHECK(futures[1].Cancel().has_value());
  CHECK(futures[0].Get()->state == ClaimState::kCancelled);
  CHECK(futures[1].Get()->state == ClaimState::kCancelled);
  CHECK_FALSE(futures[2].Ready());
  master.Settle(0);
  CHECK(futures[2].Get()->state == ClaimState::kDone);
  CHECK(futures[2].Cancel().has_value());
  CHECK(futures[2].Get()->state == ClaimState::kDone);
}

TEST_CASE("an attempt past its deadline counts as a master that is away") {
  FakeMaster master(Options());
  RetryPolicy policy = kQuick;
  policy.attempt_deadline = Seconds{0.02};
  policy.call_patience = Seconds{0};
  Client client = Client::Connect(master.address(), policy).value();
  const auto frozen = master.Freeze();
  const Result<Study> study = client.CreateStudy({.name = "late", .trainer = "mlp", .metric = "test_acc"});
  REQUIRE_FALSE(study.has_value());
  CHECK(study.error().code == ErrorCode::kUnavailable);
  CHECK_THAT(study.error().message, Catch::Contains("Deadline Exceeded"));  // and not what pings without an answer find
}

TEST_CASE("a call that finds the master away is repeated with the same request id") {
  FakeMaster master(Options());
  Client client = Connect(master);
  const FakeMaster::Fault fault = GENERATE(FakeMaster::Fault::kBefore, FakeMaster::Fault::kAfter);
  master.FailNext(3, fault);
  Study study = Create(client);
  REQUIRE(master.creations().size() == 4);
  for (const v1::CreateStudyRequest& request : master.creations()) {
    CHECK(request.ShortDebugString() == master.creations().front().ShortDebugString());
  }
  CHECK(study.id() == StudyId{1});
  master.FailNext(3, fault);
  const auto futures = study.Submit({{{"lr", "0.5"}}}, {.steps = Step{1}, .horizon = Step{}}).value();
  REQUIRE(master.submissions().size() == 4);
  CHECK(ContentByRequestId(master).size() == 1);
  CHECK(futures[0].Get()->trial == TrialId{2});  // one trial was made, not four
}

TEST_CASE("a broken stream is read on from the next event") {
  FakeMasterOptions options = Options();
  options.events_per_stream = 2;
  FakeMaster master(options);
  Client client = Connect(master);
  Study study = Create(client);
  const SearchSpace space{{{"lr", {"0.1", "0.2", "0.3", "0.4"}}}, {}};
  const auto futures = study.Submit(space.Grid(), {.steps = Step{15}, .horizon = Step{120}}).value();
  WaitAll(futures);
  CHECK(futures[3].Get()->metrics.at("test_acc") == Approx(0.415));
}

TEST_CASE("a client that was connected outlives the master's restart") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  Study study = Create(client);
  const auto futures = study.Submit({{{"lr", "0.1"}}}, {.steps = Step{1}, .horizon = Step{}}).value();
  master.Stop();
  master.Settle(0);
  std::thread serving([&] { master.Serve(); });
  CHECK(study.Submit({{{"lr", "0.2"}}}, {.steps = Step{1}, .horizon = Step{}}).has_value());
  serving.join();
  CHECK(futures[0].Get()->metrics.at("test_acc") == Approx(0.101));
}

TEST_CASE(
    "a master that stays away is given up when the policy's patience ends, by calls and by who waits for events") {
  FakeMaster master(ByHand());
  const RetryPolicy policy{
      .call_patience = Seconds{0.2}, .first_pause = Seconds{0.001}, .longest_pause = Seconds{0.01}};
  Client client = Client::Connect(master.address(), policy).value();
  Study study = Create(client);
  const auto futures = study.Submit({{{"lr", "0.1"}}}, {.steps = Step{1}, .horizon = Step{}}).value();
  master.WaitForWaitingClaims(1);
  master.Stop();
  for (const Error& error : {futures[0].Get().error(), study.Finish().error(), study.WaitUntilFinished().error()}) {
    CHECK(error.code == ErrorCode::kUnavailable);
    CHECK_THAT(error.message, Catch::StartsWith("the server does not answer (") &&
                                  Catch::EndsWith("); start it again with: espalier up"));
  }
}

TEST_CASE("a reader of events says once that they are lost") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  Study study = Create(client);
  CHECK(study.Submit({{{"lr", "0.1"}}}, {.steps = Step{1}, .horizon = Step{}}).has_value());
  int lost = 0;
  EventReader reader(client.connection(), study.id(), false, [&] { ++lost; });
  CHECK(reader.Next().has_value());
  CHECK(lost == 0);
  master.Stop();
  master.Settle(0);
  std::thread serving([&] { master.Serve(); });
  CHECK(study.Finish().has_value());
  for (bool finished = false; !finished;) {
    const Result<EventsRead> read = reader.Next();
    REQUIRE(read.has_value());
    for (const StudyEvent& event : read->events) finished |= std::holds_alternative<StudyFinished>(event);
  }
  CHECK(lost == 1);
  serving.join();
}

TEST_CASE("a reader of events is told that the database was restored") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  Study study = Create(client);
  CHECK(study.Submit({{{"lr", "0.1"}}}, {.steps = Step{1}, .horizon = Step{}}).has_value());
  EventReader reader(client.connection(), study.id());
  REQUIRE_FALSE(reader.Next().value().events.empty());
  master.HappenAgain(study.id().value);
  master.Stop();
  std::thread serving([&] { master.Serve(); });
  Result<EventsRead> read = reader.Next();
  while (read.has_value()) read = reader.Next();
  CHECK(read.error().code == ErrorCode::kFailedPrecondition);
  serving.join();
}

TEST_CASE("nobody at the address is unavailable, and so is a file that holds none") {
  const Result<Client> client =
      Client::Connect("unix:" + SocketPath(), RetryPolicy{.first_connection_patience = Seconds{0.05}});
  REQUIRE_FALSE(client.has_value());
  CHECK(client.error().code == ErrorCode::kUnavailable);
  CHECK(ReadServerAddress("/nonexistent/address").error().code == ErrorCode::kUnavailable);
}

TEST_CASE("the master's refusals keep their code and field, and are not repeated") {
  FakeMaster master(Options());
  Client client = Connect(master);
  Study study = Create(client);
  const auto refused = study.Submit({{{"lr", "0.1"}}}, {.steps = Step{5}, .horizon = Step{3}});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kInvalidArgument);
  CHECK(refused.error().field == "trials[0].horizon_steps");
  CHECK(master.submissions().size() == 1);
  Study unknown = client.OpenStudy(StudyId{77});
  CHECK(unknown.WaitUntilFinished().error().code == ErrorCode::kNotFound);
}

TEST_CASE("futures of a study that is let go settle with an error") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  std::optional<Study> study = Create(client);
  const auto futures = study->Submit({{{"lr", "0.1"}}}, {.steps = Step{1}, .horizon = Step{}}).value();
  study.reset();
  CHECK(futures[0].Get().error().code == ErrorCode::kAborted);
}

TEST_CASE("the grid is row-major in the order of the lists as written") {
  const SearchSpace space{{{"a", {"0", "10", "20"}}, {"b", {"0", "5", "10"}}}, {{"c", "1"}}};
  const std::vector<TrialText> grid = space.Grid();
  REQUIRE(grid.size() == 9);
  CHECK(grid[0] == TrialText{{"a", "0"}, {"b", "0"}, {"c", "1"}});
  CHECK(grid[1] == TrialText{{"a", "0"}, {"b", "5"}, {"c", "1"}});
  CHECK(grid[2] == TrialText{{"a", "0"}, {"b", "10"}, {"c", "1"}});
  CHECK(grid[3] == TrialText{{"a", "10"}, {"b", "0"}, {"c", "1"}});
}

TEST_CASE("the driver takes a study of successive halving to its end, one batch a decision") {
  FakeMaster master(Options());
  Client client = Connect(master);
  Study study = Create(client);
  std::size_t settled = 0;
  DriveOptions options = kByAccuracy;
  options.on_settled = [&](std::size_t, const Evaluation&) { ++settled; };
  const Result<DriveReport> report = Drive(*Sha(20), client.connection(), study.id(), options);
  REQUIRE(report.has_value());
  CHECK(report->trial_count == 20);
  CHECK(report->batch_count == 4);  // 20, 6, 2 trials, the end
  CHECK(settled == 28);
  const auto contents = ContentByRequestId(master);
  REQUIRE(contents.size() == 4);
  for (int k = 0; k < 4; ++k) CHECK(contents.contains("1/" + std::to_string(k)));
}

TEST_CASE("drivers of one study make the same batches, whatever the order of arrival", "[property]") {
  const std::uint64_t seed = RandomSeed("drivers of one study");
  std::mt19937_64 generator(seed);
  const bool chain = GENERATE(false, true);
  FakeMaster master(ByHand());
  std::vector<std::optional<Result<DriveReport>>> reports(3);
  std::vector<std::thread> drivers;
  std::atomic<std::size_t> driving = reports.size();
  for (std::optional<Result<DriveReport>>& report : reports) {
    Client client = Connect(master);
    drivers.emplace_back([&report, &driving, chain, client, study = Create(client)]() mutable {
      const std::unique_ptr<tuners::Tuner> tuner = chain ? std::unique_ptr<tuners::Tuner>(new Chain) : Sha(30);
      report = Drive(*tuner, client.connection(), study.id(), kByAccuracy);
      --driving;
    });
  }
  while (driving > 0) {
    if (!master.Settle(generator())) std::this_thread::yield();
  }
  for (std::thread& driver : drivers) driver.join();
  for (const std::optional<Result<DriveReport>>& report : reports) {
    REQUIRE(report->has_value());
    CHECK_FALSE((*report)->cancelled);
    CHECK((*report)->batch_count == (*reports[0])->batch_count);
  }
  CHECK(std::ssize(ContentByRequestId(master)) == (*reports[0])->batch_count);
}

TEST_CASE("a driver that was killed anywhere and is started again makes the same batches and goes on") {
  struct Killed {};
  const std::size_t killed_at = GENERATE(1, 29, 30, 31, 39, 40, 42);  // 30, 10, 3 claims a rung
  FakeMaster master(Options());
  Client client = Connect(master);
  {
    Study study = Create(client);
    std::size_t settled = 0;
    DriveOptions options = kByAccuracy;
    options.on_settled = [&](std::size_t, const Evaluation&) {
      if (++settled == killed_at) throw Killed{};
    };
    CHECK_THROWS_AS(Drive(*Sha(30), client.connection(), study.id(), options), Killed);
  }
  Client next_client = Connect(master);
  Study study = Create(next_client);
  CHECK(study.attached());
  const Result<DriveReport> report = Drive(*Sha(30), client.connection(), study.id(), kByAccuracy);
  REQUIRE(report.has_value());
  CHECK(report->trial_count == 30);
  CHECK(report->batch_count == 4);
  CHECK(ContentByRequestId(master).size() == 4);
}

TEST_CASE("a driver that died between a batch's commit and its answer gets the first answer when started again") {
  FakeMaster master(Options());
  RetryPolicy impatient = kQuick;
  impatient.call_patience = Seconds{0};
  Client client = Client::Connect(master.address(), impatient).value();
  Study study = Create(client);
  master.FailNext(1, FakeMaster::Fault::kAfter);
  CHECK(Drive(*Sha(9), client.connection(), study.id(), kByAccuracy).error().code == ErrorCode::kUnavailable);
  const Result<DriveReport> report = Drive(*Sha(9), client.connection(), study.id(), kByAccuracy);
  REQUIRE(report.has_value());
  CHECK(report->trial_count == 9);
  CHECK(std::ssize(ContentByRequestId(master)) == report->batch_count);
}

TEST_CASE("a study that somebody cancels ends its driver without an error") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  Study study = Create(client);
  std::optional<Result<DriveReport>> report;
  std::thread driver([&] { report = Drive(*Sha(9), client.connection(), study.id(), kByAccuracy); });
  master.WaitForWaitingClaims(9);
  CHECK(client.OpenStudy(study.id()).Cancel().has_value());
  driver.join();
  REQUIRE(report->has_value());
  CHECK((*report)->cancelled);
}

}  // namespace espalier
