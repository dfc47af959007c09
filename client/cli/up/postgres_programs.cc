#include "client/cli/up/postgres_programs.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace espalier {
namespace {

constexpr char kDebianVersions[] = "/usr/lib/postgresql";

bool HoldsServer(const std::string& directory) {
  return access((directory + "/postgres").c_str(), X_OK) == 0 && access((directory + "/initdb").c_str(), X_OK) == 0;
}

std::string FirstLineOf(const char* shell_command) {
  FILE* output = popen(shell_command, "r");
  if (output == nullptr) return "";
  char line[4096] = "";
  std::string text = std::fgets(line, sizeof(line), output) == nullptr ? "" : line;
  pclose(output);
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string NewestDebianPrograms() {
  int newest = 0;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(kDebianVersions, none)) {
    const int major = std::atoi(entry.path().filename().c_str());
    if (major > newest && HoldsServer(entry.path().string() + "/bin")) newest = major;
  }
  return newest == 0 ? "" : std::string(kDebianVersions) + "/" + std::to_string(newest) + "/bin";
}

SystemUser ToSystemUser(const passwd& entry) { return {entry.pw_uid, entry.pw_gid, entry.pw_name}; }

}  // namespace

Result<std::string> FindPostgresPrograms(const std::optional<std::string>& major) {
  if (major.has_value()) {
    const std::string directory = std::string(kDebianVersions) + "/" + *major + "/bin";
    if (HoldsServer(directory)) return directory;
  } else if (const std::string directory = NewestDebianPrograms(); !directory.empty()) {
    return directory;
  }
  const std::string elsewhere = FirstLineOf("pg_config --bindir 2>/dev/null");
  if (HoldsServer(elsewhere)) {
    const std::string version = FirstLineOf("pg_config --version 2>/dev/null");  // "PostgreSQL 15.4 ..."
    if (!major.has_value() || version.starts_with("PostgreSQL " + *major + ".")) return elsewhere;
  }
  return MakeError(ErrorCode::kFailedPrecondition, "PostgreSQL" + (major.has_value() ? " " + *major : "") +
                                                       " is not installed: apt-get install postgresql" +
                                                       (major.has_value() ? "-" + *major : "") +
                                                       ", or use a server of yours with --database URL");
}

Result<std::optional<SystemUser>> ClusterUser(const std::string& cluster_path) {
  if (geteuid() != 0) return std::optional<SystemUser>();
  struct stat status;
  if (stat(cluster_path.c_str(), &status) == 0 && status.st_uid != 0) {
    return std::optional(SystemUser{status.st_uid, status.st_gid, "owner"});
  }
  for (const char* name : {"postgres", "nobody"}) {
    if (const passwd* entry = getpwnam(name)) return std::optional(ToSystemUser(*entry));
  }
  return MakeError(ErrorCode::kFailedPrecondition,
                   "PostgreSQL does not run as root, and there is no user `postgres` or `nobody` to run it as");
}

}  // namespace espalier
