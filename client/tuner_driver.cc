#include "client/tuner_driver.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>

namespace espalier {
namespace {

// How long to wait for the event that says why a batch came too late.
constexpr Seconds kFinishPatience{10};

class Driver {
 public:
  Driver(tuners::Tuner& tuner, Study& study, const DriveOptions& options)
      : tuner_(tuner), study_(study), options_(options) {}

  Result<DriveReport> Run() {
    ESPALIER_RETURN_IF_ERROR(Perform(tuner_.Start()));
    while (!report_.cancelled && (!waiting_.empty() || !ready_.empty())) {
      ESPALIER_ASSIGN(const Evaluation evaluation, Next());
      const std::size_t trial = index_of_.at(evaluation.trial);
      if (options_.on_settled) options_.on_settled(trial, evaluation);
      ESPALIER_RETURN_IF_ERROR(Perform(tuner_.OnSettled({trial, evaluation.step, OutcomeOf(evaluation)})));
    }
    if (!finished_ && !report_.cancelled) return MakeError(ErrorCode::kInternal, "the tuner waits for nothing");
    ESPALIER_RETURN_IF_ERROR(study_.WaitUntilFinished());
    return report_;
  }

 private:
  struct Later {
    bool operator()(const Future<Evaluation>& a, const Future<Evaluation>& b) const { return a.order() > b.order(); }
  };

  // The evaluation whose event comes first among all that the tuner has asked for.
  Result<Evaluation> Next() {
    if (ready_.empty()) WaitAny(waiting_);
    if (ready_.empty() || added_) CollectReady();
    added_ = false;
    const Future<Evaluation> first = ready_.top();
    ready_.pop();
    return first.Get();
  }

  // Moves settled futures from waiting_ to ready_. Futures are settled in the order of their events, also while this
  // looks through them: whatever precedes the last one seen ready is ready when looked at again, so nothing is
  // overtaken.
  void CollectReady() {
    std::int64_t last_seen = std::numeric_limits<std::int64_t>::min();
    for (const Future<Evaluation>& future : waiting_) {
      if (future.Ready()) last_seen = std::max(last_seen, future.order());
    }
    std::vector<Future<Evaluation>> still_waiting;
    for (Future<Evaluation>& future : waiting_) {
      const bool collect = future.Ready() && future.order() <= last_seen;
      if (collect) ready_.push(future);
      if (!collect) still_waiting.push_back(std::move(future));
    }
    waiting_ = std::move(still_waiting);
  }

  tuners::Outcome OutcomeOf(const Evaluation& evaluation) const {
    switch (evaluation.state) {
      case ClaimState::kFailed:
        return tuners::Failed{};
      case ClaimState::kCancelled:
        return tuners::Cancelled{};
      case ClaimState::kDone:
      case ClaimState::kWaiting:
        break;
    }
    const auto metric = evaluation.metrics.find(options_.metric);
    if (metric == evaluation.metrics.end()) return tuners::Measured{std::numeric_limits<double>::quiet_NaN()};
    return tuners::Measured{options_.goal == Goal::kMaximize ? -metric->second : metric->second};
  }

  Batch ToBatch(std::vector<tuners::Action> actions) const {
    Batch batch;
    for (tuners::Action& action : actions) {
      if (auto* start = std::get_if<tuners::StartTrial>(&action)) batch.new_trials.push_back(std::move(*start));
      if (const auto* more = std::get_if<tuners::ContinueTrial>(&action)) {
        batch.claims.push_back(FurtherClaim{trials_.at(more->trial), more->steps});
      }
      if (const auto* close = std::get_if<tuners::CloseTrial>(&action)) batch.close.push_back(trials_.at(close->trial));
      if (const auto* cancel = std::get_if<tuners::CancelTrial>(&action))
        batch.cancel.push_back(trials_.at(cancel->trial));
      if (std::holds_alternative<tuners::FinishStudy>(action)) batch.finish = true;
    }
    return batch;
  }

  // Submits the actions of one reaction as one batch.
  Result<void> Perform(std::vector<tuners::Action> actions) {
    if (actions.empty()) return {};
    const Batch batch = ToBatch(std::move(actions));
    const std::string request_id = std::to_string(study_.id().value) + "/" + std::to_string(report_.batch_count);
    Result<BatchAnswer> answer = study_.SubmitBatch(batch, request_id);
    if (!answer.has_value()) return OnRefused(answer.error());
    ++report_.batch_count;
    finished_ = finished_ || batch.finish;
    for (const TrialId trial : answer->trials) {
      index_of_.emplace(trial, trials_.size());
      trials_.push_back(trial);
    }
    report_.trial_count = trials_.size();
    for (Future<Evaluation>& future : answer->evaluations) waiting_.push_back(std::move(future));
    added_ = true;
    return {};
  }

  // A study that somebody cancelled takes no more batches, and that is no failure. One that refuses its very first
  // batch holds nothing: it is cancelled, so that its name is free when the mistake is mended.
  Result<void> OnRefused(const Error& error) {
    if (error.code == ErrorCode::kInvalidArgument && trials_.empty()) (void)study_.Cancel();
    if (error.code != ErrorCode::kFailedPrecondition) return tl::unexpected<Error>(error);
    ESPALIER_ASSIGN(report_.cancelled, study_.WaitUntilFinished(kFinishPatience));
    if (!report_.cancelled) return tl::unexpected<Error>(error);
    return {};
  }

  tuners::Tuner& tuner_;
  Study& study_;
  const DriveOptions& options_;
  std::vector<TrialId> trials_;  // by index of submission
  std::unordered_map<TrialId, std::size_t> index_of_;
  std::vector<Future<Evaluation>> waiting_;
  std::priority_queue<Future<Evaluation>, std::vector<Future<Evaluation>>, Later> ready_;  // the first event on top
  bool added_ = false;     // to waiting_, since it was last looked through
  bool finished_ = false;  // the tuner has
  DriveReport report_;
};

}  // namespace

Result<DriveReport> Drive(tuners::Tuner& tuner, Study& study, const DriveOptions& options) {
  return Driver(tuner, study, options).Run();
}

}  // namespace espalier
