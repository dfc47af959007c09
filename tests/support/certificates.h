// Authorities of certificates, and certificates of theirs, made for a test in a folder of its own.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/check.h"

namespace espalier::testing {

class Certificates {
 public:
  Certificates() {
    std::string pattern = "/tmp/espalier-certificates-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~Certificates() { std::filesystem::remove_all(folder_); }
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;

  // What stands under that name is replaced. `authority` is made when it is first named. `alternatives`:
  // "DNS:espalier,IP:127.0.0.1".
  void Make(const std::string& authority, const std::string& name, const std::string& alternatives) const {
    const std::string command = std::string(ESPALIER_SOURCE_DIR) + "/tests/support/certificates.sh " +
                                folder_.string() + " " + authority + " " + name + " " + alternatives;
    ESPALIER_CHECK(std::system(command.c_str()) == 0);
  }
  std::string Pem(const std::string& name) const { return (folder_ / (name + ".pem")).string(); }
  std::string Key(const std::string& name) const { return (folder_ / (name + ".key")).string(); }
  std::string File(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace espalier::testing
