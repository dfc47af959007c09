// How what travels to a master and back is protected: by TLS, with certificates in PEM files (docs/operations.md).
#pragma once

#include <string>

namespace espalier {

// Of whoever calls a master. Beyond this machine calls are encrypted, unless `plaintext` says otherwise; to a loopback
// address they are where one of the others is set; through a Unix socket never. All of it may be left out.
struct Encryption {
  std::string ca_file{};           // of the authorities whose certificates masters may show; empty: those of the system
  std::string certificate_file{};  // the caller's own, for a master that asks for it; with key_file
  std::string key_file{};
  std::string server_name{};  // whom the master's certificate has to name; empty: the address's host
  bool plaintext = false;     // whoever listens in on the way may read tokens and data, and use them
  friend bool operator==(const Encryption&, const Encryption&) = default;
};

}  // namespace espalier
