#include "client/study_file/study_file.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/support/mlp_trainer.h"

namespace espalier {
namespace {

const std::string kHead = R"yaml(study: s
trainer: mlp
data: digits
metric: {name: test_acc, goal: max}
)yaml";

const std::string kGrid = "tuner: {grid: {steps: 80}}\n";

std::vector<v1::TrainerDescription> Trainers() { return {testing::MlpTrainer()}; }

// What a user sees of this text: the first mistake, found without a server or with one; empty if there is none.
std::string Mistake(const std::string& text) {
  tl::expected<StudyFile, FileError> file = ParseStudyFile("f.yaml", text);
  if (!file.has_value()) return Print(file.error());
  const tl::expected<void, FileError> checked = CheckTrainer(*file, Trainers());
  return checked.has_value() ? "" : "with a server: " + Print(checked.error());
}

StudyFile Parsed(const std::string& text) {
  tl::expected<StudyFile, FileError> file = ParseStudyFile("f.yaml", text);
  INFO((file.has_value() ? "" : Print(file.error())));
  REQUIRE(file.has_value());
  return *file;
}

struct Case {
  std::string text;
  std::string line;
};

void CheckSaid(const std::vector<Case>& mistakes) {
  for (const Case& mistake : mistakes) {
    CAPTURE(mistake.text);
    const std::string line = Mistake(mistake.text);
    CHECK_THAT(line, Catch::StartsWith(mistake.line));
    CHECK(line.find('\n') == std::string::npos);
  }
}

}  // namespace

