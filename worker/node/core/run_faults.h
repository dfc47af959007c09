// What went wrong in a run, as reports name it. Pure.
#pragma once

#include <string>

#include "protocol/report.h"
#include "worker/node/core/worker_words.h"

namespace espalier::node {

bool AllFinite(const Metrics& metrics);
// "loss is not a number"; empty if all are finite.
std::string DescribeNotFinite(const Metrics& metrics);

// The same fault of an evaluation.
EvaluationFailed::Kind OfEvaluation(RunFailed::Kind kind);
RunFailed::Kind KindOf(const Failure& failure);
RunFailed::Kind KindOf(WorkerDeath::Cause cause);

// Whether the worker says that it can do nothing any more.
bool SaysUnusable(const ReplyKind& reply);

// Of a hang, once the worker is dead: what it printed.
void AddLastWords(ReportKind& fault, const std::string& words);

}  // namespace espalier::node
