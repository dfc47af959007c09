// Studies and trials.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "base/policy_choices.h"
#include "base/reuse.h"
#include "base/stop_rule.h"
#include "base/study_choices.h"
#include "base/study_event.h"
#include "base/units.h"
#include "searchplan/plan/search_plan.h"

namespace espalier::master {

// As a client asks for it.
struct StudySpecification {
  std::string name;
  std::string trainer;
  std::string data;
  StepMeaning step;
  std::int64_t evaluate_every = 0;  // steps; 0: only where claims ask
  std::optional<Seconds> hang_after =
      {};  // of a step, while none was measured (LimitsOf); none: nothing is a hang then
  StopRule stop = {};
  std::string metric;
  Goal goal = Goal::kMaximize;
  Scope scope = Scope::kTeam;
  Keep keep = Keep::kBest;
  CheckWhen check = CheckWhen::kBeside;
  std::string definition;  // JSON: the whole study as its client understood it
  ValueTypes undeclared;   // of hyper-parameters that trials may name although the trainer does not declare them
  std::string tuner = {};  // a built-in one, which tuner hosts may carry on; empty: the user's own
  bool asks_for_idle_slots = false;         // its tuner is told of them
  std::optional<Digest128> reference = {};  // the trainer is one that servers offer by it; none: one of their own
  std::optional<Reuse> reuse = {};
  PolicyChoices policy = {};
  double priority = 1;  // its weight at first
  friend bool operator==(const StudySpecification&, const StudySpecification&) = default;
};

struct Study {
  StudyId id;
  std::string user;
  std::string team;
  StudySpecification specification;
  TrainingIdentity training;
  std::string device_kind;
  std::string evaluation;                 // evaluation digest
  std::vector<std::string> metric_names;  // that the evaluation returns
  Time created_at{};
  RunId first_run;  // all that were ordered before it was created have smaller ids
  std::optional<Time> finished_at;
  bool closing = false;  // no new trials or claims; finished once every claim is settled
  bool cancelled = false;
  std::string stopped = {};  // what its stop rule came to; empty: nothing yet
  Keep keep = Keep::kBest;   // now: as the specification says, until somebody pins it
  double weight = 1;         // among the studies of its team: as the specification says, until somebody weighs it
  friend bool operator==(const Study&, const Study&) = default;
};

// What a policy has written on a trial, for people.
struct TrialLabel {
  std::string policy;  // its name
  std::string text;    // not empty
  friend bool operator==(const TrialLabel&, const TrialLabel&) = default;
};

struct Trial {
  TrialId id;
  StudyId study;
  PlanId plan;
  PlanNodeId leaf;
  Step horizon;
  std::map<std::string, std::string> sequences;  // as submitted, in the notation
  std::vector<ClaimId>
      claims;  // in order of step; made again where one failed: the later one last. Not of states alone
  bool closed = false;
  bool cancelled = false;
  std::optional<TrialLabel> label = {};
  friend bool operator==(const Trial&, const Trial&) = default;
};

}  // namespace espalier::master
