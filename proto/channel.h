// How programs call a master: clients and node managers alike.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/encryption.h"
#include "base/result.h"

namespace grpc {
class Channel;
}

namespace espalier {

// One request: a master takes no larger one. The largest that is of use is a forecast of 100,000 trials of five
// sequences each, about 30 MB as text; clients cut batches long before.
inline constexpr std::size_t kRequestBytesMax = std::size_t{32} << 20;

// Connects by itself, again and again, until the last owner lets go. `address`: "unix:/path", "host:port", or, for
// masters that stand by for each other, "ipv4:1.2.3.4:7700,5.6.7.8:7700": whichever leads answers. A master whose
// process is frozen is noticed within some seconds: its calls fail as if it had died. Errors: of CallerCredentials.
Result<std::shared_ptr<grpc::Channel>> OpenChannel(const std::string& address, const Encryption& encryption = {});

}  // namespace espalier
