// What an evaluation or a training step returns.
#pragma once

#include <map>
#include <string>

namespace espalier {

// By metric's name. NaN is a value here.
using Metrics = std::map<std::string, double>;

}  // namespace espalier
