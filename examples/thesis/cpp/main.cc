// Figures 5.2 and 5.3: a search space of sequences, and a study of it by a tuner that stops trials early. Its trainer
// is the built-in `mlp`, or that of figure 5.1 (../README.md says how the service comes by it).
//   build/release/bin/espalier up                         # in another terminal
//   build/release/bin/thesis-study [mlp | my_trainer]
#include <cstdlib>
#include <iostream>
#include <string>

#include "client/client.h"
#include "client/space/search_space.h"
#include "examples/thesis/cpp/early_stop.h"

using espalier::Evaluation;
using espalier::Result;
using espalier::SearchSpace;
using espalier::Step;
using thesis::EarlyStopTuner;
using thesis::Schedule;

namespace {

SearchSpace GetSearchSpace() {
  return {.lists = {{"lr", {"Constant(0.1)", "Exponential(0.1, 0.95)"}},
                    {"bs", {"Constant(128)", "MultiStep(128, [4], 2)", "Constant(64)", "MultiStep(64, [4], 2)"}}},
          .fixed = {}};
}

// Of the server that `espalier up` runs here.
Result<std::string> ServerAddress() {
  const char* const data = std::getenv("ESPALIER_DATA");
  const char* const home = std::getenv("HOME");
  return espalier::ReadServerAddress((data ? std::string(data) : std::string(home ? home : "") + "/.espalier") +
                                     "/address");
}

void Print(const Evaluation& evaluation) {
  std::cout << "trial " << evaluation.trial.value << " at step " << evaluation.step.value;
  for (const auto& [name, value] : evaluation.metrics) std::cout << ", " << name << ' ' << value;
  std::cout << (evaluation.message.empty() ? "" : ": ") << evaluation.message << '\n';
}

Result<void> Run(const std::string& trainer) {
  ESPALIER_ASSIGN(const std::string address, ServerAddress());
  ESPALIER_ASSIGN(espalier::Client client, espalier::Client::Connect(address));
  ESPALIER_ASSIGN(espalier::Study study, client.CreateStudy({.name = "thesis",
                                                             .trainer = trainer,
                                                             .data = "digits",
                                                             .step = {.updates = 20},
                                                             .metric = "test_acc",
                                                             .goal = espalier::Goal::kMaximize,
                                                             .scope = espalier::Scope::kTeam,
                                                             .definition = R"({"study":"thesis, in C++"})"}));

  const Schedule schedule{{Step{5}, 8}, {Step{10}, 4}};
  const EarlyStopTuner tuner(schedule, GetSearchSpace(), "test_acc");
  ESPALIER_ASSIGN(const std::vector<Evaluation> best, tuner(study));
  for (const Evaluation& evaluation : best) Print(evaluation);

  // Users can tune a study multiple times on different tuners
  const EarlyStopTuner tuner2({{Step{2}, 8}, {Step{4}, 4}, {Step{8}, 2}}, GetSearchSpace(), "test_acc");
  ESPALIER_RETURN_IF_ERROR(tuner2(study));

  // Users can directly evaluate a certain trial on a specified step
  ESPALIER_ASSIGN(const Evaluation evaluation,
                  study.Eval({{"lr", "Exponential(0.1, 0.95)"}, {"bs", "MultiStep(128, [4], 2)"}}, Step{7}));
  Print(evaluation);

  ESPALIER_RETURN_IF_ERROR(study.Finish());
  ESPALIER_RETURN_IF_ERROR(study.WaitUntilFinished());
  return {};
}

}  // namespace

int main(int argument_count, char** arguments) {
  const Result<void> done = Run(argument_count > 1 ? arguments[1] : "mlp");
  if (done.has_value()) return 0;
  const espalier::Error& error = done.error();
  std::cerr << error.field << (error.field.empty() ? "" : ": ") << error.message << '\n';
  return 1;
}
