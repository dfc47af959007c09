// Trains one trial of a trainer of your own, or on your data, which no server need have heard of before, and leaves its
// state in a file here.
//   own-trainer TRAINER METRIC [DATA]      # such as: own-trainer train.py:main test_acc
#include <espalier/client/client.h>

#include <cstdlib>
#include <iostream>

using espalier::Result;
using espalier::Step;

namespace {

Result<void> Run(const std::string& address, const std::string& trainer, const std::string& metric,
                 const std::string& data) {
  ESPALIER_ASSIGN(espalier::Client client, espalier::Client::Connect(address));
  espalier::StudySpecification specification{
      .name = "own trainer, in C++",
      .trainer = trainer,  // "train.py:main", "script:train.sh", "library:net.so"
      .data = data,        // a folder, or a name that servers know
      .step = {.updates = 5},
      .metric = metric,
      .definition = R"({"study":"own trainer, in C++"})"};
  const auto say = [](const std::string& waiting) { std::cerr << waiting << '\n'; };
  ESPALIER_ASSIGN(specification, client.DescribeTrainer(specification, say));
  ESPALIER_ASSIGN(espalier::Study study, client.CreateStudy(specification));
  ESPALIER_ASSIGN(const espalier::Evaluation evaluation, study.Eval({{"lr", "0.1"}}, Step{4}));
  ESPALIER_RETURN_IF_ERROR(study.Finish());
  std::cout << specification.trainer << " at step " << evaluation.step.value << ": " << Name(evaluation.state);
  for (const auto& [name, value] : evaluation.metrics) std::cout << ' ' << name << ' ' << value;
  std::cout << '\n';

  // Its state, in a file of its own here.
  const std::string file = "trial-" + std::to_string(evaluation.trial.value) + ".safetensors";
  ESPALIER_ASSIGN(const espalier::CheckpointView state,
                  client.FetchCheckpoint(evaluation.trial, file, {.step = evaluation.step, .train = true, .say = say}));
  std::cout << file << ": " << state.bytes << " bytes, after step " << state.step.value << '\n';
  return {};
}

Result<std::string> LocalAddress() {
  const char* const data = std::getenv("ESPALIER_DATA");
  const char* const home = std::getenv("HOME");
  return espalier::ReadServerAddress((data ? std::string(data) : std::string(home ? home : "") + "/.espalier") +
                                     "/address");
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count < 3) {
    std::cerr << "usage: own-trainer TRAINER METRIC [DATA]\n";
    return 2;
  }
  const Result<std::string> address = LocalAddress();
  const Result<void> done = address.has_value()
                                ? Run(*address, arguments[1], arguments[2], argument_count > 3 ? arguments[3] : "")
                                : tl::unexpected<espalier::Error>(address.error());
  if (done.has_value()) return 0;
  std::cerr << done.error().field << (done.error().field.empty() ? "" : ": ") << done.error().message << '\n';
  return 1;
}
