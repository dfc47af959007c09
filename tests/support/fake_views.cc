#include "tests/support/fake_views.h"

#include <algorithm>

namespace espalier::testing {
namespace {

std::optional<v1::BestTrial> BestOf(const FakeStudy& study) {
  const bool maximize = study.specification().goal() == v1::GOAL_MAXIMIZE;
  std::optional<v1::BestTrial> best;
  for (const FakeTrial& trial : study.trials()) {
    for (const auto& [step, metrics] : trial.evaluations) {
      const auto metric = metrics.find(study.specification().metric());
      if (metric == metrics.end()) continue;
      if (best && (maximize ? metric->second <= best->value() : metric->second >= best->value())) continue;
      best.emplace();
      best->set_trial_id(trial.id);
      best->set_metric(study.specification().metric());
      best->set_value(metric->second);
      best->set_step(step);
    }
  }
  return best;
}

std::int64_t ClaimedSteps(const FakeStudy& study) {
  std::int64_t claimed = 0;
  for (const FakeTrial& trial : study.trials()) claimed += trial.last_claim;
  return claimed;
}

double ElapsedSeconds(const FakeStudy& study) { return static_cast<double>(ClaimedSteps(study)) * 0.03; }

// What a list says of a study as well as its own summary.
template <class View>
void FillHead(const FakeStudy& study, View& view) {
  view.set_study_id(study.id());
  view.set_name(study.specification().name());
  view.set_state(study.finished() ? "finished" : "running");
  view.set_trainer(study.specification().trainer());
  view.set_goal(study.specification().goal());
  view.set_scope(study.specification().scope());
}

// Of `count` elements, those on the page that is asked for.
template <class Request>
std::pair<std::size_t, std::size_t> PageOf(const Request& request, std::size_t count) {
  const std::size_t begin = request.page_token().empty() ? 0 : std::stoull(request.page_token());
  return {begin, std::min<std::size_t>(count, begin + (request.page_size() == 1 ? 1 : 2))};
}

}  // namespace

v1::StudySummary Summarize(const FakeStudy& study) {
  v1::StudySummary summary;
  FillHead(study, summary);
  summary.set_cancelled(study.cancelled());
  summary.set_keep(study.keep());
  summary.set_definition(study.specification().definition());
  for (const FakeTrial& trial : study.trials()) ++(*summary.mutable_trials_by_state())[study.StateOf(trial)];
  if (const auto best = BestOf(study)) *summary.mutable_best() = *best;
  const std::int64_t claimed = ClaimedSteps(study);
  summary.mutable_steps()->set_claimed(claimed);
  summary.mutable_steps()->set_unique(claimed);
  summary.mutable_steps()->set_trained(claimed);
  summary.set_merge_rate(claimed > 0 ? 1 : 0);
  summary.set_time_weighted_merge_rate(claimed > 0 ? 1 : 0);
  summary.set_slot_seconds(static_cast<double>(claimed) * 0.05);
  summary.set_elapsed_seconds(ElapsedSeconds(study));
  return summary;
}

v1::StudyListing ListingOf(const FakeStudy& study) {
  v1::StudyListing listing;
  FillHead(study, listing);
  for (const FakeTrial& trial : study.trials()) {
    const std::string state = study.StateOf(trial);
    ++(*listing.mutable_trials_by_standing())[state == "waiting" ? "pending" : state];
  }
  listing.set_claimed_steps(ClaimedSteps(study));
  listing.set_elapsed_seconds(ElapsedSeconds(study));
  if (const auto best = BestOf(study)) *listing.mutable_best() = *best;
  return listing;
}

v1::ListStudiesResponse ListStudies(const std::vector<FakeStudy>& studies, const v1::ListStudiesRequest& request) {
  std::vector<v1::StudyListing> listings;
  for (auto study = studies.rbegin(); study != studies.rend(); ++study) {
    const v1::StudyListing listing = ListingOf(*study);
    const bool of_metric = request.metric().empty() || (study->specification().metric() == request.metric() &&
                                                        study->specification().goal() == request.goal());
    if ((request.state().empty() || listing.state() == request.state()) && of_metric) listings.push_back(listing);
  }
  v1::ListStudiesResponse response;
  const auto [begin, end] = PageOf(request, listings.size());
  for (std::size_t i = begin; i < end; ++i) *response.add_studies() = listings[i];
  if (end < listings.size()) response.set_next_page_token(std::to_string(end));
  return response;
}

v1::ListTrialsResponse ListTrials(const FakeStudy& study, const v1::ListTrialsRequest& request) {
  std::vector<v1::Trial> trials;
  for (const FakeTrial& trial : study.trials()) {
    const std::string state = study.StateOf(trial);
    const auto& states = request.states();
    if (states.empty() || std::find(states.begin(), states.end(), state) != states.end()) {
      trials.push_back(ViewOf(study, trial));
    }
  }
  if (request.order() == v1::TRIAL_ORDER_METRIC) {
    std::stable_sort(trials.begin(), trials.end(), [](const v1::Trial& a, const v1::Trial& b) {
      return a.has_metric() && (!b.has_metric() || a.metric() > b.metric());
    });
  }
  v1::ListTrialsResponse response;
  const auto [begin, end] = PageOf(request, trials.size());
  for (std::size_t i = begin; i < end; ++i) *response.add_trials() = trials[i];
  if (end < trials.size()) response.set_next_page_token(std::to_string(end));
  return response;
}

v1::Trial ViewOf(const FakeStudy& study, const FakeTrial& trial) {
  v1::Trial view;
  view.set_trial_id(trial.id);
  view.set_state(study.StateOf(trial));
  view.mutable_sequences()->insert(trial.sequences.begin(), trial.sequences.end());
  view.set_horizon_steps(trial.horizon);
  for (const auto& [step, metrics] : trial.evaluations) {
    v1::TrialEvaluation& evaluation = *view.add_evaluations();
    evaluation.set_step(step);
    evaluation.mutable_metrics()->insert(metrics.begin(), metrics.end());
    view.set_steps(step);
    view.set_state_sha256(std::string(63, '0') + std::to_string(step % 10));
    const auto metric = metrics.find(study.specification().metric());
    if (metric != metrics.end()) view.set_metric(metric->second);
  }
  return view;
}

v1::ListCheckpointsResponse CheckpointsOf(const FakeTrial& trial) {
  v1::ListCheckpointsResponse response;
  for (const auto& [step, metrics] : trial.evaluations) {
    v1::ListedCheckpoint& checkpoint = *response.add_checkpoints();
    checkpoint.mutable_point()->set_step(step);
    checkpoint.mutable_state()->set_file(std::to_string(trial.id) + "@" + std::to_string(step));
    checkpoint.mutable_state()->set_size_bytes(1000);
  }
  return response;
}

v1::GetPlanResponse PlanOf(const FakeStudy& study) {
  v1::GetPlanResponse response;
  for (const FakeTrial& trial : study.trials()) {
    v1::PlanNode& node = *response.add_nodes();
    node.set_plan_node_id(trial.id);
    node.mutable_functions()->insert(trial.sequences.begin(), trial.sequences.end());
    node.set_trial_count(1);
    const std::int64_t trained = trial.evaluations.empty() ? 0 : trial.evaluations.rbegin()->first;
    const auto add_stage = [&](std::int64_t from, std::int64_t to, const char* state) {
      if (from == to) return;
      v1::StageView& stage = *node.add_stages();
      stage.set_from_step(from);
      stage.set_to_step(to);
      stage.set_state(state);
    };
    add_stage(0, trained, "trained");
    add_stage(trained, trial.last_claim, "waiting");
    if (trial.open) add_stage(trial.last_claim, trial.horizon, "planned");
  }
  return response;
}

v1::ForecastResponse ForecastOf(const v1::ForecastRequest& request) {
  v1::ForecastResponse response;
  bool known = true;
  for (const v1::ForecastStudy& study : request.studies()) {
    known = known && study.study().trainer() != "synthetic";
    v1::StudyForecast& forecast = *response.add_studies();
    forecast.set_name(study.study().name());
    forecast.set_trials(study.trials_size());
    for (const v1::NewTrial& trial : study.trials()) {
      forecast.set_total_steps(forecast.total_steps() + trial.horizon_steps());
    }
    forecast.set_unique_steps(forecast.total_steps());
    forecast.set_merge_rate(1);
    forecast.set_is_kept_to_itself(study.study().trainer() == "synthetic");
    response.set_trials(response.trials() + forecast.trials());
    response.set_total_steps(response.total_steps() + forecast.total_steps());
  }
  response.set_unique_steps(response.total_steps());
  response.set_merge_rate(1);
  response.set_trained_steps(0);
  response.set_remaining_steps(response.total_steps());
  response.set_near_miss_count(1);
  v1::NearMiss& pair = *response.add_near_misses();
  pair.set_hyper_parameter("lr");
  pair.set_first("MultiStep(0.1, [2], gamma=0.1)");
  pair.set_second("Piecewise([0.1, 0.01], [2])");
  pair.set_from_step(2);
  pair.set_difference(1.7e-18);
  if (!known) return response;  // nothing of the kind was measured
  response.set_slot_seconds(2.5);
  response.set_critical_path_seconds(1.5);
  response.set_checkpoint_bytes(1000);
  return response;
}

v1::GetTrainingMetricsResponse TrainingMetricsBehind(std::int64_t after) {
  v1::GetTrainingMetricsResponse response;
  const auto add = [&](const std::string& name, const std::vector<std::int64_t>& steps, double per_step) {
    v1::MetricSeries& series = *response.add_series();
    series.set_name(name);
    for (const std::int64_t step : steps) {
      series.add_steps(step);
      series.add_values(per_step * static_cast<double>(step));
    }
  };
  if (after == 0) add("loss", {1, 2, 3}, 0.5);
  if (after == 1) {
    add("loss", {3, 4}, 0.5);
    add("accuracy", {4}, 0.125);
  }
  response.set_next(std::min<std::int64_t>(after + 1, 2));
  return response;
}

}  // namespace espalier::testing
