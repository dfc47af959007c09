#include "worker/trainer/models/transformer.h"

#include <catch2/catch.hpp>

#include "tests/unit/trainer/data_folder.h"
#include "tests/unit/trainer/pieces.h"

namespace espalier::trainer {
namespace {

using test::DataFolder;

const HyperParameterValues kSmall{
    {"heads", std::int64_t{2}}, {"layers", std::int64_t{2}}, {"seed", std::int64_t{7}}, {"width", std::int64_t{8}}};

// Text in which each byte follows from the one before.
std::string Counting(int count, int step) {
  std::string text;
  for (int i = 0; i < count; ++i) text += static_cast<char>('a' + i * step % 26);
  return text;
}

void WriteText(const DataFolder& folder) {
  folder.Write("train.txt", Counting(3000, 1));
  folder.Write("second.txt", Counting(700, 3));
  folder.Write("test.txt", Counting(300, 1));
}

// Lines of the one class rise, those of the other fall.
void WriteLines(const DataFolder& folder) {
  for (const char* part : {"train", "test"}) {
    std::string rising;
    std::string falling;
    for (int i = 0; i < 60; ++i) {
      rising += Counting(4 + i % 7, 1).substr(i % 3) + "\n";
      falling += Counting(4 + i % 7, 25).substr(i % 3) + "\n";
    }
    folder.Write(part + std::string("/rising.txt"), rising);
    folder.Write(part + std::string("/falling.txt"), falling);
  }
}

HyperParameterValues ChangingText(std::int64_t step) {
  HyperParameterValues values = test::ChangingOptimizer("adamw", step);
  values["bs"] = std::int64_t{step < 3 ? 16 : 24};
  values["dropout"] = step < 2 ? 0.0 : 0.1;
  values["length"] = std::int64_t{step < 3 ? 20 : 33};
  return values;
}

HyperParameterValues ChangingMix(std::int64_t step) {
  HyperParameterValues values = ChangingText(step);
  values["mix"] = step < 1 ? 0.0 : step < 4 ? 0.5 : 0.1;
  return values;
}

// After so many steps at the defaults but for `given`.
Metrics TrainedOn(const DataFolder& folder, int steps, HyperParameterValues given) {
  const TrainerKind kind = Classifier(Transformer(), folder.Found());
  HyperParameterValues values = kSmall;
  values.merge(given);
  for (const DeclaredHyperParameter& declared : kind.hyper_parameters) {
    values.emplace(declared.name, declared.default_value);
  }
  const auto trainer = kind.make({20});
  trainer->Init(values);
  trainer->Setup(values);
  for (int i = 0; i < steps; ++i) trainer->Train();
  return trainer->Evaluate();
}

}  // namespace

TEST_CASE("transformer: a training in pieces is the same, bit for bit, as a straight one", "[torch]") {
  const DataFolder text;
  WriteText(text);
  const DataFolder lines;
  WriteLines(lines);
  const auto check = [](const DataFolder& folder, const test::Schedule& schedule, StepMeaning step) {
    const test::Subject subject{Classifier(Transformer(), folder.Found()), kSmall};
    const test::Scenario scenario{"", step, schedule, 6};
    const test::Trained straight = TrainStraight(subject, scenario);
    CHECK(TrainInPieces(subject, scenario) == straight);
    for (const char* prefix : {"model.", "optimizer.", "random.", "data."}) {
      INFO("without " << prefix);
      CHECK(TrainInPieces(subject, scenario, test::WithoutPart(prefix)).state_sha256 != straight.state_sha256);
    }
  };
  check(text, ChangingMix, {4});
  check(lines, ChangingText, {3});
  const test::Subject by_epochs{Classifier(Transformer(), text.Found()), kSmall};
  const test::Scenario scenario{"", {}, ChangingMix, 5};
  CHECK(TrainInPieces(by_epochs, scenario) == TrainStraight(by_epochs, scenario));
}

TEST_CASE("transformer: it learns to tell the next byte, and the class of a line", "[torch]") {
  const DataFolder text;
  WriteText(text);
  CHECK(TrainedOn(text, 10, {{"lr", 0.01}, {"length", std::int64_t{20}}, {"dropout", 0.0}}).at("test_acc") > 0.95);
  const DataFolder lines;
  WriteLines(lines);
  CHECK(TrainedOn(lines, 10, {{"lr", 0.01}, {"dropout", 0.0}}).at("test_acc") > 0.95);
}

TEST_CASE("transformer: a shape that cannot be is refused, naming the hyper-parameter", "[torch]") {
  const DataFolder folder;
  WriteText(folder);
  const TrainerKind kind = Classifier(Transformer(), folder.Found());
  const std::vector<std::pair<std::string, std::int64_t>> wrong{{"layers", 0}, {"width", 9}, {"heads", 3}};
  for (const auto& [name, value] : wrong) {
    HyperParameterValues values = kSmall;
    values[name] = value;
    CHECK_THROWS_WITH(kind.make({})->Init(values), Catch::StartsWith(name + ": expected"));
  }
}

}  // namespace espalier::trainer
