#include <catch2/catch.hpp>

#include "client/study_file/study_file.h"
#include "tests/support/mlp_trainer.h"

namespace espalier {
namespace {

const std::string kDrawnHead = "study: s\ntrainer: mlp\ndata: digits\nmetric: {name: test_acc, goal: max}\n";

std::string DrawnStudy(const std::string& tuner, const std::string& more) {
  return kDrawnHead + "tuner: " + tuner + "\n" + more;
}

StudyFile ReadDrawn(const std::string& text) {
  tl::expected<StudyFile, FileError> file = ParseStudyFile("f.yaml", text);
  INFO((file.has_value() ? "" : Print(file.error())));
  REQUIRE(file.has_value());
  const auto checked = CheckTrainer(*file, {testing::MlpTrainer()});
  INFO((checked.has_value() ? "" : Print(checked.error())));
  REQUIRE(checked.has_value());
  return *file;
}

std::string MistakeOfDrawn(const std::string& tuner, const std::string& more) {
  tl::expected<StudyFile, FileError> file = ParseStudyFile("f.yaml", DrawnStudy(tuner, more));
  if (!file.has_value()) return Print(file.error());
  const auto checked = CheckTrainer(*file, {testing::MlpTrainer()});
  return checked.has_value() ? "" : "with a server: " + Print(checked.error());
}

const std::string kRanges = R"yaml(hyper_parameters:
  lr: "Exponential(loguniform(1e-3, 1), 0.95)"
  bs: [32, 64]
  optimizer: ["sgd", "adam"]
  momentum: 0.9
  seed: 1
only_if: {momentum: optimizer == sgd}
)yaml";

}  // namespace

TEST_CASE("every tuner but the grid draws its trials where it is told how many") {
  for (const char* tuner :
       {"{random: {steps: 8, trials: 20, seed: 3}}", "{sha: {min: 1, max: 8, reduction: 2, trials: 20, seed: 3}}",
        "{asha: {min: 1, max: 8, reduction: 2, trials: 20, seed: 3}}",
        "{hyperband: {max: 8, reduction: 2, trials: 20, seed: 3}}",
        "{median: {steps: 8, every: 2, trials: 20, seed: 3}}", "{tpe: {steps: 8, trials: 20, seed: 3}}",
        "{asha: {min: 1, max: 8, reduction: 2, trials: 20, seed: 3, sampling: tpe}}"}) {
    INFO(tuner);
    const StudyFile file = ReadDrawn(DrawnStudy(tuner, kRanges));
    REQUIRE(file.candidates.size() == 20);
    for (const tuners::Candidate& candidate : file.candidates) {
      CHECK(candidate.sequences.at("lr").starts_with("Exponential(0."));
      CHECK(candidate.sequences.contains("momentum") == (candidate.sequences.at("optimizer") == "\"sgd\""));
    }
    CHECK(MakeTunerOf(file)->WholeTrials().size() == 20);
    CHECK_FALSE(file.tuner_options.contains("trials"));
  }
  CHECK(ReadDrawn(DrawnStudy("{random: {steps: 8, trials: 9}}", "hyper_parameters: {bs: [32, 64]}\n"))
            .candidates.size() == 9);
}

