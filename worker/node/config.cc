#include "worker/node/config.h"

#include <algorithm>
#include <thread>

#include "base/token.h"
#include "espalier/config/v1/node_manager.pb.h"
#include "proto/config_file.h"

namespace espalier::node {
Result<Config> ReadConfig(const std::filesystem::path& file) {
  espalier::config::v1::NodeManager proto;
  ESPALIER_RETURN_IF_ERROR(ReadConfigFile(file, proto));
  ESPALIER_RETURN_IF_ERROR(RequireText(proto.master_address(), "master_address"));
  ESPALIER_RETURN_IF_ERROR(RequireText(proto.server(), "server"));
  ESPALIER_RETURN_IF_ERROR(RequireText(proto.checkpoint_directory(), "checkpoint_directory"));
  ESPALIER_RETURN_IF_ERROR(RequireText(proto.work_directory(), "work_directory"));
  if (proto.worker_command().empty()) return MakeError(ErrorCode::kInvalidArgument, "is required", "worker_command");
  if (proto.slot_count() < 0) return MakeError(ErrorCode::kInvalidArgument, "must not be negative", "slot_count");
  if (!(proto.stop_seconds() >= 0))
    return MakeError(ErrorCode::kInvalidArgument, "must not be negative", "stop_seconds");
  Config config;
  config.master_address = proto.master_address();
  config.server = proto.server();
  const int core_count = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  config.slot_count = proto.slot_count() > 0 ? proto.slot_count() : core_count;
  config.checkpoint_directory = std::filesystem::absolute(proto.checkpoint_directory());
  config.work_directory = std::filesystem::absolute(proto.work_directory());
  config.worker_command.assign(proto.worker_command().begin(), proto.worker_command().end());
  if (proto.stop_seconds() > 0) config.stop_within = Seconds(proto.stop_seconds());
  if (!proto.token_file().empty()) {
    ESPALIER_ASSIGN(config.token, ReadTokenFile(proto.token_file()));
  }
  return config;
}

}  // namespace espalier::node