TEST_CASE("every mistake in a study file is one line that names the file, the line, the field and what is expected") {
  const std::string hp = kHead + kGrid + "hyper_parameters:\n";  // the next line is the 7th
  const std::vector<Case> cases = {
      {hp + "  lr: [0.1, \"Exponentiall(0.1, 0.9)\"]\n",
       "f.yaml:7: hyper_parameters.lr[1]: Exponentiall: no such function, did you mean Exponential?"},
      {hp + "  lr:\n    - 0.1\n    - MultiStep(0.1, [40, 30], 0.1)\n", "f.yaml:9: hyper_parameters.lr[1]: "},
      {hp + "  lr: [0.1, MultiStep(0.1, [40], 0.1)]\n", "f.yaml:7: hyper_parameters.lr[1]: "},
      {hp + "  lr: .nan\n", "f.yaml:7: hyper_parameters.lr: got .nan; expected a finite number"},
      {hp + "  lr: [0.1, NaN]\n", "f.yaml:7: hyper_parameters.lr[1]: got NaN; expected a finite number"},
      {hp + "  lr: -inf\n", "f.yaml:7: hyper_parameters.lr: got -inf; expected a finite number"},
      {hp + "  lr: Exponential(NaN, 0.9)\n", "f.yaml:7: hyper_parameters.lr: "},
      {hp + "  lr: sgd\n", "with a server: f.yaml:7: hyper_parameters.lr: "},
      {hp + "  bs: [12.5]\n", "with a server: f.yaml:7: hyper_parameters.bs[0]: "},
      {hp + "  optimizer: 3\n", "with a server: f.yaml:7: hyper_parameters.optimizer: "},
      {hp + "  seed: Linear(1, 1)\n", "with a server: f.yaml:7: hyper_parameters.seed: "},
      {hp + "  lrr: 0.1\n",
       "with a server: f.yaml:7: hyper_parameters.lrr: mlp has no hyper-parameter lrr; did you mean lr? expected one "
       "of: "
       "bs, dropout, hidden, lr, momentum, optimizer, seed, weight_decay"},
      {hp + "  lr: []\n", "f.yaml:7: hyper_parameters.lr: got an empty list; expected at least one value"},
      {hp + "  lr:\n", "f.yaml:7: hyper_parameters.lr: got nothing; expected a number"},
      {hp + "  lr: {a: 1}\n", "f.yaml:7: hyper_parameters.lr: got a mapping; expected a number"},
      {hp + "  lr: 0.1\n  bs: 32\n  lr: 0.2\n",
       "f.yaml:9: hyper_parameters.lr: is written twice (first in line 7); expected one value"},
      {kHead + kGrid + "hyper_parameters: 3\n", "f.yaml:6: hyper_parameters: got 3; expected a mapping"},
      {kHead + kGrid + "hyperparameters: {}\n",
       "f.yaml:6: hyperparameters: unknown key; did you mean hyper_parameters? expected one of: study, trainer, "
       "python, environment, data, step, evaluate, hyper_parameters, trials, only_if, metric, tuner, keep, share"},
      {kHead + kGrid + "python: ~/venv/bin/python\n",
       "f.yaml:6: python: is for a trainer in your own code, such as train.py:Digits; mlp is none"},
      {kHead + kGrid + "environment: {A: b}\n", "f.yaml:6: environment: is for a trainer in your own code"},
      {"study: s\ntrainer: nowhere.py:Digits\n" + kGrid,
       "f.yaml:2: trainer: got nowhere.py:Digits; expected FILE.py:NAME, a class or a function in a file that is "
       "there"},
      {"study: s\ntrainer: python:Digits\n" + kGrid, "f.yaml:2: trainer: got Digits; expected FILE.py:NAME"},
      {kHead + kGrid + "trials: []\n", "f.yaml:6: trials: got an empty list; expected a list of at least one trial"},
      {kHead + kGrid + "trials:\n  - {lr: 0.1, steps: -3}\n",
       "f.yaml:7: trials[0].steps: got -3; expected a whole number from 1 to 2^53"},
      {kHead + kGrid + "trials:\n  - {lr: 0.1, steps: 2.5}\n", "f.yaml:7: trials[0].steps: got 2.5; expected a whole"},
      {kHead + kGrid + "trials:\n  - lr\n", "f.yaml:7: trials[0]: got lr; expected a mapping of names to values"},
      {kHead + kGrid + "trials:\n  - {lr: 0.1}\n  - {lr: \"Table([])\"}\n", "f.yaml:8: trials[1].lr: "},
      {kHead + "tuner: {grid: {steps: -80}}\n",
       "f.yaml:5: tuner.grid.steps: got -80; expected a whole number of at least 1"},
      {kHead + "tuner: grid\n", "f.yaml:5: tuner.grid.steps: is missing; expected a whole number of at least 1"},
      {kHead + "tuner: {asa: {}}\n",
       "f.yaml:5: tuner: unknown tuner asa; expected one of: asha, early_stop, grid, hyperband, median, pbt, random, "
       "sha, tpe"},
      {kHead + "tuner:\n  sha: {min: 1, max: 9, eta: 3}\n",
       "f.yaml:6: tuner.sha.eta: unknown option of sha; expected one of: min, max, reduction"},
      {kHead + "tuner: {sha: {min: 9, max: 1, reduction: 3}}\n",
       "f.yaml:5: tuner.sha.max: got 1; expected a whole number of at least 9"},
      {kHead + "tuner: [grid]\n", "f.yaml:5: tuner: got a list; expected one tuner with its options"},
      {kHead, "f.yaml:1: tuner: is missing; expected one tuner with its options"},
      {"trainer: mlp\n" + kGrid, "f.yaml:1: study: is missing; expected the study's name"},
      {"study: s\ntrainer: mlp\n" + kGrid, "f.yaml:1: metric: is missing; expected {name: NAME, goal: max|min}"},
      {"study: s\ntrainer: mlp\nmetric: {name: test_acc, goal: up}\n" + kGrid,
       "f.yaml:3: metric.goal: got up; expected max or min"},
      {"study: s\ntrainer: mlp\nmetric: {name: test_acc, gaol: max}\n" + kGrid,
       "f.yaml:3: metric.gaol: unknown key; did you mean goal? expected one of: name, goal"},
      {kHead + kGrid + "step: 5 minutes\n", "f.yaml:6: step: got 5 minutes; expected epoch, or N updates"},
      {kHead + kGrid + "step: -5 updates\n", "f.yaml:6: step: got -5 updates; expected epoch, or N updates"},
      {kHead + kGrid + "evaluate: {every: 0}\n",
       "f.yaml:6: evaluate.every: got 0; expected a whole number from 1 to 2^53"},
      {kHead + kGrid + "share: friends\n", "f.yaml:6: share: got friends; expected nobody, study, team or everyone"},
      {kHead + kGrid + "keep: worst\n", "f.yaml:6: keep: got worst; expected best, all, claimed or none"},
      {kHead + kGrid + "hang_after: soon\n",
       "f.yaml:6: hang_after: got soon; expected a time such as 90s, 30m or 2h, of at most 24000h"},
      {kHead + kGrid + "hang_after: 0s\n", "f.yaml:6: hang_after: got 0s; expected a time"},
      {kHead + kGrid + "hang_after: 90\n", "f.yaml:6: hang_after: got 90; expected a time"},
      {kHead + kGrid + "hang_after: 1.5h\n", "f.yaml:6: hang_after: got 1.5h; expected a time"},
      {kHead + kGrid + "hang_after: 24001h\n", "f.yaml:6: hang_after: got 24001h; expected a time"},
      {kHead + kGrid + "hang_after: [2h]\n", "f.yaml:6: hang_after: got a list; expected a time"},
      {kHead + kGrid + "reuse_from: old\n", "f.yaml:6: reuse_from: got old; expected a whole number from 1 to 2^53"},
      {kHead + kGrid + "reuse_from: {until: 5}\n", "f.yaml:6: reuse_from.study: is missing; expected a study's id"},
      {kHead + kGrid + "reuse_from: {study: 5, until: 0}\n",
       "f.yaml:6: reuse_from.until: got 0; expected a whole number from 1 to 2^53"},
      {kHead + kGrid + "check: later\n", "f.yaml:6: check: got later; expected beside, first or off"},
      {"study: s\ntrainer: mlpp\ndata: digits\nmetric: {name: test_acc, goal: max}\n" + kGrid,
       "with a server: f.yaml:2: trainer: unknown trainer mlpp; did you mean mlp? expected one of: mlp"},
      {"study: s\ntrainer: mlp\ndata: digit\nmetric: {name: test_acc, goal: max}\n" + kGrid,
       "with a server: f.yaml:3: data: mlp has no data digit; did you mean digits? expected one of: digits"},
      {"study: s\ntrainer: mlp\nmetric: {name: test_acc, goal: max}\n" + kGrid,
       "with a server: f.yaml:1: data: is missing; expected one of: digits"},
      {"study: s\ntrainer: mlp\ndata: digits\nmetric: {name: accuracy, goal: max}\n" + kGrid,
       "with a server: f.yaml:4: metric.name: mlp has no metric accuracy; did you mean test_acc? expected one of: "
       "test_acc, test_loss"},
      {"study: [s\ntrainer: mlp\n", "f.yaml:2: file: is not YAML: "},
      {"just words\n", "f.yaml:1: file: holds just words; expected a mapping"},
      {"", "f.yaml:1: file: holds nothing; expected a mapping"},
      {"study: &a s\n", "f.yaml:1: file: is not YAML: anchors are not used here"},
      {"study: s\ncaf\xe9: 1\n", "f.yaml:2: file: is not YAML: text that is not UTF-8"},
      {"study: \"s\\0\"\n", "f.yaml:1: file: is not YAML: text that is not UTF-8, or has a zero byte"},
  };
  CheckSaid(cases);
}

