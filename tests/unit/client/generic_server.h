// A server of whatever a test wants to answer every call of every method with, on a Unix socket of its own.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>

namespace espalier::testing {

// Derive CreateReactor. REQUIRES: a derived class calls Stop before it goes.
class GenericServer : public grpc::CallbackGenericService {
 public:
  // `name`: of its socket's folder, unique among servers that a program has at once.
  explicit GenericServer(const std::string& name)
      : folder_(std::filesystem::temp_directory_path() / ("espalier-" + name + "-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(folder_);
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address(), grpc::InsecureServerCredentials());
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
    REQUIRE(server_ != nullptr);
  }
  ~GenericServer() override { std::filesystem::remove_all(folder_); }

  std::string address() const { return "unix:" + folder_.string() + "/socket"; }
  const std::filesystem::path& folder() const { return folder_; }

 protected:
  void Stop() { server_->Shutdown(); }

 private:
  const std::filesystem::path folder_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace espalier::testing
