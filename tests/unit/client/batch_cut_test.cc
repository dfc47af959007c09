// Batches that are larger than a master takes at once.
#include "client/tuners/batch_cut.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "client/client.h"
#include "client/connection.h"
#include "client/tuner_driver.h"
#include "searchplan/sequence/joint_segment_count.h"
#include "tests/support/fake_master.h"
#include "tests/unit/client/learning_master.h"

namespace espalier {
namespace {

using testing::FakeMaster;

constexpr int kSegments = 750;  // of a trial
constexpr std::size_t kTrials = 20;
constexpr std::size_t kPartTrials = 6;  // of so many segments make a part: 4,500

// The `index`-th of so many segments up to step `kSegments`.
tuners::StartTrial LargeTrial(std::size_t index, int segments = kSegments) {
  std::string steps = "1";
  for (int i = 2; i < segments; ++i) steps += "," + std::to_string(i);
  return {
      {{"lr", "MultiStep(0." + std::to_string(100 + index) + ", [" + steps + "], 0.999)"}}, Step{1}, Step{segments}};
}

std::size_t SegmentsOf(const std::vector<tuners::StartTrial>& trials) {
  JointSegmentCounter counter;
  std::size_t segments = 0;
  for (const tuners::StartTrial& trial : trials) segments += counter.Count(trial.sequences, trial.horizon);
  return segments;
}

// Starts large trials, closes the study once they are settled.
class Large : public tuners::Tuner {
 public:
  std::vector<tuners::Action> Start() override {
    std::vector<tuners::Action> actions;
    for (std::size_t i = 0; i < kTrials; ++i) actions.emplace_back(LargeTrial(i));
    return actions;
  }
  std::vector<tuners::Action> OnEvent(const tuners::Event&) override {
    if (++settled_ < kTrials) return {};
    return {tuners::FinishStudy{}};
  }
  std::vector<tuners::StartTrial> WholeTrials() const override { return {}; }

 private:
  std::size_t settled_ = 0;
};

struct World {
  explicit World(Seconds patience = Seconds::max()) {
    client = Client::Connect(master.address(), {.call_patience = patience, .first_pause = Seconds{0.001}}).value();
    study = Create(*client, "large");
  }

  std::vector<std::string> RequestIds() const {
    std::vector<std::string> ids;
    for (const v1::SubmitRequest& request : master.submissions()) ids.push_back(request.request_id());
    return ids;
  }

  FakeMaster master{
      {.socket_path = std::filesystem::temp_directory_path() / ("espalier-cut-" + std::to_string(getpid())),
       .train =
           [](const auto&, std::int64_t) {
             return testing::Metrics{{"test_acc", 0.5}};
           },
       .trainers = {}}};
  std::optional<Client> client;
  std::optional<Study> study;
};

const DriveOptions kAccuracy{.metric = "test_acc", .goal = Goal::kMaximize, .on_settled = {}};

}  // namespace

TEST_CASE("a batch that a master takes at once is not cut") {
  Batch batch{.claims = {{TrialId{1}, Step{2}}}, .close = {TrialId{2}}, .cancel = {TrialId{3}}, .finish = true};
  for (std::size_t i = 0; i < kPartTrials; ++i) batch.new_trials.push_back(LargeTrial(i));
  const std::vector<Batch> parts = CutBatch(batch);
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].new_trials == batch.new_trials);
  CHECK(parts[0].claims.size() == 1);
  CHECK(parts[0].close == batch.close);
  CHECK(parts[0].cancel == batch.cancel);
  CHECK(parts[0].finish);
  CHECK(CutBatch(Batch{}).size() == 1);
}

