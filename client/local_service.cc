#include "client/local_service.h"

#include <filesystem>

#include "espalier/config/v1/node_manager.pb.h"
#include "proto/config_file.h"

namespace espalier {

std::string BesideSocket(const std::string& address, const std::string& name) {
  constexpr std::string_view kUnix = "unix:";
  if (!address.starts_with(kUnix)) return {};
  const std::string socket = address.substr(kUnix.size());
  return socket.substr(0, socket.rfind('/') + 1) + name;
}

std::string DataDirectoryOf(const std::string& address) {
  std::error_code error;
  const std::filesystem::path token = std::filesystem::read_symlink(BesideSocket(address, "token"), error);
  return error ? std::string() : token.parent_path().string();
}

Result<std::string> StorePlaceOf(const std::string& data_directory, const std::string& instead) {
  config::v1::NodeManager config;
  const Result<void> read = ReadConfigFile(NodeManagerConfigFile(data_directory), config);
  if (!data_directory.empty() && read.has_value()) return config.checkpoint_directory();
  const std::string here = data_directory.empty() ? "the service is not one that `espalier up` runs on this machine"
                                                  : "no service was started with the data directory " + data_directory;
  return MakeError(
      ErrorCode::kFailedPrecondition,
      here + ": say with " + instead + " where the checkpoints are, as node managers' configuration files do");
}

}  // namespace espalier
