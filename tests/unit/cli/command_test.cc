#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "client/cli/study_comparison.h"
#include "tests/unit/cli/fake_service.h"
#include "tests/unit/cli/run_command.h"

namespace espalier {
namespace {

using nlohmann::json;
using testing::Content;
using testing::Directory;
using testing::FakeMaster;
using testing::MasterOptions;
using testing::Outcome;
using testing::StudyNamed;

const std::string kStudy = StudyNamed("small");

// The keys, and their kinds, in a document.
void CheckKeys(const json& document, const std::vector<std::pair<std::string, json::value_t>>& keys) {
  for (const auto& [key, type] : keys) {
    CAPTURE(key);
    REQUIRE(document.contains(key));
    const json::value_t found = document[key].type();
    CHECK((found == json::value_t::number_unsigned ? json::value_t::number_integer : found) == type);
  }
}

// What a list says of a study is what its own document says.
void CheckListed(const json& listed, const json& study) {
  for (const auto& [key, value] : listed.items()) {
    CAPTURE(key);
    CHECK((key == "steps" ? study["steps"]["claimed"] == value["claimed"] : study[key] == value));
  }
}

void CheckPlanNode(const json& node) {
  using Type = json::value_t;
  CheckKeys(node, {{"id", Type::number_integer},
                   {"parent", Type::null},
                   {"start", Type::number_integer},
                   {"trials", Type::number_integer},
                   {"functions", Type::object},
                   {"stages", Type::array},
                   {"checkpoints", Type::array},
                   {"claims", Type::array},
                   {"costs", Type::object}});
}

void CheckPartsOfStudy(const json& study) {
  using Type = json::value_t;
  CheckKeys(study["trials"], {{"total", Type::number_integer}, {"by_state", Type::object}});
  CheckKeys(study["steps"], {{"claimed", Type::number_integer},
                             {"unique", Type::number_integer},
                             {"trained", Type::number_integer},
                             {"re_derived", Type::number_integer},
                             {"wasted", Type::number_integer}});
  CheckKeys(study["best"], {{"trial", Type::number_integer},
                            {"metric", Type::string},
                            {"value", Type::number_float},
                            {"step", Type::number_integer}});
}

}  // namespace

TEST_CASE("a study file runs to its end, and the documents have the keys that scripts rely on") {
  const Directory directory;
  FakeMaster master(MasterOptions(directory));
  directory.Write("address", master.address() + "\n");
  const std::string file = directory.Write("small.yaml", kStudy);
  using Type = json::value_t;

  const Outcome run = testing::RunCommand({"study", "run", file, "--data", directory.path(), "--output", "json"});
  INFO(run.err);
  REQUIRE(run.exit_code == kExitDone);
  const json study = json::parse(run.out);
  CheckKeys(study, {{"id", Type::number_integer},
                    {"name", Type::string},
                    {"state", Type::string},
                    {"trials", Type::object},
                    {"keep", Type::string},
                    {"steps", Type::object},
                    {"merge_rate", Type::number_float},
                    {"slot_seconds", Type::number_float},
                    {"shared_seconds", Type::number_float},
                    {"saved_seconds", Type::number_float},
                    {"weight", Type::number_float},
                    {"elapsed_seconds", Type::number_float},
                    {"makespan_bound_seconds", Type::number_float},
                    {"best", Type::object}});
  CheckPartsOfStudy(study);
  CHECK(study["state"] == "finished");
  CHECK(study["trials"]["by_state"]["failed"] == 1);
  CHECK(study["best"]["step"] == 8);

  const std::vector<std::string> at = {"--server", master.address(), "--output", "json"};
  const auto document = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), at.begin(), at.end());
    const Outcome outcome = testing::RunCommand(arguments);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == kExitDone);
    return json::parse(outcome.out);
  };
  CHECK(document({"study", "show", "small"}) == study);
  CHECK(document({"study", "show", std::to_string(study["id"].get<int>())}) == study);
  const json listed = document({"study", "list"});
  REQUIRE(listed.size() == 1);
  CheckListed(listed[0], study);

  const json trials = document({"trial", "list", "small"});
  REQUIRE(trials.size() == 4);
  CheckKeys(trials[0], {{"id", Type::number_integer},
                        {"state", Type::string},
                        {"steps", Type::number_integer},
                        {"sequences", Type::object},
                        {"metric", Type::number_float},
                        {"state_sha256", Type::string}});
  CHECK(trials[1]["sequences"] == json({{"lr", "0.2"}, {"seed", "1"}}));

  const auto lr_of = [](const json& list) {
    std::vector<std::string> values;
    for (const json& trial : list) values.push_back(trial["sequences"]["lr"]);
    return values;
  };
  using Values = std::vector<std::string>;
  CHECK(lr_of(document({"trial", "list", "small", "--sort", "metric"})) == Values{"0.3", "0.2", "0.1", "0.4"});
  CHECK(lr_of(document({"trial", "list", "small", "--sort", "metric", "--limit", "3"})) == Values{"0.3", "0.2", "0.1"});
  CHECK(lr_of(document({"trial", "list", "small", "--state", "failed"})) == Values{"0.4"});
  const json trial = document({"trial", "show", std::to_string(trials[1]["id"].get<int>())});
  CHECK(trial["sequences"] == trials[1]["sequences"]);
  CHECK(trial["metrics"] == trials[1]["evaluations"]);
  CHECK(trial["training_metrics"]["loss"] == json({{"steps", {1, 2, 3, 4}}, {"values", {0.5, 1.0, 1.5, 2.0}}}));

  const json forecast = document({"study", "forecast", file, file});
  CheckKeys(forecast, {{"trials", Type::number_integer},
                       {"total_steps", Type::number_integer},
                       {"unique_steps", Type::number_integer},
                       {"merge_rate", Type::number_float},
                       {"trained_steps", Type::number_integer},
                       {"remaining_steps", Type::number_integer},
                       {"slot_seconds", Type::number_float},
                       {"critical_path_seconds", Type::number_float},
                       {"checkpoint_bytes", Type::number_integer},
                       {"studies", Type::array}});
  REQUIRE(forecast["studies"].size() == 2);
  CHECK(forecast["studies"][0]["total_steps"] == 32);
  REQUIRE(forecast["near_misses"].size() == 1);
  CHECK(forecast["near_misses"][0]["hint"] == "these two differ by 1.7e-18 from step 2 on");
  CHECK(forecast["near_misses"][0]["to_step"].is_null());

  const json comparison = document({"study", "compare", "small", "small"});
  CHECK(comparison["trials_matched"] == 4);
  CHECK(comparison["identical"] == true);
  CHECK(document({"server", "list"})[0]["slots"] == 2);
  CHECK(document({"trainer", "list"})[0]["hyper_parameters"].size() == 8);
  const json nodes = document({"plan", "show", "small", "--plot", directory.File("plan.svg")});
  CHECK(nodes.size() == 4);
  for (const json& node : nodes) CheckPlanNode(node);
  CHECK_THAT(Content(directory.File("plan.svg")), Catch::StartsWith("<svg xmlns="));
}

