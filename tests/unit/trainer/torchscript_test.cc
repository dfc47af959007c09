#include "worker/trainer/models/torchscript.h"

#include <ATen/ops/rand.h>
#include <torch/script.h>
#include <torch/utils.h>

#include <catch2/catch.hpp>

#include "base/digest.h"
#include "tests/unit/trainer/data_folder.h"
#include "tests/unit/trainer/pieces.h"
#include "worker/trainer/data/digits.h"

namespace espalier::trainer {
namespace {

// LibTorch's headers take CHECK away: here is REQUIRE alone.

// Two layers with dropout between, and a buffer that follows the inputs while it trains.
torch::jit::Module Script(const std::string& last_line) {
  torch::manual_seed(1);
  torch::jit::Module module("module");
  module.register_parameter("first", (0.1 * at::rand({64, 24})).set_requires_grad(true), false);
  module.register_parameter("second", (0.1 * at::rand({24, 10})).set_requires_grad(true), false);
  module.register_buffer("mean", at::zeros({1}));
  module.register_attribute("training", c10::BoolType::get(), true);
  module.define(R"(
    def forward(self, inputs):
        if self.training:
            self.mean.mul_(0.9).add_(inputs.mean(), alpha=0.1)
        hidden = torch.relu(torch.mm(torch.flatten(inputs, 1) - self.mean, self.first))
        logits = torch.mm(torch.dropout(hidden, 0.2, self.training), self.second)
)" + last_line);
  return module;
}

NetworkKind Exported(const test::DataFolder& folder, const std::string& last_line = "        return logits\n") {
  const std::filesystem::path file = folder.path / "mine.pt";
  Script(last_line).save(file.string());
  return TorchScript("mine", file, "digest");
}

test::Schedule ChangingScript() {
  return [](std::int64_t step) {
    HyperParameterValues values = test::ChangingOptimizer("", step);
    values["bs"] = std::int64_t{step < 3 ? 32 : 50};
    values["loss"] = std::string(step < 4 ? "cross_entropy" : step < 6 ? "multi_margin" : "one_hot_mse");
    return values;
  };
}

HyperParameterValues Defaults(const TrainerKind& kind) {
  HyperParameterValues values;
  for (const DeclaredHyperParameter& declared : kind.hyper_parameters) values[declared.name] = declared.default_value;
  return values;
}

std::unique_ptr<Trainer> Begun(const TrainerKind& kind, const HyperParameterValues& given = {}) {
  HyperParameterValues values = Defaults(kind);
  for (const auto& [name, value] : given) values[name] = value;
  auto trainer = kind.make({});
  trainer->Init(values);
  trainer->Setup(values);
  return trainer;
}

}  // namespace

TEST_CASE("a module from Python trains in pieces as straight on, bit for bit", "[torch]") {
  const test::DataFolder folder;
  const test::Subject subject{Classifier(Exported(folder), Digits()), {}};
  const test::Scenario scenario{"", {5}, ChangingScript(), 8};
  const test::Trained straight = TrainStraight(subject, scenario);
  REQUIRE((TrainInPieces(subject, scenario) == straight));
  for (const char* prefix : {"model.first", "model.mean", "optimizer.", "random.", "data."}) {
    INFO("without " << prefix);
    REQUIRE(TrainInPieces(subject, scenario, test::WithoutPart(prefix)).state_sha256 != straight.state_sha256);
  }
}

TEST_CASE("a module from Python begins with its file's weights and learns", "[torch]") {
  const test::DataFolder folder;
  const TrainerKind kind = Classifier(Exported(folder), Digits());
  const auto trainer = Begun(kind, {{"lr", 0.3}});
  const auto other_seed = Begun(kind, {{"seed", std::int64_t{5}}});
  REQUIRE((trainer->Save().at("model.first") == other_seed->Save().at("model.first")));
  for (int i = 0; i < 10; ++i) trainer->Train();
  const Metrics metrics = trainer->Evaluate();
  REQUIRE(metrics.at("test_acc") > 0.9);
  REQUIRE(metrics.at("test_top5") > metrics.at("test_acc"));
  REQUIRE(kind.metrics == std::vector<std::string>{"test_acc", "test_loss", "test_top5"});
}

TEST_CASE("the loss of a module from Python is chosen", "[torch]") {
  const test::DataFolder folder;
  const auto loss = [&](const std::string& name, const std::string& last_line) {
    const NetworkKind network = Exported(folder, last_line);
    return Begun(Classifier(network, Digits()), {{"loss", name}})->Evaluate().at("test_loss");
  };
  const std::string logits = "        return logits\n";
  const double cross_entropy = loss("cross_entropy", logits);
  REQUIRE(loss("nll", "        return torch.log_softmax(logits, 1)\n") == Approx(cross_entropy));
  REQUIRE(loss("multi_margin", logits) != Approx(cross_entropy));
  REQUIRE(loss("one_hot_mse", "        return torch.zeros([inputs.size(0), 10])\n") == Approx(0.1));
  REQUIRE_THROWS_WITH(loss("hinge", logits), Catch::StartsWith("loss: expected"));
}

TEST_CASE("a module that is none, or returns something else, is refused", "[torch]") {
  const test::DataFolder folder;
  REQUIRE_THROWS_WITH(Begun(Classifier(Exported(folder, "        return 3\n"), Digits()))->Train(),
                      Catch::Contains("does not return a tensor"));
  folder.Write("mine.pt", "no module");
  REQUIRE_THROWS(Begun(Classifier(TorchScript("mine", folder.path / "mine.pt", "digest"), Digits())));
}

}  // namespace espalier::trainer