TEST_CASE("with a stop rule nobody has to say how many trials to draw: slots ask for them until the study ends") {
  const std::string stop = "stop: {after: 2h}\n";
  for (const char* tuner :
       {"{random: {steps: 8, seed: 3}}", "{random: {steps: 8}}", "{tpe: {steps: 8}}", "{median: {steps: 8, every: 2}}",
        "{asha: {min: 1, max: 8, reduction: 2}}", "{asha: {min: 1, max: 8, reduction: 2, sampling: tpe}}"}) {
    INFO(tuner);
    const StudyFile file = ReadDrawn(DrawnStudy(tuner, kRanges + stop));
    CHECK(file.candidates.size() == kTrialsUntilStopped);
    CHECK(MakeTunerOf(file)->Start().empty());
    CHECK(file.specification.asks_for_idle_slots);
    const Result<StudyFile> again = ParseDefinition(file.specification.definition);
    INFO(file.specification.definition);
    REQUIRE(again.has_value());
    CHECK(again->specification.definition == file.specification.definition);
    CHECK(again->sampling->until_stopped);
    CHECK(again->candidates.back().sequences == file.candidates.back().sequences);
  }
  const StudyFile few = ReadDrawn(DrawnStudy("{random: {steps: 8, open_trials: 3}}", kRanges + stop));
  CHECK(MakeTunerOf(few)->Start().size() == 3);
  CHECK_FALSE(few.specification.asks_for_idle_slots);
  const std::string lists = "hyper_parameters: {bs: [32, 64]}\n" + stop;
  CHECK(ReadDrawn(DrawnStudy("{asha: {min: 1, max: 8, reduction: 2}}", lists)).candidates.size() == 2);
  CHECK(MistakeOfDrawn("{sha: {min: 1, max: 8, reduction: 2}}", kRanges + stop) ==
        "f.yaml:5: tuner.sha.trials: is missing; expected how many trials to draw: hyper_parameters.lr is a range");
}

TEST_CASE("whoever carries a study on by its definition draws the same trials") {
  const StudyFile file = ReadDrawn(
      DrawnStudy("{random: {steps: 8, trials: 20, seed: 3, sampling: sobol}}", kRanges + "trials: [{lr: 0.5}]\n"));
  const Result<StudyFile> again = ParseDefinition(file.specification.definition);
  INFO(file.specification.definition);
  REQUIRE(again.has_value());
  CHECK(again->specification.definition == file.specification.definition);
  REQUIRE(again->candidates.size() == 21);
  for (std::size_t i = 0; i < 21; ++i) CHECK(again->candidates[i].sequences == file.candidates[i].sequences);
}

TEST_CASE("a study's definition says by what method its trials are drawn") {
  const StudyFile file = ReadDrawn(DrawnStudy("{tpe: {steps: 8, trials: 20}}", kRanges));
  CHECK(file.sampling->method == SamplingMethod::kTpe);
  const Result<StudyFile> again = ParseDefinition(file.specification.definition);
  REQUIRE(again.has_value());
  CHECK(again->sampling->method == SamplingMethod::kTpe);
  CHECK(again->specification.definition == file.specification.definition);
}

TEST_CASE("milestones are a mapping, in a study file and in its definition") {
  const StudyFile file =
      ReadDrawn(DrawnStudy("{early_stop: {milestones: {5: 2, 10: 1}}}", "hyper_parameters: {bs: [32, 64]}\n"));
  CHECK(std::get<tuners::Counts>(file.tuner_options.at("milestones")) == tuners::Counts{{5, 2}, {10, 1}});
  const Result<StudyFile> again = ParseDefinition(file.specification.definition);
  REQUIRE(again.has_value());
  CHECK(again->specification.definition == file.specification.definition);
  CHECK(MistakeOfDrawn("{early_stop: {milestones: {5: 2, x: 1}}}", "hyper_parameters: {bs: [32, 64]}\n") ==
        "f.yaml:5: tuner.early_stop.milestones.x: got x; expected a whole number from 0 to 2^53");
  CHECK(MistakeOfDrawn("{early_stop: {milestones: {5: 1}}}", "hyper_parameters: {bs: [32, 64]}\n") ==
        "f.yaml:5: tuner.early_stop.milestones: got 1 trials at the first; expected all 2");
}

