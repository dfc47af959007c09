#include "client/request_id.h"

#include <random>

#include "base/digest.h"

namespace espalier {

std::string NewRequestId() {
  std::random_device device;
  Digest128 drawn;
  for (auto& byte : drawn.bytes) byte = static_cast<unsigned char>(device());
  return ToHex(drawn);
}

}  // namespace espalier
