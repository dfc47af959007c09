#include "client/tune.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "client/request_id.h"
#include "client/tuners/driver.h"

namespace espalier {
namespace {

// Evaluations, handed from the thread that reads them to the one that tunes.
class Arrivals {
 public:
  void Push(const Result<Evaluation>& evaluation) {
    const std::lock_guard lock(mutex_);
    arrived_.push_back(evaluation);
    changed_.notify_one();
  }

  Result<Evaluation> Pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !arrived_.empty(); });
    Result<Evaluation> first = std::move(arrived_.front());
    arrived_.pop_front();
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Result<Evaluation>> arrived_;
};

class Tuning {
 public:
  Tuning(Study& study, tuners::Tuner& tuner, const TuneOptions& options)
      : study_(study), driver_(tuner, options.metric, options.goal) {}

  Result<TuneReport> Run() {
    while (true) {
      while (const std::optional<tuners::NumberedBatch> next = driver_.Next()) {
        ESPALIER_RETURN_IF_ERROR(Submit(next->batch));
      }
      if (unsettled_ == 0 && driver_.tuner_finished()) return std::move(report_);
      if (unsettled_ == 0) return MakeError(ErrorCode::kInternal, "the tuner waits for nothing and has not finished");
      ESPALIER_ASSIGN(Evaluation evaluation, arrivals_->Pop());
      --unsettled_;
      if (evaluation.state == ClaimState::kCancelled) open_.erase(evaluation.trial);
      report_.evaluations.push_back(evaluation);
      driver_.OnEvent(std::move(evaluation));
    }
  }

 private:
  Result<void> Submit(Batch batch) {
    for (const std::vector<TrialId>* ended : {&batch.close, &batch.cancel}) {
      for (const TrialId trial : *ended) open_.erase(trial);
    }
    const bool finish = std::exchange(batch.finish, false);  // its trials, not the study
    if (batch != Batch{}) {
      ESPALIER_RETURN_IF_ERROR(Enter(batch));
    }
    if (!finish || open_.empty()) return {};
    return study_.Close({open_.begin(), open_.end()});
  }

  Result<void> Enter(const Batch& batch) {
    ESPALIER_ASSIGN(const BatchAnswer answer, study_.SubmitBatch(batch, NewRequestId()));
    for (const TrialId trial : answer.trials) {
      open_.insert(trial);
      report_.trials.push_back(trial);
      driver_.OnEvent(TrialSubmitted{trial});
    }
    unsettled_ += answer.evaluations.size();
    for (const Future<Evaluation>& future : answer.evaluations) {
      future.OnSettled([arrivals = arrivals_](const Result<Evaluation>& evaluation) { arrivals->Push(evaluation); });
    }
    return {};
  }

  Study& study_;
  tuners::Driver driver_;
  const std::shared_ptr<Arrivals> arrivals_ = std::make_shared<Arrivals>();  // futures may outlive this
  std::set<TrialId> open_;
  std::size_t unsettled_ = 0;
  TuneReport report_;
};

}  // namespace

Result<TuneReport> Tune(Study& study, tuners::Tuner& tuner, const TuneOptions& options) {
  if (tuner.AsksForIdleSlots()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "this tuner asks for idle slots, which only a service's own tuner host hears of; give it the "
                     "number of trials that shall be open at once",
                     "tuner");
  }
  return Tuning(study, tuner, options).Run();
}

}  // namespace espalier
