#include "client/cli/up/config_files.h"

#include <google/protobuf/text_format.h>

#include "client/cli/up/files.h"
#include "espalier/config/v1/master.pb.h"
#include "espalier/config/v1/node_manager.pb.h"

namespace espalier {
namespace {

Result<void> WriteMessage(const std::string& path, const google::protobuf::Message& message) {
  std::string text;
  if (!google::protobuf::TextFormat::PrintToString(message, &text)) {
    return MakeError(ErrorCode::kInternal, "cannot print " + path);
  }
  return WriteFile(path, text);
}

}  // namespace

Result<void> WriteMasterConfig(const std::string& path, const MasterSettings& settings) {
  config::v1::Master message;
  message.set_listen_address(settings.listen_address);
  message.set_database(settings.database);
  message.set_administrator_token_file(settings.administrator_token_file);
  message.set_local_node_token_file(settings.local_node_token_file);
  message.set_checkpoint_bytes(settings.checkpoint_bytes);
  message.set_retire_after_seconds(settings.retire_after.count());
  return WriteMessage(path, message);
}

Result<void> WriteNodeManagerConfig(const std::string& path, const NodeManagerSettings& settings) {
  config::v1::NodeManager message;
  message.set_master_address(settings.master_address);
  message.set_server(settings.server);
  message.set_slot_count(settings.slot_count);
  message.set_checkpoint_directory(settings.checkpoint_directory);
  message.set_work_directory(settings.work_directory);
  for (const WorkerRuntime& runtime : settings.runtimes) {
    config::v1::Runtime& added = *message.add_runtimes();
    added.set_name(runtime.name);
    added.mutable_command()->Assign(runtime.command.begin(), runtime.command.end());
  }
  message.set_stop_seconds(settings.stop_time.count());
  message.set_token_file(settings.token_file);
  if (settings.user_code == std::vector<std::string>{"own_jobs"}) {
    message.set_user_code(config::v1::USER_CODE_OWN_JOBS);
    message.add_user_code_of(settings.owner);
  } else if (settings.user_code != std::vector<std::string>{"none"}) {
    message.set_user_code(config::v1::USER_CODE_LISTED);
    message.mutable_user_code_of()->Assign(settings.user_code.begin(), settings.user_code.end());
    message.add_user_code_of(settings.owner);
  }
  return WriteMessage(path, message);
}

}  // namespace espalier
