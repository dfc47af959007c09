// espalier checkpoint list STUDY
#include <ostream>

#include "client/cli/checkpoint_listing.h"
#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/cli/stage_name.h"

namespace espalier {
namespace {

void PrintCheckpoints(std::ostream& out, const std::vector<v1::ListedCheckpoint>& checkpoints) {
  Table table({"point", "size", "file"});
  std::int64_t bytes = 0;
  for (const v1::ListedCheckpoint& each : checkpoints) {
    table.AddRow({StageName(each.point()), FormatBytes(each.state().size_bytes()), each.state().file()});
    bytes += each.state().size_bytes();
  }
  table.Print(out);
  out << FormatCount(static_cast<std::int64_t>(checkpoints.size())) << " checkpoints, " << FormatBytes(bytes) << '\n';
}

int Run(CommandContext& context, const std::string& study) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const auto checkpoints = ListCheckpointsOf(client->connection(), study);
  if (!checkpoints.has_value()) return Fail(context, checkpoints.error());
  if (context.output == OutputFormat::kText) {
    PrintCheckpoints(context.out, *checkpoints);
    return kExitDone;
  }
  Json list = Json::Array();
  for (const v1::ListedCheckpoint& each : *checkpoints) {
    list.Append(Json::Object({{"node", each.point().plan_node_id()},
                              {"step", each.point().step()},
                              {"bytes", each.state().size_bytes()},
                              {"stored_at", static_cast<double>(each.state().stored_at().seconds())},
                              {"file", each.state().file()}}));
  }
  PrintJson(context.out, list);
  return kExitDone;
}

}  // namespace

Command CheckpointListCommand(CommandContext& context) {
  Command command{.name = "list", .help = "The stored states that a study's trials can start from"};
  MakeAboutStudy(command, context, [&context](const std::string& study) { return Run(context, study); });
  return command;
}

}  // namespace espalier
