#include "examples/thesis/cpp/early_stop.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace thesis {

using espalier::Evaluation;
using espalier::Future;
using espalier::Result;

EarlyStopTuner::EarlyStopTuner(Schedule schedule, espalier::SearchSpace search_space, std::string metric)
    : schedule_(std::move(schedule)), search_space_(std::move(search_space)), metric_(std::move(metric)) {}

Result<std::vector<Evaluation>> EarlyStopTuner::operator()(espalier::Study& study) const {
  std::vector<espalier::TrialText> trials = search_space_.Grid();
  trials.resize(std::min(trials.size(), schedule_.front().trials));
  ESPALIER_ASSIGN(std::vector<Future<Evaluation>> futures,
                  study.Submit(trials, {.steps = schedule_.front().step, .horizon = schedule_.back().step}));
  for (std::size_t i = 1; i < schedule_.size(); ++i) {
    ESPALIER_ASSIGN(const std::vector<Evaluation> ranked, Ranked(futures));
    futures.clear();
    for (std::size_t rank = 0; rank < ranked.size(); ++rank) {
      if (rank < schedule_[i].trials) {
        ESPALIER_ASSIGN(Future<Evaluation> future, study.Continue(ranked[rank].trial, schedule_[i].step));
        futures.push_back(std::move(future));
      } else {
        ESPALIER_RETURN_IF_ERROR(study.Close({ranked[rank].trial}));
      }
    }
  }
  return Ranked(futures);
}

Result<std::vector<Evaluation>> EarlyStopTuner::Ranked(const std::vector<Future<Evaluation>>& futures) const {
  espalier::WaitAll(futures);
  std::vector<Evaluation> ranked;
  for (const Future<Evaluation>& future : futures) {
    ESPALIER_ASSIGN(Evaluation evaluation, Result<Evaluation>(future.Get()));
    if (evaluation.state == espalier::ClaimState::kDone) ranked.push_back(std::move(evaluation));
  }
  const auto value = [&](const Evaluation& evaluation) {
    const auto found = evaluation.metrics.find(metric_);
    return found == evaluation.metrics.end() || std::isnan(found->second) ? -std::numeric_limits<double>::infinity()
                                                                          : found->second;
  };
  std::ranges::stable_sort(ranked, std::greater{}, value);
  return ranked;
}

}  // namespace thesis
