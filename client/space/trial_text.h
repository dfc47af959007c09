// What a trial is, as its user would write it.
#pragma once

#include <map>
#include <string>

namespace espalier {

// A trial's hyper-parameters, by name, in the notation.
using TrialText = std::map<std::string, std::string>;

}  // namespace espalier
