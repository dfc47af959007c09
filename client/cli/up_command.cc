// `espalier up` and `espalier down`.
#include <memory>
#include <ostream>

#include "base/log.h"
#include "client/cli/commands.h"
#include "client/cli/up/up.h"

namespace espalier {
namespace {

int RunUp(CommandContext& context, UpOptions options) {
  SetUpLog("espalier-up", LogLevel::kInfo);
  options.data_directory = context.data_directory;
  const auto programs = ProgramsBesideThisOne();
  if (!programs.has_value()) return Fail(context, programs.error());
  options.programs = *programs;
  const auto say = [&context](const std::string& line) { context.err << "espalier: " << line << std::endl; };
  if (const Result<void> ran = Up(options, say); !ran.has_value()) return Fail(context, ran.error());
  return kExitDone;
}

int RunDown(CommandContext& context) {
  const Result<bool> stopped = Down(context.data_directory);
  if (!stopped.has_value()) return Fail(context, stopped.error());
  context.err << "espalier: " << (*stopped ? "stopped" : "nothing runs in " + context.data_directory) << '\n';
  return kExitDone;
}

}  // namespace

Command UpCommand(CommandContext& context) {
  const auto options = std::make_shared<UpOptions>();
  Command command{
      .name = "up",
      .help = "Run the service on this machine, until Ctrl-C",
      .options = {{.name = "--slots",
                   .target = &options->slot_count,
                   .help = "how many runs to train at once (else one for each CPU core)",
                   .placeholder = "N",
                   .at_least = 1,
                   .at_most = 4096},
                  {.name = "--database",
                   .target = &options->database,
                   .help = "use this PostgreSQL server instead of a private one",
                   .placeholder = "URL"},
                  {.name = "--checkpoints",
                   .target = &options->checkpoints,
                   .help = "keep checkpoints there: in a folder, or in a GlusterFS volume, "
                           "gfapi://HOST/VOLUME/PATH (else in the data directory); not to be changed later",
                   .placeholder = "PLACE"},
                  {.name = "--checkpoint-bytes",
                   .target = &options->checkpoint_bytes,
                   .help = "how much they may take: over it, those worth least go, never what is needed",
                   .placeholder = "N",
                   .at_least = 1},
                  {.name = "--trainer",
                   .target = &options->worker.trainers,
                   .help = "train with this class or function in Python, or with a program as script:FILE, too; may be "
                           "given several times",
                   .placeholder = "FILE.py:NAME",
                   .one_value_each = true},
                  {.name = "--python",
                   .target = &options->worker.python,
                   .help = "the interpreter that has the trainer's packages (else python3)",
                   .placeholder = "PROGRAM",
                   .needs = "--trainer"},
                  {.name = "--user-code",
                   .target = &options->user_code,
                   .help = "whose own code runs here: own_jobs (yours alone, which is the default), none, or a "
                           "user, or a team as team:NAME; may be given several times",
                   .placeholder = "WHOSE",
                   .one_value_each = true},
                  {.name = "--worker",
                   .target = &options->worker.programs,
                   .help = "train with this program, too, which speaks the trainer protocol; may be given "
                           "several times",
                   .placeholder = "COMMAND",
                   .one_value_each = true}}};
  AddDataOption(command, context);
  command.run = [&context, options] { return RunUp(context, *options); };
  return command;
}

Command DownCommand(CommandContext& context) {
  Command command{.name = "down", .help = "Stop the service that `espalier up` runs"};
  AddDataOption(command, context);
  command.run = [&context] { return RunDown(context); };
  return command;
}

}  // namespace espalier
