// What `trainer check` prints.
#pragma once

#include <iosfwd>

#include "client/json.h"
#include "worker/check/check.h"

namespace espalier {

void PrintCheck(std::ostream& out, const trainer_check::Subject& subject, const trainer_check::Report& report);
Json CheckJson(const trainer_check::Subject& subject, const trainer_check::Report& report);

}  // namespace espalier