TEST_CASE("texts for people name what matters, and progress stays off standard output") {
  const Directory directory;
  FakeMaster master(MasterOptions(directory));
  const std::string file = directory.Write("small.yaml", kStudy);
  const Outcome run = testing::RunCommand({"study", "run", file, "--server", master.address()});
  INFO(run.err);
  REQUIRE(run.exit_code == kExitDone);
  CHECK_THAT(run.err, Catch::StartsWith("study 1, small: 4 trials by sha\n"));
  CHECK_THAT(run.out, Catch::Contains("small (study 1) is finished") && Catch::Contains("3 done, 1 failed") &&
                          Catch::Contains("merge rate"));
  CHECK_THAT(testing::RunCommand({"plan", "show", "1", "--server", master.address()}).out,
             Catch::StartsWith("node 2 from 0: lr = 0.1, seed = 1  [trained 0-2; 1 trial]\n"));
  CHECK_THAT(testing::RunCommand({"plan", "show", "1", "--output", "dot", "--server", master.address()}).out,
             Catch::StartsWith("digraph G {\ngraph [label=\"small: 4 trials, merge rate 1\\l\"") &&
                 Catch::Contains("[label=\"node 2 from 0\\llr = 0.1\\lseed = 1\\l1 trial\\l\", shape=box]") &&
                 Catch::EndsWith("}\n"));
  CHECK(testing::RunCommand({"study", "show", "1", "--output", "dot", "--server", master.address()}).exit_code ==
        kExitUsage);
  CHECK_THAT(testing::RunCommand({"study", "compare", "1", "1", "--server", master.address()}).out,
             Catch::Contains("identical, bit for bit"));
}

