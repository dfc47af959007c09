// A service that listens on loopback with a certificate of the authority `ca`, for callers who know that one.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/certificates.h"
#include "tests/unit/rpc/service.h"

namespace espalier::master::testing {

// One that nobody listens on now.
inline int FreePort() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ESPALIER_CHECK(bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0);
  ESPALIER_CHECK(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  close(socket);
  return ntohs(address.sin_port);
}

inline Door TlsDoor(const espalier::testing::Certificates& certificates) {
  if (!std::filesystem::exists(certificates.Pem("server"))) {
    certificates.Make("ca", "server", "DNS:espalier,IP:127.0.0.1");
  }
  return {.address = "127.0.0.1:" + std::to_string(FreePort()),
          .listener = {.certificate_file = certificates.Pem("server"), .key_file = certificates.Key("server")},
          .caller = {.ca_file = certificates.Pem("ca")}};
}

}  // namespace espalier::master::testing
