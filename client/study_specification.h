// What a study is, as a client asks for it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/policy_choices.h"
#include "base/reuse.h"
#include "base/stop_rule.h"
#include "base/study_choices.h"
#include "base/units.h"
#include "searchplan/sequence/value.h"

namespace espalier {

struct StudySpecification {
  std::string name{};  // a label, 1 to 200 bytes
  // A name that servers know, such as "mlp"; or the user's own code, as study files name it: "train.py:Digits",
  // "script:train.sh", "library:libnet.so", "torchscript:net.pt", "command:./worker --fast". Files are seen from the
  // current folder.
  std::string trainer{};
  std::string data{};    // a name that servers know, such as "digits", or a folder; empty: the trainer brings its own
  std::string python{};  // of the user's own code: an interpreter's path, or a name that servers know; empty: what fits
  std::map<std::string, std::string> environment{};  // that workers of the user's own code get besides
  StepMeaning step{};
  std::int64_t evaluate_every_steps = 0;  // as runs pass; 0: only where claims ask
  std::optional<Seconds> hang_after{};    // a longer step is a hang, before any was measured; none: nothing is
  StopRule stop{};
  std::optional<Reuse> reuse{};  // none: every trial begins at Init, or with what is trained of it already
  std::string metric{};          // which one decides
  Goal goal = Goal::kMaximize;
  Scope scope = Scope::kTeam;
  Keep keep = Keep::kBest;
  CheckWhen check = CheckWhen::kBeside;
  std::string definition{};  // the whole study as understood, as canonical JSON; equal definitions are equal contents
  std::string tuner{};  // a built-in one that whoever is there may carry on by the definition; empty: the user's own
  bool asks_for_idle_slots = false;  // that tuner is told of them
  PolicyChoices policy{};
  double priority = 1;      // its part of its team's slots at first, against the team's other studies: 0.001 to 1000
  bool described = false;   // trainer and data are as servers know them, and `reference` says whose: DescribeTrainer
  std::string reference{};  // to the user's own code or data; empty: servers have both of their own
  // Of hyper-parameters that trials may name although the trainer, which takes any, has them not.
  ValueTypes undeclared{};
};

}  // namespace espalier