TEST_CASE("mistakes in when a study stops name what is wrong of it") {
  CheckSaid({
      {kHead + kGrid + "stop: {}\n", "f.yaml:6: stop: is empty; expected after, device_hours or metric"},
      {kHead + kGrid + "stop: {before: 2h}\n", "f.yaml:6: stop.before: unknown key"},
      {kHead + kGrid + "stop: {after: 2}\n", "f.yaml:6: stop.after: got 2; expected a time such as 90s, 30m or 2h"},
      {kHead + kGrid + "stop: {device_hours: 0}\n",
       "f.yaml:6: stop.device_hours: got 0; expected a number of hours above 0, such as 10 or 0.5"},
      {kHead + kGrid + "stop: {device_hours: 2h}\n", "f.yaml:6: stop.device_hours: got 2h; expected a number"},
      {kHead + kGrid + "stop: {metric: good}\n", "f.yaml:6: stop.metric: got good; expected a number"},
      {kHead + kGrid + "stop: {metric: nan}\n", "f.yaml:6: stop.metric: got nan; expected a finite number"},
  });
}

TEST_CASE("mistakes in what a study tells policies name what is wrong of it") {
  CheckSaid({
      {kHead + kGrid + "policy: bandit\n",
       "f.yaml:6: policy: got bandit; expected a mapping with may_stop, min, speeds"},
      {kHead + kGrid + "policy: {}\n", "f.yaml:6: policy: is empty; expected may_stop, min or speeds"},
      {kHead + kGrid + "policy: {min: 0}\n", "f.yaml:6: policy.min: got 0; expected a whole number from 1 to 2^53"},
      {kHead + kGrid + "policy: {speeds: 2}\n",
       "f.yaml:6: policy.speeds: got 2; expected speeds by numbers of slots, such as {2: 1.9, 4: 3.4}"},
      {kHead + kGrid + "policy: {speeds: {1: 1}}\n",
       "f.yaml:6: policy.speeds.1: got 1; expected a whole number from 2 to 2^53"},
      {kHead + kGrid + "policy: {speeds: {2: fast}}\n", "f.yaml:6: policy.speeds.2: got fast; expected a number"},
      {kHead + kGrid + "deadline: 17\n", "f.yaml:6: deadline: got 17; expected a time"},
      {kHead + kGrid + "priority: 0\n", "f.yaml:6: priority: got 0; expected a number above 0"},
      {kHead + kGrid + "policy: {may_stop: 1}\n", "f.yaml:6: policy.may_stop: got 1; expected true or false"},
  });
}