TEST_CASE("what a population cannot change is said of the line where it stands") {
  CHECK_THAT(MistakeOfDrawn("{pbt: {steps: 8, interval: 2, trials: 4}}",
                            "hyper_parameters:\n  bs: [32, 64]\n  lr: \"Exponential(uniform(0.1, 1), 0.9)\"\n"),
             Catch::StartsWith("f.yaml:8: hyper_parameters.lr: got Exponential(uniform(0.1, 1), 0.9); expected"));
  CHECK_THAT(MistakeOfDrawn("{pbt: {steps: 8, interval: 2, trials: 4}}",
                            "hyper_parameters: {bs: [32, 64]}\ntrials: [{bs: 16}]\n"),
             Catch::StartsWith("f.yaml:7: trials[0]: got a trial"));
}

TEST_CASE("a refused trial that was drawn by what was measured is said of its hyper-parameter") {
  const StudyFile file = ReadDrawn(DrawnStudy("{tpe: {steps: 8, trials: 20}}", kRanges));
  CHECK(AtRequestField(file, {ErrorCode::kInvalidArgument, "is wrong", "trials[19].lr"}).field ==
        "hyper_parameters.lr");
  CHECK(AtRequestField(file, {ErrorCode::kInvalidArgument, "is wrong", "trials[0].bs"}).field == "hyper_parameters.bs");
}

TEST_CASE("a refused copy within a population is said of its hyper-parameter") {
  const StudyFile file = ReadDrawn(DrawnStudy("{pbt: {steps: 8, interval: 2, trials: 4}}",
                                              "hyper_parameters: {bs: [32, 64], lr: \"uniform(0.1, 1)\"}\n"));
  CHECK(AtRequestField(file, {ErrorCode::kInvalidArgument, "is wrong", "trials[9].lr"}).field == "hyper_parameters.lr");
}

TEST_CASE("seed and sampling say what is drawn") {
  const auto drawn = [](const std::string& options) {
    std::vector<TrialText> trials;
    for (const tuners::Candidate& candidate :
         ReadDrawn(DrawnStudy("{random: {steps: 8, trials: 20" + options + "}}", kRanges)).candidates) {
      trials.push_back(candidate.sequences);
    }
    return trials;
  };
  CHECK(drawn("") == drawn(", seed: 0, sampling: random"));
  CHECK(drawn("") != drawn(", seed: 1"));
  CHECK(drawn("") != drawn(", sampling: sobol"));
}

TEST_CASE("an error in one of several values is said of it, ranges beside it or not") {
  const StudyFile file = ReadDrawn(DrawnStudy("{random: {steps: 8, trials: 20}}",
                                              "hyper_parameters:\n  lr:\n    - \"uniform(0.5, 1)\"\n    - 0.25\n"));
  for (std::size_t i = 0; i < file.candidates.size(); ++i) {
    const bool is_plain = file.candidates[i].sequences.at("lr") == "0.25";
    const Error error{ErrorCode::kInvalidArgument, "is wrong", "trials[" + std::to_string(i) + "].lr"};
    CHECK(AtRequestField(file, error).field == (is_plain ? "hyper_parameters.lr[1]" : "hyper_parameters.lr[0]"));
  }
}

TEST_CASE("an explicit trial has what it says itself, whatever the conditions") {
  const std::string trials = "trials: [{optimizer: adam}, {optimizer: adam, momentum: 0.5}, {optimizer: sgd}]\n";
  const StudyFile file = ReadDrawn(DrawnStudy("{grid: {steps: 8}}",
                                              "hyper_parameters: {momentum: 0.9, optimizer: sgd}\n"
                                              "only_if: {momentum: optimizer == sgd}\n" +
                                                  trials));
  REQUIRE(file.candidates.size() == 3);
  CHECK_FALSE(file.candidates[0].sequences.contains("momentum"));
  CHECK(file.candidates[1].sequences.at("momentum") == "0.5");
  CHECK(file.candidates[2].sequences.at("momentum") == "0.9");
}

