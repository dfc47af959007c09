// espalier study pin ID|NAME [--keep WHICH]
#include <memory>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/request_id.h"
#include "proto/convert_study_choices.h"

namespace espalier {
namespace {

struct Options {
  std::string study;
  std::string keep = std::string(Name(Keep::kClaimed));
};

std::string_view Kept(Keep keep) {
  switch (keep) {
    case Keep::kBest:
      return "the state in which the best value was measured";
    case Keep::kAll:
      return "each trial's last measured state";
    case Keep::kClaimed:
      return "each state in which one of its trials was asked for";
    case Keep::kNone:
      return "nothing";
  }
  return "";
}

int Run(CommandContext& context, const Options& options) {
  const Keep keep = ParseKeep(options.keep).value();
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<v1::StudySummary> study = FindStudy(client->connection(), options.study);
  if (!study.has_value()) return Fail(context, study.error());
  v1::PinStudyRequest request;
  request.set_request_id(NewRequestId());
  request.set_study_id(study->study_id());
  request.set_keep(ToProto(keep));
  const Result<v1::PinStudyResponse> response = client->connection().PinStudy(request);
  if (!response.has_value()) return Fail(context, response.error());
  if (context.output == OutputFormat::kText) {
    context.out << study->name() << " (study " << study->study_id() << ") keeps " << Kept(keep) << " from now on\n";
    return kExitDone;
  }
  const Result<v1::StudySummary> pinned = FindStudy(client->connection(), std::to_string(study->study_id()));
  if (!pinned.has_value()) return Fail(context, pinned.error());
  PrintJson(context.out, ToJson(*pinned));
  return kExitDone;
}

}  // namespace

Command StudyPinCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{.name = "pin",
                  .help = "Choose which states of a study are never evicted, whatever the checkpoints' budget",
                  .arguments = {{"STUDY", &options->study, "its id, or its name (the newest of that name)"}},
                  .options = {{.name = "--keep",
                               .target = &options->keep,
                               .help = "each state that was asked for (the default), each trial's last, the best, none",
                               .placeholder = "claimed|all|best|none",
                               .one_of = {"claimed", "all", "best", "none"}}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
