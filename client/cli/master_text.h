// A sentence's part about the master that leads.
#pragma once

#include <string>

#include "espalier/v1/server.pb.h"

namespace espalier {

// "gpu-1, process 4711, for 3 h, epoch 7".
std::string PrintMaster(const v1::GetMasterResponse& master);

}  // namespace espalier
