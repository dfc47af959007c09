// Who calls: finds the user whose token a call carries, among the users that the last durable change has left.
// Thread-safe.
#pragma once

#include <grpcpp/server_context.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "master/core/state/user.h"
#include "master/core/state/visibility.h"

namespace espalier::master {

class Callers {
 public:
  // Replaces whom it knows. Before the first time nobody is refused: the master has not loaded its state yet.
  void Admit(const std::map<std::string, User>& users);

  // Errors of each: kUnauthenticated, saying what to do; kUnavailable before the first Admit.
  Result<Caller> Member(const grpc::ServerContext& context) const;  // administrators too
  Result<Caller> Administrator(const grpc::ServerContext& context) const;
  Result<Caller> TunerHost(const grpc::ServerContext& context) const;  // administrators too
  Result<Caller> Node(const grpc::ServerContext& context) const;       // node managers alone

 private:
  Result<User> UserOf(const grpc::ServerContext& context) const;

  mutable std::mutex mutex_;
  std::optional<std::map<std::string, User>> by_token_;  // by its SHA-256; none: nothing is known yet
};

}  // namespace espalier::master