TEST_CASE("a file that cannot be read is a mistake like any other") {
  const tl::expected<StudyFile, FileError> file = ReadStudyFile("/nonexistent/study.yaml");
  REQUIRE_FALSE(file.has_value());
  CHECK(Print(file.error()) ==
        "/nonexistent/study.yaml:1: file: cannot be read (No such file or directory); expected a study file");
  CHECK_THAT(Print(ReadStudyFile("/tmp").error()), Catch::StartsWith("/tmp:1: file: "));
}

TEST_CASE("more trials than a study may have are refused before they are made") {
  std::string text = kHead + kGrid + "hyper_parameters:\n";
  for (const char* name : {"lr", "momentum", "dropout", "weight_decay"}) {
    text += "  " + std::string(name) + ": [";
    for (int i = 0; i < 50; ++i) text += (i == 0 ? "" : ", ") + std::to_string(i);
    text += "]\n";
  }
  CHECK(Mistake(text) ==
        "f.yaml:6: hyper_parameters: these are more than 100000 trials; expected at most 100000 in a study");
}

TEST_CASE("the grid comes row by row in the order of the lists as written, then the explicit trials") {
  const StudyFile file = Parsed(kHead + kGrid + R"yaml(step: 50 updates
hyper_parameters:
  momentum: [0.9, "Piecewise([0.9, 0.95], [60])"]
  lr:
    - 0.1
    - MultiStep(0.1, [40, 60], gamma=0.1)
  optimizer: sgd
  seed: 1
trials:
  - {lr: "Exponential(0.2, 0.9)", bs: 128, steps: 40}
)yaml");
  REQUIRE(file.candidates.size() == 5);
  CHECK(file.from_space == 4);
  CHECK(file.candidates[0].sequences ==
        TrialText{{"lr", "0.1"}, {"momentum", "0.9"}, {"optimizer", "\"sgd\""}, {"seed", "1"}});
  CHECK(file.candidates[1].sequences.at("lr") == "MultiStep(0.1, [40, 60], gamma=0.1)");
  CHECK(file.candidates[1].sequences.at("momentum") == "0.9");
  CHECK(file.candidates[2].sequences.at("momentum") == "Piecewise([0.9, 0.95], [60])");
  CHECK(file.candidates[4].sequences ==
        TrialText{{"bs", "128"}, {"lr", "Exponential(0.2, 0.9)"}, {"optimizer", "\"sgd\""}, {"seed", "1"}});
  CHECK(file.candidates[4].steps == Step{40});
  CHECK(file.specification.step == StepMeaning{50});
  CHECK(file.specification.scope == Scope::kTeam);
}

