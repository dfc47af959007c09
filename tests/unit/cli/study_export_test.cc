// Studies on their way out of the service: tables of metrics, files, the best trial; and single trials that are
// cancelled.
#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "client/cli/metric_curves.h"
#include "client/cli/new_file.h"
#include "tests/unit/cli/fake_service.h"
#include "tests/unit/cli/run_command.h"

namespace espalier {
namespace {

using testing::Content;
using testing::Directory;
using testing::FakeMaster;
using testing::Outcome;

// A fake master that has run the small study.
struct Ran {
  Ran() {
    const std::string file = directory.Write("small.yaml", testing::StudyNamed("small"));
    REQUIRE(On({"study", "run", file}).exit_code == kExitDone);
  }
  Outcome On(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--server", master.address()});
    return testing::RunCommand(arguments);
  }
  std::size_t FileCount() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory.path()), {}));
  }

  Directory directory;
  FakeMaster master{testing::MasterOptions(directory)};
};

v1::GetTrialResponse Curve(std::int64_t id, const std::map<std::string, std::string>& sequences,
                           const std::map<std::int64_t, testing::Metrics>& metrics) {
  v1::GetTrialResponse response;
  response.mutable_trial()->set_trial_id(id);
  response.mutable_trial()->set_state("done");
  response.mutable_trial()->mutable_sequences()->insert(sequences.begin(), sequences.end());
  for (const auto& [step, values] : metrics) {
    v1::TrialEvaluation& evaluation = *response.add_metrics();
    evaluation.set_step(step);
    evaluation.mutable_metrics()->insert(values.begin(), values.end());
  }
  return response;
}

}  // namespace

TEST_CASE("a table of curves has a row an evaluation, and reads back as what was measured") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const v1::GetTrialResponse first = Curve(7, {{"lr", "MultiStep(0.1, [2], 0.1)"}, {"kind", "\"a\""}},
                                           {{2, {{"acc", 0.1}, {"lr", 5}}}, {4, {{"acc", nan}}}});
  const v1::GetTrialResponse second = Curve(8, {{"bs", "32"}}, {{2, {{"loss", 1e-9}}}});
  CurveColumns columns;
  columns.Add(first);
  columns.Add(second);
  CHECK(CsvHeader(columns) == "trial,state,step,acc,loss,metric:lr,bs,kind,lr\n");
  CHECK(CsvRows(columns, first) ==
        "7,done,2,0.1,,5,,\"\"\"a\"\"\",\"MultiStep(0.1, [2], 0.1)\"\n"
        "7,done,4,nan,,,,\"\"\"a\"\"\",\"MultiStep(0.1, [2], 0.1)\"\n");
  CHECK(CsvRows(columns, second) == "8,done,2,,1e-09,,32,,\n");
  CHECK(CsvRows({.metrics = {"acc"}, .hyper_parameters = {"bs"}}, second).error() ==
        Error{ErrorCode::kAborted, "trial 8 has new metrics by now; export again, or with --format jsonl", {}});
  CHECK(JsonLines(second) == R"({"trial":8,"state":"done","step":2,"metrics":{"loss":1e-09},"sequences":{"bs":"32"}})"
                             "\n");
}

TEST_CASE("a study is exported whole, over all pages, to standard output or to a new file") {
  const Ran ran;
  const std::string rows =
      "trial,state,step,test_acc,lr,seed\n"
      "2,done,2,0.10200000000000001,0.1,1\n"
      "4,done,2,0.202,0.2,1\n"
      "4,done,4,0.20400000000000001,0.2,1\n"
      "6,done,2,0.302,0.3,1\n"
      "6,done,4,0.304,0.3,1\n"
      "6,done,8,0.308,0.3,1\n";
  const Outcome csv = ran.On({"study", "export", "small"});
  INFO(csv.err);
  CHECK(csv.exit_code == kExitDone);
  CHECK(csv.out == rows);
  const Outcome lines = ran.On({"study", "export", "1", "--format", "jsonl"});
  CHECK(std::count(lines.out.begin(), lines.out.end(), '\n') == 6);
  CHECK(nlohmann::json::parse(lines.out.substr(0, lines.out.find('\n'))) ==
        nlohmann::json::parse(R"({"trial": 2, "state": "done", "step": 2, "metrics": {"test_acc": 0.10200000000000001},
                                  "sequences": {"lr": "0.1", "seed": "1"}})"));

  const std::size_t files = ran.FileCount();
  const std::string file = ran.directory.File("curves.csv");
  const Outcome to_file = ran.On({"study", "export", "small", "--file", file});
  INFO(to_file.err);
  CHECK(to_file.exit_code == kExitDone);
  CHECK(to_file.out.empty());
  CHECK(Content(file) == rows);
  CHECK(ran.FileCount() == files + 1);
}