TEST_CASE("what cannot be drawn is said of the line where it stands") {
  const std::string random = "{random: {steps: 8, trials: 20}}";
  const std::string lr = "hyper_parameters: {lr: \"loguniform(1e-3, 1)\"}\n";
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {"{grid: {steps: 8}}", lr, "f.yaml:6: hyper_parameters.lr: got a range; expected values: grid tries every"},
      {"{grid: {steps: 8, trials: 4}}", lr, "f.yaml:5: tuner.grid.trials: grid tries every combination; expected"},
      {"{sha: {min: 1, max: 8, reduction: 2}}", lr,
       "f.yaml:5: tuner.sha.trials: is missing; expected how many trials to draw: hyper_parameters.lr is a range"},
      {"{random: {steps: 8}}", "hyper_parameters: {bs: [32, 64]}\n",
       "f.yaml:5: tuner.random.trials: is missing; expected how many trials to draw; or give stop, when the study "
       "ends"},
      {"{random: {steps: 8, seed: 1}}", lr, "f.yaml:5: tuner.random.trials: is missing"},
      {"{random: {steps: 8, trials: 0}}", lr, "f.yaml:5: tuner.random.trials: got 0"},
      {"{random: {steps: 8, trials: 100001}}", lr,
       "f.yaml:5: tuner.random.trials: got 100001; expected at most 100000"},
      {"{random: {steps: 8, trials: 4, seed: -1}}", lr, "f.yaml:5: tuner.random.seed: got -1"},
      {"{random: {steps: 8, trials: 4, sampling: halton}}", lr,
       "f.yaml:5: tuner.random.sampling: expected random, sobol or tpe, got 'halton'"},
      {"{tpe: {steps: 8, trials: 4, sampling: random}}", lr, "f.yaml:5: tuner.tpe.sampling: got random; expected tpe"},
      {"{tpe: {steps: 8}}", lr, "f.yaml:5: tuner.tpe.trials: is missing; expected how many trials to draw"},
      {"{sha: {min: 1, max: 8, reduction: 2, trials: 4, sampling: tpe}}", lr,
       "f.yaml:5: tuner.sha.sampling: got tpe, but sha starts its trials at once"},
      {random, "hyper_parameters: {lr: 0.1}\n", "f.yaml:5: tuner.random.trials: there is nothing to draw"},
      {random, "hyper_parameters: {lr: [0.1]}\n", "f.yaml:5: tuner.random.trials: there is nothing to draw"},
      {random, "hyper_parameters: {lr: \"loguniform(0, 1)\"}\n",
       "f.yaml:6: hyper_parameters.lr: got loguniform(0, 1); expected low to be greater than 0"},
      {random, "hyper_parameters: {lr: \"Exponential(uniform(1, 2), uniform(1, 2), 3)\"}\n",
       "f.yaml:6: hyper_parameters.lr: "},
      {random, "hyper_parameters: {bs: \"uniform(10, 20)\"}\n", "with a server: f.yaml:6: hyper_parameters.bs: "},
      {random, lr + "trials: [{lr: \"uniform(0, 1)\"}]\n", "f.yaml:7: trials[0].lr: got a range; expected the value"},
      {random, lr + "only_if: {lr: momentum == 1}\n", "f.yaml:7: only_if.lr: hyper_parameters has no momentum; did"},
      {random, lr + "only_if: {bs: lr == 1}\n", "f.yaml:7: only_if.bs: hyper_parameters has no bs; did you mean lr?"},
      {random, lr + "only_if: {lr: lr}\n", "f.yaml:7: only_if.lr: got lr; expected NAME == VALUE"},
      {random, lr + "only_if: [lr]\n", "f.yaml:7: only_if: got a list; expected a mapping"},
      {"{grid: {steps: 8}}", "hyper_parameters: {bs: [32, 64], lr: 0.1}\nonly_if: {lr: bs == 33}\n",
       "f.yaml:7: only_if.lr: bs is never 33; expected one of: 32, 64"},
  };
  for (const auto& [tuner, more, line] : cases) CHECK_THAT(MistakeOfDrawn(tuner, more), Catch::StartsWith(line));
}

}  // namespace espalier