TEST_CASE("explicit trials stand instead of the grid when nothing is tuned by a list") {
  const StudyFile file = Parsed(kHead + kGrid + "hyper_parameters: {bs: 32}\ntrials: [{lr: 0.1}, {lr: 0.2, bs: 64}]\n");
  REQUIRE(file.candidates.size() == 2);
  CHECK(file.candidates[0].sequences == TrialText{{"bs", "32"}, {"lr", "0.1"}});
  CHECK(file.candidates[1].sequences == TrialText{{"bs", "64"}, {"lr", "0.2"}});
}

TEST_CASE("values have to hold as far as their trials may go, and no further") {
  // A whole batch size until step 2: 128, 64; 0.5 would be reached at step 8.
  const std::string halving = "hyper_parameters:\n  bs: [\"Step(128, 1, 0.5)\"]\n";
  CHECK(Mistake(kHead + "tuner: {grid: {steps: 8}}\n" + halving).empty());
  CHECK_THAT(Mistake(kHead + "tuner: {grid: {steps: 9}}\n" + halving),
             Catch::StartsWith("with a server: f.yaml:7: hyper_parameters.bs[0]: "));
  CHECK_FALSE(Mistake(kHead + "tuner: {sha: {min: 1, max: 9, reduction: 3}}\n" + halving).empty());
}

TEST_CASE("the same study gives the same definition, whatever its comments, spelling and order of keys") {
  const StudyFile file = Parsed(kHead + "share: team\nkeep: best\ntuner: {sha: {min: 1, max: 9, reduction: 3}}\n" +
                                "hyper_parameters:\n  lr: [0.10, \"Exponential( 0.1,0.95 )\"]\n  seed: 1\n  bs: 32\n");
  const StudyFile same = Parsed(
      "# a comment\ntuner:\n  sha:\n    reduction: 3\n    max: 9\n    min: 1\nhyper_parameters:\n  bs: 32\n  seed: "
      "1\n" +
      std::string("  lr:\n    - 0.1\n    - Exponential(0.1, 0.95)  # another\n") + kHead);
  CHECK(file.specification.definition == same.specification.definition);
  const StudyFile other = Parsed(kHead + "tuner: {sha: {min: 1, max: 9, reduction: 2}}\n" +
                                 "hyper_parameters:\n  lr: [0.1, \"Exponential(0.1, 0.95)\"]\n  seed: 1\n  bs: 32\n");
  CHECK(file.specification.definition != other.specification.definition);
}

TEST_CASE("what a study takes for a hang is part of its definition, in whatever unit it is written") {
  const auto read = [](const std::string& line) { return Parsed(kHead + kGrid + line).specification; };
  CHECK(read("").hang_after == std::nullopt);
  CHECK(read("hang_after: 90s\n").hang_after == Seconds(90));
  CHECK(read("hang_after: 30m\n").hang_after == Seconds(1800));
  CHECK(read("hang_after: 2h\n").hang_after == Seconds(7200));
  CHECK(read("hang_after: 7200s\n").definition == read("hang_after: 120m\n").definition);
  CHECK(read("hang_after: 7200s\n").definition != read("hang_after: 7201s\n").definition);
  CHECK(read("hang_after: 2h\n").definition != read("").definition);
  const Result<StudyFile> again = ParseDefinition(read("hang_after: 90s\n").definition);
  REQUIRE(again.has_value());
  CHECK(again->specification.hang_after == Seconds(90));
}

