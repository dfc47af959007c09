// TLS as gRPC is to use it, by what users and configuration files say of it. Errors name the field.
#pragma once

#include <memory>
#include <string>

#include "base/encryption.h"
#include "base/result.h"

namespace grpc {
class ChannelCredentials;
class ServerCredentials;
}  // namespace grpc

namespace espalier {

// Of a master.
struct ListenerEncryption {
  std::string certificate_file{};  // with those of its authorities below the root, its own first
  std::string key_file{};
  std::string client_ca_file{};  // of the authorities of callers' certificates; empty: callers need none
  bool plaintext = false;        // as Encryption has it
};

// True of "unix:PATH", and of an address whose hosts are all loopback ones: "localhost:7700", "127.0.0.1:7700",
// "ipv4:127.0.0.1:7700,127.0.0.2:7700", "[::1]:7700".
bool IsOnThisMachine(const std::string& address);

// What to call the masters at an address with. Errors: kInvalidArgument for files that cannot be read, hold no
// certificates or keys, or do not belong together, and for `plaintext` beside any.
Result<std::shared_ptr<grpc::ChannelCredentials>> CallerCredentials(const std::string& address,
                                                                    const Encryption& encryption);

// What to listen with. The files are read again as they change, within seconds: what is connected stays so. Errors: as
// above; kInvalidArgument for `listen_address` beyond this machine with neither a certificate nor `plaintext`.
Result<std::shared_ptr<grpc::ServerCredentials>> ListenerCredentials(const std::string& listen_address,
                                                                     const ListenerEncryption& encryption);

}  // namespace espalier
