#include "worker/node/core/run_faults.h"

#include <algorithm>
#include <cmath>

namespace espalier::node {

bool AllFinite(const Metrics& metrics) {
  return std::all_of(metrics.begin(), metrics.end(), [](const auto& item) { return std::isfinite(item.second); });
}

std::string DescribeNotFinite(const Metrics& metrics) {
  for (const auto& [name, value] : metrics) {
    if (!std::isfinite(value)) return name + " is " + (std::isnan(value) ? "not a number" : "infinite");
  }
  return {};
}

EvaluationFailed::Kind OfEvaluation(RunFailed::Kind kind) {
  switch (kind) {
    case RunFailed::Kind::kTrainer:
    case RunFailed::Kind::kDiverged:
    case RunFailed::Kind::kFinished:
      return EvaluationFailed::Kind::kTrainer;
    case RunFailed::Kind::kOutOfMemory:
      return EvaluationFailed::Kind::kOutOfMemory;
    case RunFailed::Kind::kUnusable:
      return EvaluationFailed::Kind::kUnusable;
    case RunFailed::Kind::kCrash:
    case RunFailed::Kind::kKilled:
      break;
  }
  return EvaluationFailed::Kind::kCrash;
}

RunFailed::Kind KindOf(const Failure& failure) {
  if (failure.worker_unusable) return RunFailed::Kind::kUnusable;
  return failure.kind == FailureKind::kOutOfMemory ? RunFailed::Kind::kOutOfMemory : RunFailed::Kind::kTrainer;
}

RunFailed::Kind KindOf(WorkerDeath::Cause cause) {
  switch (cause) {
    case WorkerDeath::Cause::kKilledByOthers:
      return RunFailed::Kind::kKilled;
    case WorkerDeath::Cause::kOutOfMemory:
      return RunFailed::Kind::kOutOfMemory;
    case WorkerDeath::Cause::kUnusable:
      return RunFailed::Kind::kUnusable;
    case WorkerDeath::Cause::kOwn:
      break;
  }
  return RunFailed::Kind::kCrash;
}

bool SaysUnusable(const ReplyKind& reply) {
  const auto* failure = std::get_if<Failure>(&reply);
  return failure != nullptr && failure->worker_unusable;
}

void AddLastWords(ReportKind& fault, const std::string& words) {
  if (auto* failed = std::get_if<RunFailed>(&fault)) failed->message += "\n" + words;
  if (auto* failed = std::get_if<EvaluationFailed>(&fault)) failed->message += "\n" + words;
}

}  // namespace espalier::node