TEST_CASE("what a study tells policies is part of its definition") {
  const auto read = [](const std::string& line) { return Parsed(kHead + kGrid + line).specification; };
  CHECK(read("").policy == PolicyChoices{});
  CHECK(read("policy: {may_stop: false}\n").policy == PolicyChoices{});
  CHECK(read("policy: {may_stop: true}\n").policy.may_stop);
  for (const std::string line : {"policy: {min: 5}\n", "policy: {speeds: {2: 1.9, 16: 3.5}}\n", "deadline: 2h\n"}) {
    const StudySpecification said = read(line);
    CHECK(said.policy != PolicyChoices{});
    CHECK(said.definition != read("").definition);
    CHECK(ParseDefinition(said.definition).value().specification.policy == said.policy);
  }
  CHECK(read("priority: 1\n").definition == read("").definition);
  CHECK(ParseDefinition(read("priority: 2.5\n").definition).value().specification.priority == 2.5);
  CHECK(read("policy: {may_stop: true}\n").definition != read("").definition);
  CHECK(read("policy: {may_stop: false}\n").definition == read("").definition);
  CHECK(ParseDefinition(read("policy: {may_stop: true}\n").definition).value().specification.policy.may_stop);
}

TEST_CASE("whose states a study begins with is part of its definition, as the file or the command line says it") {
  const auto read = [](const std::string& line) { return Parsed(kHead + kGrid + line).specification; };
  CHECK(read("").reuse == std::nullopt);
  CHECK(read("reuse_from: 12\n").reuse == Reuse{.study = StudyId{12}});
  const StudySpecification limited = read("reuse_from: {study: 12, until: 60}\n");
  CHECK(limited.reuse == Reuse{.study = StudyId{12}, .until = Step{60}});
  CHECK(read("reuse_from: 12\n").definition == read("reuse_from: {study: 12}\n").definition);
  CHECK(read("reuse_from: 12\n").definition != limited.definition);
  CHECK(read("reuse_from: 12\n").definition != read("").definition);
  StudyFile by_option = Parsed(kHead + kGrid);
  SetReuse(by_option, {.study = StudyId{12}, .until = Step{60}});
  CHECK(by_option.specification.definition == limited.definition);
  const Result<StudyFile> again = ParseDefinition(limited.definition);
  REQUIRE(again.has_value());
  CHECK(again->specification.reuse == limited.reuse);
}

TEST_CASE("when a study stops is part of its definition") {
  const auto read = [](const std::string& line) { return Parsed(kHead + kGrid + line).specification; };
  CHECK(read("").stop == StopRule{});
  const StudySpecification said = read("stop: {after: 2h, device_hours: 0.1, metric: -1}\n");
  CHECK(said.stop == StopRule{.after = Seconds(7200), .device_time = Seconds(360), .metric = -1.0});
  CHECK(said.definition != read("").definition);
  const Result<StudyFile> again = ParseDefinition(said.definition);
  REQUIRE(again.has_value());
  CHECK(again->specification.stop == said.stop);
  CHECK(again->specification.definition == said.definition);
}

TEST_CASE("a definition is a study file of the same study, for whoever carries it on") {
  const StudyFile file = Parsed(R"yaml(study: "a \"quoted\" name"
trainer: mlp
data: digits
step: 50 updates
evaluate: {every: 5}
share: study
metric: {name: test_loss, goal: min}
tuner: {asha: {min: 2, max: 9, reduction: 3, open_trials: 4}}
hyper_parameters:
  momentum: [0.9, "Piecewise([0.9, 0.95], [6])"]
  lr: [0.1, 1, 1e-3, "Exponential(0.1, 0.95)"]
  optimizer: ["sgd", "0.5"]
  seed: 1
trials:
  - {lr: 0.3, steps: 4}
)yaml");
  const Result<StudyFile> again = ParseDefinition(file.specification.definition);
  INFO(file.specification.definition);
  REQUIRE(again.has_value());
  CHECK(again->specification.definition == file.specification.definition);
  REQUIRE(again->candidates.size() == file.candidates.size());
  for (std::size_t i = 0; i < file.candidates.size(); ++i) {
    CHECK(again->candidates[i].sequences == file.candidates[i].sequences);
    CHECK(again->candidates[i].steps == file.candidates[i].steps);
  }
  CHECK(again->tuner_options == file.tuner_options);
  CHECK(again->specification.metric == "test_loss");
  CHECK(again->specification.goal == Goal::kMinimize);
}

