#include "client/cli/study_comparison.h"

#include <bit>
#include <deque>
#include <map>

#include "searchplan/sequence/value.h"

namespace espalier {
namespace {

constexpr std::size_t kDifferencesShown = 10;

using Sequences = std::map<std::string, std::string>;

Sequences SequencesOf(const v1::Trial& trial) { return {trial.sequences().begin(), trial.sequences().end()}; }

std::string PrintMetric(double value) { return value != value ? "nan" : Print(Value{value}); }

// The same bits, or both no numbers.
bool SameMetric(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (a != a && b != b);
}

class Comparer {
 public:
  explicit Comparer(StudyComparison& comparison) : comparison_(comparison) {}

  void CompareTrials(const v1::Trial& a, const v1::Trial& b) {
    std::map<std::int64_t, const v1::TrialEvaluation*> of_a;
    for (const v1::TrialEvaluation& evaluation : a.evaluations()) of_a[evaluation.step()] = &evaluation;
    for (const v1::TrialEvaluation& evaluation : b.evaluations()) {
      const auto match = of_a.find(evaluation.step());
      if (match != of_a.end()) CompareEvaluations(a, *match->second, b, evaluation);
    }
    if (a.steps() != b.steps() || a.state_sha256().empty() || b.state_sha256().empty()) return;
    ++comparison_.states_compared;
    if (a.state_sha256() == b.state_sha256()) return;
    ++state_differences_;
    Note({a.trial_id(), b.trial_id(), a.steps(), "state_sha256", a.state_sha256(), b.state_sha256()});
  }

  void Conclude() {
    comparison_.metrics_identical = comparison_.evaluations_compared > 0 && metric_differences_ == 0;
    comparison_.states_identical = comparison_.states_compared > 0 && state_differences_ == 0;
  }

 private:
  void CompareEvaluations(const v1::Trial& a, const v1::TrialEvaluation& evaluation_a, const v1::Trial& b,
                          const v1::TrialEvaluation& evaluation_b) {
    ++comparison_.evaluations_compared;
    const std::map<std::string, double> of_a(evaluation_a.metrics().begin(), evaluation_a.metrics().end());
    const std::map<std::string, double> of_b(evaluation_b.metrics().begin(), evaluation_b.metrics().end());
    for (const auto& [name, value] : of_a) {
      const auto other = of_b.find(name);
      if (other != of_b.end() && SameMetric(value, other->second)) continue;
      ++metric_differences_;
      Note({a.trial_id(), b.trial_id(), evaluation_a.step(), name, PrintMetric(value),
            other == of_b.end() ? "missing" : PrintMetric(other->second)});
    }
    for (const auto& [name, value] : of_b) {
      if (of_a.contains(name)) continue;
      ++metric_differences_;
      Note({a.trial_id(), b.trial_id(), evaluation_b.step(), name, "missing", PrintMetric(value)});
    }
  }

  void Note(MetricDifference difference) {
    if (comparison_.differences.size() < kDifferencesShown) comparison_.differences.push_back(std::move(difference));
  }

  StudyComparison& comparison_;
  std::int64_t metric_differences_ = 0;
  std::int64_t state_differences_ = 0;
};

void CompareCosts(StudyComparison& comparison, const v1::StudySummary& a, const v1::StudySummary& b) {
  const bool a_shares_more = a.merge_rate() > b.merge_rate();
  const v1::StudySummary& more = a_shares_more ? a : b;
  const v1::StudySummary& less = a_shares_more ? b : a;
  if (more.slot_seconds() > 0) comparison.slot_seconds_ratio = less.slot_seconds() / more.slot_seconds();
  if (more.time_weighted_merge_rate() > 0) {
    comparison.share_of_merge_rate = comparison.slot_seconds_ratio / more.time_weighted_merge_rate();
  }
}

}  // namespace

StudyComparison Compare(const v1::StudySummary& a, const std::vector<v1::Trial>& trials_a, const v1::StudySummary& b,
                        const std::vector<v1::Trial>& trials_b) {
  StudyComparison comparison;
  std::map<Sequences, std::deque<const v1::Trial*>> of_b;
  for (const v1::Trial& trial : trials_b) of_b[SequencesOf(trial)].push_back(&trial);
  Comparer comparer(comparison);
  for (const v1::Trial& trial : trials_a) {
    const auto match = of_b.find(SequencesOf(trial));
    if (match == of_b.end() || match->second.empty()) {
      ++comparison.trials_only_in_a;
      continue;
    }
    ++comparison.trials_matched;
    comparer.CompareTrials(trial, *match->second.front());
    match->second.pop_front();
  }
  comparison.trials_only_in_b = static_cast<std::int64_t>(trials_b.size()) - comparison.trials_matched;
  comparer.Conclude();
  CompareCosts(comparison, a, b);
  return comparison;
}

}  // namespace espalier
