// What programs say: of themselves, and of each step.
#include <catch2/catch.hpp>
#include <cmath>

#include "worker/script/declaration.h"
#include "worker/script/program_line.h"

namespace espalier::script {
namespace {

ProgramLine Read(std::string_view text) {
  const auto line = ReadProgramLine(text);
  REQUIRE(line.has_value());
  REQUIRE(line->has_value());
  return **line;
}

bool IsLog(std::string_view text) {
  const auto line = ReadProgramLine(text);
  return line.has_value() && !line->has_value();
}

std::string WrongIn(std::string_view text) {
  const auto declaration = ReadDeclaration(text);
  return declaration.has_value() ? "" : declaration.error().field + ": " + declaration.error().message;
}

}  // namespace

TEST_CASE("a line says a step's metrics, what was measured there, and whether its state is saved") {
  const ProgramLine line =
      Read(R"({"step": 5, "loss": 0.5, "samples": 640, "note": "warm", "evaluate": {"acc": 0.9}, "saved": true})");
  CHECK(line.step == Step{5});
  CHECK(line.metrics == Metrics{{"loss", 0.5}, {"samples", 640}});
  CHECK(line.evaluation == Metrics{{"acc", 0.9}});
  CHECK(line.is_saved);
  CHECK_FALSE(Read(R"({"step": 5, "loss": 0.5})").evaluation.has_value());
}

TEST_CASE("numbers that are not finite are read as Python writes them, and as text") {
  const ProgramLine line =
      Read(R"({"step":1,"loss":NaN,"up":Infinity,"down":-Infinity,"text":"a \" NaN \\","other":"NaN"})");
  CHECK(std::isnan(line.metrics.at("loss")));
  CHECK(line.metrics.at("up") == INFINITY);
  CHECK(line.metrics.at("down") == -INFINITY);
  CHECK(std::isnan(line.metrics.at("other")));
  CHECK_FALSE(line.metrics.contains("text"));
}

TEST_CASE("what is no object with a step belongs to the log, and a step that is none is refused") {
  CHECK(IsLog("epoch 5: 0.5"));
  CHECK(IsLog(""));
  CHECK(IsLog("{"));
  CHECK(IsLog(R"({"loss": 0.5})"));
  CHECK(IsLog("[1]"));
  CHECK(ReadProgramLine(R"({"step": "five", "loss": 1})").error().field == "step");
  CHECK(ReadProgramLine(R"({"step": 5, "evaluate": {"acc": "good"}})").error().field == "acc");
}

TEST_CASE("a program declares its hyper-parameters by their defaults, and what it measures") {
  const Declaration declaration =
      ReadDeclaration(
          R"({"hyper_parameters": {"lr": 0.1, "bs": 32, "seed": {"default": 0, "initial": true}, "nesterov": true,
                          "decay": {"default": 0, "type": "float"}, "optimizer": "sgd"},
                          "metrics": ["mse", "acc"], "data": ["a.csv"], "version": "2", "device": "numpy-2.1", "writes_safetensors": true})")
          .value();
  const auto& parameters = declaration.schema.hyper_parameters;
  REQUIRE(parameters.size() == 6);
  CHECK(parameters[0] == HyperParameter{"bs", ValueType::kInteger, Value{std::int64_t{32}}, false});
  CHECK(parameters[1] == HyperParameter{"decay", ValueType::kFloating, Value{0.0}, false});
  CHECK(parameters[2] == HyperParameter{"lr", ValueType::kFloating, Value{0.1}, false});
  CHECK(parameters[3] == HyperParameter{"nesterov", ValueType::kBoolean, Value{true}, false});
  CHECK(parameters[4] == HyperParameter{"optimizer", ValueType::kText, Value{std::string("sgd")}, false});
  CHECK(parameters[5] == HyperParameter{"seed", ValueType::kInteger, Value{std::int64_t{0}}, true});
  CHECK(declaration.metrics == std::vector<std::string>{"acc", "mse"});
  CHECK(declaration.data_paths == std::vector<std::string>{"a.csv"});
  CHECK(declaration.version == "2");
  CHECK(declaration.device == "numpy-2.1");
  CHECK(declaration.writes_safetensors);
}

TEST_CASE("a declaration that is wrong is refused by its field") {
  CHECK(WrongIn("usage: train.sh") == ": it is no JSON object");
  CHECK(WrongIn(R"({"hyperparameters": {}})").starts_with("hyperparameters: is not known; expected some of: "));
  CHECK(WrongIn(R"({"hyper_parameters": {"lr": []}})").starts_with("hyper_parameters.lr.default: expected a number"));
  CHECK(WrongIn(R"({"hyper_parameters": {"bs": {"default": 0.5, "type": "int"}}})").starts_with("hyper_parameters.bs"));
  CHECK(WrongIn(R"({"hyper_parameters": {"lr": {"default": 1, "type": "number"}}})").find("'number'") !=
        std::string::npos);
  CHECK(WrongIn(R"({"metrics": "acc"})").starts_with("metrics: "));
}

}  // namespace espalier::script
