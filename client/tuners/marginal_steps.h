// What taking a trial further adds to what was asked for already: the steps that it has in common with no other trial
// of the study. As the search plan will merge them (TreeML 4.2), but for what other studies trained.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "client/tuners/tuner.h"

namespace espalier::tuners {

class MarginalSteps {
 public:
  // Of these trials, each up to its horizon; none was asked for. One whose sequences cannot be compiled without a
  // trainer's word shares nothing. O(all their joint segments).
  explicit MarginalSteps(const std::vector<StartTrial>& trials);

  // How many steps would be new if the trial were asked for at `steps`. REQUIRES: at most its horizon. O(its segments).
  std::int64_t Of(std::size_t trial, Step steps) const;

  // The trial is asked for at `steps`. The trials for which others may be new than before, by index, itself too.
  // O(these).
  std::vector<std::size_t> Ask(std::size_t trial, Step steps);

 private:
  using Edge = std::pair<Step, std::string>;  // where a node begins, and its configuration
  struct Node {
    Step start;
    Step asked{0};  // as far as some trial was asked for on it
    std::map<Edge, std::size_t> children{};
    std::vector<std::size_t> passing{};  // trials
  };

  void Enter(std::size_t trial, std::vector<Edge> way);
  // Where the trial leaves the i-th node of its way; none is further than `steps`.
  Step EndOf(const std::vector<std::size_t>& way, std::size_t i, Step steps) const;

  std::vector<Node> nodes_;  // the first is above all
  std::vector<std::vector<std::size_t>> ways_;
};

}  // namespace espalier::tuners
