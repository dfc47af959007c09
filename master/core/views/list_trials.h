// Pages of a study's trials, and what is said of one trial.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "master/core/state/master_state.h"

namespace espalier::master {

struct TrialEvaluation {
  Step step;
  Metrics metrics;
};

// The state that a trial begins with, where other code left it.
struct OriginSummary {
  StudyId study;  // that is reused
  std::string code_digest;
  Point point;  // in its own plan
};

struct TrialSummary {
  TrialId id;
  std::string state;
  Step steps;                    // where the last claim that is done was measured; Step{0}: none
  std::optional<double> metric;  // the study's, there
  std::string state_sha256;
  std::vector<TrialEvaluation> evaluations;  // of all claims that are done, by step
  std::string message;                       // why it failed
  std::optional<OriginSummary> origin;       // none: it began at Init
};

// The study's metric may be missing (no claim is done) or NaN (it diverged).
TrialSummary SummarizeTrial(const MasterState& state, TrialId trial);

// Which part of a study's trials is wanted.
struct TrialQuery {
  StudyId study;
  TrialOrder order = TrialOrder::kSubmission;
  std::vector<std::string> states;  // as TrialState names them; empty: all
  std::size_t count_max = 0;        // at least 1
  std::string token;                // of the page before; empty: the first page
};
struct TrialPage {
  std::vector<TrialSummary> trials;
  std::string next_token;  // empty: the last page
};

// Reads no more than the page holds, but for a filter that tells waiting trials from running ones: that looks at each
// that waits. Error: kInvalidArgument for an unknown state or a token of another order. REQUIRES: the study exists.
Result<TrialPage> ListTrials(const MasterState& state, const TrialQuery& query);

// Every stored result of the study's evaluation on the trial's lineage, up to its horizon, by step.
std::vector<TrialEvaluation> MetricsOnLineage(const MasterState& state, TrialId trial);

}  // namespace espalier::master
