// A search plan as a picture: steps to the right, one row for each way to the end, stages coloured by their state.
// Pure.
#pragma once

#include <string>

#include "client/cli/plan_layout.h"

namespace espalier {

// An SVG document that stands alone.
std::string PlanSvg(const PlanLayout& layout, const std::string& title);

}  // namespace espalier
