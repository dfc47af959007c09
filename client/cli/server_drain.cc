// espalier server drain NAME [--off]
#include <memory>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/server_access.h"
#include "client/json.h"
#include "client/request_id.h"

namespace espalier {
namespace {

struct Options {
  std::string name;
  std::string why;
  bool off = false;
};

void PrintDrained(std::ostream& out, const Options& options, std::int64_t run_count) {
  out << options.name;
  if (options.off) {
    out << " takes runs again\n";
  } else if (run_count == 0) {
    out << " is drained: it has no run\n";
  } else {
    out << " is given no run any more; " << run_count << (run_count == 1 ? " leaves" : " leave")
        << " it at the end of a step: `espalier server list` shows it as drained then\n";
  }
}

int Run(CommandContext& context, const Options& options) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  v1::DrainServerRequest request;
  request.set_request_id(NewRequestId());
  request.set_server(options.name);
  request.set_off(options.off);
  request.set_why(options.why);
  const Result<v1::DrainServerResponse> response = client->connection().DrainServer(request);
  if (!response.has_value()) return Fail(context, response.error());
  if (context.output == OutputFormat::kJson) {
    PrintJson(
        context.out,
        Json::Object({{"name", options.name}, {"draining", !options.off}, {"runs_under_way", response->run_count()}}));
  } else {
    PrintDrained(context.out, options, response->run_count());
  }
  return kExitDone;
}

}  // namespace

Command ServerDrainCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{.name = "drain",
                  .help = "Take a server out of service (for administrators): its runs save and go on elsewhere",
                  .arguments = {{"NAME", &options->name, "as `espalier server list` shows it"}},
                  .options = {{.name = "--off", .target = &options->off, .help = "it may take runs again"},
                              {.name = "--why",
                               .target = &options->why,
                               .help = "what everybody is told of the reason",
                               .placeholder = "TEXT"}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