TEST_CASE("a definition whose tuner is of another version here is refused, since it might decide otherwise") {
  std::string definition = Parsed(kHead + kGrid).specification.definition;
  const std::string version = "\"tuner_version\":1";
  REQUIRE(definition.find(version) != std::string::npos);
  definition.replace(definition.find(version), version.size(), "\"tuner_version\":7");
  const Result<StudyFile> refused = ParseDefinition(definition);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().field == "tuner_version");
}

TEST_CASE("an error that the master finds in a trial is said of the line where its value stands") {
  const StudyFile file = Parsed(kHead + kGrid + R"yaml(hyper_parameters:
  lr:
    - 0.1
    - 0.2
  bs: 32
trials:
  - {lr: 0.3,
     momentum: 0.9}
)yaml");
  const auto at = [&](const std::string& field) {
    return Print(AtRequestField(file, Error{ErrorCode::kInvalidArgument, "is wrong", field}));
  };
  CHECK(at("trials[1].lr") == "f.yaml:9: hyper_parameters.lr[1]: is wrong");
  CHECK(at("trials[0].bs") == "f.yaml:10: hyper_parameters.bs: is wrong");
  CHECK(at("trials[2].momentum") == "f.yaml:13: trials[0].momentum: is wrong");
  CHECK(at("trials[2].bs") == "f.yaml:10: hyper_parameters.bs: is wrong");
  CHECK(at("study.name") == "f.yaml:1: study: is wrong");
  CHECK(at("metric") == "f.yaml:4: metric.name: is wrong");
  CHECK(at("") == "f.yaml:1: is wrong");
}

TEST_CASE("what no trainer declares has the type of all its values") {
  v1::TrainerDescription trainer;
  trainer.set_name("synthetic");
  trainer.set_takes_any(true);
  trainer.add_hyper_parameters()->set_name("state_bytes");
  trainer.mutable_hyper_parameters(0)->set_type(v1::VALUE_TYPE_INTEGER);
  trainer.mutable_hyper_parameters(0)->mutable_default_value()->set_integer(1);
  trainer.mutable_hyper_parameters(0)->set_initial(true);
  const std::string head = "study: s\ntrainer: synthetic\nmetric: {name: test_acc, goal: max}\n" + kGrid;
  const auto types_of = [&](const std::string& text, const std::vector<v1::TrainerDescription>& trainers) {
    StudyFile file = Parsed(head + text);
    const tl::expected<void, FileError> checked = CheckForForecast(file, trainers);
    INFO((checked.has_value() ? "" : Print(checked.error())));
    REQUIRE(checked.has_value());
    return file.specification.undeclared;
  };
  const std::string text = R"yaml(hyper_parameters:
  state_bytes: 100
  lr: [1, 0.5, "Exponential(1, 0.9)"]
  bs: [32, "MultiStep(32, [40], gamma=0.5)"]
  layers: [3, "MultiStep(3, [40], gamma=0.5)"]
  nesterov: [true, false]
trials:
  - {optimizer: sgd, bs: 64}
)yaml";
  ValueTypes types = {{"lr", ValueType::kFloating},
                      {"bs", ValueType::kInteger},
                      {"layers", ValueType::kFloating},
                      {"nesterov", ValueType::kBoolean},
                      {"optimizer", ValueType::kText}};
  CHECK(types_of(text, {trainer}) == types);
  types["state_bytes"] = ValueType::kInteger;
  CHECK(types_of(text, {}) == types);
  CHECK(types_of(text, Trainers()) == types);

  const auto mistake = [&](const std::string& values) {
    StudyFile file = Parsed(head + "hyper_parameters:\n  x: " + values + "\n");
    return Print(CheckTrainer(file, {trainer}).error());
  };
  CHECK(mistake("[0.1, 2, sgd]") ==
        "f.yaml:6: hyper_parameters.x[2]: got \"sgd\"; expected floating as in "
        "hyper_parameters.x[0]: all values of a hyper-parameter are of one type");
  CHECK(mistake("[true, 1]").starts_with("f.yaml:6: hyper_parameters.x[1]: got 1; expected boolean"));
  StudyFile bad = Parsed(head + "hyper_parameters:\n  state_bytes: 1.5\n");
  CHECK(Print(CheckTrainer(bad, {trainer}).error()).starts_with("f.yaml:6: hyper_parameters.state_bytes: "));
  CHECK(Print(CheckTrainer(bad, Trainers()).error()).starts_with("f.yaml:2: trainer: unknown trainer synthetic"));
}

