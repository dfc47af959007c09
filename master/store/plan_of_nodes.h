// Which plan each stored node is in, while rows are read that name nodes alone. Ids of one plan that follow each other
// are kept once: with few plans it takes no room, and finding one no time. A value.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/ids.h"

namespace espalier::master {

class PlanOfNodes {
 public:
  // REQUIRES: nodes come by id.
  void Add(PlanNodeId node, PlanId plan) {
    if (!parts_.empty() && parts_.back().plan == plan && parts_.back().last.value + 1 == node.value) {
      parts_.back().last = node;
    } else {
      parts_.push_back({node, node, plan});
    }
  }

  // O(log of how often neighbours are of different plans). Throws std::runtime_error for a node that was not added.
  PlanId Of(PlanNodeId node) const {
    const auto part = std::ranges::lower_bound(parts_, node, {}, &Part::last);
    if (part == parts_.end() || node < part->first) {
      throw std::runtime_error("there is no plan node " + std::to_string(node.value));
    }
    return part->plan;
  }

 private:
  struct Part {
    PlanNodeId first;
    PlanNodeId last;
    PlanId plan;
  };

  std::vector<Part> parts_;
};

}  // namespace espalier::master
