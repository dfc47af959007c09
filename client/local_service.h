// What clients find of the service that `espalier up` runs on this machine, without asking it.
#pragma once

#include <string>

#include "base/result.h"

namespace espalier {

// The configuration of its node manager, in its data directory.
inline std::string NodeManagerConfigFile(const std::string& data_directory) {
  return data_directory + "/config/node_manager.txt";
}

// What lies beside the socket at "unix:..."; empty: the address is none.
std::string BesideSocket(const std::string& address, const std::string& name);

// The data directory of the service whose socket that is: `up` keeps a link to the token in it beside its socket.
// Empty: it is none of `up`'s on this machine.
std::string DataDirectoryOf(const std::string& address);

// Where its checkpoints are, as node managers' configuration files say it. Error: kFailedPrecondition where no service
// was started with the data directory; `instead`: how else a user may say where they are.
Result<std::string> StorePlaceOf(const std::string& data_directory, const std::string& instead);

}  // namespace espalier