TEST_CASE("exit codes say who is wrong: the user, the request, or nobody is there") {
  const Directory directory;
  const std::string good = directory.Write("good.yaml", kStudy);
  const std::string bad = directory.Write("bad.yaml", "study: s\nshare: friends\n");

  const Outcome no_server = testing::RunCommand({"study", "run", good, "--data", directory.path()});
  CHECK(no_server.exit_code == kExitUnreachable);
  CHECK_THAT(no_server.err, Catch::EndsWith("start one with: espalier up\n"));
  CHECK(no_server.out.empty());
  const Outcome bad_file =
      testing::RunCommand({"study", "run", bad, "--data", directory.path()});  // said first, without a server too
  CHECK(bad_file.exit_code == kExitUsage);
  CHECK_THAT(bad_file.err, Catch::StartsWith(bad + ":"));
  CHECK(std::count(bad_file.err.begin(), bad_file.err.end(), '\n') == 1);
  CHECK(testing::RunCommand({"study", "run", directory.File("none.yaml")}).exit_code == kExitUsage);
  CHECK(testing::RunCommand({"study", "forecast", good, bad}).exit_code == kExitUsage);
  CHECK(testing::RunCommand({"study"}).exit_code == kExitUsage);
  CHECK(testing::RunCommand({"study", "walk"}).exit_code == kExitUsage);
  CHECK(testing::RunCommand({"trial", "extend", "7"}).exit_code == kExitUsage);
  const Outcome below = testing::RunCommand({"trial", "extend", "7", "--steps", "-2"});
  CHECK(below.exit_code == kExitUsage);
  CHECK_THAT(below.err, Catch::StartsWith("--steps: got -2; expected a whole number from 1 on\n"));
  CHECK_THAT(testing::RunCommand({"up", "--slots", "5000"}).err,
             Catch::Contains("expected a whole number from 1 to 4096\n"));
  CHECK(testing::RunCommand({"trial", "branch", "7", "--at", "3"}).exit_code == kExitUsage);
  CHECK(testing::RunCommand({"trial", "branch", "7", "--at", "3", "--set", "lr"}).err ==
        "espalier: --set: got lr; expected NAME=VALUE\n");
  CHECK(testing::RunCommand({"trial", "branch", "7", "--at", "3", "--set", "lr=nan"}).exit_code == kExitUsage);
  CHECK(testing::RunCommand({"study", "list", "--output", "xml"}).exit_code == kExitUsage);
  CHECK(testing::RunCommand({"--help"}).exit_code == kExitDone);

  FakeMaster master(MasterOptions(directory));
  const Outcome no_study = testing::RunCommand({"study", "show", "nothing", "--server", master.address()});
  CHECK(no_study.exit_code == kExitRefused);
  CHECK(no_study.err == "espalier: no study nothing; see: espalier study list\n");
  const std::string unknown = directory.Write("unknown.yaml",
                                              "study: s\ntrainer: mpl\ndata: digits\n"
                                              "metric: {name: test_acc, goal: max}\n"
                                              "tuner: {grid: {steps: 3}}\n");
  const Outcome unknown_trainer = testing::RunCommand({"study", "run", unknown, "--server", master.address()});
  CHECK(unknown_trainer.exit_code == kExitUsage);
  CHECK(unknown_trainer.err == unknown + ":2: trainer: unknown trainer mpl; did you mean mlp? expected one of: mlp\n");
}

