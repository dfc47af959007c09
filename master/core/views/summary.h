// What people and scripts ask about studies: pure functions of the master's state.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "master/core/state/master_state.h"
#include "master/core/state/trial_index.h"
#include "master/core/state/visibility.h"

namespace espalier::master {

// Counted from the workers' own step logs, but for claimed and unique. A claim that a divergence settled counts whole,
// though nothing is trained past the divergence.
struct StepCounts {
  std::int64_t claimed = 0;     // over the trials: up to the last claim that was done
  std::int64_t unique = 0;      // of those, steps that trials share counted once
  std::int64_t trained = 0;     // by runs that serve or served this study, on its lineages
  std::int64_t re_derived = 0;  // of those: trained before by another run of the plan
  std::int64_t wasted = 0;      // of those: a checkpoint or promise made it unnecessary when the run was ordered
  std::int64_t reused = 0;      // of unique: trained by runs ordered before this study was created, and not by its own
};

struct StudySummary {
  StudyId id;
  std::map<std::string, std::int64_t> trials_by_state;
  StepCounts steps;
  double merge_rate = 0;                // claimed / unique; 0 if no claim is done
  double time_weighted_merge_rate = 0;  // the same in measured step times
  Seconds slot_seconds{0};              // runs for several studies are charged in equal parts
  Seconds elapsed{0};
  Seconds makespan_bound{0};  // summed over the synchronous rungs (first claims of all trials, second claims, ...)
  std::optional<BestTrial> best;
};

StudySummary Summarize(const MasterState& state, StudyId study, Time now);

// What a list says of a study: all that is known of it without looking at its trials.
struct StudyListing {
  StudyId id;
  std::map<std::string, std::int64_t> trials_by_standing;  // "pending" (a claim waits or is served), and as TrialState
  std::int64_t claimed_steps = 0;                          // as StepCounts
  Seconds elapsed{0};
  std::optional<BestTrial> best;
};

// Which studies are wanted, of those that the caller may see.
struct StudyQuery {
  struct BestBy {
    std::string metric;
    Goal goal = Goal::kMaximize;
  };
  std::string state;              // "running" or "finished"; empty: both
  std::optional<BestBy> best_by;  // only those that seek this, the best first; none: the newest first
  std::size_t count_max = 0;      // at least 1
  std::string token;              // of the page before; empty: the first page
};
struct StudyPage {
  std::vector<StudyListing> studies;
  std::string next_token;  // empty: the last page
};

// Error: kInvalidArgument for an unknown state or a token of another list.
Result<StudyPage> ListStudies(const MasterState& state, const StudyQuery& query, const Caller& caller, Time now);

// "waiting" (a claim waits, no run serves it), "running" (a run's path lies on its lineage before a waiting claim),
// "idle" (open, every claim settled), "done", "failed" (a claim failed), "cancelled".
std::string TrialState(const MasterState& state, const Trial& trial);

struct TrialEvaluation {
  Step step;
  Metrics metrics;
};

struct TrialSummary {
  TrialId id;
  std::string state;
  Step steps;                    // of the last claim that is done; Step{0}: none
  std::optional<double> metric;  // the study's, there
  std::string state_sha256;
  std::vector<TrialEvaluation> evaluations;  // of all claims that are done, by step
  std::string message;                       // why it failed
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

struct StudyProgress {
  std::map<std::string, std::int64_t> trials_by_state;
  std::int64_t claimed_steps = 0;  // claims that are done or wait
  std::int64_t unique_steps = 0;   // of those, shared ones once
  std::int64_t trained_steps = 0;  // of unique
  Seconds left{-1};                // estimated for what is claimed now; negative: not known
};

StudyProgress ProgressOf(const MasterState& state, StudyId study);

enum class StageState { kTrained, kRunning, kWaiting, kPlanned };
std::string_view Name(StageState state);

struct StageView {
  Step from;
  Step to;
  StageState state = StageState::kPlanned;
};

struct PlanNodeView {
  PlanId plan;
  PlanNodeId id;
  std::optional<PlanNodeId> parent;
  Step start;
  std::map<std::string, std::string>
      functions;                  // that differ from the parent's; at a root: what the study's trials name
  std::vector<StageView> stages;  // in order of step, not overlapping
  std::vector<Step> checkpoints;
  std::int64_t trial_count = 0;
};

// All nodes that the study's lineages pass, parents before children.
std::vector<PlanNodeView> ViewPlan(const MasterState& state, StudyId study);

}  // namespace espalier::master
