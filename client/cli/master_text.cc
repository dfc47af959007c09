#include "client/cli/master_text.h"

#include <algorithm>

#include "client/cli/json_output.h"
#include "client/cli/output.h"

namespace espalier {

std::string PrintMaster(const v1::GetMasterResponse& master) {
  const double leads_for = std::max(0.0, SecondsOf(master.now()) - SecondsOf(master.leads_since()));
  return master.host() + ", process " + std::to_string(master.process()) + ", for " + FormatDuration(leads_for) +
         ", epoch " + std::to_string(master.epoch());
}

}  // namespace espalier
