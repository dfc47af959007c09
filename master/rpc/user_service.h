// UserService: for administrators. Parses, posts the event, waits, answers.
#pragma once

#include "espalier/v1/user.grpc.pb.h"
#include "master/rpc/callers.h"
#include "master/rpc/master_port.h"
#include "master/rpc/pending_calls.h"

namespace espalier::master {

class UserService final : public v1::UserService::Service {
 public:
  UserService(MasterPort& master, PendingCalls& calls, const Callers& callers)
      : master_(master), calls_(calls), callers_(callers) {}

  grpc::Status AddUser(grpc::ServerContext* context, const v1::AddUserRequest* request,
                       v1::AddUserResponse* response) override;
  grpc::Status ListUsers(grpc::ServerContext* context, const v1::ListUsersRequest* request,
                         v1::ListUsersResponse* response) override;
  grpc::Status RemoveUser(grpc::ServerContext* context, const v1::RemoveUserRequest* request,
                          v1::RemoveUserResponse* response) override;

 private:
  MasterPort& master_;
  PendingCalls& calls_;
  const Callers& callers_;
};

}  // namespace espalier::master
