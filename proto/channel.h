// How programs call a master: clients and node managers alike.
#pragma once

#include <memory>
#include <string>

namespace grpc {
class Channel;
}

namespace espalier {

// Connects by itself, again and again, until the last owner lets go. `address`: "unix:/path", "host:port", or, for
// masters that stand by for each other, "ipv4:1.2.3.4:7700,5.6.7.8:7700": whichever leads answers. A master whose
// process is frozen is noticed within some seconds: its calls fail as if it had died.
std::shared_ptr<grpc::Channel> OpenChannel(const std::string& address);

}  // namespace espalier
