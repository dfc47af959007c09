#include "bench/service.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/digest.h"
#include "base/token.h"
#include "client/cli/up/child_process.h"
#include "client/cli/up/config_files.h"
#include "client/cli/up/data_directory.h"
#include "client/cli/up/private_postgres.h"
#include "client/client.h"
#include "client/connection.h"

namespace espalier::bench {
namespace {

void End(pid_t process, int signal) {
  kill(process, signal);
  while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool HasEnded(pid_t process) { return waitpid(process, nullptr, WNOHANG) != 0; }

}  // namespace

struct Service::Parts {
  Parts() : data(Need(DataDirectory::Open(folder.path()))), postgres(Need(PrivatePostgres::Open(data))) {}
  ~Parts() {
    if (node_process != 0) End(node_process, SIGTERM);
    StopMaster();
    if (postgres_process != 0) End(postgres_process, SIGINT);
    data.Clear();
  }
  void StopMaster() {
    if (master_process != 0) End(std::exchange(master_process, 0), SIGTERM);
  }

  const Folder folder;
  DataDirectory data;
  PrivatePostgres postgres;
  std::string stub_token;  // empty: nobody has asked for it yet
  Seconds retire_after{0};
  pid_t postgres_process = 0;
  pid_t master_process = 0;
  pid_t node_process = 0;
};

Service::Service(Seconds retire_after) : parts_(std::make_unique<Parts>()) {
  parts_->retire_after = retire_after;
  const Program server = parts_->postgres.ServerProgram();
  Need(server.prepare());
  parts_->postgres_process = Need(StartChild(server.command));
  while (!server.is_ready(parts_->postgres_process)) {
    if (HasEnded(parts_->postgres_process)) GiveUp("PostgreSQL has ended, see " + server.command.log_file);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  address_ = "unix:" + parts_->data.RuntimePath() + "/master.sock";
  Need(parts_->data.LinkToken());  // clients look for it beside the socket
  StartMaster();
}

Service::~Service() = default;

Seconds Service::StartMaster() {
  if (parts_->master_process != 0) GiveUp("a master is running: another would only look on");
  const std::string config = parts_->data.File("config/master.txt");
  Need(WriteMasterConfig(config, {.listen_address = address_,
                                  .database = Database(),
                                  .administrator_token_file = parts_->data.TokenFile(),
                                  .local_node_token_file = parts_->data.NodeTokenFile(),
                                  .retire_after = parts_->retire_after}));
  const Seconds begun = MonotonicNow();
  const ChildCommand command{.arguments = {ProgramBesideThisOne("espalier-master"), config},
                             .log_file = parts_->data.LogFile("master")};
  parts_->master_process = Need(StartChild(command));
  while (true) {
    if (HasEnded(parts_->master_process)) GiveUp("the master has ended, see " + command.log_file);
    Result<Client> client =
        Client::Connect(address_, {.first_connection_patience = Seconds(0.5), .longest_pause = Seconds(0.05)});
    if (client.has_value() && client->connection().ListTrainers({}).has_value()) return MonotonicNow() - begun;
  }
}

void Service::StopMaster() { parts_->StopMaster(); }

void Service::StartNodeManager(int slots) {
  StartNodeManager(slots, {{"built-in", {ProgramBesideThisOne("espalier-worker")}}});
}

pid_t Service::NodeProcess() const { return parts_->node_process; }

void Service::StartNodeManager(int slots, const std::vector<WorkerRuntime>& runtimes) {
  const std::string config = parts_->data.File("config/node_manager.txt");
  Need(WriteNodeManagerConfig(config, {.master_address = address_,
                                       .server = "local",
                                       .slot_count = slots,
                                       .checkpoint_directory = NewFile("checkpoints"),
                                       .work_directory = NewFile("node"),
                                       .runtimes = runtimes,
                                       .token_file = parts_->data.NodeTokenFile()}));
  const ChildCommand command{.arguments = {ProgramBesideThisOne("espalier-node"), config},
                             .log_file = parts_->data.LogFile("node")};
  parts_->node_process = Need(StartChild(command));
  Client client = Need(Client::Connect(address_));
  while (Need(client.connection().ListTrainers({})).trainers_size() == 0) {
    if (HasEnded(parts_->node_process)) GiveUp("the node manager has ended, see " + command.log_file);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

std::string Service::NewFile(const std::string& name) const { return parts_->folder.path() + "/" + name; }

std::string Service::StubToken() const {
  if (!parts_->stub_token.empty()) return parts_->stub_token;
  parts_->stub_token = NewToken();
  v1::AddUserRequest request;
  request.set_request_id("stubs");
  request.set_name("stubs");
  request.set_role(v1::ROLE_NODE);
  request.set_token_sha256(Sha256Hex(parts_->stub_token));
  request.add_servers("stub*");
  Need(Need(Client::Connect(address_)).connection().AddUser(request));
  return parts_->stub_token;
}

std::string Service::Database(const std::string& name) const {
  const std::string url = parts_->postgres.ConnectionString();
  return url.substr(0, url.find("dbname=")) + "dbname=" + name;
}

pid_t Service::MasterProcess() const { return parts_->master_process; }

std::int64_t Service::MasterMemory() const {
  std::ifstream file("/proc/" + std::to_string(parts_->master_process) + "/statm");
  std::int64_t total_pages = 0;
  std::int64_t resident_pages = 0;
  file >> total_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

// Under build/: /tmp may be in memory.
Folder::Folder() : path_(std::filesystem::path(ProgramBesideThisOne("")).parent_path().parent_path() / "bench-XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) GiveUp("cannot make a folder like " + path_);
  std::filesystem::permissions(path_, std::filesystem::perms(0755));
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ProgramBesideThisOne(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

void GiveUp(const std::string& why) { throw std::runtime_error(why); }

}  // namespace espalier::bench