class Declared {
 public:
  Declared(const char* name, const std::vector<const char*>& metrics) {
    trainer_.set_name(name);
    for (const char* metric : metrics) trainer_.add_metrics(metric);
  }
  Declared& On(const char* data) {
    trainer_.set_data(data);
    return *this;
  }
  Declared& Whole(const char* name, std::int64_t value, bool initial = false) {
    Add(name, v1::VALUE_TYPE_INTEGER, initial).set_integer(value);
    return *this;
  }
  Declared& Floating(const char* name, double value) {
    Add(name, v1::VALUE_TYPE_FLOATING, false).set_floating(value);
    return *this;
  }
  v1::TrainerDescription trainer() const { return trainer_; }

 private:
  v1::Value& Add(const char* name, v1::ValueType type, bool initial) {
    v1::HyperParameter& added = *trainer_.add_hyper_parameters();
    added.set_name(name);
    added.set_type(type);
    added.set_initial(initial);
    return *added.mutable_default_value();
  }

  v1::TrainerDescription trainer_;
};

// What examples/pytorch/digits_cnn.py declares.
v1::TrainerDescription DigitsCnn() {
  return Declared("digits_cnn", {"test_acc", "test_loss"})
      .Whole("bs", 64)
      .Floating("lr", 0.05)
      .Whole("seed", 0, true)
      .trainer();
}

// Of what the built-in language model declares, what examples/trunk names.
v1::TrainerDescription LanguageModel() {
  return Declared("transformer", {"test_loss"})
      .On("/tmp/licences")
      .Whole("bs", 32)
      .Whole("heads", 2, true)
      .Whole("layers", 2, true)
      .Whole("length", 64)
      .Floating("lr", 0.01)
      .Floating("mix", 0)
      .Whole("seed", 0, true)
      .Whole("width", 64, true)
      .trainer();
}

TEST_CASE("every example is a study file that its trainer takes") {
  auto trainers = Trainers();
  trainers.push_back(DigitsCnn());
  trainers.push_back(LanguageModel());
  std::size_t examples = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ESPALIER_SOURCE_DIR "/examples")) {
    const std::string path = entry.path();
    if (entry.path().extension() != ".yaml") continue;
    ++examples;
    tl::expected<StudyFile, FileError> file = ReadStudyFile(path);
    INFO((file.has_value() ? path : Print(file.error())));
    REQUIRE(file.has_value());
    const tl::expected<void, FileError> checked = CheckTrainer(*file, trainers);
    INFO((checked.has_value() ? path : Print(checked.error())));
    CHECK(checked.has_value());
  }
  CHECK(examples >= 2);
  CHECK(ReadStudyFile(ESPALIER_SOURCE_DIR "/examples/digits-sha.yaml")->candidates.size() == 31);
}

}  // namespace espalier
