#include "master/loop/error_id.h"

#include <cstdio>
#include <random>

namespace espalier::master {

std::string NewErrorId() {
  std::random_device random;
  char digits[9];
  std::snprintf(digits, sizeof(digits), "%08x", static_cast<unsigned>(random()));
  return digits;
}

}  // namespace espalier::master
