// A condition of a hyper-parameter: it is part of a trial only if others have these values; else the trainer's default
// holds. As a text: NAME == VALUE, NAME != VALUE, and several of them joined by "and". Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/space/trial_text.h"

namespace espalier {

struct Condition {
  struct Comparison {
    std::string name;
    bool equal = true;
    std::string value;  // in the notation
  };

  std::string of;  // the hyper-parameter that has it
  std::vector<Comparison> comparisons;

  // Whether it holds in the trial; it does not where one that it names is no part of it.
  bool Holds(const TrialText& trial) const;
};

// As it is written. A value is a number, true, false, or a text with or without quotes. Error: kInvalidArgument.
Result<Condition> ParseCondition(const std::string& of, std::string_view text);
std::string Print(const Condition& condition);

// Without the hyper-parameters whose conditions do not hold; what is left out makes others not hold in turn.
void Apply(const std::vector<Condition>& conditions, TrialText& trial);

}  // namespace espalier