TEST_CASE("studies are listed over all pages, or those of one metric alone") {
  const Directory directory;
  FakeMaster master(MasterOptions(directory));
  for (const std::string name : {"a", "b", "c"}) {
    const std::string file = directory.Write(name + ".yaml", StudyNamed(name));
    REQUIRE(testing::RunCommand({"study", "run", file, "--server", master.address()}).exit_code == kExitDone);
  }
  const auto names = [&](std::vector<std::string> options) {
    std::vector<std::string> arguments = {"study", "list", "--server", master.address(), "--output", "json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = testing::RunCommand(arguments);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == kExitDone);
    std::vector<std::string> listed;
    for (const json& study : json::parse(outcome.out)) listed.push_back(study["name"]);
    return listed;
  };
  using Names = std::vector<std::string>;
  CHECK(names({}) == Names{"c", "b", "a"});
  CHECK(names({"--limit", "1"}) == Names{"c"});
  CHECK(names({"--state", "running"}).empty());
  CHECK(names({"--metric", "test_acc"}) == Names{"c", "b", "a"});
  CHECK(names({"--metric", "test_acc", "--goal", "min"}).empty());
  CHECK(testing::RunCommand({"study", "list", "--goal", "min"}).exit_code == kExitUsage);
}

TEST_CASE("a forecast says what is not known") {
  const Directory directory;
  FakeMaster master(MasterOptions(directory));
  const std::string file = directory.Write("any.yaml",
                                           "study: any\ntrainer: synthetic\nhyper_parameters: {warp: [1, 9.5]}\n"
                                           "metric: {name: test_acc, goal: max}\ntuner: {grid: {steps: 3}}\n");
  const Outcome document =
      testing::RunCommand({"study", "forecast", file, "--server", master.address(), "--output", "json"});
  INFO(document.err);
  REQUIRE(document.exit_code == kExitDone);
  const json forecast = json::parse(document.out);
  CHECK(forecast["total_steps"] == 6);
  CHECK(forecast["slot_seconds"].is_null());
  CHECK(forecast["critical_path_seconds"].is_null());
  CHECK(forecast["checkpoint_bytes"].is_null());
  CHECK(forecast["studies"][0]["is_kept_to_itself"] == true);
  const Outcome text = testing::RunCommand({"study", "forecast", file, "--server", master.address()});
  CHECK_THAT(text.out, Catch::Contains("slot-seconds         not known: no step") &&
                           Catch::Contains("checkpoints          not known: no checkpoint") &&
                           Catch::Contains("any: sharing stops at the study, whatever `share` says") &&
                           Catch::Contains("lr: MultiStep(0.1, [2], gamma=0.1) and Piecewise([0.1, 0.01], [2]): these "
                                           "two differ by 1.7e-18 from step 2 on"));
}

TEST_CASE("a sequence is shown without a server: canonical form, digest, segments, values") {
  const Outcome shown = testing::RunCommand({"sequence", "show", "Piecewise([0.1, MultiStep(0.1, [30], 0.1)], [10])",
                                             "--steps", "38:42", "--output", "json"});
  INFO(shown.err);
  REQUIRE(shown.exit_code == kExitDone);
  const json document = json::parse(shown.out);
  CHECK(document["canonical"] == "Piecewise([0.1, 0.010000000000000002], [40])");
  CHECK(document["digest"].get<std::string>().size() == 32);
  CHECK(document["segments"].size() == 2);
  CHECK(document["values"] == json::array({0.1, 0.1, 0.010000000000000002, 0.010000000000000002}));
  CHECK(json::parse(
            testing::RunCommand({"sequence", "show", "MultiStep(32, [1], 2)", "--steps", "0:2", "--output", "json"})
                .out)["values"][1]
            .is_number_integer());
  CHECK(json::parse(
            testing::RunCommand({"sequence", "show", "32", "--type", "floating", "--steps", "0:1", "--output", "json"})
                .out)["canonical"] == "32.0");
  CHECK(testing::RunCommand({"sequence", "show", "Nonsense(1)"}).exit_code == kExitUsage);
  for (const std::string range : {"3", "3:3", "-1:3", "a:b", "0:99999999999999999999", "0:3x"}) {
    CAPTURE(range);
    CHECK(testing::RunCommand({"sequence", "show", "0.1", "--steps=" + range}).exit_code == kExitUsage);
  }
}

TEST_CASE("a comparison matches trials by their sequences and sees one differing bit") {
  const auto trial = [](std::int64_t id, const std::string& lr, double value, const std::string& sha256) {
    v1::Trial result;
    result.set_trial_id(id);
    (*result.mutable_sequences())["lr"] = lr;
    result.set_steps(5);
    result.set_state_sha256(sha256);
    v1::TrialEvaluation& evaluation = *result.add_evaluations();
    evaluation.set_step(5);
    (*evaluation.mutable_metrics())["test_acc"] = value;
    return result;
  };
  v1::StudySummary shared;
  shared.set_slot_seconds(10);
  shared.set_merge_rate(2.5);
  shared.set_time_weighted_merge_rate(3);
  v1::StudySummary alone;
  alone.set_slot_seconds(27);
  alone.set_merge_rate(1);
  alone.set_time_weighted_merge_rate(1);
  const std::vector<v1::Trial> trials = {trial(1, "0.1", 0.5, "a"), trial(2, "0.2", std::nan(""), "b")};

  const StudyComparison same =
      Compare(shared, trials, alone, {trial(8, "0.2", std::nan(""), "b"), trial(9, "0.1", 0.5, "a")});
  CHECK(same.trials_matched == 2);
  CHECK(same.metrics_identical);
  CHECK(same.states_identical);
  CHECK(same.slot_seconds_ratio == Approx(2.7));
  CHECK(same.share_of_merge_rate == Approx(0.9));
  CHECK(Compare(alone, trials, shared, trials).share_of_merge_rate == Approx(0.9));

  const StudyComparison other = Compare(
      shared, trials, alone,
      {trial(8, "0.1", std::nextafter(0.5, 1), "a"), trial(9, "0.2", std::nan(""), "c"), trial(10, "0.2", 0.5, "c")});
  CHECK_FALSE(other.metrics_identical);
  CHECK_FALSE(other.states_identical);
  CHECK(other.trials_only_in_b == 1);
  REQUIRE(other.differences.size() == 2);
  CHECK(other.differences[0].value_b == "0.5000000000000001");
  CHECK_FALSE(Compare(shared, trials, alone, {}).metrics_identical);
}

}  // namespace espalier
