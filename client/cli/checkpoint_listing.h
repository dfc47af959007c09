// What the commands about checkpoints ask the master.
#pragma once

#include <string>
#include <vector>

#include "client/connection.h"

namespace espalier {

// Of a study, by plan node and step; `study` is an id or a name. Reads as many pages as that takes.
Result<std::vector<v1::ListedCheckpoint>> ListCheckpointsOf(Connection& connection, const std::string& study);

// Of those files of the store, the ones that nobody needs.
Result<std::vector<std::string>> FindOrphansAmong(Connection& connection, const std::vector<std::string>& files);

}  // namespace espalier
