#include "client/cli/up/private_postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/log.h"
#include "client/cli/up/files.h"
#include "client/cli/up/left_over_backends.h"
#include "client/cli/up/postgres_programs.h"
#include "client/cli/up/system_error.h"

namespace espalier {
namespace {

constexpr char kDatabase[] = "espalier";

// How a child names a folder that it was handed.
std::string HandedPath(const FileDescriptor& directory) { return "/proc/self/fd/" + std::to_string(directory.Get()); }

Result<FileDescriptor> MakeDirectoryOf(const std::optional<SystemUser>& user, const std::string& path) {
  ESPALIER_RETURN_IF_ERROR(MakeDirectory(path));
  if (user.has_value() && chown(path.c_str(), user->user, user->group) != 0) return SystemError("give away " + path);
  return OpenDirectory(path);
}

Result<void> RunToEnd(const ChildCommand& command) {
  ESPALIER_ASSIGN(const pid_t child, StartChild(command));
  int end = 0;
  while (waitpid(child, &end, 0) < 0) {
    if (errno != EINTR) return SystemError("wait for " + command.arguments[0]);
  }
  if (end == 0) return {};
  return MakeError(ErrorCode::kInternal, command.arguments[0] + " failed (" + DescribeEnd(end) + "), see " +
                                             command.log_file + ": " + LastLine(command.log_file));
}

// An eighth of the machine's memory, from 128 MB (PostgreSQL's default) to 1 GB.
std::string SharedBuffers() {
  const std::int64_t memory = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return std::to_string(std::clamp<std::int64_t>(memory / 8 >> 20, 128, 1024)) + "MB";
}

std::optional<std::string> MajorVersionOf(const std::string& cluster_path) {
  std::ifstream file(cluster_path + "/PG_VERSION");
  std::string major;
  if (!std::getline(file, major)) return std::nullopt;
  return major;
}

}  // namespace

Result<PrivatePostgres> PrivatePostgres::Open(const DataDirectory& data) {
  PrivatePostgres postgres;
  postgres.cluster_path_ = data.File("postgres");
  postgres.socket_path_ = data.RuntimePath() + "/postgres";
  postgres.log_file_ = data.LogFile("postgres");
  const bool exists = std::filesystem::exists(postgres.cluster_path_);
  ESPALIER_ASSIGN(postgres.programs_, FindPostgresPrograms(MajorVersionOf(postgres.cluster_path_)));
  ESPALIER_ASSIGN(postgres.user_, ClusterUser(postgres.cluster_path_));
  if (!exists) ESPALIER_RETURN_IF_ERROR(postgres.MakeCluster());
  ESPALIER_ASSIGN(postgres.cluster_, OpenDirectory(postgres.cluster_path_));
  ESPALIER_ASSIGN(postgres.socket_directory_, MakeDirectoryOf(postgres.user_, postgres.socket_path_));
  return postgres;
}

Result<void> PrivatePostgres::MakeCluster() const {
  const std::string path = cluster_path_ + ".new";
  std::error_code error;
  std::filesystem::remove_all(path, error);
  ESPALIER_ASSIGN(const FileDescriptor cluster, MakeDirectoryOf(user_, path));
  Log(LogLevel::kInfo, "making a PostgreSQL cluster", {{"directory", cluster_path_}});
  ChildCommand command{.arguments = {programs_ + "/initdb", "-D", HandedPath(cluster), "--locale=C", "--encoding=UTF8",
                                     "--auth=trust", "--username=espalier", "--no-instructions"},
                       .log_file = log_file_,
                       .user = user_,
                       .inherited_descriptors = {cluster.Get()}};
  ESPALIER_RETURN_IF_ERROR(RunToEnd(command));
  // PostgreSQL's single-user mode takes SQL from its input.
  command.arguments = {
      "/bin/sh",
      "-c",
      "echo \"CREATE DATABASE $2\" | \"$0/postgres\" --single -D \"$1\" -c exit_on_error=true postgres",
      programs_,
      HandedPath(cluster),
      kDatabase};
  ESPALIER_RETURN_IF_ERROR(RunToEnd(command));
  if (rename(path.c_str(), cluster_path_.c_str()) != 0) return SystemError("make " + cluster_path_);
  return {};
}

Program PrivatePostgres::ServerProgram() const {
  ChildCommand command{.arguments = {programs_ + "/postgres", "-D", HandedPath(cluster_)},
                       .log_file = log_file_,
                       .death_signal = SIGQUIT,  // immediate shutdown: its backends end with it
                       .user = user_,
                       .inherited_descriptors = {cluster_.Get(), socket_directory_.Get()}};
  for (const std::string& setting :
       {std::string("listen_addresses="), "unix_socket_directories=" + HandedPath(socket_directory_),
        std::string("port=5432"), std::string("unix_socket_permissions=0700"), std::string("fsync=on"),
        std::string("synchronous_commit=on"), std::string("full_page_writes=on"), std::string("wal_level=minimal"),
        std::string("max_wal_senders=0"), std::string("max_connections=50"), "shared_buffers=" + SharedBuffers(),
        // Digests are entered at random places of large indexes: few checkpoints, since after each of them every page
        // that is touched is logged whole, and less to log.
        std::string("max_wal_size=4GB"), std::string("checkpoint_timeout=15min"), std::string("wal_compression=on"),
        // Files in the cluster instead of /dev/shm: nothing is left elsewhere when it is killed.
        std::string("dynamic_shared_memory_type=mmap"), std::string("logging_collector=off"),
        std::string("log_timezone=UTC"), std::string("timezone=UTC"), std::string("cluster_name=espalier")}) {
    command.arguments.insert(command.arguments.end(), {"-c", setting});
  }
  return Program{.name = "postgres",
                 .command = std::move(command),
                 .stop_signal = SIGINT,  // fast shutdown
                 .stop_patience = Seconds(30),
                 .kill_signal = SIGQUIT,
                 .prepare = [this] { return EndLeftOverBackends(cluster_path_, cluster_.Get(), user_); },
                 .is_ready = [this](pid_t server) { return IsReady(server); }};
}

std::string PrivatePostgres::ConnectionString() const {
  return "host=" + socket_path_ + " port=5432 user=espalier dbname=" + kDatabase;
}

// PostgreSQL writes its state into the last of the eight lines of postmaster.pid.
bool PrivatePostgres::IsReady(pid_t server) const {
  std::ifstream file(cluster_path_ + "/postmaster.pid");
  std::string line;
  if (!std::getline(file, line) || line != std::to_string(server)) return false;
  for (int number = 2; number <= 8; ++number) {
    if (!std::getline(file, line)) return false;
  }
  return line.starts_with("ready");
}

}  // namespace espalier
