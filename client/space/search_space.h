// A search space: the sequences to be tried for each hyper-parameter. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "client/space/condition.h"
#include "client/space/trial_text.h"

namespace espalier {

struct SearchSpace {
  // By name, in the notation; what is drawn from may have ranges (client/space/ranges.h). Their order, and the order in
  // each list, is the grid's.
  std::vector<std::pair<std::string, std::vector<std::string>>> lists{};
  TrialText fixed{};
  std::vector<Condition> conditions{};

  // How many combinations there are before conditions leave something out; SIZE_MAX if that many or more.
  std::size_t Count() const;

  // Every combination, row-major: the last list varies fastest; of those that conditions make alike, the first.
  // REQUIRES: Count() fits into memory; no ranges.
  std::vector<TrialText> Grid() const;
};

}  // namespace espalier
