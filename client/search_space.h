// A search space: the sequences to be tried for each hyper-parameter. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "client/tuners/tuner.h"

namespace espalier {

struct SearchSpace {
  // By name, in the notation. Their order, and the order in each list, is the grid's.
  std::vector<std::pair<std::string, std::vector<std::string>>> lists;
  tuners::TrialText fixed;

  // How many combinations there are; SIZE_MAX if that many or more.
  std::size_t Count() const;

  // Every combination, row-major: the last list varies fastest. REQUIRES: Count() fits into memory.
  std::vector<tuners::TrialText> Grid() const;
};

}  // namespace espalier
