// Tuners in a study that goes on after each.
#include "client/tune.h"

#include <atomic>
#include <thread>

#include "client/tuners/registry.h"
#include "tests/unit/client/learning_master.h"

namespace espalier {
namespace {

std::unique_ptr<tuners::Tuner> Made(const std::string& name, const tuners::Options& options,
                                    const std::vector<std::string>& rates) {
  tuners::Trials trials;
  for (const std::string& rate : rates) trials.candidates.push_back({{{"lr", rate}}, {}});
  return std::move(*tuners::MakeTuner(name, options, trials));
}

const tuners::Options kHalving{{"min", std::int64_t{2}}, {"max", std::int64_t{8}}, {"reduction", std::int64_t{2}}};
const TuneOptions kMostAccurate{.metric = "test_acc", .goal = Goal::kMaximize};

// Starts a trial, and then neither asks for more nor finishes.
class Undecided : public tuners::Tuner {
 public:
  std::vector<tuners::Action> Start() override { return {tuners::StartTrial{{{"lr", "1"}}, Step{1}, Step{1}}}; }
  std::vector<tuners::Action> OnEvent(const tuners::Event&) override { return {}; }
  std::vector<tuners::StartTrial> WholeTrials() const override { return {}; }
};

}  // namespace

TEST_CASE("several tuners tune one study one after another") {
  FakeMaster master(Options());
  Client client = Connect(master);
  Study study = Create(client);
  const auto sha = Made("sha", kHalving, {"0.1", "0.4", "0.2", "0.3"});
  const TuneReport halved = Tune(study, *sha, kMostAccurate).value();
  CHECK(halved.trials.size() == 4);
  REQUIRE(halved.evaluations.size() == 7);  // 4, 2, 1
  CHECK(halved.evaluations.back().step == Step{8});
  CHECK(halved.evaluations.back().trial == halved.trials[1]);

  const auto grid = Made("grid", {{"steps", std::int64_t{3}}}, {"0.5", "bad"});
  const TuneReport rest = Tune(study, *grid, kMostAccurate).value();
  CHECK(rest.trials.size() == 2);
  CHECK(rest.evaluations.size() == 2);
  CHECK(study.View().value().trials == std::map<std::string, std::int64_t>{{"done", 5}, {"failed", 1}});
  CHECK_FALSE(study.View().value().finished);
  CHECK(study.Finish().has_value());
  CHECK(study.WaitUntilFinished().value());
}

TEST_CASE("a tuner decides by results as they arrive, with so many trials open") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  Study study = Create(client);
  tuners::Options options = kHalving;
  options["open_trials"] = std::int64_t{2};
  const auto asha = Made("asha", options, {"0.1", "0.4", "0.2", "0.3"});
  std::optional<Result<TuneReport>> report;
  std::atomic<bool> done = false;
  std::thread tuning([&] {
    report = Tune(study, *asha, kMostAccurate);
    done = true;
  });
  while (!done) {
    if (!master.Settle(1)) std::this_thread::yield();
  }
  tuning.join();
  REQUIRE(report->has_value());
  CHECK((*report)->trials.size() == 4);
  CHECK((*report)->evaluations.front().trial == (*report)->trials[1]);
}

TEST_CASE("a tuner that waits for nothing is a mistake, and so is one that waits for idle slots") {
  FakeMaster master(Options());
  Client client = Connect(master);
  Study study = Create(client);
  Undecided undecided;
  CHECK(Tune(study, undecided, kMostAccurate).error().code == ErrorCode::kInternal);
  const auto asha = Made("asha", kHalving, {"0.1", "0.4"});
  CHECK(Tune(study, *asha, kMostAccurate).error().field == "tuner");
}

TEST_CASE("a study that somebody cancels ends its tuner") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  Study study = Create(client);
  const auto sha = Made("sha", kHalving, {"0.1", "0.4", "0.2", "0.3"});
  std::optional<Result<TuneReport>> report;
  std::thread tuning([&] { report = Tune(study, *sha, kMostAccurate); });
  master.WaitForWaitingClaims(4);
  CHECK(client.OpenStudy(study.id()).Cancel().has_value());
  tuning.join();
  REQUIRE(report->has_value());
  REQUIRE((*report)->evaluations.size() == 4);
  CHECK((*report)->evaluations.front().state == ClaimState::kCancelled);
}

}  // namespace espalier
