// espalier tuner-host
#include <atomic>
#include <ostream>
#include <thread>

#include "client/cli/commands.h"
#include "client/cli/server_access.h"
#include "client/cli/up/stop_signals.h"
#include "client/tuner_host/tuner_host.h"

namespace espalier {
namespace {

// A call is given up soon, so that the host ends when it is asked to: what it was at, it takes up again.
constexpr RetryPolicy kPolicy{.first_connection_patience = Seconds(10), .call_patience = Seconds(2)};

int Run(CommandContext& context) {
  Result<StopSignals> signals = StopSignals::Create();  // before there are threads
  if (!signals.has_value()) return Fail(context, signals.error());
  Result<Client> client = ConnectToServer(context, kPolicy);
  if (!client.has_value()) return Fail(context, client.error());
  TunerHost host(client->connection(), [&context](const std::string& line) {
    context.err << "espalier: " + line + "\n" << std::flush;
  });
  Result<void> ran;
  std::atomic<bool> over = false;
  std::thread running([&] {
    ran = host.Run();
    over = true;
  });
  while (!over && signals->Wait(Seconds(0.2)) == 0) {
  }
  host.Stop();
  running.join();
  return ran.has_value() ? kExitDone : Fail(context, ran.error());
}

}  // namespace

Command TunerHostCommand(CommandContext& context) {
  Command command{.name = "tuner-host",
                  .help =
                      "Carry on studies of built-in tuners whose clients are gone, until Ctrl-C; `espalier up` "
                      "starts one. Its token is of role tuner"};
  AddServerOptions(command, context);
  command.run = [&context] { return Run(context); };
  return command;
}

}  // namespace espalier