TEST_CASE("a large batch is cut into parts that a master takes, in order, and finishes with the last") {
  Batch batch{.finish = true};
  for (std::size_t i = 0; i < kTrials; ++i) batch.new_trials.push_back(LargeTrial(i));
  for (std::int64_t i = 0; i < 30'000; ++i) batch.claims.push_back({TrialId{i}, Step{1}});
  for (std::int64_t i = 0; i < 30'000; ++i) batch.close.push_back(TrialId{i});
  batch.cancel.push_back(TrialId{7});
  const std::vector<Batch> parts = CutBatch(batch);
  Batch whole;
  for (const Batch& part : parts) {
    CHECK(SegmentsOf(part.new_trials) + part.claims.size() + part.close.size() + part.cancel.size() <=
          kBatchSegmentsMax);
    whole.new_trials.insert(whole.new_trials.end(), part.new_trials.begin(), part.new_trials.end());
    for (const FurtherClaim& claim : part.claims) whole.claims.push_back(claim);
    whole.close.insert(whole.close.end(), part.close.begin(), part.close.end());
    whole.cancel.insert(whole.cancel.end(), part.cancel.begin(), part.cancel.end());
    CHECK(part.finish == (&part == &parts.back()));
  }
  CHECK(whole.new_trials == batch.new_trials);
  CHECK(whole.claims.size() == batch.claims.size());
  CHECK(whole.claims.back().trial == TrialId{29'999});
  CHECK(whole.close == batch.close);
  CHECK(whole.cancel == batch.cancel);
}

TEST_CASE("what new trials claim at once counts, too") {
  Batch batch;
  for (std::size_t i = 0; i < 100; ++i) {
    batch.new_trials.push_back({.sequences = {{"lr", "0.1"}}, .steps = Step{1}, .horizon = Step{1000}});
    for (std::int64_t step = 2; step <= 1000; ++step) batch.new_trials.back().more.push_back(Step{step});
  }
  CHECK(CutBatch(batch).size() == 20);
}

TEST_CASE("a trial larger than a batch goes alone, and so does one of much text") {
  const std::vector<Batch> parts =
      CutBatch({.new_trials = {LargeTrial(0, 30'000), LargeTrial(1, 10), LargeTrial(2, 30'000)}});
  REQUIRE(parts.size() == 3);
  for (const Batch& part : parts) CHECK(part.new_trials.size() == 1);
  const tuners::StartTrial wordy{{{"note", "\"" + std::string(std::size_t{5} << 20, 'x') + "\""}}, Step{1}, Step{1}};
  CHECK(CutBatch({.new_trials = {wordy, wordy}}).size() == 2);
}

TEST_CASE("a refusal names the place in the whole batch") {
  const std::vector<Batch> parts = {{.new_trials = {LargeTrial(0, 2), LargeTrial(1, 2)}},
                                    {.new_trials = {LargeTrial(2, 2)}, .claims = {{TrialId{1}, Step{1}}}},
                                    {.claims = {{TrialId{2}, Step{1}}}}};
  const auto field = [&](const char* of_part, std::size_t before) {
    return InWholeBatch({.field = of_part}, parts, before).field;
  };
  CHECK(field("trials[0].lr", 1) == "trials[2].lr");
  CHECK(field("trials[0].lr", 0) == "trials[0].lr");
  CHECK(field("claims[0].steps", 2) == "claims[1].steps");
  CHECK(field("close_trial_ids[3]", 2) == "close_trial_ids[3]");
  CHECK(field("trials", 1) == "trials");
  CHECK(field("", 1).empty());
}

TEST_CASE("a large batch from the driver arrives whole, in several requests") {
  World world;
  Large tuner;
  const Result<DriveReport> report = Drive(tuner, world.client->connection(), world.study->id(), kAccuracy);
  REQUIRE(report.has_value());
  CHECK(report->trial_count == kTrials);
  CHECK(world.RequestIds() == std::vector<std::string>{"1/0/0", "1/0/1", "1/0/2", "1/0/3", "1/1"});
  std::vector<std::string> arrived;
  for (const v1::SubmitRequest& request : world.master.submissions()) {
    for (const v1::NewTrial& trial : request.new_trials()) arrived.push_back(trial.sequences().at("lr"));
  }
  REQUIRE(arrived.size() == kTrials);
  for (std::size_t i = 0; i < kTrials; ++i) CHECK(arrived[i] == LargeTrial(i).sequences.at("lr"));
}

TEST_CASE("a large batch that is interrupted between its requests, or in one, arrives once when it is repeated") {
  const auto fault = GENERATE(FakeMaster::Fault::kBefore, FakeMaster::Fault::kAfter);
  const int spared = GENERATE(0, 1, 3);
  World world(Seconds{0});  // whoever fails once is as good as killed
  world.master.FailNext(1, fault, spared);
  Large interrupted;
  CHECK(Drive(interrupted, world.client->connection(), world.study->id(), kAccuracy).error().code ==
        ErrorCode::kUnavailable);
  Large repeated;
  const Result<DriveReport> report = Drive(repeated, world.client->connection(), world.study->id(), kAccuracy);
  REQUIRE(report.has_value());
  CHECK(report->trial_count == kTrials);
  std::map<std::string, std::string> contents;
  for (const v1::SubmitRequest& request : world.master.submissions()) {
    const auto [it, is_new] = contents.emplace(request.request_id(), request.SerializeAsString());
    CHECK(it->second == request.SerializeAsString());
  }
  CHECK(contents.size() == 5);
  v1::GetStudyRequest get;
  get.set_study_id(world.study->id().value);
  const auto shown = world.client->connection().GetStudy(get).value().study();
  std::int64_t trials = 0;
  for (const auto& [state, count] : shown.trials_by_state()) trials += count;
  CHECK(trials == kTrials);
}

}  // namespace espalier
