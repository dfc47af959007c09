// Places in a search plan, as everybody names them.
#pragma once

#include <compare>

#include "base/ids.h"
#include "base/units.h"

namespace espalier {

// After `step` steps, the last of them under `node`. A node's start belongs to its parent: node start < step.
struct Point {
  PlanNodeId node;
  Step step;
  friend auto operator<=>(const Point&, const Point&) = default;
};

// Steps (from, to] under one plan node.
struct PathStage {
  PlanNodeId node;
  Step from;
  Step to;
  friend auto operator<=>(const PathStage&, const PathStage&) = default;
};

}  // namespace espalier

template <>
struct std::hash<espalier::Point> {
  std::size_t operator()(const espalier::Point& point) const {
    // Any odd factor spreads neighbouring steps of neighbouring nodes over the table.
    const auto node = static_cast<std::uint64_t>(point.node.value);
    return std::hash<std::uint64_t>{}(node * 0x9E3779B97F4A7C15 + static_cast<std::uint64_t>(point.step.value));
  }
};
