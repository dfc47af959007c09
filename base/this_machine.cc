#include "base/this_machine.h"

#include <fstream>

namespace espalier {

std::string ThisMachine() {
  for (const char* file : {"/etc/machine-id", "/proc/sys/kernel/random/boot_id"}) {
    std::ifstream stream(file);
    std::string id;
    if (std::getline(stream, id) && !id.empty()) return id;
  }
  return {};
}

}  // namespace espalier
