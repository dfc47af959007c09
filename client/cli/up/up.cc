#include "client/cli/up/up.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

extern "C" {
#include <sys/pidfd.h>  // says nothing of C++ itself in Debian 12's C library
}

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/programs.h"
#include "client/cli/up/config_files.h"
#include "client/cli/up/data_directory.h"
#include "client/cli/up/private_postgres.h"
#include "client/cli/up/process_record.h"
#include "client/cli/up/supervisor.h"
#include "client/cli/up/system_error.h"
#include "client/local_service.h"

namespace espalier {
namespace {

constexpr Seconds kNodeStopTime{10};
constexpr Seconds kStopMargin{5};
// As the master calls whoever has the first token.
constexpr char kOwner[] = "local";
// Which the token that the master makes for a node manager is for.
constexpr char kServer[] = "local";

bool AcceptsConnections(const std::string& socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof(address.sun_path)) return false;
  std::strcpy(address.sun_path, socket_path.c_str());
  const FileDescriptor client(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return client.IsOpen() && connect(client.Get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

Result<Program> MasterProgram(const DataDirectory& data, const UpOptions& options, const std::string& database) {
  const std::string socket_path = data.RuntimePath() + "/master.sock";
  const std::string config = data.File("config/master.txt");
  ESPALIER_RETURN_IF_ERROR(WriteMasterConfig(config, {.listen_address = "unix:" + socket_path,
                                                      .database = database,
                                                      .administrator_token_file = data.TokenFile(),
                                                      .local_node_token_file = data.NodeTokenFile(),
                                                      .checkpoint_bytes = options.checkpoint_bytes}));
  return Program{.name = "master",
                 .command = {.arguments = {options.programs.master, config}, .log_file = data.LogFile("master")},
                 .prepare = [socket_path]() -> Result<void> {
                   unlink(socket_path.c_str());
                   return {};
                 },
                 .is_ready = [socket_path](pid_t) { return AcceptsConnections(socket_path); }};
}

// The node manager runs in another folder.
std::string StoreOf(const DataDirectory& data, const UpOptions& options) {
  if (!options.checkpoints.has_value()) return data.File("checkpoints");
  const bool is_folder = options.checkpoints->find("://") == std::string::npos;
  return is_folder ? std::filesystem::absolute(*options.checkpoints).string() : *options.checkpoints;
}

Result<Program> NodeManagerProgram(const DataDirectory& data, const UpOptions& options, int slot_count,
                                   const std::vector<WorkerRuntime>& runtimes) {
  const std::string config = NodeManagerConfigFile(data.Path());
  ESPALIER_RETURN_IF_ERROR(WriteNodeManagerConfig(
      config, {.master_address = "unix:" + data.RuntimePath() + "/master.sock",
               .server = kServer,
               .slot_count = slot_count,
               .checkpoint_directory = StoreOf(data, options),
               .work_directory = data.File("node"),
               .runtimes = runtimes,
               .stop_time = kNodeStopTime,
               .token_file = data.NodeTokenFile(),
               .user_code = options.user_code.empty() ? std::vector<std::string>{"own_jobs"} : options.user_code,
               .owner = kOwner}));
  return Program{
      .name = "node-manager",
      .command = {.arguments = {options.programs.node_manager, config}, .log_file = data.LogFile("node-manager")},
      .stop_patience = kNodeStopTime + kStopMargin};
}

Program TunerHostProgram(const DataDirectory& data, const UpOptions& options) {
  return Program{
      .name = "tuner-host",
      .command = {.arguments = {options.programs.command_line, "tuner-host", "--server",
                                "unix:" + data.RuntimePath() + "/master.sock", "--token-file", data.TokenFile()},
                  .log_file = data.LogFile("tuner-host")}};
}

int CoreCount() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

}  // namespace

Result<ServicePrograms> ProgramsBesideThisOne() {
  ServicePrograms programs;
  ESPALIER_ASSIGN(programs.master, ProgramBesideThisOne("espalier-master"));
  ESPALIER_ASSIGN(programs.node_manager, ProgramBesideThisOne("espalier-node"));
  ESPALIER_ASSIGN(programs.worker, ProgramBesideThisOne("espalier-worker"));
  ESPALIER_ASSIGN(programs.command_line, ProgramBesideThisOne("espalier"));
  return programs;
}

Result<void> Up(const UpOptions& options, const std::function<void(const std::string&)>& say) {
  ESPALIER_ASSIGN(const std::vector<WorkerRuntime> runtimes, WorkerRuntimes(options.worker, options.programs.worker));
  ESPALIER_ASSIGN(StopSignals signals, StopSignals::Create());
  ESPALIER_ASSIGN(const DataDirectory data, DataDirectory::Open(options.data_directory));
  ESPALIER_RETURN_IF_ERROR(data.WriteOwner());
  ESPALIER_RETURN_IF_ERROR(data.LinkToken());
  const int slot_count = options.slot_count.value_or(CoreCount());
  const std::string address = "unix:" + data.RuntimePath() + "/master.sock";
  std::vector<Program> programs;
  std::optional<PrivatePostgres> postgres;
  std::string database = options.database.value_or("");
  if (!options.database.has_value()) {
    say("starting PostgreSQL, master, node manager and tuner host");
    ESPALIER_ASSIGN(postgres, PrivatePostgres::Open(data));
    programs.push_back(postgres->ServerProgram());
    database = postgres->ConnectionString();
  }
  ESPALIER_ASSIGN(Program master, MasterProgram(data, options, database));
  ESPALIER_ASSIGN(Program node_manager, NodeManagerProgram(data, options, slot_count, runtimes));
  programs.push_back(std::move(master));
  programs.push_back(std::move(node_manager));
  programs.push_back(TunerHostProgram(data, options));
  Supervisor supervisor(signals, data.File("run"), std::move(programs));
  Result<void> ran = supervisor.Run([&]() -> Result<void> {
    ESPALIER_RETURN_IF_ERROR(data.WriteAddress(address));
    say("ready: " + std::to_string(slot_count) + (slot_count == 1 ? " slot" : " slots") + ", data in " + data.Path() +
        "; stop with Ctrl-C or `espalier down`");
    return {};
  });
  data.Clear();
  if (ran.has_value()) say("stopped");
  return ran;
}

Result<bool> Down(const std::string& data_directory) {
  const auto record = ReadProcessRecord(OwnerFile(data_directory));
  if (!record.has_value()) return false;
  const FileDescriptor process(pidfd_open(record->id, 0));
  // Looked at after it was opened: what the descriptor holds cannot change any more.
  if (!process.IsOpen() || !IsAlive(*record)) return false;
  const std::string name = "process " + std::to_string(record->id);
  if (pidfd_send_signal(process.Get(), SIGTERM, nullptr, 0) != 0) {
    if (errno == ESRCH) return false;
    return SystemError("stop " + name);
  }
  pollfd waiting{.fd = process.Get(), .events = POLLIN, .revents = 0};
  while (poll(&waiting, 1, -1) < 0) {
    if (errno != EINTR) return SystemError("wait for " + name);
  }
  return true;
}

}  // namespace espalier
