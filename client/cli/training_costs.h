// What training under a plan node costs, as people and scripts read it.
#pragma once

#include <string>

#include "client/json.h"
#include "espalier/v1/inspect.pb.h"

namespace espalier {

// Each cost under its field's name; null: never measured.
Json CostsJson(const v1::TrainingCosts& costs);

// "a step takes 1.5 s, a save 0.2 s; holds 1.5 GB of memory; ..." Empty: nothing is known.
std::string CostsText(const v1::TrainingCosts& costs);

}  // namespace espalier
