// What people are told of the process that leads: nothing is decided by it.
#pragma once

#include <cstdint>
#include <string>

#include "base/units.h"

namespace espalier::master {

struct MasterFacts {
  std::string host{};
  std::int64_t process = 0;
  std::string listen_address{};
  std::int64_t epoch = 0;  // one more each time that a master came to lead
  Time leads_since{};
  std::int64_t checkpoint_bytes_max = 0;  // the checkpoints' budget; 0: none
};

}  // namespace espalier::master