TEST_CASE("an export leaves alone what is there, and leaves nothing behind when it fails") {
  const Ran ran;
  const std::string taken = ran.directory.Write("taken", "mine");
  const std::size_t files = ran.FileCount();
  const Outcome refused = ran.On({"study", "export", "small", "--file", taken});
  CHECK(refused.exit_code == kExitRefused);
  CHECK(refused.err == "espalier: --file: " + taken + " is there already; remove it, or name another\n");
  CHECK(Content(taken) == "mine");
  const Outcome nowhere = ran.On({"study", "export", "small", "--file", ran.directory.File("no/where")});
  CHECK_THAT(nowhere.err, Catch::StartsWith("espalier: --file: cannot make ") && Catch::Contains("No such file"));
  const Outcome unknown = ran.On({"study", "export", "nothing", "--file", ran.directory.File("new")});
  CHECK(unknown.err == "espalier: no study nothing; see: espalier study list\n");
  CHECK(ran.FileCount() == files);

  Result<NewFile> late = NewFile::Create(ran.directory.File("late"));
  REQUIRE(late.has_value());
  late->stream() << "ours";
  ran.directory.Write("late", "theirs");
  CHECK(late->Keep().error().code == ErrorCode::kAlreadyExists);
  CHECK(Content(ran.directory.File("late")) == "theirs");
}

TEST_CASE("the best trial is shown with its sequences, and where its state is stored") {
  const Ran ran;
  const Outcome text = ran.On({"study", "best", "small"});
  INFO(text.err);
  CHECK(text.exit_code == kExitDone);
  CHECK_THAT(text.out, Catch::StartsWith("trial 6, done: test_acc 0.308 at step 8\n  lr = 0.3\n  seed = 1\n") &&
                           Catch::EndsWith("  checkpoint: 6@8, 1.0 kB; to have it: espalier checkpoint export 6 FILE "
                                           "--step 8\n"));
  const nlohmann::json best = nlohmann::json::parse(ran.On({"study", "best", "1", "--output", "json"}).out);
  CHECK(best["trial"] == 6);
  CHECK(best["metric"] == "test_acc");
  CHECK(best["value"] == 0.308);
  CHECK(best["step"] == 8);
  CHECK(best["sequences"] == nlohmann::json({{"lr", "0.3"}, {"seed", "1"}}));
  CHECK(best["checkpoint"] == nlohmann::json({{"file", "6@8"}, {"bytes", 1000}}));
}

TEST_CASE("a study without a measured trial has no best one") {
  const Directory directory;
  testing::FakeMasterOptions options = testing::MasterOptions(directory);
  options.settle_seed.reset();
  const FakeMaster master(options);
  const std::string file = directory.Write("small.yaml", testing::StudyNamed("small"));
  REQUIRE(testing::RunCommand({"study", "run", file, "--detach", "--server", master.address()}).exit_code == kExitDone);
  const Outcome none = testing::RunCommand({"study", "best", "small", "--server", master.address()});
  CHECK(none.exit_code == kExitRefused);
  CHECK(none.err == "espalier: no trial of study small has a metric yet; see: espalier trial list small\n");
}

TEST_CASE("one trial of a study is cancelled, and the others go on") {
  const Directory directory;
  testing::FakeMasterOptions options = testing::MasterOptions(directory);
  options.settle_seed.reset();
  const FakeMaster master(options);
  const std::string file = directory.Write("small.yaml", testing::StudyNamed("small"));
  const auto on = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--server", master.address()});
    return testing::RunCommand(arguments);
  };
  REQUIRE(on({"study", "run", file, "--detach"}).exit_code == kExitDone);
  const std::string trial =
      nlohmann::json::parse(on({"trial", "list", "small", "--output", "json"}).out).at(1).at("id").dump();

  CHECK(testing::RunCommand({"trial", "cancel"}).exit_code == kExitUsage);
  const Outcome cancelled = on({"trial", "cancel", trial});
  INFO(cancelled.err);
  CHECK(cancelled.exit_code == kExitDone);
  CHECK(cancelled.out == "trial " + trial + " is cancelled at step 0\n");
  CHECK(nlohmann::json::parse(on({"trial", "list", "small", "--state", "waiting", "--output", "json"}).out).size() ==
        3);
  const Outcome unknown = on({"trial", "cancel", "99"});
  CHECK(unknown.exit_code == kExitRefused);
  CHECK_THAT(unknown.err, Catch::StartsWith("espalier: no trial of that id"));
}

TEST_CASE("a study is pinned: what it keeps is said, and shown") {
  const Ran ran;
  const auto keep = [&] {
    return nlohmann::json::parse(ran.On({"study", "show", "small", "--output", "json"}).out).at("keep");
  };
  CHECK(keep() == "best");
  const Outcome pinned = ran.On({"study", "pin", "small"});
  INFO(pinned.err);
  CHECK(pinned.exit_code == kExitDone);
  CHECK(pinned.out.ends_with(" keeps each state in which one of its trials was asked for from now on\n"));
  CHECK(keep() == "claimed");
  const Outcome let_go = ran.On({"study", "pin", "small", "--keep", "none", "--output", "json"});
  CHECK(nlohmann::json::parse(let_go.out).at("keep") == "none");
  CHECK(ran.On({"study", "pin", "small", "--keep", "some"}).exit_code == kExitUsage);
  CHECK(ran.On({"study", "pin", "big"}).exit_code == kExitRefused);
}

}  // namespace espalier
