// The master without a database: its RPC server, event loop and core in one process, listening on a Unix socket, or on
// a loopback port with TLS; and a node manager that trains at once whatever it is told to.
#pragma once

#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "base/check.h"
#include "base/digest.h"
#include "base/token.h"
#include "espalier/v1/user.pb.h"
#include "master/core/chosen_policy.h"
#include "master/loop/event_loop.h"
#include "master/rpc/rpc_server.h"
#include "proto/encryption.h"
#include "tests/support/locked_stores.h"
#include "tests/support/memory_output_store.h"
#include "tests/support/memory_series_store.h"
#include "tests/support/memory_server_log_store.h"
#include "tests/support/raw_call.h"
#include "tests/support/still_database.h"

namespace espalier::master::testing {

// Where a service listens, and how it and its callers encrypt.
struct Door {
  std::string address{};  // empty: a Unix socket in the service's folder
  ListenerEncryption listener{};
  Encryption caller{};
};

class Service {
 public:
  // Serves at once, unless it is to listen alone until Start.
  explicit Service(bool start = true, Door door = {})
      : door_(std::move(door)),
        loop_(locked_store_, ports_,
              [this](MasterState& state, const Event& event, Time now) {
                return React(state, event, policy_.For(state, event), settings_, now);
              }),
        rpc_(ports_, {outputs_, series_, server_logs_, locked_histories_, probe_}) {
    store_.OnCommit([this](const StateEdit& edit) { series_.Take(edit); });
    settings_.lease = Seconds(3600);  // node managers of tests say no more than they have to
    settings_.first_users = {
        {.name = "root", .team = "root", .role = Role::kAdministrator, .token_sha256 = Sha256Hex(root)}};
    std::filesystem::create_directory(folder);
    REQUIRE(rpc_.Start(address(), door_.listener).has_value());
    channel = grpc::CreateChannel(address(), CallerCredentials(address(), door_.caller).value());
    if (start) Start();
  }
  ~Service() {
    loop_.Stop();
    if (thread_.joinable()) thread_.join();
    rpc_.Stop();
    std::filesystem::remove_all(folder);
  }
  void Start() {
    thread_ = std::thread([this] { ESPALIER_CHECK(loop_.Run().has_value()); });
    REQUIRE(loop_.Read([](const MasterState&) {}).has_value());  // whoever may call is admitted
  }

  Outcome Call(const std::string& token, const std::string& method, const google::protobuf::Message& request) {
    return CallOnce(channel, "/espalier.v1." + method, request, "Bearer " + token);
  }
  // A call that must succeed, and its one response.
  template <class Response>
  Response Get(const std::string& token, const std::string& method, const google::protobuf::Message& request) {
    const Outcome outcome = Call(token, method, request);
    INFO(method << ": " << outcome.message);
    REQUIRE(outcome.code == grpc::StatusCode::OK);
    REQUIRE(outcome.responses.size() == 1);
    Response response;
    REQUIRE(response.ParseFromString(outcome.responses[0]));
    return response;
  }
  // The new user's token; a node manager's is for the server of a ToyNode.
  std::string AddUser(const std::string& name, const std::string& team, v1::Role role = v1::ROLE_MEMBER) {
    return AddUser(name, team, role, role == v1::ROLE_NODE ? "toy-server" : "");
  }
  std::string AddUser(const std::string& name, const std::string& team, v1::Role role, const std::string& server) {
    const std::string token = NewToken();
    v1::AddUserRequest request;
    request.set_request_id("add " + name + token);
    request.set_name(name);
    request.set_team(team);
    request.set_role(role);
    request.set_token_sha256(Sha256Hex(token));
    if (!server.empty()) request.add_servers(server);
    Get<v1::AddUserResponse>(root, "UserService/AddUser", request);
    return token;
  }
  void RemoveUser(const std::string& name) {
    v1::RemoveUserRequest request;
    request.set_request_id("remove " + name);
    request.set_name(name);
    Get<v1::RemoveUserResponse>(root, "UserService/RemoveUser", request);
  }

  // All studies that are finished leave memory. REQUIRES: their runs have ended.
  void RetireFinished() {
    const auto see = [&](const auto& look) { REQUIRE(loop_.Read(look).has_value()); };
    see([&](const MasterState&) { settings_.retire_after = Seconds(0); });
    for (bool is_done = false; !is_done;) {
      loop_.Post(Tick{});
      see([&](const MasterState& state) { is_done = state.index.to_retire.empty() && state.index.forgetting.empty(); });
    }
    see([&](const MasterState&) { settings_.retire_after.reset(); });
  }

  // States that are never evicted, for some study's sake.
  std::size_t KeptCount() {
    std::size_t count = 0;
    REQUIRE(loop_.Read([&](const MasterState& state) { count = state.index.kept.size(); }).has_value());
    return count;
  }

  std::string address() const { return door_.address.empty() ? "unix:" + folder.string() + "/socket" : door_.address; }

  const std::filesystem::path folder = NewFolder();
  const std::string root = NewToken();  // the first administrator's
  std::shared_ptr<grpc::Channel> channel;
  std::atomic<int> posted_reads = 0;  // what streams have asked of the event loop

 private:
  // Joins loop and server. Outlives both, so that a call on its way finds it whole.
  struct Ports : MasterPort, EffectRunner {
    explicit Ports(Service& of) : service(of) {}
    void Post(Event event) override { service.loop_.Post(std::move(event)); }
    Result<void> Read(const std::function<void(const MasterState&)>& read) override { return service.loop_.Read(read); }
    void PostRead(std::function<void(const MasterState&)> read, std::function<void(Result<void>)> done) override {
      ++service.posted_reads;
      service.loop_.PostRead(std::move(read), std::move(done));
    }
    void Run(const Effect& effect) override { service.rpc_.Carry(effect); }
    Service& service;
  };

  static std::filesystem::path NewFolder() {
    static std::atomic<int> count = 0;
    return std::filesystem::temp_directory_path() /
           ("espalier-rpc-" + std::to_string(getpid()) + "-" + std::to_string(count++));
  }

  Door door_;
  std::shared_ptr<MemoryDatabase> database_ = std::make_shared<MemoryDatabase>();
  MemoryStateStore store_{database_};
  MemoryHistoryStore histories_{database_};
  std::mutex database_mutex_;
  LockedStateStore locked_store_{store_, database_mutex_};
  LockedHistoryStore locked_histories_{histories_, database_mutex_};
  MemoryOutputStore outputs_;
  MemorySeriesStore series_;
  MemoryServerLogStore server_logs_;
  StillDatabase probe_;
  ChosenPolicy policy_;
  ReactorSettings settings_;
  Ports ports_{*this};
  EventLoop loop_;
  RpcServer rpc_;
  std::thread thread_;
};

}  // namespace espalier::master::testing
