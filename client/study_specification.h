// What a study is, as a client asks for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/stop_rule.h"
#include "base/study_choices.h"
#include "base/units.h"
#include "searchplan/sequence/value.h"

namespace espalier {

struct StudySpecification {
  std::string name{};     // a label, 1 to 200 bytes
  std::string trainer{};  // "mlp"
  std::string data{};     // "digits"; empty: the trainer brings its own
  StepMeaning step{};
  std::int64_t evaluate_every_steps = 0;  // as runs pass; 0: only where claims ask
  std::optional<Seconds> hang_after{};    // a longer step is a hang, before any was measured; none: nothing is
  StopRule stop{};
  std::string metric{};  // which one decides
  Goal goal = Goal::kMaximize;
  Scope scope = Scope::kTeam;
  Keep keep = Keep::kBest;
  CheckWhen check = CheckWhen::kBeside;
  std::string definition{};  // the whole study as understood, as canonical JSON; equal definitions are equal contents
  std::string tuner{};  // a built-in one that whoever is there may carry on by the definition; empty: the user's own
  bool asks_for_idle_slots = false;  // that tuner is told of them
  std::string reference{};  // as the master answered DescribeTrainer; empty: a trainer that servers have of their own
  // Of hyper-parameters that trials may name although the trainer, which takes any, has them not.
  ValueTypes undeclared{};
};

}  // namespace espalier
