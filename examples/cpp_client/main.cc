// Tunes the built-in trainer `mlp` on handwritten digits: what it will cost, two tuners one after another, and what
// came of it; then two decays of the best trial.
//   digits-study [ADDRESS]      # "unix:/path" or "host:port"; left out: what `espalier up` runs here
#include <espalier/client/client.h>
#include <espalier/client/space/search_space.h>
#include <espalier/client/tune.h>
#include <espalier/client/tuners/registry.h>

#include <cstdlib>
#include <iostream>

using espalier::Evaluation;
using espalier::Future;
using espalier::Result;
using espalier::Step;
using espalier::TrialText;

namespace {

// Of the server that `espalier up` runs here.
Result<std::string> LocalAddress() {
  const char* const data = std::getenv("ESPALIER_DATA");
  const char* const home = std::getenv("HOME");
  return espalier::ReadServerAddress((data ? std::string(data) : std::string(home ? home : "") + "/.espalier") +
                                     "/address");
}

// A list is tuned, one sequence each.
std::vector<TrialText> Grid() {
  const espalier::SearchSpace space{
      .lists = {{"lr", {"0.1", "MultiStep(0.1, [4], gamma=0.1)", "Warmup(0.01, 2, Cosine(0.1, 0, 6))"}},
                {"bs", {"32", "MultiStep(32, [4], gamma=2)"}}},
      .fixed = {{"momentum", "0.9"}}};
  return space.Grid();
}

// Four of them to step 2, the better two to step 4, the best to step 8; then the others to step 4.
Result<void> TuneTwice(espalier::Study& study, const std::vector<TrialText>& trials) {
  espalier::tuners::Trials some;
  for (std::size_t i = 0; i < 4; ++i) some.candidates.push_back({.sequences = trials[i]});
  ESPALIER_ASSIGN(const auto sha, espalier::tuners::MakeTuner("sha", {{"min", 2}, {"max", 8}, {"reduction", 2}}, some));
  ESPALIER_ASSIGN(const espalier::TuneReport halved, espalier::Tune(study, *sha, {.metric = "test_acc"}));
  std::cout << "successive halving: " << halved.trials.size() << " trials, " << halved.evaluations.size()
            << " evaluations\n";

  espalier::tuners::Trials rest;
  for (std::size_t i = 4; i < trials.size(); ++i) rest.candidates.push_back({.sequences = trials[i]});
  ESPALIER_ASSIGN(const auto grid, espalier::tuners::MakeTuner("grid", {{"steps", 4}}, rest));
  ESPALIER_ASSIGN(const espalier::TuneReport all, espalier::Tune(study, *grid, {.metric = "test_acc"}));
  std::cout << "grid: " << all.trials.size() << " trials\n";
  return {};
}

// Futures come back at once, and their evaluations as they are measured.
Result<void> AskAlone(espalier::Study& study) {
  ESPALIER_ASSIGN(
      const std::vector<Future<Evaluation>> futures,
      study.Submit({{{"lr", "0.05"}}, {{"lr", "Exponential(0.05, 0.9)"}}}, {.steps = Step{4}, .horizon = Step{1000}}));
  for (const Future<Evaluation>& future : futures) {
    future.OnSettled([](const Result<Evaluation>& evaluation) {
      if (evaluation.has_value()) std::cout << "settled: " << Name(evaluation->state) << '\n';
    });
  }
  if (!espalier::WaitAll(futures, std::chrono::minutes(5))) std::cout << "they take long\n";
  // One of them goes on, and is withdrawn.
  const Result<Evaluation>& first = futures.front().Get();
  if (!first.has_value()) return tl::unexpected(first.error());
  ESPALIER_ASSIGN(const Future<Evaluation> longer, study.Continue(first->trial, Step{1000}));
  ESPALIER_RETURN_IF_ERROR(longer.Cancel());
  longer.Wait();

  // One trial at one step: what is trained of it already is not trained again.
  ESPALIER_ASSIGN(const Evaluation evaluation, study.Eval({{"lr", "0.05"}}, Step{6}));
  std::cout << "lr 0.05 at step 6: test_acc " << evaluation.metrics.at("test_acc") << '\n';
  return {};
}

// Two decays of the best trial from its middle on: the trunk is trained once, and was.
Result<void> BranchBest(const espalier::Study& study, const espalier::TrialView& best) {
  const Step middle{best.steps.value / 2};
  ESPALIER_ASSIGN(
      const espalier::Continued decays,
      study.Branch(best.id, {{.at = middle, .decay = espalier::BranchDecay{.share = 0.25, .shape = "sqrt"}},
                             {.at = middle, .decay = espalier::BranchDecay{.share = 0.25, .shape = "linear"}}}));
  for (const Future<Evaluation>& future : decays.evaluations) {
    const Result<Evaluation>& evaluation = future.Get();
    if (!evaluation.has_value()) return tl::unexpected(evaluation.error());
    std::cout << "decayed at step " << evaluation->step.value << ": test_acc " << evaluation->metrics.at("test_acc")
              << '\n';
  }
  return {};
}

Result<void> Run(const std::string& address) {
  ESPALIER_ASSIGN(espalier::Client client, espalier::Client::Connect(address));
  const espalier::StudySpecification specification{.name = "digits-in-cpp",
                                                   .trainer = "mlp",
                                                   .data = "digits",
                                                   .step = {.updates = 20},
                                                   .metric = "test_acc",
                                                   .goal = espalier::Goal::kMaximize,
                                                   .definition = R"({"study":"digits, in C++"})"};
  const std::vector<TrialText> trials = Grid();
  ESPALIER_ASSIGN(const espalier::ForecastView forecast, client.Forecast(specification, trials, {.steps = Step{8}}));
  std::cout << "forecast: " << forecast.trials << " trials, " << forecast.total_steps << " steps, of which "
            << forecast.unique_steps << " are unique\n";

  ESPALIER_ASSIGN(espalier::Study study, client.CreateStudy(specification));
  ESPALIER_RETURN_IF_ERROR(TuneTwice(study, trials));
  ESPALIER_RETURN_IF_ERROR(AskAlone(study));
  ESPALIER_RETURN_IF_ERROR(study.Finish());
  ESPALIER_RETURN_IF_ERROR(study.WaitUntilFinished());

  ESPALIER_ASSIGN(const std::optional<espalier::TrialView> best, study.Best());
  if (!best) return espalier::MakeError(espalier::ErrorCode::kNotFound, "no trial has a result");
  std::cout << "best: trial " << best->id.value << ", test_acc " << *best->metric << " at step " << best->steps.value
            << ", lr = " << best->sequences.at("lr") << '\n';
  ESPALIER_ASSIGN(const espalier::TrainingCurves curves, study.TrainingMetrics(best->id));
  for (const auto& [name, by_step] : curves) std::cout << "  " << name << " of " << by_step.size() << " steps\n";
  ESPALIER_ASSIGN(const std::vector<espalier::CheckpointView> states, study.Checkpoints(best->id));
  for (const espalier::CheckpointView& state : states) {
    std::cout << "  its state at step " << state.step.value << ": " << state.bytes << " bytes\n";
  }
  return BranchBest(study, *best);
}

}  // namespace

int main(int argument_count, char** arguments) {
  const Result<std::string> address = argument_count > 1 ? Result<std::string>(arguments[1]) : LocalAddress();
  const Result<void> done = address.has_value() ? Run(*address) : tl::unexpected<espalier::Error>(address.error());
  if (done.has_value()) return 0;
  std::cerr << done.error().field << (done.error().field.empty() ? "" : ": ") << done.error().message << '\n';
  return 1;
}
