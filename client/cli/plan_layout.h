// Where the nodes of a search plan stand in a picture: one row for each way to the end. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "espalier/v1/inspect.pb.h"

namespace espalier {

struct PlacedNode {
  const v1::PlanNode* node = nullptr;
  int row = 0;
  int parent = -1;             // index of the parent; -1: a root
  int depth = 0;               // parents above it
  std::int64_t end = 0;        // the last step of its stages; at least its start
  bool last_of_parent = true;  // no sibling comes after it
};

struct PlanLayout {
  std::vector<PlacedNode> nodes;  // parents before children, each followed by its descendants
  int row_count = 0;
  std::int64_t end = 1;  // the last step of all
};

// REQUIRES: the response outlives the layout.
PlanLayout LayOut(const v1::GetPlanResponse& plan);

// "lr = Exponential(0.05, 0.9), bs = 64"
std::string FunctionsText(const v1::PlanNode& node);

}  // namespace espalier
