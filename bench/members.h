// Users of a bench's service.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/client.h"

namespace espalier::bench {

// So many new ones of the administrator's team, to whom the bench's studies belong: their tokens. Once a service.
std::vector<std::string> AddMembers(Client& client, std::int64_t count);

}  // namespace espalier::bench
