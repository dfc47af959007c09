// How checkpoints are named in the store: "PLAN/FOLDER/NODE-STEP-LEADERSHIP-RUN.ckpt". Stable, so that putting a
// checkpoint again changes nothing, and unique to the run, so that two files of one point never replace each other.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/point.h"

namespace espalier {

std::string StoreName(PlanId plan, Point point, RunKey run);

struct StoredPoint {
  PlanId plan;
  Point point;
  RunKey run;  // that saved it
  friend bool operator==(const StoredPoint&, const StoredPoint&) = default;
};

// Nothing if this is not just what StoreName gives.
std::optional<StoredPoint> ParseStoreName(std::string_view name);

}  // namespace espalier
